package hamming

import (
	"math/bits"

	"github.com/clusterd/clusterd/internal/singlepass"
)

const (
	// autoMost is how many points an index auto has in B-trees. Beyond, mih answers faster and
	// takes less than half of the memory.
	autoMost = 1_000_000
	// autoMoves is how many points an insertion moves, so that there is no pause.
	autoMoves = 16
)

// auto is a btree of few points and a mih of many. When there are too many for the first, every
// insertion moves some points to the second, and meanwhile a query asks both. It does not move
// back.
type auto struct {
	distance, most int
	few            *permutedCopies
	many           Index // nil before there were too many
}

// NewAuto returns an empty index that is one of [NewBTree] up to a million points, and one of
// [NewMIH] from then on.
func NewAuto(distance int) Index { return newAuto(distance, autoMost) }

func newAuto(distance, most int) Index {
	return &auto{distance: distance, most: most, few: NewBTree(distance).(*permutedCopies)}
}

func (a *auto) Insert(p Point) {
	if a.many == nil {
		a.few.Insert(p)
		if a.few.Len() > a.most {
			a.many = NewMIH(a.distance)
		}
		return
	}
	a.many.Insert(p)
	a.move()
}

// move moves some points.
func (a *auto) move() {
	for range min(autoMoves, a.few.Len()) {
		a.many.Insert(a.few.pop())
		if a.few.Len() == 0 {
			a.few = NewBTree(a.distance).(*permutedCopies) // lets go of the memory
		}
	}
}

// pop takes a point out, of which there must be one.
func (p *permutedCopies) pop() Point {
	first, _ := p.copies[0].tree.Min()
	c := Point{bits.RotateLeft64(first.key, -p.copies[0].rotate), first.seq}
	p.Remove(c)
	return c
}

func (a *auto) BulkLoad(points []Point) {
	if len(points) > a.most {
		a.many = NewMIH(a.distance)
		a.many.BulkLoad(points)
		return
	}
	a.few.BulkLoad(points)
}

func (a *auto) Remove(p Point) bool {
	return a.few.Remove(p) || a.many != nil && a.many.Remove(p)
}

func (a *auto) Nearest(fingerprint uint64, live func(Point) bool) (Point, int, bool) {
	if a.many == nil {
		return a.few.Nearest(fingerprint, live)
	}
	if a.few.Len() == 0 {
		return a.many.Nearest(fingerprint, live)
	}
	best := singlepass.NewNearest[Point](a.distance, nil)
	if p, distance, ok := a.few.Nearest(fingerprint, live); ok {
		best.Offer(p, p.Seq, distance)
	}
	// What does not beat it is taken for a point that is not live.
	p, distance, ok := a.many.Nearest(fingerprint, func(p Point) bool {
		return best.Beaten(p.Seq, bits.OnesCount64(p.Fingerprint^fingerprint)) && (live == nil || live(p))
	})
	if ok {
		return p, distance, true
	}
	return best.Result()
}

func (a *auto) Len() int {
	if a.many == nil {
		return a.few.Len()
	}
	return a.few.Len() + a.many.Len()
}

func (a *auto) Candidates() uint64 {
	if a.many == nil {
		return a.few.Candidates()
	}
	return a.few.Candidates() + a.many.Candidates()
}
