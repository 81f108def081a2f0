package hamming

import (
	"math/bits"
	"sync/atomic"

	"github.com/clusterd/clusterd/internal/singlepass"
)

// linear compares a query with every centre.
type linear struct {
	distance   int
	centres    []Point
	candidates atomic.Uint64
}

// NewLinear returns an empty index that scans all centres. It is the plain
// statement of what an [Index] answers, and fit for spaces of a few hundred centres.
func NewLinear(distance int) Index { return &linear{distance: distance} }

func (l *linear) Insert(c Point) { l.centres = append(l.centres, c) }

func (l *linear) BulkLoad(centres []Point) { l.centres = append(l.centres, centres...) }

func (l *linear) Remove(c Point) bool {
	for i, have := range l.centres {
		if have == c {
			last := len(l.centres) - 1
			l.centres[i] = l.centres[last]
			l.centres = l.centres[:last]
			return true
		}
	}
	return false
}

func (l *linear) Nearest(fingerprint uint64, live func(Point) bool) (Point, int, bool) {
	best := singlepass.NewNearest(l.distance, live)
	for _, c := range l.centres {
		best.Offer(c, c.Seq, bits.OnesCount64(c.Fingerprint^fingerprint))
	}
	l.candidates.Add(uint64(len(l.centres)))
	return best.Result()
}

func (l *linear) Candidates() uint64 { return l.candidates.Load() }

func (l *linear) Len() int { return len(l.centres) }
