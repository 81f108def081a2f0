// Package jaccard compares articles by sets of 64-bit hashes: those of what an article is
// made of, such as its shingles. Two sets are as similar as their Jaccard index says, the
// share of their union that both have; an [Index] finds the most similar set of many,
// exactly.
package jaccard

import (
	"encoding/binary"
	"fmt"
	"slices"
)

// Max is how many hashes a [Set] may have, so that it takes at most 400 kB. Of a larger
// one its smallest hashes are left: a random sample, where hashes are uniform.
const Max = 50_000

// A Set is at most [Max] distinct hashes in ascending order, eight bytes each, little
// endian. It is what a fingerprint has as its sketch. Bytes that are none do no harm beyond
// a wrong similarity.
type Set string

// Len returns the number of hashes.
func (s Set) Len() int { return len(s) / 8 }

// at returns a hash by its rank.
func (s Set) at(i int) uint64 {
	b := s[8*i : 8*i+8]
	return uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 |
		uint64(b[4])<<32 | uint64(b[5])<<40 | uint64(b[6])<<48 | uint64(b[7])<<56
}

// Check returns an error for bytes that no [Builder] makes of hashes: not a whole number of them,
// none or too many, or not each above the one before.
func (s Set) Check() error {
	if len(s) == 0 || len(s)%8 != 0 || s.Len() > Max {
		return fmt.Errorf("the sketch has %d bytes; a set has 8 for each of 1 to %d hashes", len(s), Max)
	}
	for i := 1; i < s.Len(); i++ {
		if s.at(i) <= s.at(i-1) {
			return fmt.Errorf("hash %d of the sketch is not above the one before, as those of a set are", i)
		}
	}
	return nil
}

// Distance returns 1 less the Jaccard index of two sets, from 0, the same, to 1, nothing
// in common, as of an empty set and any other.
//
// Where either has [Max] hashes it may be what is left of a larger one, and the index is
// estimated by the bottom-k sketch (Cohen and Kaplan, "Summarizing Data Using Bottom-k
// Sketches", PODC 2007): among the Max smallest hashes of the union, all of which are
// known, the share that both sets have. Its standard error is below 0.0023.
func Distance(a, b Set) float64 {
	maxUnion := a.Len() + b.Len()
	if isSample(a.Len(), b.Len()) {
		maxUnion = Max
	}
	var shared, union int
	for i, j := 0, 0; union < maxUnion && (i < a.Len() || j < b.Len()); union++ {
		switch {
		case j == b.Len():
			i++
		case i == a.Len():
			j++
		default:
			x, y := a.at(i), b.at(j)
			if x <= y {
				i++
			}
			if y <= x {
				j++
			}
			if x == y {
				shared++
			}
		}
	}
	return distance(shared, union)
}

// Quotation is the element of the sets of articles that quote another, where that counts. It is the
// smallest, so that a sample has it too.
const Quotation = 0

// Size returns how many hashes the set has or, where it is a sample of a larger one, an estimate of
// how many that had: its largest hash is at the share of all 64-bit numbers that the sample is of
// the set. And it says whether [Quotation] is one of them.
func (s Set) Size() Size {
	n := s.Len()
	size := Size{Elements: n, Quotes: n > 0 && s.at(0) == Quotation}
	if n >= Max {
		share := float64(s.at(n-1)) / (1 << 64)
		size.Elements = max(n, int(float64(n-1)/share))
	}
	return size
}

// isSample reports whether the index of sets of these sizes is estimated.
func isSample(a, b int) bool { return a == Max || b == Max }

// distance returns 1 less a Jaccard index. Division rounds correctly, so equal fractions give equal
// distances, and 77 of 100 are as far as a threshold of 1-.77 allows. Nor does a distance
// grow with what is shared.
func distance(shared, union int) float64 {
	if union == 0 {
		return 1
	}
	return 1 - float64(shared)/float64(union)
}

// minDistance returns the minimum distance of sets of these sizes that share at most so many
// hashes.
func minDistance(a, b, shared int) float64 {
	shared = min(shared, a, b)
	if isSample(a, b) {
		return distance(shared, Max)
	}
	return distance(shared, a+b-shared)
}

// A Builder makes one [Set] after the other, in memory that it uses again. The zero
// value is ready. It is not safe for concurrent use.
type Builder struct {
	hashes []uint64
	full   bool   // the first Max of hashes are those of the set so far
	last   uint64 // of these; larger ones need not be kept
	packed []byte
}

// Add adds a hash to the set at hand, which may have it already.
func (b *Builder) Add(hash uint64) {
	if b.full && hash >= b.last {
		return
	}
	b.hashes = append(b.hashes, hash)
	if len(b.hashes) == 2*Max {
		b.compact()
	}
}

// compact brings hashes in order, each once, and lets go of those beyond Max.
func (b *Builder) compact() {
	slices.Sort(b.hashes)
	b.hashes = slices.Compact(b.hashes)
	if len(b.hashes) >= Max {
		b.hashes = b.hashes[:Max]
		b.full, b.last = true, b.hashes[Max-1]
	}
}

// Set returns the set of what was added, and begins the next.
func (b *Builder) Set() Set {
	b.compact()
	b.packed = b.packed[:0]
	for _, hash := range b.hashes {
		b.packed = binary.LittleEndian.AppendUint64(b.packed, hash)
	}
	b.hashes, b.full = b.hashes[:0], false
	return Set(b.packed)
}
