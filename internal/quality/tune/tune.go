// Package tune proposes a method and a threshold for articles of which nothing is known. It
// finds near pairs among them exactly, by the Jaccard similarity of their shingles, takes those
// that are similar enough for the same, clusters the articles by each method at each threshold,
// and proposes the cheapest that is about as good as the best.
//
// That truth is lexical: it favours methods that compare shingles, and knows nothing of articles
// that say the same in other words.
package tune

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/method"
	"github.com/clusterd/clusterd/internal/quality/eval"
)

const (
	// Near is the minimum Jaccard similarity of pairs that are looked for.
	Near = .5
	// Tolerance is by how much the F1 of what is proposed may be below the best.
	Tolerance = .01
	// FewPairs is how many pairs that are the same say too little.
	FewPairs = 20
)

// Options are what a proposal depends on beside the articles.
type Options struct {
	Same    float64       // minimum Jaccard similarity of articles that are the same, .5 to 1
	Methods []string      // to try
	Config  config.Config // whose text and fingerprint sections, and window, hold
	Now     time.Time
	// Progress is called as documents are fingerprinted.
	Progress func(method string, documents int)
}

// A Report is what was found and what is proposed.
type Report struct {
	Articles  int     `json:"articles"` // in which there is something to compare
	Levels    []Level `json:"levels"`   // how many pairs are as similar as that
	Same      float64 `json:"same"`     // minimum similarity of articles that are the same
	SamePairs int     `json:"same_pairs"`
	Points    []Point `json:"points"`
	// Proposed is nil where nothing could be measured: then the default is as good as any.
	Proposed *Point `json:"proposed"`
	// Best is what has the highest F1, and Faster what has the highest of those that are faster than
	// what is proposed; nil where none is.
	Best   *Point `json:"best"`
	Faster *Point `json:"faster"`
	// Config is what to put into the configuration, YAML.
	Config string   `json:"config"`
	Hints  []string `json:"hints,omitempty"` // for a person
}

// A Level counts pairs by similarity.
type Level struct {
	From  float64 `json:"from"` // up to that of the level before
	Pairs int     `json:"pairs"`
}

// A Point is what a method reaches at a threshold.
type Point struct {
	Method    string  `json:"method"`
	Key       string  `json:"key"`   // of the configuration, for the threshold
	Value     string  `json:"value"` // of that key
	Default   bool    `json:"default"`
	Best      bool    `json:"best"` // of this method
	Precision float64 `json:"precision"`
	Recall    float64 `json:"recall"`
	F1        float64 `json:"f1"`
	// HalfPrecision is the share of pairs found together that are at least half the same.
	HalfPrecision float64 `json:"half_precision"`
	PerSecond     float64 `json:"documents_per_second"` // on one core
	// CentreBytes is what the index takes for a centre, at the configured threshold.
	CentreBytes float64 `json:"centre_bytes"`
}

// Run proposes a method and a threshold for documents in the order in which they come. Where they
// are too many to compare, it takes as many of the first as it can.
func Run(ctx context.Context, documents []eval.Document, o Options) (Report, error) {
	if !(o.Same >= Near && o.Same <= 1) {
		return Report{}, fmt.Errorf("similarity %v of articles that are the same: it must be %v to 1",
			o.Same, Near)
	}
	t, err := findTruth(ctx, documents, o.Config, o.Same)
	if err != nil {
		return Report{}, err
	}
	r := Report{Articles: len(t.documents), Levels: t.levels, Same: o.Same, SamePairs: t.same}
	switch {
	case t.same == 0 && len(t.between) == 0:
		r.hint("no two articles are even half the same, so there is nothing to tell methods apart by; " +
			"keep the default, or try more articles")
	case t.same == 0:
		r.hint("no two articles are as similar as %v, so there is nothing to find; keep the default, "+
			"or try more articles or a lower --same", o.Same)
	default:
		if t.same < FewPairs {
			r.hint("only %d pairs of articles are the same, so the figures may be chance; try more articles",
				t.same)
		}
		if r.Points, err = measure(ctx, t, o); err != nil {
			return Report{}, err
		}
	}
	r.propose()
	return r, nil
}

