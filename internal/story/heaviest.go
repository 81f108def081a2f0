package story

import (
	"cmp"
	"math/bits"
	"slices"
)

// The classes of weights, by which the heaviest terms are found without sorting all: a class is the
// length of a weight in bits and the classBits bits behind the highest.
const (
	classBits = 3
	classes   = 65 << classBits
)

func classOf(weight uint64) int {
	length := bits.Len64(weight)
	if length <= classBits {
		return int(weight) // below the first class of a longer one
	}
	return length<<classBits | int(weight>>(length-1-classBits)&(1<<classBits-1))
}

// heaviest keeps those terms that weigh the most, at most so many, of equal ones the smaller term,
// in the order that they have. It writes over the rest.
func heaviest(terms []weighted, most int) []weighted {
	if len(terms) <= most {
		return terms
	}
	var counts [classes]int
	for _, t := range terms {
		counts[classOf(t.weight)]++
	}
	// The last class of which some are kept, and how many of these.
	last, room := classes-1, most
	for counts[last] < room || counts[last] == 0 {
		room -= counts[last]
		last--
	}
	var memory [64]weighted
	in := memory[:0]
	for _, t := range terms {
		if classOf(t.weight) == last {
			in = append(in, t)
		}
	}
	slices.SortFunc(in, lighter)
	limit := weighted{}
	if room > 0 {
		limit = in[room-1]
	}
	kept := terms[:0]
	for _, t := range terms {
		if class := classOf(t.weight); class > last || class == last && room > 0 &&
			lighter(t, limit) <= 0 {
			kept = append(kept, t)
		}
	}
	return kept
}

// lighter orders terms by weight, the heaviest first, and equal ones by term.
func lighter(a, b weighted) int {
	return cmp.Or(cmp.Compare(b.weight, a.weight), cmp.Compare(a.term, b.term))
}
