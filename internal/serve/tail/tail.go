// Package tail follows the ends of topics for those who want to know at once what is committed:
// the results, the labels and the corrections. Committed records go in; each subscriber gets them
// in order, from when it subscribed.
//
// All subscribers share one ring of the latest records. Nobody is waited for: who is too slow loses
// the oldest, and is told how many. So subscribers cost no memory, and a slow one slows nothing.
// While there is no subscriber, nothing is read.
package tail

import (
	"context"
	"log/slog"
	"strconv"
	"sync"
	"time"

	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/message/article"
)

// A Kind is what the records of a topic are.
type Kind string

// The kinds of topics that are followed.
const (
	Result     Kind = "result"
	Label      Kind = "label"
	Correction Kind = "correction"
)

// An Event is a committed record. All subscribers share it: nobody may write to it.
type Event struct {
	Kind    Kind
	Address article.Address // in its topic
	Time    time.Time       // of the record
	Key     []byte
	Value   []byte // nil: a tombstone
	// Source is the address of the article that a result is of; empty where it does not say.
	Source string
	// Position is that of a result; 0 of any other record, and of what comes before the first cluster.
	// Unclustered articles had none in results of earlier versions.
	Position uint64
}

// Options are what a tail needs.
type Options struct {
	Client *kafka.Client
	Log    *slog.Logger
	Topics map[Kind]string
	// Records and Bytes are how many of the latest records are kept; 0 is 8,192, and 16 MiB.
	Records, Bytes int
	// Linger is for how long the topics are followed when nobody wants it any more: to begin takes
	// some requests. 0 is 30 s.
	Linger time.Duration
}

// A Tail follows the ends of topics while somebody wants it. [Tail.Run] does the work; the other
// methods are safe for concurrent use.
type Tail struct {
	Options

	mutex       sync.Mutex
	ring        []Event
	first       uint64 // the number of the first event in the ring, of all that ever came
	bytes       int    // of the ring
	changed     chan struct{}
	waiting     map[string][]chan<- Event // for the result of a source
	subscribers int
	left        time.Time     // when the last one left
	wanted      chan struct{} // gets a value when there is one
	ready       chan struct{} // closed when it is known from where on the topics are read
}

// New returns a tail that reads nothing yet.
func New(o Options) *Tail {
	if o.Records == 0 {
		o.Records = 8192
	}
	if o.Bytes == 0 {
		o.Bytes = 16 << 20
	}
	if o.Linger == 0 {
		o.Linger = 30 * time.Second
	}
	return &Tail{
		Options: o, changed: make(chan struct{}), waiting: make(map[string][]chan<- Event),
		wanted: make(chan struct{}, 1), ready: make(chan struct{}),
	}
}

// A Subscription gets the events from when it was made. It is for one goroutine.
type Subscription struct {
	*Tail
	next  uint64 // the number of the event to come
	close sync.Once
}

// Subscribe returns a subscription to all that is committed from now on. It waits until it is known
// where that begins, which takes some requests for the first one. Close it when done.
func (t *Tail) Subscribe(ctx context.Context) (*Subscription, error) {
	t.mutex.Lock()
	t.subscribers++
	ready := t.ready
	t.mutex.Unlock()
	select {
	case t.wanted <- struct{}{}:
	default: // it is said already
	}
	select {
	case <-ready:
	case <-ctx.Done():
		t.leave()
		return nil, ctx.Err()
	}
	t.mutex.Lock()
	defer t.mutex.Unlock()
	return &Subscription{Tail: t, next: t.first + uint64(len(t.ring))}, nil
}

// Close ends the subscription.
func (s *Subscription) Close() { s.close.Do(s.leave) }

func (t *Tail) leave() {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.subscribers--
	t.left = time.Now()
}

// unused reports whether nobody has wanted anything for a while. From then on whoever comes waits
// for a new beginning.
func (t *Tail) unused() bool {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	if t.subscribers > 0 || time.Since(t.left) < t.Linger {
		return false
	}
	t.ready = make(chan struct{})
	t.lose()
	return true
}

// maxEvents is how many Next returns at most.
const maxEvents = 256

// Next waits for events, and returns at least one, in the order in which they came. Dropped is how
// many came before them that are gone, since this subscriber was too slow. It fails only when ctx
// ends.
func (s *Subscription) Next(ctx context.Context) (events []Event, dropped uint64, err error) {
	for {
		s.mutex.Lock()
		changed := s.changed
		if s.next < s.first {
			dropped += s.first - s.next
			s.next = s.first
		}
		from := s.ring[s.next-s.first:]
		events = append(events, from[:min(len(from), maxEvents)]...)
		s.next += uint64(len(events))
		s.mutex.Unlock()
		if len(events) > 0 {
			return events, dropped, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, dropped, ctx.Err()
		}
	}
}

// Await waits for the result of the record at this address of the input topic, which was written
// after the subscription was made. It fails only when ctx ends.
func (s *Subscription) Await(ctx context.Context, source article.Address) (Event, error) {
	name, found := source.String(), make(chan Event, 1)
	s.mutex.Lock()
	for _, e := range s.ring[max(s.next, s.first)-s.first:] {
		if e.Kind == Result && e.Source == name {
			s.mutex.Unlock()
			return e, nil
		}
	}
	s.waiting[name] = append(s.waiting[name], found)
	s.mutex.Unlock()
	select {
	case e := <-found:
		return e, nil
	case <-ctx.Done():
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	var others []chan<- Event
	for _, c := range s.waiting[name] {
		if c != found {
			others = append(others, c)
		}
	}
	if s.waiting[name] = others; others == nil {
		delete(s.waiting, name)
	}
	select {
	case e := <-found: // it came meanwhile
		return e, nil
	default:
		return Event{}, ctx.Err()
	}
}

// publish hands records on.
func (t *Tail) publish(kind Kind, records []kafka.Record) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	for i := range records {
		e := event(kind, &records[i])
		t.ring = append(t.ring, e)
		t.bytes += e.size()
		if kind == Result {
			for _, found := range t.waiting[e.Source] {
				found <- e // it has room, and gets no other
			}
			delete(t.waiting, e.Source)
		}
	}
	n := 0
	for ; len(t.ring)-n > 1 && (len(t.ring)-n > t.Records || t.bytes > t.Bytes); n++ {
		t.bytes -= t.ring[n].size()
		t.ring[n] = Event{} // so that it holds no memory
	}
	t.ring, t.first = t.ring[n:], t.first+uint64(n)
	t.tell()
}

// lose empties the ring, in which something is missing. The caller holds the mutex.
func (t *Tail) lose() {
	t.first += uint64(len(t.ring)) + 1
	t.ring, t.bytes = nil, 0
	t.tell()
}

// tell wakes who waits for events. The caller holds the mutex.
func (t *Tail) tell() {
	close(t.changed)
	t.changed = make(chan struct{})
}

func (e *Event) size() int { return len(e.Key) + len(e.Value) + len(e.Source) }

func event(kind Kind, r *kafka.Record) Event {
	e := Event{
		Kind: kind, Time: r.Time, Key: r.Key, Value: r.Value,
		Address: article.Address{Topic: r.Topic, Partition: r.Partition, Offset: r.Offset},
	}
	for _, h := range r.Headers {
		switch h.Key {
		case article.HeaderSource:
			e.Source = string(h.Value)
		case article.HeaderPosition:
			e.Position, _ = strconv.ParseUint(string(h.Value), 10, 64) // 0 of what is no number
		}
	}
	return e
}
