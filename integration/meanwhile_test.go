//go:build integration

package integration

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// What clients see while an owner is lost: who reads the results, and who asks.

// follower reads what is committed to a topic.
type follower struct {
	mu sync.Mutex
	by producer
}

// producer is who wrote a record: whoever takes over a transactional id gets another epoch.
type producer struct {
	id    int64
	epoch int16
}

// follow follows a topic from its end on, from the first record that comes.
func (w *world) follow(topic string) *follower {
	w.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(w.addresses...), kgo.ConsumeTopics(topic),
		kgo.FetchIsolationLevel(kgo.ReadCommitted()), kgo.ConsumeResetOffset(kgo.NewOffset().AtEnd()))
	if err != nil {
		w.Fatal(err)
	}
	ctx, cancel := context.WithCancel(w.Context())
	w.Cleanup(client.Close)
	w.Cleanup(cancel)
	f := &follower{}
	go func() {
		for ctx.Err() == nil {
			client.PollFetches(ctx).EachRecord(func(r *kgo.Record) {
				f.mu.Lock()
				defer f.mu.Unlock()
				f.by = producer{id: r.ProducerID, epoch: r.ProducerEpoch}
			})
		}
	}()
	w.eventually("a record of "+topic, func() bool { return f.latest() != producer{} })
	return f
}

// latest returns who wrote the last record.
func (f *follower) latest() producer {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.by
}

// questions are the same question again and again, by a client that waits a second for an answer.
type questions struct {
	cancel context.CancelFunc
	done   chan struct{}
	all    []ending // after done
}

// ending is how a question ended.
type ending struct {
	at, ended time.Time
	what      string
}

const (
	answered  = "answered"
	askEvery  = 20 * time.Millisecond
	askerGoes = time.Second
)

// questions asks the instance from now on.
func (i *instance) questions() *questions {
	ctx, cancel := context.WithCancel(i.Context())
	q := &questions{cancel: cancel, done: make(chan struct{})}
	i.Cleanup(cancel)
	asker := http.Client{
		Timeout: askerGoes, Transport: &http.Transport{DisableKeepAlives: true},
	}
	go func() {
		defer close(q.done)
		every := time.NewTicker(askEvery)
		defer every.Stop()
		for ctx.Err() == nil {
			at := time.Now()
			what := outcome(asker.Post("http://"+i.listen+"/v1/check", "application/json",
				bytes.NewReader([]byte(`{"content":"The new bridge over the harbour opened this morning"}`))))
			q.all = append(q.all, ending{at: at, ended: time.Now(), what: what})
			select {
			case <-every.C:
			case <-ctx.Done():
			}
		}
	}()
	return q
}

// outcome says how a question ended.
func outcome(response *http.Response, err error) string {
	var timeout net.Error
	switch {
	case errors.As(err, &timeout) && timeout.Timeout():
		return "without an answer"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "refused"
	case err != nil:
		return "broken off"
	}
	defer response.Body.Close()
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		return "broken off"
	}
	if response.StatusCode != http.StatusOK {
		return "status " + strconv.Itoa(response.StatusCode)
	}
	return answered
}

// end returns how all questions ended.
func (q *questions) end() []ending {
	q.cancel()
	<-q.done
	return q.all
}

// answers is how questions ended that were asked while an owner was lost.
type answers struct {
	counts  map[string]int
	without time.Duration // the longest time from one answer to the next
	slowest time.Duration // of those that were answered
	last    time.Duration // the longest time from a loss to the last answer
}

// add counts the questions that were asked from the loss on.
func (a *answers) add(all []ending, lost time.Time) {
	if a.counts == nil {
		a.counts = make(map[string]int)
	}
	last := lost
	for _, q := range all {
		if q.at.Before(lost) {
			continue
		}
		a.counts[q.what]++
		a.without = max(a.without, q.ended.Sub(last))
		if q.what == answered {
			a.slowest = max(a.slowest, q.ended.Sub(q.at))
			last = q.ended
		}
	}
	a.last = max(a.last, last.Sub(lost))
}
