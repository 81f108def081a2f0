package tune

import (
	"testing"

	"github.com/clusterd/clusterd/internal/quality/eval"
)

// Pairs are of texts, not of documents; those nearly the same are no mistakes.
func TestSearchMeasures(t *testing.T) {
	// Documents 0 to 5 have texts 0, 0, 1, 2, 3, 4. Texts 0 and 1 are the same, 2 is nearly the same
	// as 1, and 3 half.
	s := search{
		truth: &truth{
			texts: []int{0, 2, 3, 4, 5},
			pairs: []pair{{0, 1, .1}, {1, 2, .25}, {1, 3, .45}},
		},
		groups: []int{0, 0, 2, 3, 4}, same: .8,
	}
	for name, tt := range map[string]struct {
		c                     eval.Clustering
		precision, recall, f1 float64
	}{
		"as they are":  {eval.Clustering{0, 0, 0, 3, 4, 5}, 1, 1, 1},
		"copies alone": {eval.Clustering{0, 0, 2, 3, 4, 5}, 0, 0, 0},
		"another":      {eval.Clustering{0, 0, 0, 3, 4, 0}, 1. / 3, 1, .5},
		"nearly":       {eval.Clustering{0, 0, 0, 0, 4, 5}, 2. / 3, 1, .8},
		"nothing":      {eval.Clustering{-1, -1, -2, -1, -2, -1}, 0, 0, 0},
	} {
		var p Point
		s.score(&p, tt.c)
		if p.Precision != tt.precision || p.Recall != tt.recall || !about(p.Worth, tt.f1) {
			t.Errorf("%s: %+v, want %+v", name, p, tt)
		}
	}
}

func about(a, b float64) bool { return max(a-b, b-a) < 1e-9 }

// A half has the pairs of the texts that first come in it.
func TestHalves(t *testing.T) {
	s := search{
		truth:  &truth{texts: []int{0, 1, 2, 3, 4, 5}, pairs: []pair{{0, 1, 0}, {4, 5, 0}}},
		groups: []int{0, 0, 2, 3, 4, 4}, same: .8,
	}
	var p Point
	s.score(&p, eval.Clustering{0, 0, 2, 3, 4, 5})
	if p.halves != [2]float64{1, 0} || p.Worth != 2./3 {
		t.Errorf("%+v", p)
	}
}

// A moderator's figures are those of eval spam.
func TestModeratorMeasures(t *testing.T) {
	documents := []eval.Document{
		{Content: "win a prize", Label: "spam"},
		{Content: "a song", Label: "ham"},
		{Content: "win a prize", Label: "spam"},
		{Content: "win a prize", Label: "ham"},
		{Content: "a cheap watch", Label: "spam"},
		{Content: "win a prize"},
	}
	o := quick()
	prepared, err := eval.Prepare(t.Context(), documents,
		eval.Variant{Name: "exact", Config: o.Config}, eval.Options{Threads: 1, Now: o.Now})
	if err != nil {
		t.Fatal(err)
	}
	clustered, err := prepared.Cluster(t.Context(), prepared.Threshold)
	if err != nil {
		t.Fatal(err)
	}
	var p Point
	if err := (moderator{"spam", 400}).measure(t.Context(), &p, prepared, clustered); err != nil {
		t.Fatal(err)
	}
	want := Point{
		Caught: 1. / 3, Hits: 500, Clicks: 2, TooManyHits: true, Worth: 1. / 3,
		halves: [2]float64{.5, 0},
	}
	if p != want {
		t.Errorf("%+v, want %+v", p, want)
	}
}
