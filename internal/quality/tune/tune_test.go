package tune

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/clusterd/clusterd/internal/cli/demo/sample"
	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/quality/eval"
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
	c := config.Default()
	c.Fingerprint.Method = "exact"
	return Options{
		Same: .8, Methods: []string{"exact", "shingle", "minhash"},
		Config: c, Now: time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC),
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
	if r.Articles != 400 || told != 3*400 || r.SamePairs < EnoughPairs || len(r.Hints) != 0 ||
		r.Same != .8 {
		t.Errorf("%d articles, told of %d, %d pairs, hints %q", r.Articles, told, r.SamePairs, r.Hints)
	}
	// Shingle, which draws the line as the truth does, is no better than minhash, and dearer.
	if r.Proposed == nil || r.Proposed.Method != "minhash" || r.Proposed.Worth < .9 ||
		parsed(t, r.Config).Fingerprint.Method != "minhash" {
		t.Fatalf("proposed %+v: %s\n%s", r.Proposed, r.Why, r.Config)
	}
	if r.Configured == nil || r.Configured.Method != "exact" || r.Configured.Worth != 0 {
		t.Errorf("exact finds no texts that differ, but %+v", r.Configured)
	}
	// What is proposed stays.
	o.Config = parsed(t, r.Config)
	again, err := Run(t.Context(), made(400), o)
	if err != nil || again.Proposed != nil || again.Config != "" {
		t.Errorf("%v: after %s comes %s: %s", err, r.Config, again.Config, again.Why)
	}
}

// The configured method is measured though it is none of those to try.
func TestConfiguredIsMeasured(t *testing.T) {
	o := quick()
	o.Methods = []string{"minhash"}
	r, err := Run(t.Context(), made(200), o)
	if err != nil || r.Configured == nil || r.Configured.Method != "exact" {
		t.Errorf("%v: configured %+v", err, r.Configured)
	}
}

// Ids say nothing: those of a file may be the same.
func TestIdsDoNotMatter(t *testing.T) {
	documents := made(200)
	want, err := Run(t.Context(), documents, quick())
	for i := range documents {
		documents[i].ID = "x"
	}
	got, again := Run(t.Context(), documents, quick())
	if err := errors.Join(err, again); err != nil {
		t.Fatal(err)
	}
	if got.SamePairs != want.SamePairs || len(got.Points) != len(want.Points) ||
		got.Points[3].Worth != want.Points[3].Worth {
		t.Errorf("%d pairs, %d points; want %d, %d", got.SamePairs, len(got.Points), want.SamePairs,
			len(want.Points))
	}
}

func TestNothingToTellBy(t *testing.T) {
	const story = "The bridge over the harbour was opened this morning after three years of work, " +
		"and the mayor cut the ribbon."
	alike := []eval.Document{
		{Content: story},
		{Content: story + " Residents came by boat and on foot to see it."},
	}
	const none = "of different texts only 0 pairs are as similar as 0.8"
	labels := make([]eval.Document, 100)
	for i := range labels {
		labels[i] = eval.Document{Content: story, Label: []string{"ham", "spam"}[min(1, i/90)]}
	}
	for name, tt := range map[string]struct {
		documents []eval.Document
		positive  string
		why       string
	}{
		"none":        {nil, "", none},
		"one":         {alike[:1], "", none},
		"no articles": {[]eval.Document{{Rejected: true}, {Content: "..."}}, "", none},
		"different":   {[]eval.Document{{Content: story}, {Content: "Farmers sold apples."}}, "", none},
		"copies":      {labels, "", none},
		"few":         {alike, "", "of different texts only 1 pairs are as similar as 0.7"},
		"different shorts": {
			[]eval.Document{{Content: "好"}, {Content: "不错"}, {Content: "ok"}}, "", none,
		},
		"few positive": {
			labels, "spam", "there are only 10 articles with the label spam and 90 with another",
		},
		"none positive": {nil, "spam", "there are only 0 articles with the label spam"},
	} {
		t.Run(name, func(t *testing.T) {
			o := quick()
			o.Positive = tt.positive
			r, err := Run(t.Context(), tt.documents, o)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.HasPrefix(r.Why, "Keep the configuration as it is: "+tt.why) ||
				r.Proposed != nil || r.Config != "" {
				t.Errorf("proposed %+v: %s\n%s", r.Proposed, r.Why, r.Config)
			}
			if err := r.WriteTable(&bytes.Buffer{}); err != nil {
				t.Error(err)
			}
		})
	}
}

