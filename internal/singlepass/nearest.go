package singlepass

// A nearest is the best centre seen so far by a query.
type nearest struct {
	centre   Centre
	distance int // of the centre; the bound of the index plus 1 while there is none
	found    bool
}

func newNearest(bound int) nearest { return nearest{distance: bound + 1} }

// offer takes the centre at this distance if it is nearer than the best so far, or
// as near and older.
func (n *nearest) offer(c Centre, distance int) {
	if distance < n.distance || distance == n.distance && n.found && c.Seq < n.centre.Seq {
		*n = nearest{c, distance, true}
	}
}

func (n *nearest) result() (c Centre, distance int, ok bool) {
	if !n.found {
		return Centre{}, 0, false
	}
	return n.centre, n.distance, true
}
