//go:build integration

package integration

import (
	"context"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"syscall"
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
	witness := w.witness()
	for kill := range kills {
		i := random.IntN(len(live))
		if random.IntN(4) > 0 {
			i = owner(live)
		}
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
	witness.compare(w.audit(3))
	aborted := 0
	for _, topic := range []string{w.output, w.clusters} {
		aborted += len(w.read(topic, kgo.ReadUncommitted())) - len(w.read(topic, kgo.ReadCommitted()))
	}
	t.Logf("%d records of aborted transactions", aborted)
	if aborted == 0 {
		t.Error("no kill hit a transaction: the test proves nothing")
	}
}

// owner is the instance that works; the others stand by.
func owner(instances []*instance) int {
	for i, instance := range instances {
		if strings.Contains(instance.said(), "msg=live") {
			return i
		}
	}
	return 0
}

// witness is a reader of the results while everything else fails: what it has seen must never change.
type witness struct {
	*world
	client *kgo.Client
	stop   context.CancelFunc
	done   chan struct{}
	seen   map[string]string // cluster id by source
	twice  int
}

func (w *world) witness() *witness {
	w.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(address), kgo.FetchIsolationLevel(kgo.ReadCommitted()), kgo.ConsumeTopics(w.output))
	if err != nil {
		w.Fatal(err)
	}
	ctx, stop := context.WithCancel(w.Context())
	witness := &witness{world: w, client: client, stop: stop, done: make(chan struct{}), seen: make(map[string]string)}
	go func() {
		defer close(witness.done)
		for ctx.Err() == nil {
			client.PollFetches(ctx).EachRecord(func(r *kgo.Record) {
				at := header(r, "clusterd.source")
				if _, ok := witness.seen[at]; ok {
					witness.twice++
				}
				witness.seen[at] = string(r.Key)
			})
		}
	}()
	return witness
}

// compare holds what was seen on the way to what is there at the end.
func (w *witness) compare(results []result) {
	w.Helper()
	w.stop()
	<-w.done
	w.client.Close()
	final := make(map[string]string)
	for _, r := range results {
		if r.ClusterID != nil {
			final[r.Source.String()] = *r.ClusterID
		}
	}
	changed := 0
	for at, cluster := range w.seen {
		if final[at] != cluster && final[at] != "" {
			changed++
			w.Errorf("%s was in cluster %s and is in %s", at, cluster, final[at])
		}
	}
	if w.twice > 0 {
		w.Errorf("%d results were seen twice", w.twice)
	}
	w.Logf("a reader saw %d results on the way, of which %d changed", len(w.seen), changed)
	if len(w.seen) < len(results)/2 {
		w.Errorf("it saw only %d of %d results", len(w.seen), len(results))
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

// An instance that is held up until another has taken over finds out, and neither loses nor doubles.
func TestPaused(t *testing.T) {
	w := newWorld(t, 2, "batch: {linger: 0s}\n")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var sent atomic.Int64
	stream := make(chan error, 1)
	go func() { stream <- w.stream(ctx, 4000, 160, &sent) }()

	first := w.start()
	first.waitFor("msg=live")
	second := w.start()
	second.waitFor("standing by")
	first.signal(syscall.SIGSTOP)
	second.waitFor("msg=live")
	first.signal(syscall.SIGCONT)
	first.waitFor("another instance has taken over")
	if err := <-stream; err != nil {
		t.Fatal(err)
	}
	w.done(time.Minute)
	first.stop()
	second.stop()
	w.audit(3)
}

// Partitions that are added to the input are taken in, with the clusters that are there.
func TestPartitionsAdded(t *testing.T) {
	w := newWorld(t, 1, "")
	running := w.start()
	generator := sample.New(5, time.Now())
	send := func(partition int32) {
		var records []*kgo.Record
		for range 200 {
			records = append(records, &kgo.Record{Partition: partition, Value: generator.Next().JSON()})
		}
		if err := w.producer(kgo.RecordPartitioner(kgo.ManualPartitioner())).ProduceSync(t.Context(), records...).FirstErr(); err != nil {
			t.Fatal(err)
		}
	}
	send(0)
	w.done(time.Minute)
	mustBroker(t, "tool", "topics", "--alter", "--topic", w.input, "--partitions", "3")
	w.eventually(30*time.Second, "three partitions", func() bool { return len(w.ends(w.input)) == 3 })
	send(2)
	send(1)
	w.done(time.Minute)
	running.stop()
	w.audit(3)
}
