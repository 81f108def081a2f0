package report

import (
	"strings"
	"testing"

	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/quality/eval"
)

// measured returns a run with a pair F1, a speed and a size; on so many true clusters.
func measured(t *testing.T, text string, f1, perSecond, bytes float64, groups int) eval.Run {
	t.Helper()
	v, err := eval.ParseVariant(config.Default(), text)
	if err != nil {
		t.Fatal(err)
	}
	return eval.Run{
		Name: v.Name, Variant: v, Cost: eval.Cost{PerSecond: perSecond, CentreBytes: bytes},
		Scores: &eval.Scores{
			TrueGroups: groups, Pairs: eval.Quality{Precision: f1, Recall: f1, F1: f1},
		},
	}
}

// curve adds pair F1s at thresholds.
func curve(run eval.Run, points ...float64) eval.Run {
	run.Curve = &eval.Curve{}
	for i := 0; i < len(points); i += 2 {
		run.Curve.Points = append(run.Curve.Points, eval.Point{
			Threshold: points[i], Pairs: eval.Quality{F1: points[i+1]}, PerSecond: run.Cost.PerSecond,
		})
	}
	return run
}

// moderated returns a run with what is caught and hit.
func moderated(t *testing.T, text string, caught, hits float64) eval.Run {
	run := measured(t, text, 0, 20_000, 40, 0)
	run.Scores = nil
	run.Moderation = &eval.Moderation{
		Work: eval.Work{CaughtShare: caught, HitPerThousand: hits},
	}
	return run
}

