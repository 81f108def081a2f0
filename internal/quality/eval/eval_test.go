package eval

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/clusterd/clusterd/internal/cli/demo/sample"
	"github.com/clusterd/clusterd/internal/cli/offline"
	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/files"
	"github.com/clusterd/clusterd/internal/message/article"
)

// now returns a time later than all event times of the feed.
func now() time.Time { return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC) }

// feed returns a made-up feed: its lines, its documents with their kind as label, and the truth of
// what was made from what.
func feed(t testing.TB, n int) (lines []byte, docs []Document, truth *Truth) {
	t.Helper()
	g := sample.New(1, now().Add(-24*time.Hour))
	var clusters strings.Builder
	for range n {
		a := g.Next()
		lines = append(append(lines, bytes.TrimSpace(a.JSON())...), '\n')
		origin := a.ID
		if a.Origin != "" {
			origin = a.Origin
		}
		fmt.Fprintf(&clusters, "%s\t%s\n", a.ID, "made from "+origin)
		docs = append(docs, Document{
			ID: a.ID, Title: a.Title, Content: a.Content,
			PublishedAt: a.PublishedAt, Label: string(a.Kind),
		})
	}
	truth, err := ReadTruth(strings.NewReader(clusters.String()), nil)
	if err != nil {
		t.Fatal(err)
	}
	return lines, docs, truth
}

func variant(t testing.TB, name string, settings ...string) Variant {
	t.Helper()
	v := Variant{Name: name, Config: config.Default()}
	for _, s := range settings {
		key, value, _ := strings.Cut(s, "=")
		if err := v.Config.Set(key, value); err != nil {
			t.Fatal(err)
		}
	}
	return v
}

// Documents come into the clusters that clusterd gives them, those that expire included, whatever
// times they say.
func TestClustersAreThoseOfTheDaemon(t *testing.T) {
	all, docs, _ := feed(t, 1500)
	var lines []byte
	for i, line := range bytes.SplitAfter(bytes.TrimSpace(all), []byte("\n")) {
		at := docs[i].PublishedAt
		said := at.Format(time.RFC3339)
		switch {
		case i%7 == 3:
			docs[i].PublishedAt = time.Unix(31536000, 0).UTC()
		case i%7 == 5:
			docs[i].PublishedAt = at.Add(-9 * time.Minute)
		case i == 1400:
			docs[i].PublishedAt = time.Date(2262, 1, 1, 0, 0, 0, 0, time.UTC)
		}
		lines = append(lines, bytes.Replace(line, []byte(said),
			[]byte(docs[i].PublishedAt.Format(time.RFC3339)), 1)...)
	}
	for _, window := range []string{"0s", "10m"} {
		v := variant(t, "minhash", "fingerprint.method=minhash", "cluster.window="+window)
		var results bytes.Buffer
		_, err := offline.Cluster(t.Context(), v.Config,
			[]files.File{{Name: "feed", Lines: bytes.NewReader(lines)}}, &results,
			func(r offline.Rejected) error { return r }, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		p, err := Prepare(t.Context(), docs, v, Options{Threads: 2, Now: time.Now()})
		if err != nil {
			t.Fatal(err)
		}
		got, err := p.Cluster(t.Context(), p.Threshold)
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range bytes.Split(bytes.TrimSpace(results.Bytes()), []byte("\n")) {
			r, err := article.ParseResult(line)
			if err != nil {
				t.Fatal(err)
			}
			if want := r.ClusterID; want == nil && got.Clustering[i] != Unclustered ||
				want != nil && fmt.Sprint("articles/0/", got.Clustering[i]) != *want {
				t.Fatalf("window %s: document %d is in cluster %d; the result is %s", window, i,
					got.Clustering[i], line)
			}
		}
	}
}

// What is measured is in the golden file of package report; here, that it is told and has a cost.
func TestEvaluate(t *testing.T) {
	_, docs, truth := feed(t, 800)
	told := make(map[string]int)
	r, err := Evaluate(t.Context(), docs, []Variant{
		variant(t, "minhash", "fingerprint.method=minhash"),
		variant(t, "exact", "fingerprint.method=exact"),
		variant(t, "expiring", "fingerprint.method=minhash", "cluster.similarity=.9",
			"cluster.window=5m"),
	}, Options{
		Truth: truth, At: []float64{.8}, Labels: true, Positive: "spam", Sizes: []int{2, 5},
		Within: time.Hour, Curves: true,
		Threads: 2, Now: now(), Progress: func(variant string, n int) { told[variant] += n },
	})
	if err != nil {
		t.Fatal(err)
	}
	for i := range r.Runs {
		run := &r.Runs[i]
		if told[run.Name] != len(docs) {
			t.Errorf("%s: told of %d documents", run.Name, told[run.Name])
		}
		if run.Cost.PerSecond <= 0 || run.Cost.CentreBytes <= 0 || run.Cost.Printing <= 0 ||
			run.Cost.Assigning <= 0 {
			t.Errorf("%s: cost %+v", run.Name, run.Cost)
		}
	}
	if object, err := json.Marshal(r); err != nil || !json.Valid(object) {
		t.Errorf("as JSON it is %s, %v", object, err)
	}
}

func TestPlainDurations(t *testing.T) {
	for d, want := range map[time.Duration]string{
		24 * time.Hour: "24h", 90 * time.Minute: "1h30m", time.Minute: "1m", time.Second: "1s",
		10 * time.Second: "10s", time.Hour + time.Second: "1h0m1s",
	} {
		if got := plain(d); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

func TestEvaluateErrors(t *testing.T) {
	_, docs, truth := feed(t, 10)
	bad := variant(t, "no table", "fingerprint.weight=tfidf", "fingerprint.idf=none.tsv")
	if _, err := Evaluate(t.Context(), docs, []Variant{bad},
		Options{Truth: truth, Now: now()}); err == nil || !strings.HasPrefix(err.Error(), "no table: ") {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Evaluate(ctx, docs, []Variant{variant(t, "m", "fingerprint.method=exact")},
		Options{Now: now()}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
