package singlepass

// A Nearest is the best live centre that a query has seen so far. The centre is a C, in
// whatever form the index has it.
type Nearest[C any, D int | float64] struct {
	live     func(C) bool // nil: all are
	centre   C
	seq      uint64
	distance D // of the centre; the threshold while there is none
	found    bool
}

// NewNearest begins a query for centres at up to this distance. A live of nil means that
// all are.
func NewNearest[C any, D int | float64](threshold D, live func(C) bool) Nearest[C, D] {
	return Nearest[C, D]{live: live, distance: threshold}
}

// Beaten reports whether a centre at this distance would be taken if it is live: it
// is nearer than the best so far, or as near and older.
func (n *Nearest[C, D]) Beaten(seq uint64, distance D) bool {
	return distance < n.distance || distance == n.distance && (!n.found || seq < n.seq)
}

// Cutoff returns the largest distance at which a centre might still be taken.
func (n *Nearest[C, D]) Cutoff() D { return n.distance }

// Found reports whether a centre has been taken.
func (n *Nearest[C, D]) Found() bool { return n.found }

// Offer takes the centre at this distance if it beats the best so far and is live,
// in this order, since the second may need a disk.
func (n *Nearest[C, D]) Offer(c C, seq uint64, distance D) {
	if n.Beaten(seq, distance) && (n.live == nil || n.live(c)) {
		n.centre, n.seq, n.distance, n.found = c, seq, distance, true
	}
}

// Result returns the answer of the query, as [Index] has it.
func (n *Nearest[C, D]) Result() (c C, distance D, ok bool) {
	if !n.found {
		return c, 0, false
	}
	return n.centre, n.distance, true
}
