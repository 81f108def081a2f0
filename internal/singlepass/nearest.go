package singlepass

// A nearest is the best live centre seen so far by a query.
type nearest struct {
	live     func(Centre) bool // nil: all are
	centre   Centre
	distance int // of the centre; the bound of the index plus 1 while there is none
	found    bool
}

func newNearest(bound int, live func(Centre) bool) nearest {
	return nearest{live: live, distance: bound + 1}
}

// beaten reports whether a centre at this distance would be taken if it is live: it
// is nearer than the best so far, or as near and older.
func (n *nearest) beaten(seq uint64, distance int) bool {
	return distance < n.distance || distance == n.distance && n.found && seq < n.centre.Seq
}

// reach is the largest distance at which a centre might still be taken.
func (n *nearest) reach() int {
	if n.found {
		return n.distance
	}
	return n.distance - 1
}

// offer takes the centre at this distance if it beats the best so far and is live,
// in this order, since the second may need a disk.
func (n *nearest) offer(c Centre, distance int) {
	if n.beaten(c.Seq, distance) && (n.live == nil || n.live(c)) {
		n.centre, n.distance, n.found = c, distance, true
	}
}

func (n *nearest) result() (c Centre, distance int, ok bool) {
	if !n.found {
		return Centre{}, 0, false
	}
	return n.centre, n.distance, true
}
