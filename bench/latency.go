package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tidwall/gjson"
	"github.com/twmb/franz-go/pkg/kgo"
)

// latency is how long articles took from when they were to be sent until a reader of committed
// records had their results, in milliseconds.
type latency struct {
	Articles int     `json:"articles"`
	P50      float64 `json:"p50_ms"`
	P99      float64 `json:"p99_ms"`
	P999     float64 `json:"p99_9_ms"`
	Max      float64 `json:"max_ms"`
	// Late is how late the latest article was sent, which is in the others.
	Late float64 `json:"sent_late_ms"`
}

// newLatency sorts what each article took.
func newLatency(took []time.Duration, late time.Duration) latency {
	slices.Sort(took)
	at := func(p float64) float64 { return milliseconds(percentile(took, p)) }
	return latency{
		Articles: len(took), P50: at(0.5), P99: at(0.99), P999: at(0.999), Max: at(1),
		Late: milliseconds(late),
	}
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1_000 }

// percentile returns the smallest of the values that a share p of all does not exceed (nearest
// rank). They are ascending, and there is at least one.
func percentile(sorted []time.Duration, p float64) time.Duration {
	return sorted[max(1, int(math.Ceil(p*float64(len(sorted)))))-1]
}

// latencies measures clusterd and Kafka Streams in turns.
func (b *bench) latencies(ctx context.Context) error {
	var contenders []contender
	for _, c := range b.settings.wanted() {
		if c.name == "clusterd" || c.name == "streams" {
			contenders = append(contenders, c)
			b.report.Latency = append(b.report.Latency, latencyReport{Role: c.name, Rate: b.settings.rate})
		}
	}
	in := newCorpus("n", b.news, newsSize, true)
	for round := range b.settings.rounds {
		for i, c := range contenders {
			l, err := b.latency(ctx, c, fmt.Sprintf("latency-%s-%d", c.name, round+1), in)
			if err != nil {
				return fmt.Errorf("the latency of %s: %w", c.name, err)
			}
			say("latency, round %d of %d: %s p50 %.1f ms, p99 %.1f ms", round+1, b.settings.rounds, c.name,
				l.P50, l.P99)
			b.report.Latency[i].Rounds = append(b.report.Latency[i].Rounds, l)
		}
	}
	return nil
}

// latency measures one contender, on an input of its own.
func (b *bench) latency(
	ctx context.Context, c contender, id string, in corpus,
) (l latency, err error) {
	j, err := b.newJob(ctx, id, b.prefix+id+".articles", b.settings.partitions)
	if err == nil {
		err = b.kafka.createTopic(ctx, j.input, b.settings.partitions)
	}
	if err != nil {
		return l, err
	}
	p, err := b.start(ctx, c, j)
	if err != nil {
		return l, err
	}
	// A process that ends takes with it whoever waits for it.
	working, cancel := context.WithCancelCause(ctx)
	go func() {
		<-p.Exited()
		cancel(p.Ended())
	}()
	l, err = b.paced(working, j, in)
	if err != nil && ctx.Err() == nil {
		err = fmt.Errorf("(log %s): %w", p.Log(), cmp.Or(context.Cause(working), err))
	}
	if err = errors.Join(err, p.Stop()); err != nil {
		return l, err
	}
	return l, b.finish(ctx, j)
}

// paced sends articles at an even pace and looks when their results come. The first one, after
// which the process is known to work, and those of the warm-up do not count.
func (b *bench) paced(ctx context.Context, j job, in corpus) (l latency, err error) {
	producer, err := b.kafka.producer(0)
	if err != nil {
		return l, err
	}
	defer producer.Close()
	warm := 1 + int(b.settings.warmUp.Seconds()*float64(b.settings.rate))
	all := warm + max(1, int(b.settings.length.Seconds()*float64(b.settings.rate)))
	seen, err := b.newSeen(ctx, j.output, in, all)
	if err != nil {
		return l, err
	}
	defer seen.close()
	send := func(i int) {
		producer.Produce(ctx, in.record(j.input, b.settings.partitions, i),
			func(_ *kgo.Record, err error) {
				if err != nil {
					seen.fail(fmt.Errorf("sending article %d: %w", i, err))
				}
			})
	}
	send(0)
	if err := seen.wait(ctx, 1); err != nil {
		return l, err
	}
	start, late := time.Now(), time.Duration(0)
	due := func(i int) time.Time {
		return start.Add(time.Duration(float64(i) / float64(b.settings.rate) * float64(time.Second)))
	}
	for i := 1; i < all && ctx.Err() == nil; i++ {
		time.Sleep(time.Until(due(i)))
		late = max(late, time.Since(due(i)))
		send(i)
	}
	if err := seen.wait(ctx, all); err != nil {
		return l, err
	}
	took := make([]time.Duration, 0, all-warm)
	for i := warm; i < all; i++ {
		took = append(took, seen.at[i].Sub(due(i)))
	}
	return newLatency(took, late), nil
}

// seen notes when the results of articles become visible.
type seen struct {
	client *kgo.Client
	cancel context.CancelFunc
	ended  chan struct{}

	mu   sync.Mutex
	at   []time.Time // by article; to be read when all are there
	n    int         // how many are
	err  error
	news chan struct{} // n or err has changed
}

func (b *bench) newSeen(ctx context.Context, topic string, in corpus, all int) (*seen, error) {
	client, err := kgo.NewClient(kgo.SeedBrokers(strings.Split(b.kafka.address, ",")...),
		kgo.ConsumeTopics(topic),
		kgo.FetchIsolationLevel(kgo.ReadCommitted()), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	s := &seen{
		client: client, cancel: cancel, ended: make(chan struct{}), at: make([]time.Time, all),
		news: make(chan struct{}, 1),
	}
	go func() {
		defer close(s.ended)
		for ctx.Err() == nil {
			fetches, now := client.PollFetches(ctx), time.Now()
			if err := fetches.Err(); err != nil && ctx.Err() == nil {
				s.fail(fmt.Errorf("reading results: %w", err))
			}
			fetches.EachRecord(func(r *kgo.Record) { s.note(r, in, now) })
		}
	}()
	return s, nil
}

func (s *seen) close() {
	s.cancel()
	<-s.ended
	s.client.Close()
}

// note takes a result in. One of an article that was not sent, or a second one, is an error.
func (s *seen) note(r *kgo.Record, in corpus, now time.Time) {
	i, err := in.number(gjson.GetBytes(r.Value, "article_id").String())
	s.mu.Lock()
	switch {
	case err != nil:
	case i < 0 || i >= len(s.at):
		err = fmt.Errorf("a result of article %d, which was not sent", i)
	case !s.at[i].IsZero():
		err = fmt.Errorf("a second result of article %d", i)
	default:
		s.at[i] = now
		s.n++
	}
	s.mu.Unlock()
	if err != nil {
		s.fail(err)
		return
	}
	s.notify()
}

func (s *seen) fail(err error) {
	s.mu.Lock()
	s.err = errors.Join(s.err, err)
	s.mu.Unlock()
	s.notify()
}

func (s *seen) notify() {
	select {
	case s.news <- struct{}{}:
	default: // there are news already
	}
}

// wait waits until n results are there.
func (s *seen) wait(ctx context.Context, n int) error {
	timeout := time.NewTimer(stallTimeout)
	defer timeout.Stop()
	for {
		s.mu.Lock()
		have, err := s.n, s.err
		s.mu.Unlock()
		if err != nil || have >= n {
			return err
		}
		select {
		case <-s.news:
		case <-timeout.C:
			return fmt.Errorf("%d of %d results came within %s", have, n, stallTimeout)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