func (r *Report) hint(format string, args ...any) {
	r.Hints = append(r.Hints, fmt.Sprintf(format, args...))
}

// measure clusters the documents by each method at each threshold that a configuration can have.
func measure(ctx context.Context, t truth, o Options) ([]Point, error) {
	labelled, err := t.labelled()
	if err != nil {
		return nil, err
	}
	var variants []eval.Variant
	for _, name := range o.Methods {
		v := eval.Variant{Name: name, Config: o.Config}
		if err := v.Config.Set(methodKey, name); err != nil {
			return nil, fmt.Errorf("method %q: %w", name, err)
		}
		variants = append(variants, v)
	}
	// One thread: so the speed is that of one core.
	report, err := eval.Evaluate(ctx, t.documents, variants,
		eval.Options{Truth: labelled, Curves: true, Threads: 1, Now: o.Now, Progress: o.Progress})
	if err != nil {
		return nil, err
	}
	var points []Point
	for _, run := range report.Runs {
		points = append(points, pointsOf(run, o.Config)...)
	}
	return points, nil
}

// pointsOf returns the points of a method's curve that a configuration can have, without those that
// give the same as a stricter one, and marks the best.
func pointsOf(run eval.Run, c config.Config) []Point {
	var points []Point
	for _, p := range run.Curve.Points {
		point := Point{
			Method: run.Name, Default: p.Threshold == run.Threshold, Precision: p.Pairs.Precision,
			Recall: p.Pairs.Recall, F1: p.Pairs.F1,
			HalfPrecision: p.HalfPrecision, PerSecond: p.PerSecond, CentreBytes: run.Cost.CentreBytes,
		}
		point.Key, point.Value = setting(run.Name, p.Threshold)
		if c.Set(point.Key, point.Value) != nil {
			continue // an index can do more than a configuration allows
		}
		if last := len(points) - 1; last >= 0 && !point.Default && points[last].alike(point) {
			continue
		}
		points = append(points, point)
	}
	if best := better(points); best != nil {
		best.Best = true
	}
	return points
}

func (p Point) alike(q Point) bool {
	return p.Precision == q.Precision && p.Recall == q.Recall && p.HalfPrecision == q.HalfPrecision
}

// better returns the point with the highest F1, among equals the default, else the first; nil of
// none.
func better(points []Point) *Point {
	var best *Point
	for i := range points {
		p := &points[i]
		if best == nil || p.F1 > best.F1 || p.F1 == best.F1 && p.Default && !best.Default {
			best = p
		}
	}
	return best
}

// methodKey is the key of the configuration for the method.
const methodKey = "fingerprint.method"

// setting returns the key and the value that give a method this threshold.
func setting(name string, threshold float64) (key, value string) {
	spec, _ := method.SpecOf(name)
	measure := spec.Measure()
	if measure.Unit == method.Similarity {
		threshold = math.Round((1-threshold)*1e4) / 1e4
	}
	return measure.Key, strconv.FormatFloat(threshold, 'f', -1, 64)
}

// propose takes, of the best points of all methods whose F1 is within the tolerance of the highest,
// the fastest: what it saves is worth more than what it misses.
func (r *Report) propose() {
	var bests []Point
	for _, p := range r.Points {
		if p.Best {
			bests = append(bests, p)
		}
	}
	r.Best = better(bests)
	for i := range bests {
		p := &bests[i]
		if p.F1 >= r.Best.F1-Tolerance && (r.Proposed == nil || p.PerSecond > r.Proposed.PerSecond) {
			r.Proposed = p
		}
	}
	var faster []Point
	for _, p := range bests {
		if p.PerSecond > r.Proposed.PerSecond {
			faster = append(faster, p)
		}
	}
	r.Faster = better(faster)
	r.Config = lines(r.Proposed)
}

// lines returns the proposal as YAML: the method, and the threshold where it is not what the
// configuration has already.
func lines(p *Point) string {
	if p == nil {
		return "fingerprint:\n  method: " + config.Default().Fingerprint.Method + "\n"
	}
	text := "fingerprint:\n  method: " + p.Method + "\n"
	if !p.Default {
		text += "cluster:\n  " + strings.TrimPrefix(p.Key, "cluster.") + ": " + p.Value + "\n"
	}
	return text
}
