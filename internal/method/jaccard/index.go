package jaccard

import (
	"fmt"
	"iter"
	"sync"
	"sync/atomic"

	"github.com/clusterd/clusterd/internal/singlepass"
)

// An Index is a [singlepass.Index] of centres the sketches of which are sets, by
// [Distance]. It is exact: what it leaves out cannot be the answer.
//
// It filters by prefixes (Chaudhuri, Ganti and Kaushik, "A Primitive Operator for Similarity
// Joins in Data Cleaning", ICDE 2006; Bayardo, Ma and Srikant, "Scaling Up All Pairs
// Similarity Search", WWW 2007). All hashes are put in one order, rare ones first. Let every set
// that is similar enough to a set of n hashes share at least o of them. Then it shares at least one
// of the first n-o+1, the prefix. So the inverted lists hold only prefixes, and a query looks up
// only its own.
//
// The number of prefix hashes that two sets share bounds their similarity. That rules out most
// candidates before they are compared (Xiao, Wang, Lin and Yu, "Efficient Similarity Joins for Near
// Duplicate Detection", WWW 2008).
//
// A centre takes its sketch, eight bytes a hash, some 45 bytes for each hash of its
// prefix, and some 100 more.
type Index struct {
	threshold  float64
	rule       Rule
	reach      float64 // how far an answer may be
	order      order
	learnAt    int               // at so many centres the order is learnt again
	entries    []entry           // by slot
	free       []uint32          // slots out of use
	slots      map[uint64]uint32 // by Seq
	postings   postings          // of the prefix of each centre
	prefix     []uint64          // memory that is used again
	candidates atomic.Uint64
	queries    sync.Pool // of *query
}

// An entry is a centre with what tells, without a look at its sketch, that it is not similar.
type entry struct {
	singlepass.Centre
	last rank // of its prefix
	rest int  // how many hashes it has beyond
}

// The order is learnt from a number of centres, and from more when there are many more. Later it
// stays: by then it is good, and to rebuild the lists would take long.
const (
	learnFirst = 500
	learnEvery = 8 // times as many
	learnLast  = learnFirst * learnEvery * learnEvery
)

// NewIndex returns an empty index that finds centres that are the same as the query by this
// threshold, which must be at least 0 and less than 1, and by the rule.
func NewIndex(threshold float64, rule Rule) (*Index, error) {
	if !(threshold >= 0 && threshold < 1) {
		return nil, fmt.Errorf("sets: distance %v: allowed is 0 to less than 1", threshold)
	}
	return &Index{
		threshold: threshold,
		rule:      rule,
		reach:     rule.Reach(threshold),
		learnAt:   learnFirst,
		slots:     make(map[uint64]uint32),
		postings:  newPostings(),
		queries:   sync.Pool{New: func() any { return new(query) }},
	}, nil
}

// Insert adds a centre, as [singlepass.Index] says.
func (x *Index) Insert(c singlepass.Centre) {
	slot := uint32(len(x.entries))
	if last := len(x.free) - 1; last >= 0 {
		slot = x.free[last]
		x.free = x.free[:last]
	} else {
		x.entries = append(x.entries, entry{})
	}
	x.entries[slot].Centre = c
	x.slots[c.Seq] = slot
	x.post(slot)
	if len(x.slots) == x.learnAt {
		x.learn()
	}
}

// BulkLoad adds centres to an empty index.
func (x *Index) BulkLoad(n int, centres iter.Seq[singlepass.Centre]) {
	x.entries = make([]entry, 0, n)
	for c := range centres {
		x.slots[c.Seq] = uint32(len(x.entries))
		x.entries = append(x.entries, entry{Centre: c})
	}
	if len(x.slots) >= learnFirst {
		x.learn()
		return
	}
	for slot := range x.entries {
		x.post(uint32(slot))
	}
}

// Remove takes a centre out and reports whether it was there.
func (x *Index) Remove(c singlepass.Centre) bool {
	slot, ok := x.slots[c.Seq]
	if !ok || x.entries[slot].Centre != c {
		return false
	}
	x.prefix, _, _ = x.prefixOf(x.prefix[:0], Set(c.Sketch))
	for _, hash := range x.prefix {
		x.postings.remove(hash, slot)
	}
	delete(x.slots, c.Seq)
	x.entries[slot] = entry{} // lets go of the sketch
	x.free = append(x.free, slot)
	return true
}

// Len returns the number of centres.
func (x *Index) Len() int { return len(x.slots) }

// Candidates returns how many centres shared a hash of the prefix with a query so far.
func (x *Index) Candidates() uint64 { return x.candidates.Load() }

// learn learns the order from the centres, and rebuilds the lists.
func (x *Index) learn() {
	x.order.learn(func(yield func(Set) bool) {
		for i := range min(len(x.entries), learnLast) {
			if !yield(Set(x.entries[i].Sketch)) {
				return
			}
		}
	})
	x.postings = newPostings()
	for _, slot := range x.slots {
		x.post(slot)
	}
	for x.learnAt <= min(len(x.slots), learnLast) {
		x.learnAt *= learnEvery
	}
	if x.learnAt > learnLast {
		x.learnAt = -1
	}
}

// post puts a centre into the lists.
func (x *Index) post(slot uint32) {
	e := &x.entries[slot]
	x.prefix, e.last, e.rest = x.prefixOf(x.prefix[:0], Set(e.Sketch))
	for _, hash := range x.prefix {
		x.postings.add(hash, slot)
	}
}

// prefixOf appends the first hashes of a set, of which every set within reach has one
// among its own, and returns the rank of the last, and how many hashes there are beyond.
func (x *Index) prefixOf(dst []uint64, s Set) (prefix []uint64, last rank, rest int) {
	n := s.Len()
	if n == 0 {
		return dst, rank{}, 0
	}
	// Such a set shares at least one hash, since the reach is less than 1.
	minShared := max(1, int((1-x.reach)*float64(n))-1)
	for minShared < n && distance(minShared, n) > x.reach {
		minShared++
	}
	prefix, last = x.order.first(dst, s, n-minShared+1)
	return prefix, last, minShared - 1
}
