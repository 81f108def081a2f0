package state

import "github.com/clusterd/clusterd/internal/message/article"

// A location is where a cluster is stored, beside its seq.
type location struct {
	founder article.Address
	entry   int64 // the time under which its expiry entry stands
}

// locations are those of clusters that were read or written lately, by seq. They are in two
// generations: where the young one is full, it takes the place of the old one.
type locations struct{ young, old map[uint64]location }

// maxLocations is how many a generation has. A batch looks at fewer clusters in the main.
const maxLocations = 1 << 15

func newLocations() locations { return locations{young: make(map[uint64]location)} }

func (l *locations) get(seq uint64) (location, bool) {
	at, ok := l.young[seq]
	if !ok {
		at, ok = l.old[seq]
	}
	return at, ok
}

func (l *locations) set(seq uint64, at location) {
	if len(l.young) >= maxLocations {
		l.young, l.old = make(map[uint64]location, maxLocations), l.young
	}
	l.young[seq] = at
}

func (l *locations) remove(seq uint64) {
	delete(l.young, seq)
	delete(l.old, seq)
}

// locationOf returns where a cluster is stored, where that is known.
func (s *Store) locationOf(seq uint64) (location, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.read.get(seq)
}
