// Command go says of each comment whether to show it: when its result comes, and when a label
// changes it later.
//
//	go run ./examples/readers/go [BROKERS [RESULTS [CORRECTIONS [CLUSTERS]]]]
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"

	"github.com/twmb/franz-go/pkg/kgo"
)

// message is what results and corrections have in common, and the position, which a result has as
// a header.
type message struct {
	ArticleID string   `json:"article_id"`
	Labels    []string `json:"labels"`
	Position  int64    `json:"position"`
}

// reader decides by the records of three topics.
type reader struct {
	results, corrections string

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
	r := reader{results: results, corrections: corrections, known: make(map[string]int64)}
	for ctx.Err() == nil { // what one poll returned is committed after the next one
		fetches := client.PollFetches(ctx)
		fetches.EachError(func(topic string, partition int32, err error) {
			if ctx.Err() == nil {
				fmt.Fprintf(os.Stderr, "%s/%d: %v\n", topic, partition, err)
			}
		})
		for iter := fetches.RecordIter(); !iter.Done(); {
			if err := r.take(iter.Next()); err != nil {
				return err
			}
		}
	}
	return nil
}

// take acts on one record.
func (r *reader) take(record *kgo.Record) error {
	if record.Topic != r.results && record.Topic != r.corrections {
		// A tombstone of the clusters topic. Keys with a colon are not those of clusters.
		if record.Value == nil && !bytes.Contains(record.Key, []byte(":")) {
			fmt.Println(string(record.Key), "expired")
		}
		return nil
	}
	var m message
	if err := json.Unmarshal(record.Value, &m); err != nil {
		return fmt.Errorf("%s/%d/%d: %w", record.Topic, record.Partition, record.Offset, err)
	}
	for _, header := range record.Headers {
		if record.Topic == r.results && header.Key == "clusterd.position" {
			position, err := strconv.ParseInt(string(header.Value), 10, 64)
			if err != nil {
				return err
			}
			m.Position = position
		}
	}
	r.decide(m)
	return nil
}

// decide acts on what is known of an article. Results and corrections are two topics, so a
// correction can come before the result that it corrects. The higher position counts. To decide
// the same twice, after a restart, is harmless.
func (r *reader) decide(m message) {
	if m.Position < r.known[m.ArticleID] {
		return
	}
	r.known[m.ArticleID] = m.Position
	verdict := "show"
	if slices.Contains(m.Labels, "spam") {
		verdict = "hide"
	}
	fmt.Println(m.ArticleID, verdict, strings.Join(m.Labels, ","))
}
