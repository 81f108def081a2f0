package paper

import (
	"context"
	"math"

	"github.com/clusterd/clusterd/internal/method"
	"github.com/clusterd/clusterd/internal/quality/eval"
)

// recognised edits every article in each way, and counts those that are still within the threshold
// of the original.
func (b *bench) recognised(ctx context.Context) ([]Row, error) {
	originals := make([][]eval.Print, len(b.methods))
	for i, m := range b.methods {
		var err error
		if originals[i], err = b.fingerprints(ctx, m, b.texts); err != nil {
			return nil, err
		}
	}
	var rows []Row
	for number, e := range experiments() {
		edited := make([]string, len(b.texts))
		err := each(ctx, len(edited), func(i int) {
			others := b.others
			others.self = i
			edited[i] = e.edit(b.texts[i], newDice(b.options.Seed, uint32(number), i), others)
		})
		if err != nil {
			return nil, err
		}
		distances := make([][]float64, len(b.methods))
		for i, m := range b.methods {
			prints, err := b.fingerprints(ctx, m, edited)
			if err != nil {
				return nil, err
			}
			distances[i] = make([]float64, len(prints))
			for j, p := range prints {
				distances[i][j] = distance(m, originals[i][j], p)
			}
		}
		rows = append(rows, Row{
			What: e.name, Unit: Share, Published: e.simhash, Shingle: e.shingle,
			Figures: b.within(distances),
		})
	}
	b.originals = originals
	return rows, nil
}

// distance returns that of two texts, infinite where one has nothing to compare.
func distance(m method.Method, a, b eval.Print) float64 {
	if !a.OK || !b.OK {
		return math.Inf(1)
	}
	return m.Distance(a.Fingerprint, b.Fingerprint)
}

// within returns the share of distances within the threshold of each variant; distances are by
// method.
func (b *bench) within(distances [][]float64) []*float64 {
	var figures []*float64
	for _, v := range b.variants {
		of, found := distances[b.place(v.Method)], 0
		for _, d := range of {
			if d <= v.Threshold {
				found++
			}
		}
		share := float64(found) / float64(len(of))
		figures = append(figures, &share)
	}
	return figures
}

// compared is how many articles of the sample each is compared with.
const compared = 1000

// mistaken counts the articles for which another of the sample is within the threshold, as they
// are. The paper has no such figure, but without it the others say nothing: at a threshold of 64
// bits all are recognised.
func (b *bench) mistaken(ctx context.Context) ([]Row, error) {
	distances := make([][]float64, len(b.methods))
	for i, m := range b.methods {
		of := b.originals[i]
		distances[i] = make([]float64, len(of))
		err := each(ctx, len(of), func(j int) {
			distances[i][j] = math.Inf(1)
			for k := range min(compared, len(of)) {
				if k != j {
					distances[i][j] = min(distances[i][j], distance(m, of[j], of[k]))
				}
			}
		})
		if err != nil {
			return nil, err
		}
	}
	return []Row{{What: "mistaken", Unit: Share, Figures: b.within(distances)}}, nil
}
