//go:build integration

package integration

import (
	"context"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"golang.org/x/time/rate"

	"github.com/clusterd/clusterd/internal/sample"
)

// Instances that are killed at random moments, and a broker that is killed too, lose nothing, double
// nothing and change nothing.
func TestKilled(t *testing.T) {
	const articles, perSecond, kills, brokerKill = 20_000, 160, 10, 5
	// Without linger there is nearly always a transaction for a kill to hit.
	w := newWorld(t, 4, "batch: {linger: 0s}\n")
	random := rand.New(rand.NewPCG(1, uint64(time.Now().UnixNano())))

	var sent atomic.Int64
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	stream := make(chan error, 1)
	go func() { stream <- w.stream(ctx, articles, perSecond, &sent) }()

	live := []*instance{w.start(), w.start()}
	w.progress(0)
	for kill := range kills {
		i := random.IntN(len(live))
		time.Sleep(time.Duration(random.IntN(500)) * time.Millisecond) // the random moment
		live[i].kill()
		live[i] = w.start()
		if kill == brokerKill {
			mustBroker(t, "kill")
			mustBroker(t, "start")
		}
		before := len(w.read(w.output, kgo.ReadCommitted()))
		w.progress(before)
		t.Logf("kill %d of %d: %d articles sent, %d results before it", kill+1, kills, sent.Load(), before)
	}
	if err := <-stream; err != nil {
		t.Fatal(err)
	}
	w.done(2 * time.Minute)
	for _, i := range live {
		i.stop()
	}
	w.audit(3)
	aborted := len(w.read(w.output, kgo.ReadUncommitted())) - len(w.read(w.output, kgo.ReadCommitted()))
	t.Logf("%d records of aborted transactions in %s", aborted, w.output)
	if aborted == 0 {
		t.Error("no kill hit a transaction: the test proves nothing")
	}
}

// stream sends made-up articles at a steady rate.
func (w *world) stream(ctx context.Context, articles, perSecond int, sent *atomic.Int64) error {
	client := w.producer()
	generator := sample.New(1, time.Now())
	limiter := rate.NewLimiter(rate.Limit(perSecond), perSecond/10)
	failed := make(chan error, articles)
	for range articles {
		if err := limiter.Wait(ctx); err != nil {
			return err
		}
		client.Produce(ctx, &kgo.Record{Value: generator.Next().JSON()}, func(_ *kgo.Record, err error) {
			if err != nil {
				failed <- err
			}
			sent.Add(1)
		})
	}
	if err := client.Flush(ctx); err != nil {
		return err
	}
	select {
	case err := <-failed:
		return err
	default:
		return nil
	}
}

// progress waits until there are more results than before.
func (w *world) progress(before int) {
	w.Helper()
	w.eventually(time.Minute, "more results", func() bool { return len(w.read(w.output, kgo.ReadCommitted())) > before })
}

// Each partition a space of its own, spread over two instances: nothing is lost when one goes.
func TestScopePartition(t *testing.T) {
	w := newWorld(t, 4, "cluster: {scope: partition}\n")
	w.byPartition = true
	generator := sample.New(2, time.Now())
	send := func() {
		var records []*kgo.Record
		for range 1000 {
			records = append(records, &kgo.Record{Value: generator.Next().JSON()})
		}
		w.produce(records...)
	}
	first := w.start()
	first.waitFor("live")
	second := w.start()
	second.waitFor("live")
	send()
	w.done(time.Minute)
	for _, i := range []*instance{first, second} {
		if n := strings.Count(i.said(), "msg=live"); n == 0 {
			t.Error("an instance owned nothing")
		}
	}
	first.kill()
	send()
	w.done(time.Minute)
	second.stop()
	w.audit(3)
}

// Records of aborted transactions are no articles.
func TestAbortedInput(t *testing.T) {
	w := newWorld(t, 2, "")
	running := w.start()
	client := w.producer(kgo.TransactionalID(w.group + "-foreign"))
	generator := sample.New(3, time.Now())
	for n := range 20 {
		if err := client.BeginTransaction(); err != nil {
			t.Fatal(err)
		}
		for range 10 {
			client.Produce(t.Context(), &kgo.Record{Value: generator.Next().JSON()}, nil)
		}
		if err := client.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := client.EndTransaction(t.Context(), kgo.TransactionEndTry(n%2 == 0)); err != nil {
			t.Fatal(err)
		}
	}
	w.done(time.Minute)
	running.stop()
	if results := w.audit(3); len(results) != 100 {
		t.Errorf("%d results of 100 committed articles", len(results))
	}
}

// A restart goes on with the same clusters.
func TestRestart(t *testing.T) {
	w := newWorld(t, 1, "")
	article := []byte(`{"title":"Harbour bridge opens","content":"The new bridge over the northern harbour opened to traffic this morning."}`)
	for n := 1; n <= 3; n++ {
		running := w.start()
		w.produce(&kgo.Record{Value: article})
		w.done(time.Minute)
		running.stop()
		results := w.results()
		if last := results[len(results)-1]; len(results) != n || last.Size != n || *last.ClusterID != w.input+"/0/0" {
			t.Fatalf("run %d: %+v", n, last)
		}
	}
}
