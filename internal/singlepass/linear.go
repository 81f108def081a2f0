package singlepass

import (
	"iter"
	"slices"
	"sync/atomic"
)

// linear compares a query with every centre.
type linear struct {
	distance   func(a, b Fingerprint) float64
	threshold  float64
	centres    []Centre
	candidates atomic.Uint64
}

// NewLinear returns an empty index that scans all centres for one at up to the distance threshold.
// It is the plain statement of what an [Index] answers, and fit for spaces of a few hundred
// centres.
func NewLinear(threshold float64, distance func(a, b Fingerprint) float64) Index {
	return &linear{distance: distance, threshold: threshold}
}

func (l *linear) Insert(c Centre) { l.centres = append(l.centres, c) }

func (l *linear) BulkLoad(_ int, centres iter.Seq[Centre]) {
	l.centres = slices.AppendSeq(l.centres, centres)
}

func (l *linear) Remove(c Centre) bool {
	i := slices.Index(l.centres, c)
	if i >= 0 {
		l.centres = slices.Delete(l.centres, i, i+1)
	}
	return i >= 0
}

func (l *linear) Nearest(f Fingerprint, live func(Centre) bool) (Centre, float64, bool) {
	best := NewNearest(l.threshold, live)
	for _, c := range l.centres {
		best.Offer(c, c.Seq, l.distance(f, c.Fingerprint))
	}
	l.candidates.Add(uint64(len(l.centres)))
	return best.Result()
}

func (l *linear) Candidates() uint64 { return l.candidates.Load() }

func (l *linear) Len() int { return len(l.centres) }
