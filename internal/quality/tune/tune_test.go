package tune

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/quality/eval"
	"github.com/clusterd/clusterd/internal/sample"
	"github.com/clusterd/clusterd/internal/testutil/golden"
)

// made returns made-up articles, with their copies and edits.
func made(n int) (documents []eval.Document) {
	feed := sample.New(3, time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC))
	for len(documents) < n {
		a := feed.Next()
		documents = append(documents,
			eval.Document{ID: a.ID, Title: a.Title, Content: a.Content, PublishedAt: a.PublishedAt})
	}
	return documents
}

// quick returns methods that need no dictionary.
func quick() Options {
	return Options{
		Same: .8, Methods: []string{"exact", "shingle", "minhash"},
		Config: config.Default(), Now: time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC),
	}
}

// parsed returns what a proposal makes of the default configuration.
func parsed(t *testing.T, lines string) config.Config {
	t.Helper()
	c, err := config.Parse("x.yaml", []byte(lines), os.LookupEnv, os.ReadFile)
	if err != nil {
		t.Fatalf("%s\n%v", lines, err)
	}
	return c
}

func TestRunOnMadeUpArticles(t *testing.T) {
	told := 0
	o := quick()
	o.Progress = func(_ string, n int) { told += n }
	r, err := Run(t.Context(), made(400), o)
	if err != nil {
		t.Fatal(err)
	}
	if r.Articles != 400 || told != 3*400 || r.SamePairs < 100 || len(r.Hints) != 0 {
		t.Errorf("%d articles, told of %d, %d pairs, hints %q", r.Articles, told, r.SamePairs, r.Hints)
	}
	if r.Proposed == nil || r.Proposed.F1 < r.Best.F1-Tolerance || r.Best.F1 < .95 {
		t.Fatalf("proposed %+v, best %+v", r.Proposed, r.Best)
	}
	if c := parsed(t, r.Config); c.Fingerprint.Method != r.Proposed.Method {
		t.Errorf("proposed %s, but the configuration is\n%s", r.Proposed.Method, r.Config)
	}
	// Copies alone are found by exact, but not the rest.
	for _, p := range r.Points {
		if p.Method == "exact" && (p.Precision != 1 || p.Recall == 0 || p.Recall > .9) {
			t.Errorf("exact: %+v", p)
		}
	}
}

// Ids say nothing: those of a file may be the same.
func TestIdsDoNotMatter(t *testing.T) {
	documents := made(100)
	want, err := Run(t.Context(), documents, quick())
	for i := range documents {
		documents[i].ID = "x"
	}
	got, again := Run(t.Context(), documents, quick())
	if err := errors.Join(err, again); err != nil {
		t.Fatal(err)
	}
	if got.SamePairs != want.SamePairs || got.Best.F1 != want.Best.F1 {
		t.Errorf("%d pairs, F1 %v; want %d, %v", got.SamePairs, got.Best.F1, want.SamePairs, want.Best.F1)
	}
}

