// Package singlepass clusters fingerprints in one pass: every article joins the
// nearest live centre or founds a cluster of its own.
//
// In go the fingerprints of a [Space] one after the other, each with its event
// time; out comes the centre that each article belongs to. What comes out depends on
// what went in and on nothing else, so that replaying a stream gives the same
// clusters.
//
// In memory there is the index alone. When a centre was last seen is kept by the
// caller, who is asked for it.
package singlepass

import "fmt"

// MaxDistance is the largest distance that [NewIndex] allows. Beyond it the blocks
// of an index become so narrow that a query reads a large part of all centres.
const MaxDistance = 6

// A Centre is the fingerprint of a cluster's founder. It never moves.
type Centre struct {
	Fingerprint uint64
	// Seq is the founding order in the space: of two centres the one with the
	// smaller Seq is the older. It is unique.
	Seq uint64
}

// An Index holds the centres of a space and finds the one nearest to a fingerprint,
// exactly. It is not safe for concurrent use, except that any number of calls of
// Nearest and Len may run at once while nothing changes it.
type Index interface {
	// Insert adds a centre, whose Seq must not be in the index yet. Any number of
	// centres may have the same fingerprint.
	Insert(Centre)
	// Fill adds centres to an empty index, in any order, as Insert does one by one
	// but faster. The slice is the index's from then on: it may reorder it, and keep it.
	Fill(centres []Centre)
	// Remove takes a centre out and reports whether it was there.
	Remove(Centre) bool
	// Nearest returns the live centre at the smallest Hamming distance from the
	// fingerprint, among equals the one with the smallest Seq, and that distance.
	// ok is false when no live centre is within the distance of the index.
	//
	// A live of nil means that all centres are. Else it is asked only of centres
	// that would be the answer so far, of each at most once: it may be slow. It must
	// not change the index.
	Nearest(fingerprint uint64, live func(Centre) bool) (c Centre, distance int, ok bool)
	// Len returns the number of centres.
	Len() int
	// Candidates returns how many centres queries have been compared with so far: what
	// the queries cost. It may be called at any time.
	Candidates() uint64
}

// NewIndex returns an empty index by name that finds centres at up to the given
// Hamming distance. Names are btree and mih, distances are 0 to [MaxDistance];
// anything else is an error that says so.
func NewIndex(name string, distance int) (Index, error) {
	if distance < 0 || distance > MaxDistance {
		return nil, fmt.Errorf("singlepass: distance %d: allowed are 0 to %d", distance, MaxDistance)
	}
	switch name {
	case "btree":
		return NewBTree(distance), nil
	case "mih":
		return NewMIH(distance), nil
	default:
		return nil, fmt.Errorf("singlepass: unknown index %q: allowed are btree and mih", name)
	}
}
