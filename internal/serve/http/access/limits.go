package access

import (
	"cmp"
	"container/list"
	"context"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"
)

// rates bound how often each client asks.
type rates struct {
	limit atomic.Int64 // requests a second, and at once; 0 is no limit
	most  int          // clients that are remembered: of more, the one that has asked for longest not

	mutex  sync.Mutex
	byKey  map[string]*list.Element // of recent
	recent list.List                // of *client; the one that asked last is at the front
}

type client struct {
	key    string
	bucket *rate.Limiter
}

// set changes the limit, of all clients that have asked too.
func (r *rates) set(limit int) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.limit.Store(int64(limit))
	r.byKey = make(map[string]*list.Element)
	r.recent.Init()
}

// take counts a request of a client, and reports whether it may be answered.
func (r *rates) take(key string, now time.Time) bool {
	return r.limit.Load() == 0 || r.bucket(key).AllowN(now, 1)
}

func (r *rates) bucket(key string) *rate.Limiter {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if element, ok := r.byKey[key]; ok {
		r.recent.MoveToFront(element)
		return element.Value.(*client).bucket
	}
	if len(r.byKey) >= r.most {
		last := r.recent.Back()
		delete(r.byKey, r.recent.Remove(last).(*client).key)
	}
	limit := int(r.limit.Load())
	one := &client{key: key, bucket: rate.NewLimiter(rate.Limit(limit), limit)}
	r.byKey[key] = r.recent.PushFront(one)
	return one.bucket
}

// places bound the long requests at once: of each client, and of all.
type places struct {
	each, all int

	mutex sync.Mutex
	taken int
	byKey map[string]int
}

func newPlaces(o LongRequests) places {
	return places{
		each: cmp.Or(o.Each, eachLong), all: cmp.Or(o.All, allLong), byKey: make(map[string]int),
	}
}

// take takes a place, and returns how to give it back; else which status says why not.
func (p *places) take(key string) (giveBack func(), refused int) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	switch {
	case p.byKey[key] >= p.each:
		return nil, http.StatusTooManyRequests
	case p.taken >= p.all:
		return nil, http.StatusServiceUnavailable
	}
	p.taken++
	p.byKey[key]++
	return func() {
		p.mutex.Lock()
		defer p.mutex.Unlock()
		p.taken--
		if p.byKey[key]--; p.byKey[key] == 0 {
			delete(p.byKey, key)
		}
	}, 0
}

// patient is where a long request is answered. Each write has its own deadline, and not the whole
// answer.
type patient struct {
	http.ResponseWriter
	control *http.ResponseController
	each    time.Duration
}

func (p *patient) extend() { _ = p.control.SetWriteDeadline(time.Now().Add(p.each)) }

// Write implements [http.ResponseWriter].
func (p *patient) Write(b []byte) (int, error) {
	p.extend()
	return p.ResponseWriter.Write(b)
}

// FlushError is what an [http.ResponseController] flushes by.
func (p *patient) FlushError() error {
	p.extend()
	return p.control.Flush()
}

// Unwrap is how an [http.ResponseController] finds all else.
func (p *patient) Unwrap() http.ResponseWriter { return p.ResponseWriter }

// until returns a context that ends with either of two.
func until(ctx, stopping context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(stopping, cancel)
	return ctx, func() { stop(); cancel() }
}