func TestNothingToTellBy(t *testing.T) {
	const story = "The bridge over the harbour was opened this morning after three years of work, " +
		"and the mayor cut the ribbon."
	alike := []eval.Document{
		{Content: story},
		{Content: story + " Residents came by boat and on foot to see it."},
	}
	for name, tt := range map[string]struct {
		documents []eval.Document
		hint      string
	}{
		"none": {nil, "no two articles are even half the same"},
		"one":  {alike[:1], "no two articles are even half the same"},
		"no articles": {
			[]eval.Document{{Rejected: true}, {Content: "..."}},
			"no two articles are even half the same",
		},
		"different": {
			[]eval.Document{{Content: story}, {Content: "Farmers sold apples."}},
			"no two articles are even half the same",
		},
		"alike, not same": {alike, "no two articles are as similar as 0.8"},
		"few":             {append(alike, alike[0]), "only 1 pairs of articles are the same"},
		"different shorts": {
			[]eval.Document{{Content: "好"}, {Content: "不错"}, {Content: "ok"}},
			"no two articles are even half the same",
		},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := Run(t.Context(), tt.documents, quick())
			if err != nil {
				t.Fatal(err)
			}
			if len(r.Hints) != 1 || !strings.HasPrefix(r.Hints[0], tt.hint) {
				t.Errorf("hints %q, want %q", r.Hints, tt.hint)
			}
			if c := parsed(t, r.Config); name != "few" &&
				(r.Proposed != nil || c.Fingerprint.Method != config.Default().Fingerprint.Method) {
				t.Errorf("proposed %+v:\n%s", r.Proposed, r.Config)
			}
			if err := r.WriteTable(&bytes.Buffer{}); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestRunErrors(t *testing.T) {
	documents := made(100)
	for name, tt := range map[string]struct {
		change func(*Options)
		want   string
	}{
		"similarity too low": {
			func(o *Options) { o.Same = .49 },
			"similarity 0.49 of articles that are the same: it must be 0.5 to 1",
		},
		"similarity too high": {func(o *Options) { o.Same = 1.01 }, "it must be 0.5 to 1"},
		"no such method":      {func(o *Options) { o.Methods = []string{"magic"} }, `"magic"`},
	} {
		o := quick()
		tt.change(&o)
		if _, err := Run(t.Context(), documents, o); err == nil ||
			!strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error %v, want %s", name, err, tt.want)
		}
	}
}

// The points of a curve that a configuration can have are kept, and each says how.
func TestPoints(t *testing.T) {
	point := func(bound, precision, recall float64) eval.Point {
		f1 := 2 * precision * recall / (precision + recall)
		return eval.Point{
			Threshold: bound,
			Pairs: eval.Quality{
				Precision: precision, Recall: recall,
				F1: f1,
			}, HalfPrecision: 1, PerSecond: 10,
		}
	}
	for name, tt := range map[string]struct {
		run  eval.Run
		want []string
	}{
		"distances a configuration cannot have": {
			eval.Run{
				Name: "simhash", Threshold: 3,
				Curve: &eval.Curve{Points: []eval.Point{
					point(2, 1, .4), point(3, 1, .5), point(6, .9, .9),
					point(7, .9, 1),
				}},
			},
			[]string{
				"cluster.distance 2 false false", "cluster.distance 3 true false",
				"cluster.distance 6 false true",
			},
		},
		"verified": {
			eval.Run{
				Name: "simhash+verify", Threshold: 8,
				Curve: &eval.Curve{Points: []eval.Point{point(8, 1, .9), point(10, 1, .8)}},
			},
			[]string{"cluster.verified_distance 8 true true", "cluster.verified_distance 10 false false"},
		},
		"similarities": {
			eval.Run{
				Name: "minhash", Threshold: 1 - .77,
				Curve: &eval.Curve{Points: []eval.Point{
					point(1-.95, 1, .5), point(1-.77, 1, .9),
					point(1-.75, .9, .9), point(1, .1, 1),
				}},
			},
			[]string{
				"cluster.similarity 0.95 false false", "cluster.similarity 0.77 true true",
				"cluster.similarity 0.75 false false",
			},
		},
		"what changes nothing": {
			eval.Run{
				Name: "exact", Threshold: 0,
				Curve: &eval.Curve{Points: []eval.Point{point(0, 1, .5), point(.05, 1, .5), point(.1, 1, .5)}},
			},
			[]string{"cluster.similarity 1 true true"},
		},
		"of equals the configured": {
			eval.Run{
				Name: "minhash", Threshold: .2,
				Curve: &eval.Curve{Points: []eval.Point{point(.1, 1, .5), point(.2, 1, .5), point(.3, 1, .5)}},
			},
			[]string{"cluster.similarity 0.9 false false", "cluster.similarity 0.8 true true"},
		},
	} {
		var got []string
		for _, p := range pointsOf(tt.run, config.Default()) {
			got = append(got, fmt.Sprintf("%s %s %v %v", p.Key, p.Value, p.Default, p.Best))
		}
		if !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}

func TestPropose(t *testing.T) {
	best := func(method string, f1, perSecond float64) Point {
		return Point{
			Method: method, Key: "cluster.similarity", Value: "0.8", Best: true, F1: f1,
			PerSecond: perSecond,
		}
	}
	other := best("shingle", 1, 1e6)
	other.Best = false
	usual := best("minhash", .9, 10)
	usual.Default = true
	for name, tt := range map[string]struct {
		points                 []Point
		best, proposed, faster string
		config                 string
	}{
		"the fastest within the tolerance": {
			[]Point{
				best("shingle", 1, 10), best("pinyin", .991, 30), best("minhash", .995, 50),
				best("exact", .5, 90), best("ksentence", .6, 80), other,
			},
			"shingle", "minhash", "ksentence",
			"fingerprint:\n  method: minhash\ncluster:\n  similarity: 0.8\n",
		},
		"none is near the best": {
			[]Point{best("shingle", 1, 10), best("minhash", .98, 50)},
			"shingle", "shingle", "minhash",
			"fingerprint:\n  method: shingle\ncluster:\n  similarity: 0.8\n",
		},
		"as configured": {[]Point{usual}, "minhash", "minhash", "", "fingerprint:\n  method: minhash\n"},
		"nothing":       {nil, "", "", "", "fingerprint:\n  method: simhash\n"},
	} {
		r := Report{Points: tt.points}
		r.propose()
		name3 := [3]string{}
		for i, p := range []*Point{r.Best, r.Proposed, r.Faster} {
			if p != nil {
				name3[i] = p.Method
			}
		}
		if name3 != [3]string{tt.best, tt.proposed, tt.faster} || r.Config != tt.config {
			t.Errorf("%s: best, proposed, faster %q, configuration\n%s", name, name3, r.Config)
		}
		parsed(t, r.Config)
	}
}

func TestWrite(t *testing.T) {
	r := Report{
		Articles: 1394, Same: .8, SamePairs: 131, Hints: []string{"only so many"},
		Levels: []Level{{1, 24}, {.9, 74}, {.8, 33}, {.7, 28}, {.6, 41}, {.5, 36}},
		Points: []Point{
			{
				Method: "simhash", Key: "cluster.distance", Value: "3", Default: true, Precision: .951,
				Recall: .588,
				F1:     .726, HalfPrecision: 1, PerSecond: 15371, CentreBytes: 94,
			},
			{
				Method: "simhash", Key: "cluster.distance", Value: "6", Best: true, Precision: .794,
				Recall: .855,
				F1:     .824, HalfPrecision: .972, PerSecond: 15164, CentreBytes: 94,
			},
			{
				Method: "shingle", Key: "cluster.similarity", Value: "0.8", Best: true, Precision: 1, Recall: 1,
				F1:            1,
				HalfPrecision: 1, PerSecond: 4058, CentreBytes: 52000,
			},
		},
	}
	r.propose()
	var table bytes.Buffer
	object, err := json.Marshal(r)
	if err := errors.Join(err, r.WriteTable(&table)); err != nil {
		t.Fatal(err)
	}
	golden.Check(t, "testdata/table.txt", table.Bytes())
	var back Report
	if err := json.Unmarshal(object, &back); err != nil || !reflect.DeepEqual(back, r) {
		t.Errorf("%v: as JSON it is\n%s", err, object)
	}
}
