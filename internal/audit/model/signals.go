package model

import "slices"

const (
	// MaxPublishers is up to how many publishers of a cluster are told apart.
	MaxPublishers = 64
	// buckets are those of the event times that are recent: that of the stream time, and eleven
	// before it. A bucket is a twelfth of the window, and they begin at 1970.
	buckets = 12
)

// Signals are what a cluster's articles say together.
type Signals struct {
	publishers []uint64 // digests, of up to one more than are told apart
	recent     []bucket
	newest     int64 // the bucket of stream time when the last article came
}

// A bucket is how many articles have an event time in it.
type bucket struct{ number, articles int64 }

// Publishers returns how many there are: one more than MaxPublishers for any number beyond.
func (s *Signals) Publishers() int64 { return int64(len(s.publishers)) }

// Recent returns how many articles were recent when the last of them came.
func (s *Signals) Recent() (n int64) {
	for _, b := range s.recent {
		n += b.articles
	}
	return n
}

// Add counts an article of an event time and a publisher, where 0 is nobody, at a stream time: it
// is recent within a window, in milliseconds.
func (s *Signals) Add(window, now, at int64, publisher uint64) {
	s.add(window/buckets, now, at, publisher)
}

// Clone returns a copy that goes on by itself.
func (s *Signals) Clone() Signals {
	return Signals{slices.Clone(s.publishers), slices.Clone(s.recent), s.newest}
}

// Merge adds what another has counted, by the same window.
func (s *Signals) Merge(other *Signals) {
	for _, p := range other.publishers {
		if len(s.publishers) <= MaxPublishers && !slices.Contains(s.publishers, p) {
			s.publishers = append(s.publishers, p)
		}
	}
	s.newest = max(s.newest, other.newest)
	s.recent = slices.DeleteFunc(slices.Concat(s.recent, other.recent),
		func(b bucket) bool { return b.number <= s.newest-buckets })
}

// add counts an article of an event time and a publisher, where 0 is nobody, at a stream time.
func (s *Signals) add(width, now, at int64, publisher uint64) {
	latest, own := max(0, now)/width, max(0, at)/width
	s.newest = max(s.newest, latest)
	old := func(b bucket) bool { return b.number <= latest-buckets }
	s.recent = slices.DeleteFunc(s.recent, old)
	i := slices.IndexFunc(s.recent, func(b bucket) bool { return b.number == own })
	switch {
	case i >= 0:
		s.recent[i].articles++
	case !old(bucket{number: own}):
		s.recent = append(s.recent, bucket{own, 1})
	}
	if publisher != 0 && len(s.publishers) <= MaxPublishers &&
		!slices.Contains(s.publishers, publisher) {
		s.publishers = append(s.publishers, publisher)
	}
}
