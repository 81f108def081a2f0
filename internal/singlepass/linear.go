package singlepass

import (
	"iter"
	"math"
	"slices"
	"sync/atomic"
)

// linear compares a query with every centre.
type linear struct {
	near       func(a, b Fingerprint) (distance float64, ok bool)
	centres    []Centre
	candidates atomic.Uint64
}

// NewLinear returns an empty index that scans all centres for one at up to the distance threshold.
// It is the plain statement of what an [Index] answers, and fit for spaces of a few hundred
// centres.
func NewLinear(threshold float64, distance func(a, b Fingerprint) float64) Index {
	return NewLinearOf(func(a, b Fingerprint) (float64, bool) {
		d := distance(a, b)
		return d, d <= threshold
	})
}

// NewLinearOf does what NewLinear does where a distance is not all that decides: near also says
// whether an article may join a centre.
func NewLinearOf(near func(article, centre Fingerprint) (distance float64, ok bool)) Index {
	return &linear{near: near}
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

func (l *linear) Nearest(f Fingerprint, live *Live) (Centre, float64, bool) {
	best := NewNearest(math.Inf(1), live.Func())
	for _, c := range l.centres {
		if d, ok := l.near(f, c.Fingerprint); ok {
			best.Offer(c, c.Seq, d)
		}
	}
	l.candidates.Add(uint64(len(l.centres)))
	return best.Result()
}

func (l *linear) Candidates() uint64 { return l.candidates.Load() }

func (l *linear) Len() int { return len(l.centres) }
