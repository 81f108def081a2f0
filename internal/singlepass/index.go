// Package singlepass clusters articles in one pass by their fingerprints: every article
// joins the nearest live centre, or else founds a cluster.
//
// In go the fingerprints of a [Space] one after the other, each with its event
// time; out comes the centre that each article belongs to. What comes out depends on
// what went in and on nothing else, so that replaying a stream gives the same
// clusters. What a fingerprint is, and how far two are apart, is up to the [Index].
//
// In memory there is the index alone. When a centre was last seen is kept by the
// caller, who is asked for it.
package singlepass

import (
	"errors"
	"fmt"
	"iter"
)

// A Fingerprint is what a method makes of an article, and all that it compares. It is
// comparable with those that the same method made with the same settings.
type Fingerprint struct {
	// Hash is a SimHash; of other methods it is a hash of the sketch.
	Hash uint64
	// Sketch is what is compared beside Hash, in the method's own encoding; empty where
	// Hash is all.
	Sketch string
	// Contacts are what the text wants one to reach. An [Index] does not compare them.
	Contacts Contacts
	// Space is the value by which a divided [Space] tells apart what is compared; else empty. Of the
	// indexes, only that of [NewDivided] knows it.
	Space string
}

// CheckNoSketch returns an error for a fingerprint with a sketch, for methods whose Hash is all.
func (f Fingerprint) CheckNoSketch() error {
	if f.Sketch != "" {
		return errors.New("there is a sketch, and the method has none")
	}
	return nil
}

// CheckHash returns an error for a fingerprint with another Hash than its sketch has.
func (f Fingerprint) CheckHash(ofSketch uint64) error {
	if f.Hash != ofSketch {
		return fmt.Errorf("the fingerprint is %016x, and that of the sketch is %016x", f.Hash, ofSketch)
	}
	return nil
}

// A Centre is the fingerprint of a cluster's founder. It never moves.
type Centre struct {
	Fingerprint
	// Seq is the founding order in the space: of two centres the one with the
	// smaller Seq is the older. It is unique.
	Seq uint64
}

// A Live says to a query which centres are live. It must not change the index.
type Live struct {
	// Asked reports whether a centre is live. The sketch that it gets is good only during the call.
	Asked func(Centre) bool
	// Sure, unless it is nil, reports whether the centre of this Seq is known to be live. An index
	// that asks of very many asks this first, since it is quick.
	Sure func(seq uint64) bool
}

// Func returns what asks of a centre, nil where all are live.
func (l *Live) Func() func(Centre) bool {
	if l == nil {
		return nil
	}
	return l.Asked
}

// IsSure reports whether a centre of this Seq is known to be live.
func (l *Live) IsSure(seq uint64) bool { return l.Sure != nil && l.Sure(seq) }

// An Index holds the centres of a space, without their contacts, and finds the one nearest to a
// fingerprint. It is not safe for concurrent use, except that any number of calls of Nearest and
// Len may run at once while nothing changes it.
type Index interface {
	// Insert adds a centre, whose Seq must not be in the index yet. Any number of
	// centres may have the same fingerprint.
	Insert(Centre)
	// BulkLoad adds n centres to an empty index, in any order, as Insert does one by one
	// but faster where that can be.
	BulkLoad(n int, centres iter.Seq[Centre])
	// Remove takes a centre out and reports whether it was there.
	Remove(Centre) bool
	// Nearest returns the live centre at the smallest distance from the fingerprint,
	// among equals the one with the smallest Seq, and that distance, in the method's own
	// measure. ok is false when no live centre is within the threshold of the index.
	//
	// An index may see only some of the centres where very many are alike. Which it sees
	// depends on the fingerprint and on the live centres alone. It always sees the oldest
	// one that has the same fingerprint.
	//
	// A live of nil means that all centres are. Else it is asked of centres that would be
	// the answer so far, and of those among which it sees only some.
	Nearest(f Fingerprint, live *Live) (c Centre, distance float64, ok bool)
	// Len returns the number of centres.
	Len() int
	// Candidates returns how many centres queries have been compared with so far: what
	// the queries cost. It may be called at any time.
	Candidates() uint64
}
