package tune

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"slices"

	"github.com/clusterd/clusterd/internal/method/jaccard"
)

// A pair is two documents, by their numbers, a before b, at a Jaccard distance of their shingles.
type pair struct {
	a, b     int
	distance float64
}

// maxPairs bounds how many near pairs are found.
const maxPairs = 1 << 20

// errTooMany is the error of documents that have more than maxPairs near pairs.
var errTooMany = errors.New("too many near pairs")

// nearPairs finds all pairs of sets as similar as [Near] or more, exactly.
//
// It filters by prefixes (Bayardo, Ma and Srikant, "Scaling Up All Pairs Similarity Search", WWW
// 2007): sets of at least n hashes that are near share half of them, so they share one that is
// among the rarest n/2+1 of each. Only those are looked up, so that what many documents have in
// common, such as a site's boilerplate, costs nothing. A set that is looked up by larger ones alone
// shares two thirds of its hashes with one that is near, so n/3+1 of them are enough (Xiao, Wang,
// Lin and Yu, "Efficient Similarity Joins for Near Duplicate Detection", WWW 2008).
func nearPairs(ctx context.Context, all []jaccard.Set) ([]pair, error) {
	shared, n := rarest(all)
	holders := make([][]int32, n) // by hash, the documents that have it in their prefix
	seen := make([]int, len(all)) // the last document that each was compared with, plus 1
	var found []pair
	for _, b := range bySize(all) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		size := all[b].Len()
		for _, hash := range prefix(shared[b], size, size/2+1) {
			for _, a := range holders[hash] {
				if seen[a] == b+1 || 2*all[a].Len() < size {
					continue
				}
				seen[a] = b + 1
				if d, near := near(all, shared, int(a), b); near {
					found = append(found, pair{min(int(a), b), max(int(a), b), d})
				}
			}
		}
		lookedUp := size/3 + 1
		if size > jaccard.Max/2 { // it may be compared as a sample
			lookedUp = size/2 + 1
		}
		for _, hash := range prefix(shared[b], size, lookedUp) {
			holders[hash] = append(holders[hash], int32(b))
		}
		if len(found) > maxPairs {
			return nil, errTooMany
		}
	}
	return found, nil
}

// bySize returns the numbers of sets, those of small ones first.
func bySize(all []jaccard.Set) []int {
	numbers := make([]int, len(all))
	for i := range numbers {
		numbers[i] = i
	}
	slices.SortStableFunc(numbers, func(a, b int) int {
		return cmp.Compare(all[a].Len(), all[b].Len())
	})
	return numbers
}

// prefix returns which of the rarest n hashes of a set are shared. The hashes that are not are
// rarer.
func prefix(shared []int32, size, n int) []int32 {
	return shared[:max(0, min(n-(size-len(shared)), len(shared)))]
}

// near returns the distance of two sets if it is at most 1-Near. It goes through the hashes from
// the rarest on, and leaves off as soon as too few are left to be near.
func near(all []jaccard.Set, shared [][]int32, a, b int) (distance float64, ok bool) {
	sizes := all[a].Len() + all[b].Len()
	if max(all[a].Len(), all[b].Len()) == jaccard.Max {
		distance = jaccard.Distance(all[a], all[b])
		return distance, distance <= 1-Near
	}
	need := (sizes + 2) / 3 // 3 times what both have is at least the sum of the sizes
	x, y := shared[a], shared[b]
	both := 0
	for both+min(len(x), len(y)) >= need {
		switch {
		case len(x) == 0 || len(y) == 0:
			return 1 - float64(both)/float64(sizes-both), true
		case x[0] < y[0]:
			x = x[1:]
		case x[0] > y[0]:
			y = y[1:]
		default:
			both++
			x, y = x[1:], y[1:]
		}
	}
	return 0, false
}

// An occurrence is a hash in a document.
type occurrence struct {
	hash     uint64
	document int32
}

// rarest returns of each set the hashes that another set has too, by number; n is how many numbers
// there are, given from the rarest on.
func rarest(all []jaccard.Set) (shared [][]int32, n int) {
	var occurrences []occurrence
	for i, s := range all {
		for at := 0; at < len(s); at += 8 {
			occurrences = append(occurrences,
				occurrence{binary.LittleEndian.Uint64([]byte(s[at : at+8])), int32(i)})
		}
	}
	slices.SortFunc(occurrences, func(a, b occurrence) int {
		return cmp.Or(cmp.Compare(a.hash, b.hash), cmp.Compare(a.document, b.document))
	})
	var runs [][]occurrence // of one hash in several documents
	for len(occurrences) > 0 {
		end := 1
		for end < len(occurrences) && occurrences[end].hash == occurrences[0].hash {
			end++
		}
		if end > 1 {
			runs = append(runs, occurrences[:end])
		}
		occurrences = occurrences[end:]
	}
	slices.SortStableFunc(runs, func(a, b []occurrence) int { return cmp.Compare(len(a), len(b)) })
	shared = make([][]int32, len(all))
	for number, run := range runs {
		for _, o := range run {
			shared[o.document] = append(shared[o.document], int32(number))
		}
	}
	return shared, len(runs)
}
