//go:build integration

package integration

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"golang.org/x/time/rate"

	"github.com/clusterd/clusterd/internal/cli/demo/sample"
)

// stream sends made-up articles at a steady rate until it is stopped.
type stream struct {
	*world
	cancel context.CancelFunc
	done   chan error
	sent   atomic.Int64
}

func (w *world) stream(perSecond int) *stream {
	w.Helper()
	ctx, cancel := context.WithCancel(w.Context())
	s := &stream{world: w, cancel: cancel, done: make(chan error, 1)}
	client := w.producer()
	go func() { s.done <- s.run(ctx, client, perSecond) }()
	w.Cleanup(cancel)
	return s
}

func (s *stream) run(ctx context.Context, client *kgo.Client, perSecond int) error {
	generator := sample.New(*seed, time.Now())
	limiter := rate.NewLimiter(rate.Limit(perSecond), max(1, perSecond/10))
	random := rand.New(rand.NewPCG(*seed, 2))
	var failed error
	var once sync.Once
	for limiter.Wait(ctx) == nil {
		r := &kgo.Record{
			Value:   withContact(generator.Next(), random).JSON(),
			Headers: []kgo.RecordHeader{{Key: "traceparent", Value: fmt.Append(nil, s.sent.Load())}},
		}
		client.Produce(s.Context(), r,
			func(_ *kgo.Record, err error) {
				if err != nil {
					once.Do(func() { failed = err })
				}
				s.sent.Add(1)
			})
	}
	return errors.Join(client.Flush(s.Context()), failed)
}

// contacts is how many contacts of a kind articles of a stream name.
const contacts = 200

// withContact has one article of three name a contact, so that labels mark it: one of a few that
// texts of all kinds have.
func withContact(a sample.Article, random *rand.Rand) sample.Article {
	switch random.IntN(6) {
	case 0:
		a.Content += fmt.Sprintf(" Telegram alexis%d", 10+random.IntN(contacts))
	case 1:
		a.Content += fmt.Sprintf(" https://shop%d.example/", random.IntN(contacts))
	}
	return a
}

// stop waits until all that was sent has arrived.
func (s *stream) stop() {
	s.Helper()
	s.cancel()
	if err := <-s.done; err != nil {
		s.Fatalf("sending articles: %v", err)
	}
}

// send sends n made-up articles and waits until they have arrived.
func (w *world) send(n int) {
	w.Helper()
	w.sends++
	generator := sample.New(*seed+w.sends, time.Now())
	records := make([]*kgo.Record, n)
	for i := range records {
		records[i] = &kgo.Record{Value: generator.Next().JSON()}
	}
	w.produce(records...)
}

// witness is a reader of the results while everything else fails: what it has seen must never
// change.
type witness struct {
	*world
	client *kgo.Client
	stop   context.CancelFunc
	done   chan error
	path   string
	seen   atomic.Int64
}

func (w *world) witness() *witness {
	w.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(w.addresses[0]),
		kgo.FetchIsolationLevel(kgo.ReadCommitted()), kgo.ConsumeTopics(w.output))
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(client.Close)
	ctx, stop := context.WithCancel(w.Context())
	w.Cleanup(stop)
	witness := &witness{
		world: w, client: client, stop: stop, done: make(chan error, 1),
		path: filepath.Join(w.dir, "seen.jsonl"),
	}
	go func() { witness.done <- witness.follow(ctx) }()
	return witness
}

func (w *witness) follow(ctx context.Context) error {
	file, err := os.Create(w.path)
	if err != nil {
		return err
	}
	defer file.Close()
	out := bufio.NewWriter(file)
	for ctx.Err() == nil {
		w.client.PollFetches(ctx).EachRecord(func(r *kgo.Record) {
			_, _ = out.Write(append(r.Value, '\n')) // Flush says it
			w.seen.Add(1)
		})
	}
	return out.Flush()
}

// end waits until the witness has seen everything that is there, and returns the file of it.
func (w *witness) end() string {
	w.Helper()
	want := int64(len(w.read(w.output, kgo.ReadCommitted())))
	w.eventually("the witness to see all results", func() bool { return w.seen.Load() >= want })
	w.stop()
	if err := <-w.done; err != nil {
		w.Fatal(err)
	}
	w.Logf("a reader saw %d results on the way", w.seen.Load())
	return w.path
}
