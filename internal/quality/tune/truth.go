package tune

import (
	"context"
	"errors"
	"time"

	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/method"
	"github.com/clusterd/clusterd/internal/method/jaccard"
	"github.com/clusterd/clusterd/internal/quality/eval"
)

// maxShingles bounds what the search for near pairs keeps in memory, some 40 bytes each.
const maxShingles = 8 << 20

// shingleSize is how many characters a shingle of the truth has.
const shingleSize = 5

// A truth is what is known of the documents of a sample. It speaks of texts: exact copies are one
// text, since all methods find them, and there may be so many that they hide the rest.
type truth struct {
	documents []eval.Document
	texts     []int // of each text: the first document that has it, ascending
	copies    []int // of each text: how many documents have it
	pairs     []pair
	window    time.Duration // see truth.apart; 0 is none
}

// findTruth shingles documents and finds the near pairs. Where there are more shingles or pairs
// than the bounds allow it takes fewer documents, the first half of them.
func findTruth(
	ctx context.Context, documents []eval.Document, c config.Config,
) (*truth, error) {
	c.Fingerprint.Method = "shingle"
	c.Fingerprint.Shingle.Of, c.Fingerprint.Shingle.Size = "characters", shingleSize
	shingles, err := method.New(c.MethodSettings())
	if err != nil {
		return nil, err
	}
	documents, all := shinglesOf(documents, shingles)
	for {
		t, err := compare(ctx, documents, all)
		t.window = c.Cluster.Window
		if !errors.Is(err, errTooMany) || len(all) < 2 {
			return t, err
		}
		documents, all = documents[:len(documents)/2], all[:len(all)/2]
	}
}

// shinglesOf returns the sets of documents as far as the bound allows, without the documents in
// which there is nothing to compare.
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
		kept, all = append(kept, d), append(all, set)
	}
	return kept, all
}

// compare finds the near pairs of different texts.
func compare(ctx context.Context, documents []eval.Document, all []jaccard.Set) (*truth, error) {
	t := &truth{documents: documents}
	numbers := make(map[jaccard.Set]int)
	var different []jaccard.Set
	for i, s := range all {
		text, known := numbers[s]
		if !known {
			text = len(different)
			numbers[s] = text
			different, t.texts, t.copies = append(different, s), append(t.texts, i), append(t.copies, 0)
		}
		t.copies[text]++
	}
	var err error
	t.pairs, err = nearPairs(ctx, different)
	return t, err
}

// levels counts pairs of documents by their similarity.
func (t *truth) levels() []Level {
	levels := []Level{{From: 1}, {From: .9}, {From: .8}, {From: .7}, {From: .6}, {From: .5}}
	for _, n := range t.copies {
		levels[0].Pairs += n * (n - 1) / 2
	}
	for _, p := range t.pairs {
		for i := range levels {
			if p.distance <= 1-levels[i].From {
				levels[i].Pairs += t.copies[p.a] * t.copies[p.b]
				break
			}
		}
	}
	return levels
}

// connect takes texts for the same that pairs of at least a similarity connect, unless they are
// apart. groups has for each text the number of one that stands for all that are the same as it;
// pairs is how many pairs that makes.
func (t *truth) connect(same float64) (groups []int, pairs int) {
	together := eval.NewSets(len(t.texts))
	for _, p := range t.pairs {
		if p.distance <= 1-same && !t.apart(p) {
			together.Join(p.a, p.b)
		}
	}
	groups = make([]int, len(t.texts))
	sizes := make(map[int]int)
	for i := range groups {
		groups[i] = together.Of(i)
		sizes[groups[i]]++
	}
	return groups, eval.PairsIn(sizes)
}

// apart reports whether the texts of a pair first come so far apart that by then a cluster has
// expired: no method finds that.
func (t *truth) apart(p pair) bool {
	a, b := t.documents[t.texts[p.a]].PublishedAt, t.documents[t.texts[p.b]].PublishedAt
	return t.window > 0 && !a.IsZero() && !b.IsZero() && b.Sub(a).Abs() > t.window
}

// settle returns the similarity from which on texts count as the same: the one asked for, or, as
// long as there are fewer than [EnoughPairs], one that is lower by .1 and has more, down to [Near].
// What is less similar than that is not known, so within [Slack] of it methods that draw the line
// as the truth does are favoured: there it goes only for [FewPairs].
func (t *truth) settle(asked float64) (same float64) {
	same = asked
	_, most := t.connect(asked)
	for _, lower := range []float64{.9, .8, .7, .6, .5} {
		if most >= EnoughPairs || lower < Near+Slack && most >= FewPairs {
			break
		}
		if _, pairs := t.connect(lower); lower < asked && pairs > most {
			same, most = lower, pairs
		}
	}
	return same
}
