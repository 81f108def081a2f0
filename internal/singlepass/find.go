package singlepass

import (
	"context"
	"maps"
	"slices"
	"strings"
)

// A Query asks where an article would belong.
type Query struct {
	Fingerprint Fingerprint
	// Begin is called, perhaps several times, when nothing can be committed until the query has looked
	// at the centres. Of where the space was at the last commit, it returns the article's event time
	// in Unix milliseconds, and who knows when a centre was last seen as of then; ok is false of a
	// centre that was not there. It must be quick.
	Begin func(State) (at int64, lastSeen func(seq uint64) (at int64, ok bool))
	// Others is how many centres to name beside the nearest: the next ones within the threshold.
	Others int
}

// maxAsked is of how many centres a query asks when they were last seen before it lets the one that
// assigns go on, and then looks again. It takes some hundred microseconds the first time, and some
// milliseconds where it has to look often.
const maxAsked, maxAskedLater = 128, 2048

// Find returns what [Space.Assign] would for an article that came right behind the last
// [Space.Commit], whatever was assigned since, and then the next centres, the nearest first. Of
// these the contacts are left out. It stores nothing. It may be called by any number of goroutines
// beside the writer, which assigns: at most GOMAXPROCS of them look at once, so that the writer
// waits for no more. Find waits while the writer has let go of centres that are needed. The error
// is that ctx ended meanwhile.
func (s *Space) Find(ctx context.Context, q Query) ([]Assignment, error) {
	l := look{Query: &q, Space: s, known: make(map[uint64]known), limit: maxAsked}
	for ; ; l.limit = min(2*l.limit, maxAskedLater) {
		if err := s.turn(ctx); err != nil {
			return nil, err
		}
		lacking, done := l.try()
		<-s.turns
		switch {
		case done:
			return l.found, nil
		case lacking != nil:
			select {
			case <-lacking:
			case <-ctx.Done():
				return nil, context.Cause(ctx)
			}
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		}
	}
}

// turn waits until it is a reader's turn to look at the index.
func (s *Space) turn(ctx context.Context) error {
	select {
	case s.turns <- struct{}{}:
		return nil
	default:
	}
	select {
	case s.turns <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// A look is a query at work.
type look struct {
	*Query
	*Space
	commit   uint64 // which the last one was
	state    State  // then
	at       int64  // stream time with the article
	lastSeen func(seq uint64) (int64, bool)
	known    map[uint64]known // by Seq: what lastSeen said, in all tries
	asked    int              // in this try
	limit    int              // of asked
	found    []Assignment
}

// known is what lastSeen said of a centre.
type known struct {
	at int64 // Unix milliseconds
	ok bool
}

// try looks at the centres and reports whether it could finish. It could not where it has to wait
// for lacking, or had to ask of many.
func (l *look) try() (lacking <-chan struct{}, done bool) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	if l.lacking != nil {
		return l.lacking, false
	}
	if l.commit != l.commits {
		// What had expired then stays so.
		maps.DeleteFunc(l.known, func(_ uint64, k known) bool {
			return !k.ok || !expired(k.at, l.state.StreamTime, l.window)
		})
	}
	var at int64
	l.commit, l.state = l.commits, l.committed
	l.state.StreamTime = l.committedStream(l.Fingerprint.Space)
	at, l.lastSeen = l.Begin(l.state)
	l.at, l.asked, l.found = max(l.state.StreamTime, at), 0, l.found[:0]
	l.find()
	return nil, l.asked <= l.limit
}

func (l *look) find() {
	a := Assignment{Position: l.state.Next}
	a.Centre, a.Distance, a.Joined = l.index.Nearest(l.Fingerprint, &Live{Asked: l.isLive})
	if !a.Joined {
		a.Centre = Centre{Fingerprint: l.Fingerprint, Seq: a.Position}
	}
	l.take(a)
	for a.Joined && len(l.found) <= l.Others {
		a.Centre, a.Distance, a.Joined = l.index.Nearest(l.Fingerprint, &Live{Asked: func(c Centre) bool {
			return !l.has(c.Seq) && l.isLive(c)
		}})
		if a.Joined {
			l.take(a)
		}
	}
}

// take keeps what outlives the query.
func (l *look) take(a Assignment) {
	a.Centre.Sketch = strings.Clone(a.Centre.Sketch)
	l.found = append(l.found, a)
}

func (l *look) has(seq uint64) bool {
	return slices.ContainsFunc(l.found, func(a Assignment) bool { return a.Centre.Seq == seq })
}

func (l *look) isLive(c Centre) bool { return l.lives(c.Seq) }

// lives reports whether a centre in the index was committed and has not expired. Without a window
// all that are older than the last commit are.
func (l *look) lives(seq uint64) bool {
	if seq >= l.state.Next || l.window < 0 {
		return seq < l.state.Next
	}
	k := l.of(seq)
	return k.ok && !expired(k.at, l.at, l.window)
}

// of returns what is known of a centre. When it has asked too often, it says that there is none, so
// that the try comes to its end.
func (l *look) of(seq uint64) (k known) {
	k, ok := l.known[seq]
	if ok {
		return k
	}
	if l.asked++; l.asked > l.limit {
		return known{}
	}
	k.at, k.ok = l.lastSeen(seq)
	l.known[seq] = k
	return k
}
