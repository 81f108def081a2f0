package members

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"testing"
	"time"

	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/serve/fresh"
	"github.com/clusterd/clusterd/internal/serve/http/api"
	"github.com/clusterd/clusterd/internal/testutil/kafkatest"
	"github.com/clusterd/clusterd/internal/testutil/wait"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
)

// following is a topic of results, and the view of it.
type following struct {
	*View
	writer *kgo.Client
	n      int
}

func newFollowing(t *testing.T) *following {
	t.Helper()
	cluster := kafkatest.Start(t, 1, kfake.SeedTopics(1, "results"))
	view := New(Options{
		Client: kafkatest.Connect(t, kafka.Options{Brokers: cluster.ListenAddrs()}),
		Log:    slog.New(slog.DiscardHandler), Dir: t.TempDir(), Topic: "results", Input: "articles",
		Bytes: 64 << 20,
	})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		view.Run(ctx)
	}()
	t.Cleanup(func() { cancel(); <-done })
	writer, err := kgo.NewClient(kgo.SeedBrokers(cluster.ListenAddrs()...))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(writer.Close)
	return &following{View: view, writer: writer}
}

// write writes the result of a founder with this id, and returns its cluster and where it is.
func (r *following) write(t *testing.T, id string) (cluster string, result article.Address) {
	t.Helper()
	source := article.Address{Topic: "articles", Offset: int64(r.n)}
	cluster, distance := source.String(), 0.0
	value := article.Result{
		ArticleID: id, ClusterID: &cluster, Status: article.New, Distance: &distance, Size: 1,
		Source: source, Pipeline: "test", Representative: &article.Representative{ID: id},
	}
	number := strconv.AppendInt(nil, int64(r.n), 10)
	record := &kgo.Record{
		Topic: "results", Value: value.JSON(), Timestamp: time.UnixMilli(int64(r.n)),
		Headers: []kgo.RecordHeader{
			{Key: article.HeaderSource, Value: []byte(cluster)},
			{Key: article.HeaderPosition, Value: number},
			{Key: article.HeaderEventTime, Value: number},
		},
	}
	r.n++
	if err := r.writer.ProduceSync(t.Context(), record).FirstErr(); err != nil {
		t.Fatal(err)
	}
	return cluster, article.Address{Topic: "results", Offset: record.Offset}
}

// open waits until the view answers.
func (r *following) open(t *testing.T) {
	t.Helper()
	wait.Until(t, "the view is open", func() bool {
		_, _, _, err := r.Article(t.Context(), "none")
		return errors.Is(err, api.ErrUnknown)
	})
}

// An article that has a result when the question comes is found, though the view has not read it
// then. Of two articles with one id, the one that somebody was told of is found.
func TestResultsThatAreCommittedAreFound(t *testing.T) {
	r := newFollowing(t)
	r.open(t)
	for i := range 60 {
		id := fmt.Sprint("id-", i)
		cluster, _ := r.write(t, id)
		if _, got, _, err := r.Article(t.Context(), id); err != nil || got != cluster {
			t.Errorf("article %s: %q, %v", id, got, err)
		}
		cluster, _ = r.write(t, "of a cluster")
		page, _, _, err := r.Members(t.Context(), cluster, 0, 10)
		if err != nil || len(page) != 1 {
			t.Errorf("cluster %s: %v, %v", cluster, page, err)
		}
		cluster, result := r.write(t, "again")
		r.Told("again", result)
		if _, got, _, err := r.Article(t.Context(), "again"); err != nil || got != cluster {
			t.Errorf("the article that came again: %q, %v; want %q", got, err, cluster)
		}
	}
	if len(r.told) > 0 {
		t.Errorf("kept though they were read: %v", r.told)
	}
	began := time.Now()
	if _, _, _, err := r.Article(t.Context(), "none"); !errors.Is(err, api.ErrUnknown) {
		t.Errorf("no article: %v", err)
	}
	if _, _, _, err := r.Members(t.Context(), "articles/0/9999", 0, 10); !errors.Is(err,
		api.ErrUnknown) {
		t.Errorf("no cluster: %v", err)
	}
	if took := time.Since(began); took > fresh.Wait/2 {
		t.Errorf("to say that something is not there took %v", took)
	}
}

// A view that does not get there in time is no reason to say that there is nothing.
func TestViewThatIsLate(t *testing.T) {
	r := newFollowing(t)
	r.open(t)
	_, result := r.write(t, "a")
	result.Offset += 1000 // that the view will not read
	r.Told("a", result)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, _, _, err := r.Article(ctx, "a"); !errors.Is(err, api.ErrLate) {
		t.Errorf("%v, want %v", err, api.ErrLate)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, _, err := r.Article(gone, "a"); !errors.Is(err, context.Canceled) {
		t.Errorf("who asked has gone: %v", err)
	}
}
