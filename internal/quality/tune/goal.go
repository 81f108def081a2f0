package tune

import (
	"context"
	"slices"

	"github.com/clusterd/clusterd/internal/quality/eval"
)

// A goal is what clusterings are measured by: near pairs, or a moderator's labels.
type goal interface {
	// measure sets what p reaches: its figures, its worth in all and in each half of the documents.
	measure(ctx context.Context, p *Point, prepared *eval.Prepared, c eval.Clustered) error
	// hopeless reports that no larger threshold can be worth more than the best point so far.
	hopeless(p, best Point) bool
}

// A search looks for texts that are the same.
type search struct {
	truth  *truth
	groups []int   // see truth.connect
	same   float64 // the similarity that they are from
}

func (s search) measure(
	_ context.Context, p *Point, _ *eval.Prepared, c eval.Clustered,
) error {
	s.score(p, c.Clustering)
	return nil
}

func (s search) score(p *Point, c eval.Clustering) {
	found := make([]int, len(s.groups))
	for text, document := range s.truth.texts {
		found[text] = c[document]
		if found[text] < 0 {
			found[text] = len(c) + text // alone
		}
	}
	// The texts that first come in each half of the documents.
	middle, _ := slices.BinarySearch(s.truth.texts, len(c)/2)
	_, _, p.halves[0] = s.quality(found, 0, middle)
	_, _, p.halves[1] = s.quality(found, middle, len(found))
	p.Precision, p.Recall, p.Worth = s.quality(found, 0, len(found))
}

// quality returns, of pairs of texts from..to, the share of those found that are no mistake, the
// share of those that are the same that are found, and the harmonic mean of both: 0 of nothing.
func (s search) quality(found []int, from, to int) (precision, recall, f1 float64) {
	of := eval.Overlap(s.groups[from:to], found[from:to])
	right := eval.PairsIn(of.Both)
	if right == 0 {
		return 0, 0, 0
	}
	nearly := 0
	for _, p := range s.truth.pairs {
		if p.a >= from && p.b < to && found[p.a] == found[p.b] && s.groups[p.a] != s.groups[p.b] &&
			p.distance <= 1-(s.same-Slack) {
			nearly++
		}
	}
	precision = float64(right+nearly) / float64(eval.PairsIn(of.Found))
	recall = float64(right) / float64(eval.PairsIn(of.Group))
	return precision, recall, 2 * precision * recall / (precision + recall)
}

// Precision falls as the threshold grows: what follows cannot do better even if it finds all.
func (s search) hopeless(p, best Point) bool {
	return p.Precision > 0 && 2*p.Precision/(1+p.Precision) <= best.Worth
}

// A moderator labels clusters, see [eval.Moderator].
type moderator struct {
	positive string
	hits     float64
}

func (m moderator) measure(
	ctx context.Context, p *Point, prepared *eval.Prepared, c eval.Clustered,
) error {
	work, err := prepared.Moderate(ctx, c.Threshold, eval.Options{Positive: m.positive, Parts: 2})
	if err != nil {
		return err
	}
	p.Caught, p.Hits, p.Clicks = work.CaughtShare, work.HitPerThousand, work.Clicks
	p.Worth, p.TooManyHits = work.CaughtShare, work.HitPerThousand > m.hits
	for i, part := range work.Parts {
		p.halves[i] = part.CaughtShare
	}
	return nil
}

// Hits grow with the threshold, but not at each step.
func (m moderator) hopeless(p, _ Point) bool { return p.Hits > 2*m.hits }
