package verify

import (
	"iter"

	"github.com/clusterd/clusterd/internal/hamming"
	"github.com/clusterd/clusterd/internal/singlepass"
)

// NewIndex returns an empty [singlepass.Index] of centres at up to this Hamming distance, 0 to
// [hamming.MaxWideDistance], whose sketches agree with that of the query. It is exact. Sketches take
// some 100 bytes a centre beside the 80 of the index of points.
func (s *Sketcher) NewIndex(distance int) singlepass.Index {
	return &verified{hamming.NewQuarters(distance), make(map[uint64]*sketch), s.differ}
}

type verified struct {
	points   hamming.Index
	sketches map[uint64]*sketch // by Seq; the map itself would have room for too many
	differ   int
}

func (x *verified) Insert(c singlepass.Centre) {
	x.points.Insert(point(c))
	x.keep(c)
}

func (x *verified) keep(c singlepass.Centre) {
	s := parse(c.Sketch)
	x.sketches[c.Seq] = &s
}

func (x *verified) Fill(n int, centres iter.Seq[singlepass.Centre]) {
	points := make([]hamming.Point, 0, n)
	x.sketches = make(map[uint64]*sketch, n)
	for c := range centres {
		points = append(points, point(c))
		x.keep(c)
	}
	x.points.Fill(points)
}

func (x *verified) Remove(c singlepass.Centre) bool {
	there := x.points.Remove(point(c))
	if there {
		delete(x.sketches, c.Seq)
	}
	return there
}

// Nearest takes a point whose sketch does not agree for one that is not live.
func (x *verified) Nearest(f singlepass.Fingerprint, live func(singlepass.Centre) bool) (singlepass.Centre, float64, bool) {
	query := parse(f.Sketch)
	p, distance, ok := x.points.Nearest(f.Hash, func(p hamming.Point) bool {
		return x.sketches[p.Seq].differing(query) <= x.differ && (live == nil || live(x.centre(p)))
	})
	if !ok {
		return singlepass.Centre{}, 0, false
	}
	return x.centre(p), float64(distance), true
}

func (x *verified) Len() int { return x.points.Len() }

func (x *verified) Candidates() uint64 { return x.points.Candidates() }

func point(c singlepass.Centre) hamming.Point {
	return hamming.Point{Fingerprint: c.Hash, Seq: c.Seq}
}

func (x *verified) centre(p hamming.Point) singlepass.Centre {
	return singlepass.Centre{
		Fingerprint: singlepass.Fingerprint{Hash: p.Fingerprint, Sketch: x.sketches[p.Seq].String()}, Seq: p.Seq,
	}
}
