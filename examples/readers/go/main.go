// Command go says of each comment whether to show it: when its result comes, and when a label
// changes it later.
//
//	go run ./examples/readers/go [BROKERS [RESULTS [CORRECTIONS [CLUSTERS]]]]
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"

	"github.com/twmb/franz-go/pkg/kgo"
)

// message is what a result or a correction says. A result has its position as a header.
type message struct {
	ArticleID *string  `json:"article_id"`
	Status    string   `json:"status"`
	Labels    []string `json:"labels"`
	Position  *int64   `json:"position"`
}

// reader decides by the records of three topics.
type reader struct {
	corrections, clusters string

	// known is by the article's id the position of what was decided last; keep it in your database.
	known map[string]int64
}

func main() {
	given := []string{
		"127.0.0.1:9092", "comment-clusters", "comment-corrections", "comment-cluster-state",
	}
	copy(given, os.Args[1:])
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := read(ctx, given[0], given[1], given[2], given[3]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// read reads until ctx ends.
func read(ctx context.Context, brokers, results, corrections, clusters string) error {
	client, err := kgo.NewClient(
		kgo.SeedBrokers(strings.Split(brokers, ",")...),
		kgo.ConsumerGroup("reader-go"),
		kgo.ConsumeTopics(results, corrections, clusters),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		// Without this, results of batches that failed are read too.
		kgo.FetchIsolationLevel(kgo.ReadCommitted()),
	)
	if err != nil {
		return err
	}
	defer client.Close()
	r := reader{corrections: corrections, clusters: clusters, known: make(map[string]int64)}
	for ctx.Err() == nil { // what one poll returned is committed after the next one
		fetches := client.PollFetches(ctx)
		fetches.EachError(func(topic string, partition int32, err error) {
			if ctx.Err() == nil {
				fmt.Fprintf(os.Stderr, "%s/%d: %v\n", topic, partition, err)
			}
		})
		for iter := fetches.RecordIter(); !iter.Done(); {
			r.take(iter.Next())
		}
	}
	return nil
}

// take acts on one record.
func (r *reader) take(record *kgo.Record) {
	if record.Topic == r.clusters {
		// A tombstone says that a cluster has expired. Keys with a colon are not those of clusters.
		if record.Value == nil && len(record.Key) > 0 && !bytes.Contains(record.Key, []byte(":")) {
			fmt.Println(string(record.Key), "expired")
		}
		return
	}
	m, err := r.parse(record)
	if err != nil { // somebody else wrote it: a reader must not stop there for ever
		fmt.Fprintf(os.Stderr, "%s/%d/%d skipped: %v\n", record.Topic, record.Partition, record.Offset,
			err)
		return
	}
	r.decide(*m.ArticleID, *m.Position, m.Labels)
}

// parse returns what a result or a correction says. It fails on any other record.
func (r *reader) parse(record *kgo.Record) (m message, err error) {
	if err := json.Unmarshal(record.Value, &m); err != nil {
		return m, err
	}
	if record.Topic != r.corrections {
		m.Position, err = position(record, m.Status)
	}
	if err == nil && (m.ArticleID == nil || m.Position == nil) {
		err = errors.New("no article_id or no position")
	}
	return m, err
}

// position returns that of a result, nil for none.
func position(record *kgo.Record, status string) (*int64, error) {
	for _, header := range record.Headers {
		if header.Key == "clusterd.position" {
			position, err := strconv.ParseInt(string(header.Value), 10, 64)
			return &position, err
		}
	}
	if status == "unclustered" {
		return new(int64), nil // an earlier clusterd wrote it
	}
	return nil, nil
}

// decide acts on what is known of an article. Results and corrections are two topics, so a
// correction can come before the result that it corrects. The higher position counts. To decide
// the same twice, after a restart, is harmless.
func (r *reader) decide(article string, position int64, labels []string) {
	if position < r.known[article] {
		return
	}
	r.known[article] = position
	verdict := "show"
	if slices.Contains(labels, "spam") {
		verdict = "hide"
	}
	fmt.Println(article, verdict, strings.Join(labels, ","))
}
