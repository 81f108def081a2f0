package eval

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestBounds(t *testing.T) {
	for _, test := range []struct {
		unit       string
		configured float64
		want       []float64
	}{
		{Bits, 3, []float64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}},
		{Dissimilarity, 1 - .8, []float64{
			0, .05, .1, .15, .2, .25, .3, .35, .4, .45, .5, .55, .6, .65,
			.7,
		}},
		{Dissimilarity, .23, []float64{
			0, .05, .1, .15, .2, .23, .25, .3, .35, .4, .45, .5, .55, .6, .65,
			.7,
		}},
	} {
		if diff := cmp.Diff(test.want, thresholds(test.unit, test.configured),
			cmpopts.EquateApprox(0, 1e-9)); diff != "" {
			t.Errorf("%s, %v: %s", test.unit, test.configured, diff)
		}
	}
}

func TestHistogram(t *testing.T) {
	for _, test := range []struct {
		unit      string
		distances []float64
		never     int
		bins      map[int]int // by number
		edges     int
	}{
		{Bits, []float64{0, 3, 3, 64, math.Inf(1)}, 1, map[int]int{0: 1, 3: 2, 64: 1}, 66},
		{
			Dissimilarity,
			[]float64{0, .039, .04, .99, 1, math.Inf(1), math.Inf(1)},
			2,
			map[int]int{0: 2, 1: 1, 24: 2},
			26,
		},
		{Dissimilarity, nil, 0, map[int]int{}, 26},
	} {
		h := histogram(test.distances, test.unit)
		bins := make(map[int]int)
		for i, n := range h.Bins {
			if n > 0 {
				bins[i] = n
			}
		}
		if diff := cmp.Diff(test.bins, bins); diff != "" || h.Never != test.never ||
			h.Pairs != len(test.distances) || len(h.Edges) != test.edges {
			t.Errorf("%v: %+v%s", test.distances, h, diff)
		}
	}
}
