package tune

import (
	"testing"

	"github.com/clusterd/clusterd/internal/quality/eval"
)

// What is left out is worth less: each point is as if it were measured alone, and none of all
// thresholds is better than the best.
func TestSweepEqualsRunsOneByOne(t *testing.T) {
	o, documents := quick(), made(400)
	known, err := findTruth(t.Context(), documents, o.Config)
	if err != nil {
		t.Fatal(err)
	}
	s := search{truth: known, same: .8}
	s.groups, _ = known.connect(.8)
	for i := range documents {
		documents[i].Label = []string{"spam", "ham"}[i*2/len(documents)]
	}
	for _, g := range []goal{s, moderator{"spam", 100}} {
		for _, name := range []string{"minhash", "shingle", "pinyin"} {
			v := eval.Variant{Name: name, Config: o.Config}
			v.Config.Fingerprint.Method = name
			prepared, err := eval.Prepare(t.Context(), documents, v, eval.Options{Threads: 1, Now: o.Now})
			if err != nil {
				t.Fatal(err)
			}
			points, err := sweep(t.Context(), prepared, v, g)
			if err != nil {
				t.Fatal(err)
			}
			swept := make(map[string]Point)
			var best Point
			for _, p := range points {
				p.CentreBytes, p.PerSecond = 0, 0
				swept[p.Value] = p
				if p.Best {
					best = p
				}
			}
			for _, threshold := range prepared.Thresholds() {
				alone := Point{Method: name, AsSet: threshold == prepared.Threshold}
				alone.Key, alone.Value = eval.SettingOf(name, threshold)
				c, err := prepared.Cluster(t.Context(), threshold)
				if err != nil {
					t.Fatal(err)
				}
				if err := g.measure(t.Context(), &alone, prepared, c); err != nil {
					t.Fatal(err)
				}
				if alone.better(best) {
					t.Errorf("%T, %s: %+v is better than %+v", g, name, alone, best)
				}
				got, ok := swept[alone.Value]
				alone.Best = got.Best
				if ok && got != alone {
					t.Errorf("%T, %s: %+v, alone %+v", g, name, got, alone)
				}
			}
			if len(points) == len(prepared.Thresholds()) && name != "pinyin" {
				t.Errorf("%T, %s: no threshold was left out", g, name)
			}
		}
	}
}
