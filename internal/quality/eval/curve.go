package eval

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/clusterd/clusterd/internal/method"
)

// A Curve is how quality and cost change with the threshold, and how far documents are apart.
type Curve struct {
	Unit string `json:"unit"` // of distances: Bits or Dissimilarity
	// Half is whether the truth has pairs, without which HalfPrecision is the precision.
	Half   bool    `json:"half"`
	Points []Point `json:"points"`
	// Same are the truth's pairs of a Jaccard similarity of at least .8, as it lists them, and where
	// it has none, each document with the first of its true cluster. Other are random pairs of
	// documents that the truth does not have together. Both have the same bins.
	Same  Histogram `json:"same"`
	Other Histogram `json:"other"`
}

// A Point is a single pass with another threshold.
type Point struct {
	Threshold        float64 `json:"bound"` // largest distance from a centre
	Clusters         int     `json:"clusters"`
	Pairs            Quality `json:"pairs"`
	HalfPrecision    float64 `json:"half_precision"`
	BCubed           float64 `json:"bcubed_f1"`
	WrongPerThousand float64 `json:"wrong_per_thousand"`
	PerSecond        float64 `json:"documents_per_second"`
}

// A Histogram counts pairs of documents by their distance.
type Histogram struct {
	Pairs int `json:"pairs"`
	// Edges are those of the bins: bin i holds edges[i] <= distance < edges[i+1]; the last, also its
	// end.
	Edges []float64 `json:"edges"`
	Bins  []int     `json:"bins"`
	Never int       `json:"never"` // pairs that the method rules out, whatever the threshold
}

// Share returns the share of the pairs that a bin holds.
func (h Histogram) Share(bin int) float64 { return ratio(h.Bins[bin], h.Pairs) }

// Units of distances.
const (
	Bits          = "bits"
	Dissimilarity = "dissimilarity" // 1 less the similarity
)

// What is tried and sampled.
const (
	maxBits      = 16 // of those thresholds that the index allows
	maxShare     = 14 // twentieths of dissimilarity
	sampledPairs = 20_000
	shareBins    = 25
	wordBits     = 64
)

// unit returns what the distances of the method are measured in.
func (p *Prepared) unit() string {
	if spec, _ := method.SpecOf(p.config.Fingerprint.Method); spec.Measure().Unit == method.Bits {
		return Bits
	}
	return Dissimilarity
}

// sweep clusters the same fingerprints at other thresholds.
func (p *Prepared) sweep(ctx context.Context, t *Truth) (*Curve, error) {
	b := t.resolve(p.docs)
	same, other := b.distances(p.method, p.prints)
	c := &Curve{Unit: p.unit(), Half: len(b.pairs) > 0}
	c.Same, c.Other = histogram(same, c.Unit), histogram(other, c.Unit)
	for _, threshold := range p.Thresholds() {
		at, err := p.Cluster(ctx, threshold)
		if err != nil {
			return nil, err
		}
		s := score(b, at.Clustering, nil)
		c.Points = append(c.Points, Point{
			Threshold: threshold, Clusters: s.Clusters, Pairs: s.Pairs, HalfPrecision: s.HalfPrecision,
			BCubed:           s.BCubed.F1,
			WrongPerThousand: s.WrongPerThousand, PerSecond: at.PerSecond,
		})
	}
	return c, nil
}

// thresholds returns the thresholds to try, in order, the configured one among them.
func thresholds(unit string, configured float64) []float64 {
	all := []float64{configured}
	if unit == Bits {
		for bits := range maxBits + 1 {
			all = append(all, float64(bits))
		}
	} else {
		for share := range maxShare + 1 {
			all = append(all, 1-float64(20-share)/20) // as the method reckons it from the similarity
		}
	}
	slices.Sort(all)
	return slices.CompactFunc(all, func(a, b float64) bool { return math.Abs(a-b) < 1e-9 })
}

// same returns pairs of members that belong together: by the truth's pairs, and where it has none,
// each member with the first of its cluster.
func (b resolved) same() (pairs [][2]int) {
	if len(b.pairs) > 0 {
		for p, jaccard := range b.pairs {
			if jaccard >= sameJaccard {
				pairs = append(pairs, p)
			}
		}
		return pairs
	}
	first := make(map[int]int)
	for m, group := range b.group {
		if f, known := first[group]; known {
			pairs = append(pairs, [2]int{f, m})
		} else {
			first[group] = m
		}
	}
	return pairs
}

// distances measures the pairs that belong together and a sample of those that do not.
func (b resolved) distances(m method.Method, prints []Print) (same, other []float64) {
	first := make(map[int]int) // document of a member
	for i, member := range b.member {
		if _, known := first[member]; !known {
			first[member] = b.documents[i]
		}
	}
	distance := func(x, y int) (float64, bool) {
		i, j := first[x], first[y]
		if !prints[i].OK || !prints[j].OK {
			return 0, false
		}
		return m.Distance(prints[i].Fingerprint, prints[j].Fingerprint), true
	}
	for _, p := range b.same() {
		if d, ok := distance(p[0], p[1]); ok {
			same = append(same, d)
		}
	}
	random := rand.New(rand.NewPCG(1, uint64(len(b.group)))) // the same pairs for every variant
	for range sampledPairs {
		if len(b.group) < 2 {
			break
		}
		x, y := random.IntN(len(b.group)), random.IntN(len(b.group))
		_, known := b.similar[ordered(b.copies[x], b.copies[y])]
		if known || b.copies[x] == b.copies[y] || b.group[x] == b.group[y] {
			continue
		}
		if d, ok := distance(x, y); ok {
			other = append(other, d)
		}
	}
	return same, other
}

func histogram(distances []float64, unit string) Histogram {
	h := Histogram{Pairs: len(distances)}
	bins, perUnit := shareBins, float64(shareBins)
	if unit == Bits {
		bins, perUnit = wordBits+1, 1
	}
	h.Bins = make([]int, bins)
	for i := range bins + 1 {
		h.Edges = append(h.Edges, float64(i)/perUnit)
	}
	for _, d := range distances {
		if math.IsInf(d, 1) {
			h.Never++
		} else {
			h.Bins[min(bins-1, int(d*perUnit))]++
		}
	}
	return h
}
