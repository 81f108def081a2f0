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
// common, such as a site's boilerplate, costs nothing.
func nearPairs(ctx context.Context, all []jaccard.Set) ([]pair, error) {
	prefixes, n := rarest(all)
	holders := make([][]int32, n) // by hash, the documents that have it in their prefix
	seen := make([]int, len(all)) // the last document that each was compared with, plus 1
	var found []pair
	for b, prefix := range prefixes {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		for _, hash := range prefix {
			for _, a := range holders[hash] {
				if seen[a] == b+1 {
					continue
				}
				seen[a] = b + 1
				if small, large := order(all[a].Len(), all[b].Len()); 2*small < large {
					continue
				}
				if d := jaccard.Distance(all[a], all[b]); d <= 1-Near {
					found = append(found, pair{int(a), b, d})
				}
			}
			holders[hash] = append(holders[hash], int32(b))
		}
		if len(found) > maxPairs {
			return nil, errTooMany
		}
	}
	return found, nil
}

func order(a, b int) (small, large int) { return min(a, b), max(a, b) }

// An occurrence is a hash in a document.
type occurrence struct {
	hash     uint64
	document int32
}

// rarest returns of each set, of its rarest hashes that the filter needs, those that another set
// has too, by number; n is how many numbers there are, given from the rarest on.
func rarest(all []jaccard.Set) (prefixes [][]int32, n int) {
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
	shared := make([][]int32, len(all))
	for number, run := range runs {
		for _, o := range run {
			shared[o.document] = append(shared[o.document], int32(number))
		}
	}
	for i, s := range all {
		// The rest of the set is rarer: no other has it.
		length := s.Len()/2 + 1 - (s.Len() - len(shared[i]))
		shared[i] = shared[i][:max(0, min(length, len(shared[i])))]
	}
	return shared, len(runs)
}
