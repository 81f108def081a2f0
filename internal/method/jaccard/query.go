package jaccard

import "github.com/clusterd/clusterd/internal/singlepass"

// A query is one for the nearest set, in memory that is used again.
type query struct {
	set    Set
	prefix []uint64
	last   rank // of the prefix
	rest   int  // how many hashes it has beyond

	counts []uint32 // by slot: how many hashes of its prefix a centre shares
	slots  []uint32 // where that is not 0
}

// Nearest finds the nearest live centre, as [singlepass.Index] says.
func (x *Index) Nearest(
	f singlepass.Fingerprint, live *singlepass.Live,
) (singlepass.Centre, float64, bool) {
	q := x.queries.Get().(*query)
	defer x.queries.Put(q)
	q.set = Set(f.Sketch)
	q.prefix, q.last, q.rest = x.prefixOf(q.prefix[:0], q.set)
	q.count(x)
	best := singlepass.NewNearest(x.reach, live.Func())
	for _, slot := range q.slots {
		e := &x.entries[slot]
		if best.Beaten(e.Seq, q.minDistance(e, int(q.counts[slot]))) {
			if d := Distance(q.set, Set(e.Sketch)); x.joins(q.set, Set(e.Sketch), d) {
				best.Offer(e.Centre, e.Seq, d)
			}
		}
	}
	x.candidates.Add(uint64(len(q.slots)))
	q.reset()
	return best.Result()
}

// joins reports whether sets at this distance are the same.
func (x *Index) joins(a, b Set, distance float64) bool {
	return x.rule.Joins(distance, x.threshold, a.Size(), b.Size())
}

// count counts how many hashes of the prefix each centre has in its own.
func (q *query) count(x *Index) {
	if missing := len(x.entries) - len(q.counts); missing > 0 {
		q.counts = append(q.counts, make([]uint32, missing)...)
	}
	for _, hash := range q.prefix {
		for at := x.postings.heads[hash]; at != 0; {
			n := x.postings.nodes[at]
			if q.counts[n.slot] == 0 {
				q.slots = append(q.slots, n.slot)
			}
			q.counts[n.slot]++
			at = n.next
		}
	}
}

func (q *query) reset() {
	for _, slot := range q.slots {
		q.counts[slot] = 0
	}
	q.slots, q.set = q.slots[:0], ""
}

// minDistance returns the minimum distance of a centre that shares so many hashes of the prefix.
// Take the set of the two whose prefix ends first in the order. Up to there, all that they share is
// in both prefixes and was counted. Beyond, that set has only its rest.
func (q *query) minDistance(e *entry, counted int) float64 {
	rest := q.rest
	if e.last.less(q.last) {
		rest = e.rest
	}
	return minDistance(q.set.Len(), Set(e.Sketch).Len(), counted+rest)
}