// Spam is posted again with words changed: half of the runs of characters stay.
func TestLowerSimilarity(t *testing.T) {
	var documents []eval.Document
	for i := range 60 {
		text := fmt.Sprintf("offer %d of shop %d: %x %x", i, i*7, i*7919, i*104729)
		documents = append(documents, eval.Document{Content: text},
			eval.Document{Content: text + fmt.Sprintf(" call now %x", i*31)})
	}
	r, err := Run(t.Context(), documents, quick())
	if err != nil {
		t.Fatal(err)
	}
	if r.Asked != .8 || r.Same >= .8 || r.SamePairs < EnoughPairs || len(r.Hints) != 1 ||
		!strings.Contains(r.Hints[0], "of different texts are the same at 0.8, so a similarity of ") {
		t.Errorf("same at %v: %d pairs, hints %q", r.Same, r.SamePairs, r.Hints)
	}
}

// With labels, what is caught is the goal, and honest articles are not to be hit.
func TestLabels(t *testing.T) {
	var documents []eval.Document
	for i := range 300 {
		d := eval.Document{Content: fmt.Sprintf("a letter from %x to %x", i*7919, i*104729), Label: "ham"}
		if i%3 == 0 {
			d.Content = fmt.Sprintf("win a prize of %d at the great lottery of the capital today", i*911)
			d.Label = "spam"
		}
		documents = append(documents, d)
	}
	o := quick()
	o.Positive, o.Hits = "spam", 1.5
	r, err := Run(t.Context(), documents, o)
	if err != nil {
		t.Fatal(err)
	}
	if r.Positives != 100 || r.Honest != 200 || r.Proposed == nil || r.Proposed.Hits > 1.5 ||
		r.Proposed.Caught < .9 || r.Configured.Caught != 0 || r.Proposed.Clicks > 10 {
		t.Errorf("%d spam, %d ham, proposed %+v: %s", r.Positives, r.Honest, r.Proposed, r.Why)
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

func TestWrite(t *testing.T) {
	searched := Report{
		Articles: 1394, Asked: .9, Same: .8, SamePairs: 102, Hints: []string{"only so many"},
		Levels: []Level{{1, 24}, {.9, 74}, {.8, 33}, {.7, 28}, {.6, 41}, {.5, 36}},
		Points: []Point{
			{Method: "simhash", Key: "cluster.distance", Value: "2"},
			{
				Method: "simhash", Key: "cluster.distance", Value: "3", AsSet: true, Precision: .951,
				Recall: .588, Worth: .726, PerSecond: 15164, CentreBytes: 94,
			},
			{
				Method: "simhash", Key: "cluster.distance", Value: "6", Best: true, Precision: .994,
				Recall: .855, Worth: .824, PerSecond: 15164, CentreBytes: 94,
			},
			{
				Method: "shingle", Key: "cluster.similarity", Value: "0.8", Best: true, Precision: 1,
				Recall: 1, Worth: 1, PerSecond: 4058, CentreBytes: 52000,
				halves: [2]float64{1, 1},
			},
			{Method: "exact", Key: "cluster.similarity", Value: "1", AsSet: true, Best: true},
		},
	}
	moderated := Report{
		Articles: 1956, Positive: "spam", Positives: 1005, Honest: 951, MaxHits: 1.5,
		Points: []Point{
			{
				Method: "simhash", Key: "cluster.distance", Value: "3", AsSet: true, Best: true, Caught: .165,
				Clicks: 838, Worth: .165, PerSecond: 131088, CentreBytes: 202,
			},
			{
				Method: "minhash", Key: "cluster.similarity", Value: "0.4", Best: true, Caught: .161,
				Hits: 2.05, TooManyHits: true, Clicks: 742, Worth: .261, PerSecond: 54987, CentreBytes: 534,
			},
		},
	}
	for name, r := range map[string]Report{"searched": searched, "moderated": moderated} {
		r.propose(config.Default())
		var table bytes.Buffer
		object, err := json.Marshal(r)
		if err := errors.Join(err, r.WriteTable(&table)); err != nil {
			t.Fatal(err)
		}
		golden.Check(t, "testdata/"+name+".txt", table.Bytes())
		var back Report
		if err := json.Unmarshal(object, &back); err != nil || back.Why != r.Why ||
			len(back.Points) != len(r.Points) || (back.Proposed == nil) != (r.Proposed == nil) {
			t.Errorf("%v: as JSON it is\n%s", err, object)
		}
	}
}
