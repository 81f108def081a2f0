// Package hamming finds, among many 64-bit fingerprints, the one that differs from
// another in the fewest bits, exactly.
package hamming

import (
	"fmt"
	"iter"

	"github.com/clusterd/clusterd/internal/singlepass"
)

// MaxDistance is the largest distance that [NewIndex] allows. Beyond it the blocks
// of an index become so narrow that a query reads a large part of all points.
const MaxDistance = 6

// A Point is a centre of which the 64 bits are all.
type Point struct {
	Fingerprint uint64
	Seq         uint64
}

// An Index is what [singlepass.Index] is, of points, the distance being that of Hamming.
type Index interface {
	// Insert adds a point, whose Seq must not be in the index yet. Any number of
	// points may have the same fingerprint.
	Insert(Point)
	// BulkLoad adds points to an empty index, in any order, as Insert does one by one
	// but faster. The slice is the index's from then on: it may reorder it, and keep it.
	BulkLoad(points []Point)
	// Remove takes a point out and reports whether it was there.
	Remove(Point) bool
	// Nearest returns the live point at the smallest Hamming distance from the
	// fingerprint, among equals the one with the smallest Seq, and that distance.
	// ok is false when no live point is within the distance of the index.
	//
	// A live of nil means that all points are. Else it is asked only of points
	// that would be the answer so far, of each at most once: it may be slow. It must
	// not change the index.
	Nearest(fingerprint uint64, live func(Point) bool) (p Point, distance int, ok bool)
	// Len returns the number of points.
	Len() int
	// Candidates returns how many points queries have been compared with so far: what
	// the queries cost. It may be called at any time.
	Candidates() uint64
}

// NewIndex returns an empty index by name that finds points at up to the given
// Hamming distance. Names are btree, mih and auto, distances are 0 to [MaxDistance];
// anything else is an error.
func NewIndex(name string, distance int) (Index, error) {
	if distance < 0 || distance > MaxDistance {
		return nil, fmt.Errorf("hamming: distance %d: allowed are 0 to %d", distance, MaxDistance)
	}
	switch name {
	case "btree":
		return NewBTree(distance), nil
	case "mih":
		return NewMIH(distance), nil
	case "auto":
		return NewAuto(distance), nil
	default:
		return nil, fmt.Errorf("hamming: unknown index %q: allowed are btree, mih and auto", name)
	}
}

// Centres makes an index of points one of centres that have no sketch.
func Centres(points Index) singlepass.Index { return centres{points} }

type centres struct{ Index }

func point(c singlepass.Centre) Point { return Point{c.Hash, c.Seq} }

func centre(p Point) singlepass.Centre {
	return singlepass.Centre{Fingerprint: singlepass.Fingerprint{Hash: p.Fingerprint}, Seq: p.Seq}
}

func (i centres) Insert(c singlepass.Centre)      { i.Index.Insert(point(c)) }
func (i centres) Remove(c singlepass.Centre) bool { return i.Index.Remove(point(c)) }

// BulkLoad makes the slice that the index keeps.
func (i centres) BulkLoad(n int, all iter.Seq[singlepass.Centre]) {
	points := make([]Point, 0, n)
	for c := range all {
		points = append(points, point(c))
	}
	i.Index.BulkLoad(points)
}

func (i centres) Nearest(
	f singlepass.Fingerprint, live *singlepass.Live,
) (singlepass.Centre, float64, bool) {
	var alive func(Point) bool
	if live != nil {
		alive = func(p Point) bool { return live.Asked(centre(p)) }
	}
	p, distance, ok := i.Index.Nearest(f.Hash, alive)
	return centre(p), float64(distance), ok
}
