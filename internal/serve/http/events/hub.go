// Package events hands what is committed to those who ask for it as it comes. Records go in at
// one end, from whoever reads the topics; at the other, any number of clients take those that
// they want, each at its own pace.
//
// All share one ring of the last events. A client that is slower than the ring turns misses some,
// and is told how many. So whoever publishes never waits, and what clients cost in memory is
// bounded, however many and however slow they are.
package events

import (
	"sync"
	"time"
)

const (
	// maxEvents and maxBytes bound the ring.
	maxEvents = 16384
	maxBytes  = 8 << 20 // of values; what is sent of them takes as much again
)

// A Hub hands events on. It is safe for concurrent use.
type Hub struct {
	mutex   sync.Mutex
	ring    []*event // the last ones, in order
	bytes   int      // of their values
	next    uint64   // how many were published, and lost before that
	more    chan struct{}
	clients int
	dropped uint64
	changed chan struct{} // closed when clients changes
}

// NewHub returns a Hub to which nothing was published yet.
func NewHub() *Hub { return &Hub{changed: make(chan struct{})} }

// Publish hands events on. It does not wait, and takes no longer for many clients than for one.
func (h *Hub) Publish(events ...Event) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	if h.clients == 0 {
		return
	}
	for _, e := range events {
		h.ring = append(h.ring, &event{Event: e})
		h.bytes += len(e.Value)
		h.next++
	}
	for len(h.ring) > maxEvents || h.bytes > maxBytes {
		h.bytes -= len(h.ring[0].Value)
		h.ring[0] = nil
		h.ring = h.ring[1:]
	}
	h.wake()
}

// Lost says that so many events passed that nobody could publish.
func (h *Hub) Lost(n uint64) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	h.next += n
	h.ring, h.bytes = nil, 0
	h.wake()
}

func (h *Hub) wake() {
	if h.more != nil {
		close(h.more)
		h.more = nil
	}
}

// Active reports whether there are clients. Without any, nothing need be published.
func (h *Hub) Active() bool {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	return h.clients > 0
}

// Changed returns a channel that is closed when a client comes or goes.
func (h *Hub) Changed() <-chan struct{} {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	return h.changed
}

// Clients returns how many clients there are, and how many events were not sent to clients since
// these were too slow.
func (h *Hub) Clients() (n int, dropped uint64) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	return h.clients, h.dropped
}

// pace returns how long a client waits for more events once there is one.
func (h *Hub) pace() time.Duration {
	n, _ := h.Clients()
	return max(leastPace, time.Duration(n)*eachPace)
}

// enter counts a client, and returns the number of the first event that it shall see.
func (h *Hub) enter() (from uint64) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	h.clients++
	h.signal()
	return h.next
}

func (h *Hub) leave() {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	h.clients--
	if h.clients == 0 {
		h.ring, h.bytes = nil, 0
	}
	h.signal()
}

func (h *Hub) signal() {
	close(h.changed)
	h.changed = make(chan struct{})
}

// since returns the next events from a number on that are still there, about so many bytes of
// them, and how many are not. Where there is none yet, more is closed when there is.
func (h *Hub) since(from uint64, bytes int) (found []*event, lost uint64, more <-chan struct{}) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	first := h.next - uint64(len(h.ring))
	if from < first {
		lost = first - from
		h.dropped += lost
		from = first
	}
	for _, e := range h.ring[from-first:] {
		found = append(found, e)
		if bytes -= len(e.Value); bytes <= 0 {
			break
		}
	}
	if found == nil && h.more == nil {
		h.more = make(chan struct{})
	}
	return found, lost, h.more
}
