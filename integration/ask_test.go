//go:build integration

package integration

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/serve/members"
	"github.com/clusterd/clusterd/internal/serve/tail"
	"github.com/clusterd/clusterd/internal/serve/topics"
)

// asked is what answers questions beside an instance, on a client of its own.
type asked struct {
	submit *topics.Submitter
	tail   *tail.Tail
	view   *members.View
	reread *topics.Reader
}

func (w *world) ask() asked {
	w.Helper()
	client, err := kafka.NewClient(kafka.Options{Brokers: w.addresses})
	if err != nil {
		w.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	fields := article.Fields{
		ID: "id", Title: "title", Content: "content", PublishedAt: "published_at", Source: "source",
	}
	decoder, err := article.NewDecoder(article.JSON, fields, 1<<20, "auto")
	if err != nil {
		w.Fatal(err)
	}
	a := asked{
		tail: tail.New(tail.Options{
			Client: client, Log: log, Topics: map[tail.Kind]string{tail.Result: w.output},
		}),
		view: members.New(members.Options{
			Client: client, Log: log, Dir: filepath.Join(w.dir, "members"), Topic: w.output,
			Input: w.input, Bytes: 64 << 20,
		}),
		reread: &topics.Reader{
			Client: client, Log: log, Topic: w.input, Decoder: decoder, MaxBytes: 1 << 20,
		},
	}
	a.submit, err = topics.NewSubmitter(topics.SubmitOptions{
		Client: client, Log: log, InputTopic: w.input, Format: article.JSON, Fields: fields,
		Encoding: "auto", MaxBytes: 1 << 20, Compression: "lz4",
	})
	if err != nil {
		w.Fatal(err)
	}
	ctx, cancel := context.WithCancel(w.Context())
	var running sync.WaitGroup
	for _, run := range []func(context.Context){a.submit.Run, a.tail.Run, a.view.Run} {
		running.Go(func() { run(ctx) })
	}
	w.Cleanup(func() { cancel(); running.Wait(); client.Close() })
	return a
}

// Who writes an article gets its result as soon as it is committed; and what was written can be
// asked for afterwards: who is in the cluster, and what they said.
func TestAsk(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 3, "")
	w.start().waitLive()
	a := w.ask()
	subscription, err := a.tail.Subscribe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer subscription.Close()
	const n = 100
	var took []time.Duration
	var cluster string
	for i := range n {
		began := time.Now()
		addresses, err := a.submit.Articles(t.Context(), []topics.Article{{
			Input:     topics.Input{ID: fmt.Sprint(i), Content: "大桥今天通车，居民沿着河岸庆祝，工程历时三年建成"},
			Partition: topics.AnyPartition,
		}})
		if err != nil {
			t.Fatal(err)
		}
		e, err := subscription.Await(t.Context(), addresses[0])
		if err != nil {
			t.Fatal(err)
		}
		took = append(took, time.Since(began))
		r := parseResult(t, e.Value)
		if r.Size != i+1 || r.ClusterID == nil || r.Source.String() != addresses[0].String() {
			t.Fatalf("the result of article %d at %s is %s", i, addresses[0], e.Value)
		}
		if cluster == "" {
			cluster = *r.ClusterID
		}
	}
	slices.Sort(took)
	t.Logf("written, clustered and told: median %v, p99 %v", took[n/2], took[n-2])

	var page members.Page
	w.eventually("all members in the view", func() bool {
		page, err = a.view.Range(t.Context(), cluster, 0, math.MaxUint64, members.MaxPage)
		return err == nil && len(page.Members) == n
	})
	var sources []article.Address
	for i, m := range page.Members {
		if m.Size != i+1 || m.ArticleID != fmt.Sprint(i) {
			t.Errorf("member %d is %+v", i, m)
		}
		sources = append(sources, m.Source)
	}
	texts, err := a.reread.Articles(t.Context(), sources)
	if err != nil {
		t.Fatal(err)
	}
	for i, text := range texts {
		if text.Gone != "" || text.Article.ID != fmt.Sprint(i) {
			t.Errorf("the text of member %d is %+v", i, text)
		}
	}
	const before = 50
	w.eventually("the members before a position", func() bool {
		earlier, complete, err := a.view.Before(t.Context(), cluster, 0, before, members.MaxPage)
		if err != nil || complete && len(earlier) != before {
			t.Fatalf("%d members, %v", len(earlier), err)
		}
		return complete
	})
}
