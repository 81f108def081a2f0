// Package eval measures ways to cluster on documents of which it is known which belong together.
// Documents and a truth go in, a [Report] comes out: for each variant, a method with its settings,
// how good its clusters are, what they cost, how both change with the threshold, and what the size
// of a cluster says about a label such as spam. Documents are clustered as clusterd does it, one by
// one, in the order in which they come.
package eval

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// Options say what is measured. The zero value measures nothing but cost.
type Options struct {
	Truth *Truth    // nil: quality is not measured
	At    []float64 // Jaccard levels of the recall

	Labels   bool          // whether purity is measured
	Stories  bool          // whether stories over the clusters are measured, by labels
	Positive string        // the label that cluster sizes are to find, such as spam; empty: none
	Sizes    []int         // that count as a signal for it
	Within   time.Duration // of event time in which that many arrive; 0 is any
	Parts    int           // of the stream, by which a moderator's work on it is told; 0: not at all
	// Moderator works on the stream, if Parts says so.
	Moderator Moderator

	Curves  bool // whether other thresholds are tried; needs a truth
	Threads int  // that make fingerprints, at least 1

	// Now is what event times may run ahead of by a day at most, as in the daemon.
	Now time.Time
	// Progress is called as documents are fingerprinted; never by two at once.
	Progress func(variant string, documents int)
}

// A Report is what was measured.
type Report struct {
	Documents  int     `json:"documents"`
	Rejected   int     `json:"rejected"`           // of these, those that are no articles
	LeftOut    int     `json:"left_out,omitempty"` // of these, those that no measure counts
	Characters float64 `json:"characters"`         // of title and content, the mean
	Truth      string  `json:"truth,omitempty"`
	Pairs      int     `json:"truth_pairs,omitempty"` // of known documents
	Labelled   int     `json:"labelled,omitempty"`
	Positive   string  `json:"positive,omitempty"`
	Positives  int     `json:"positives,omitempty"`
	Within     string  `json:"within,omitempty"`
	Threads    int     `json:"threads"`
	Runs       []Run   `json:"runs"`
}

// A Run is what was measured of one variant.
type Run struct {
	Name       string      `json:"name"`
	Variant    Variant     `json:"-"`
	Identity   string      `json:"identity"` // of the method, see [method.Method]
	Threshold  float64     `json:"bound"`    // largest distance from a centre, in the method's measure
	Cost       Cost        `json:"cost"`
	Scores     *Scores     `json:"scores,omitempty"`
	Purity     *Purity     `json:"purity,omitempty"`
	Signals    []Signal    `json:"signals,omitempty"`
	Moderation *Moderation `json:"moderation,omitempty"`
	Curve      *Curve      `json:"curve,omitempty"`
	// Stories are those over the clusters, with one threshold after the other.
	Stories []StoryPoint `json:"stories,omitempty"`
}

// Evaluate measures the variants, one after the other. The error is that of a variant that cannot
// be made, or of the context.
func Evaluate(ctx context.Context, docs []Document, variants []Variant, o Options) (Report, error) {
	r := describe(docs, o)
	for _, v := range variants {
		run, err := evaluate(ctx, docs, v, o)
		if err != nil {
			return Report{}, fmt.Errorf("%s: %w", v.Name, err)
		}
		r.Runs = append(r.Runs, run)
	}
	return r, nil
}

func describe(docs []Document, o Options) Report {
	r := Report{Documents: len(docs), Threads: o.Threads, Positive: o.Positive}
	if o.Truth != nil {
		r.Truth, r.Pairs = o.Truth.origin, len(o.Truth.resolve(docs).pairs)
	}
	if o.Positive != "" && o.Within > 0 {
		r.Within = plain(o.Within)
	}
	characters := 0
	for i := range docs {
		d := &docs[i]
		characters += d.characters()
		if d.Rejected {
			r.Rejected++
		}
		if d.LeftOut {
			r.LeftOut++
		}
		if d.Label != "" {
			r.Labelled++
		}
		if o.Positive != "" && d.Label == o.Positive {
			r.Positives++
		}
	}
	r.Characters = ratio(characters, len(docs))
	return r
}

func evaluate(ctx context.Context, docs []Document, v Variant, o Options) (Run, error) {
	p, err := Prepare(ctx, docs, v, o)
	if err != nil {
		return Run{}, err
	}
	c, err := p.Cluster(ctx, p.Threshold)
	if err != nil {
		return Run{}, err
	}
	run := Run{
		Name: v.Name, Variant: v, Identity: p.method.Identity(), Threshold: p.Threshold, Cost: c.Cost,
	}
	if run.Cost.CentreBytes, err = p.CentreBytes(c); err != nil {
		return Run{}, err
	}
	if o.Truth != nil {
		scores := o.Truth.Score(docs, c.Clustering, o.At)
		run.Scores = &scores
	}
	if o.Labels {
		purity := PurityOf(docs, c.Clustering)
		run.Purity = &purity
	}
	if o.Positive != "" {
		run.Signals = Signals(docs, c.Clustering, o)
	}
	if o.Positive != "" && o.Parts > 0 {
		work, err := p.Moderate(ctx, p.Threshold, o)
		if err != nil {
			return Run{}, err
		}
		run.Moderation = &work
	}
	if o.Stories {
		over, err := p.Stories(ctx, c.Clustering)
		if err != nil {
			return Run{}, err
		}
		if run.Stories, err = over.curve(ctx); err != nil {
			return Run{}, err
		}
	}
	if o.Curves && o.Truth != nil {
		if run.Curve, err = p.sweep(ctx, o.Truth); err != nil {
			return Run{}, err
		}
	}
	return run, nil
}

// PositiveShare returns the share of labelled documents that have the positive label.
func (r Report) PositiveShare() float64 { return ratio(r.Positives, r.Labelled) }

// plain returns a duration without the zeros at its end, as in 24h.
func plain(d time.Duration) string {
	s := d.String()
	for _, zeros := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(s, zeros) {
			s = s[:len(s)-len("0m")]
		}
	}
	return s
}

// ratio returns a share, 0 of nothing.
func ratio(part, whole int) float64 {
	if whole == 0 {
		return 0
	}
	return float64(part) / float64(whole)
}

// perSecond returns a rate, 0 where no time passed.
func perSecond(n int, took time.Duration) float64 {
	if took <= 0 {
		return 0
	}
	return float64(n) / took.Seconds()
}