func TestRecommendation(t *testing.T) {
	const fast, slow, small, large = 20_000, 1_000, 40, 4000
	for name, tt := range map[string]struct {
		runs       []eval.Run
		take, yaml string
		why        []string // each in a sentence
	}{
		"the best is also the cheapest": {
			[]eval.Run{
				measured(t, "exact", .5, fast, small, 1000), measured(t, "minhash", .9, fast, small, 1000),
			},
			"Take minhash.", "fingerprint:\n  method: minhash\n",
			[]string{
				"Its pair F1 is 0.900 (precision 0.900, recall 0.900), measured on 1,000 true clusters",
				"No run has more. On so many, 0.020 less may be chance, and no other is as near.",
				"20,000 documents a second with 2 threads, and takes 40 bytes of memory a centre: 40 MB",
			},
		},
		"one that is as good is cheaper": {
			[]eval.Run{
				measured(t, "shingle", .91, slow, large, 1000), measured(t, "minhash", .9, fast, small, 1000),
				measured(t, "exact", .5, 2*fast, small/2, 1000),
			},
			"Take minhash.", "fingerprint:\n  method: minhash\n",
			[]string{
				"shingle has the most, 0.910. On so many, 0.020 less may be chance, and this is cheaper in " +
					"memory and time than what is as near: shingle.",
				"It loses 0.010 of pair F1 to shingle.",
				"exact is 2.0 times as fast, with a pair F1 of 0.500.",
				"exact takes 20 bytes a centre, with a pair F1 of 0.500.",
			},
		},
		"one that is cheaper is worse by more than chance": {
			[]eval.Run{
				measured(t, "shingle", .93, slow, large, 1000), measured(t, "minhash", .9, fast, small, 1000),
			},
			"Take shingle.", "fingerprint:\n  method: shingle\n", nil,
		},
		"and the same on fewer clusters may be chance": {
			[]eval.Run{
				measured(t, "shingle", .93, slow, large, 100), measured(t, "minhash", .9, fast, small, 100),
			},
			"Take minhash.", "fingerprint:\n  method: minhash\n",
			[]string{"On so many, 0.051 less"},
		},
		"as good is dearer": {
			[]eval.Run{
				measured(t, "minhash", .91, fast, small, 1000), measured(t, "shingle", .9, slow, large, 1000),
			},
			"Take minhash.", "fingerprint:\n  method: minhash\n",
			[]string{"what is as near is not cheaper: shingle."},
		},
		"of two that cost the same, the better": {
			[]eval.Run{
				measured(t, "exact", .9, fast, small, 1000), measured(t, "minhash", .901, fast, small, 1000),
			},
			"Take minhash.", "fingerprint:\n  method: minhash\n", nil,
		},
		"of two that are the same, the first": {
			[]eval.Run{
				measured(t, "exact", .9, fast, small, 1000), measured(t, "minhash", .9, fast, small, 1000),
			},
			"Take exact.", "fingerprint:\n  method: exact\n", nil,
		},
		"another threshold is much better": {
			[]eval.Run{curve(measured(t, "minhash,cluster.window=1h", .8, fast, small, 1000),
				.1, .7, .3, .9, .5, .85)},
			"Take minhash,cluster.window=1h with cluster.similarity=0.7.",
			"fingerprint:\n  method: minhash\n\ncluster:\n  similarity: 0.7\n  window: 1h\n",
			[]string{
				"There is no other run to compare it with.", "Its own threshold has 0.800.",
				"measure it on others, too",
			},
		},
		"another threshold is hardly better": {
			[]eval.Run{curve(measured(t, "simhash", .8, fast, small, 1000), 4, .81)},
			"Take simhash.", "fingerprint:\n  method: simhash\n", nil,
		},
		"another threshold cannot be configured": {
			[]eval.Run{curve(measured(t, "simhash", .8, fast, small, 1000), 40, .99)},
			"Take simhash.", "fingerprint:\n  method: simhash\n", nil,
		},
		"few data": {
			[]eval.Run{measured(t, "minhash", .9, fast, small, 29)},
			"No run is recommended.", "",
			[]string{"There are 29 true clusters of two documents and more. With fewer than 30,"},
		},
		"nothing found": {
			[]eval.Run{measured(t, "minhash", 0, fast, small, 1000)},
			"No run is recommended.", "",
			[]string{"Each has a pair F1 of 0"},
		},
		"no truth": {
			[]eval.Run{{Name: "minhash"}},
			"No run is recommended.", "",
			[]string{"give --clusters or --truth, or --positive with labels"},
		},
		"nothing": {nil, "No run is recommended.", "", []string{"Nothing was measured."}},
		"a moderator's": {
			[]eval.Run{moderated(t, "minhash", .8, 1.4), moderated(t, "pinyin", .9, 1.6)},
			"Take minhash.", "fingerprint:\n  method: minhash\n",
			[]string{"Its share of spam caught is 0.800, measured on 900 spam documents."},
		},
		"a moderator's, all hit too many": {
			[]eval.Run{moderated(t, "minhash", .8, 1.6)},
			"No run is recommended.", "",
			[]string{"Each hits more than 1.5 of a thousand honest documents."},
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := Report{eval.Report{Runs: tt.runs, Threads: 2, Positive: "spam", Positives: 900}}
			got := r.recommend()
			if got.Take != tt.take || got.YAML != tt.yaml {
				t.Errorf("%s\n%s", got.Take, got.YAML)
			}
			for _, want := range tt.why {
				if !strings.Contains(strings.Join(got.Why, "\n"), want) {
					t.Errorf("%q does not say %q", got.Why, want)
				}
			}
			if _, err := config.Parse("c.yaml", []byte(got.YAML), nil, nil); err != nil {
				t.Error(err)
			}
		})
	}
}

// A similarity that is configured, and that the method does not use, is taken back.
func TestRecommendationTakesBackASimilarity(t *testing.T) {
	c := config.Default()
	c.Cluster.Similarity = .9
	v, err := eval.ParseVariant(c, "simhash")
	if err != nil {
		t.Fatal(err)
	}
	run := measured(t, "simhash", .9, 1, 1, 100)
	run.Variant = v
	r := Report{eval.Report{Runs: []eval.Run{run}}}
	want := "fingerprint:\n  method: simhash\n\ncluster:\n  similarity: auto\n"
	if got := r.recommend().YAML; got != want {
		t.Errorf("got %s", got)
	}
}
