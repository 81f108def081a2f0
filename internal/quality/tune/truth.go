package tune

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/method"
	"github.com/clusterd/clusterd/internal/method/jaccard"
	"github.com/clusterd/clusterd/internal/quality/eval"
)

// maxShingles bounds what the search for near pairs keeps in memory, some 40 bytes each.
const maxShingles = 8 << 20

// shingleSize is how many characters a shingle of the truth has.
const shingleSize = 5

// A truth is what is known of the documents of a sample.
type truth struct {
	documents []eval.Document
	levels    []Level
	same      int   // pairs of documents that are the same
	roots     []int // of each document: that which stands for all that it is the same as
	between   []pair
}

// findTruth shingles documents and finds the near pairs. Where there are more shingles or pairs
// than the bounds allow it takes fewer documents, the first half of them.
func findTruth(
	ctx context.Context, documents []eval.Document, c config.Config, same float64,
) (truth, error) {
	c.Fingerprint.Method = "shingle"
	c.Fingerprint.Shingle.Of, c.Fingerprint.Shingle.Size = "characters", shingleSize
	shingles, err := method.New(c.MethodSettings())
	if err != nil {
		return truth{}, err
	}
	documents, all := shinglesOf(documents, shingles)
	for {
		t, err := connect(ctx, documents, all, same)
		if !errors.Is(err, errTooMany) || len(all) < 2 {
			return t, err
		}
		documents, all = documents[:len(documents)/2], all[:len(all)/2]
	}
}

// shinglesOf returns the sets of documents as far as the bound allows, without the documents in
// which there is nothing to compare. It numbers them, since ids may not be unique.
func shinglesOf(
	documents []eval.Document, shingles method.Method,
) (kept []eval.Document, all []jaccard.Set) {
	printer, total := shingles.NewFingerprinter(), 0
	for _, d := range documents {
		if d.Rejected {
			continue
		}
		f, ok := printer(d.Title, d.Content)
		if !ok {
			continue
		}
		set := jaccard.Set(f.Sketch)
		if total += set.Len(); total > maxShingles {
			break
		}
		d.ID = strconv.Itoa(len(kept))
		kept, all = append(kept, d), append(all, set)
	}
	return kept, all
}

// connect finds which documents are the same: those that pairs of at least the similarity connect.
func connect(
	ctx context.Context, documents []eval.Document, all []jaccard.Set, same float64,
) (truth, error) {
	// Copies would make pairs in the square of their number. One of them is compared.
	copies := make(map[jaccard.Set][]int)
	var distinct []int // the first of each
	for i, s := range all {
		if len(copies[s]) == 0 {
			distinct = append(distinct, i)
		}
		copies[s] = append(copies[s], i)
	}
	compared := make([]jaccard.Set, len(distinct))
	copied := make(map[int]int)
	for i, d := range distinct {
		compared[i], copied[i] = all[d], len(copies[all[d]])
	}
	pairs, err := nearPairs(ctx, compared)
	if err != nil {
		return truth{}, err
	}
	t := truth{documents: documents, roots: make([]int, len(all))}
	for _, group := range copies {
		for _, i := range group {
			t.roots[i] = group[0]
		}
	}
	for _, p := range pairs {
		if p.distance <= 1-same {
			t.roots[t.root(distinct[p.a])] = t.root(distinct[p.b])
		}
	}
	sizes := make(map[int]int)
	for i := range t.roots {
		t.roots[i] = t.root(i)
		sizes[t.roots[i]]++
	}
	t.same = pairsWithin(sizes)
	err = t.count(pairs, func(set int) []int { return copies[compared[set]] })
	t.levels[0].Pairs += pairsWithin(copied)
	return t, err
}

// root returns the document that stands for all that i is the same as.
func (t *truth) root(i int) int {
	for t.roots[i] != i {
		t.roots[i] = t.roots[t.roots[i]]
		i = t.roots[i]
	}
	return i
}

// pairsWithin returns how many pairs groups of these sizes have.
func pairsWithin(sizes map[int]int) (pairs int) {
	for _, n := range sizes {
		pairs += n * (n - 1) / 2
	}
	return pairs
}

// count counts the pairs at each level of similarity, and keeps those of documents that are not the
// same. The pairs are of different sets; copies returns the documents that have one.
func (t *truth) count(pairs []pair, copies func(set int) []int) error {
	t.levels = []Level{{From: 1}, {From: .9}, {From: .8}, {From: .7}, {From: .6}, {From: .5}}
	for _, p := range pairs {
		as, bs := copies(p.a), copies(p.b)
		level := slices.IndexFunc(t.levels, func(l Level) bool { return p.distance <= 1-l.From })
		t.levels[level].Pairs += len(as) * len(bs)
		if t.roots[as[0]] == t.roots[bs[0]] {
			continue
		}
		if len(t.between)+len(as)*len(bs) > maxPairs {
			return errTooMany
		}
		for _, a := range as {
			for _, b := range bs {
				t.between = append(t.between, pair{a, b, p.distance})
			}
		}
	}
	return nil
}

// labelled returns the truth in the form that scores are made with.
func (t *truth) labelled() (*eval.Truth, error) {
	var clusters, pairs bytes.Buffer
	for i, root := range t.roots {
		fmt.Fprintf(&clusters, "%d\tcluster-%d\n", i, root)
	}
	for _, p := range t.between {
		fmt.Fprintf(&pairs, "%d\t%d\t%v\n", p.a, p.b, 1-p.distance)
	}
	return eval.ReadTruth(&clusters, &pairs)
}
