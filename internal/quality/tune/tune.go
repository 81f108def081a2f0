// Package tune proposes a method and a threshold for articles. Without labels, it finds near pairs
// among them exactly, by the Jaccard similarity of their shingles, and takes those that are similar
// enough for the same. With labels, it sees what a moderator is saved who looks for one of them.
// It clusters the articles by each method at each threshold that may be the best, and proposes the
// one that is worth what it costs; or none, where what is configured does as well.
//
// The truth without labels is lexical: it favours methods that compare shingles, and knows nothing
// of articles that say the same in other words.
package tune

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/quality/eval"
	"github.com/clusterd/clusterd/internal/story"
)

const (
	// Near is the minimum Jaccard similarity of pairs that are looked for.
	Near = .5
	// EnoughPairs is how many pairs that are the same are enough to measure by: with fewer, a lower
	// similarity is looked at.
	EnoughPairs = 50
	// Slack is by how much less similar than the same a pair may be without being a mistake: no method
	// is to win by drawing the line just where the truth does.
	Slack = .1
	// FewPairs is how many pairs, or articles with the positive label, say too little.
	FewPairs = 20
)

// Options are what a proposal depends on beside the articles.
type Options struct {
	Sample  int           // how many articles [Sample] takes
	Seed    uint64        // of that choice
	Same    float64       // minimum Jaccard similarity of articles that are the same, .5 to 1
	Methods []string      // to try, beside the configured one
	Config  config.Config // in all but the method and its threshold, what is proposed is as this says
	Now     time.Time

	// Positive is the label that a moderator looks for, such as spam. Empty: labels are not looked at.
	Positive string
	// Hits is how many of a thousand honest articles may be hit; with Positive alone.
	Hits float64

	// Stories asks for thresholds of stories, over clusters of the configured method.
	Stories bool
	// Labels says that labels are events, with Stories alone.
	Labels bool
	// Rule is that of stories; nil: as configured, without a window.
	Rule *story.Options

	// Progress is called as documents are fingerprinted.
	Progress func(method string, documents int)
}

// Check returns what is wrong with what a command line says. given reports whether it has a flag.
func (o *Options) Check(given func(flag string) bool) error {
	switch {
	case o.Sample < 1:
		return errors.New("--sample: at least 1 is needed")
	case !(o.Same >= Near && o.Same <= 1): // nor NaN
		return fmt.Errorf("--same %v: must be %v to 1", o.Same, Near)
	case !(o.Hits >= 0 && o.Hits <= 1000):
		return fmt.Errorf("--hits %v: must be 0 to 1000", o.Hits)
	case o.Stories && (o.Positive != "" || given("hits") || given("same") || given("methods")):
		return errors.New("--stories: not with --positive, --hits, --same or --methods")
	case o.Positive == "" && (given("hits") || given("labels") && !o.Stories):
		return errors.New("--labels and --hits: need --positive; --labels can have --stories instead")
	}
	return nil
}

// A Report is what was found and what is proposed.
type Report struct {
	Articles int `json:"articles"` // that were clustered

	// Without a positive label:
	Levels    []Level `json:"levels,omitempty"`     // how many pairs are as similar as that
	Asked     float64 `json:"asked,omitempty"`      // minimum similarity of articles that are the same
	Same      float64 `json:"same,omitempty"`       // the one that was taken
	SamePairs int     `json:"same_pairs,omitempty"` // of different texts

	// With one:
	Positive  string  `json:"positive,omitempty"`
	Positives int     `json:"positives,omitempty"`
	Honest    int     `json:"honest,omitempty"` // articles with another label
	MaxHits   float64 `json:"max_hits_per_thousand,omitempty"`

	Points []Point `json:"points"`
	// Configured is what the configuration reaches, and Proposed what is better. It is nil where
	// nothing is, or too little is known to tell: Why says so.
	Configured *Point `json:"configured"`
	Proposed   *Point `json:"proposed"`
	Why        string `json:"why"`
	// Config is what to put into the configuration, YAML: what differs alone.
	Config string   `json:"config,omitempty"`
	Hints  []string `json:"hints,omitempty"` // for a person
}

// A Level counts pairs by similarity.
type Level struct {
	From  float64 `json:"from"` // up to that of the level before
	Pairs int     `json:"pairs"`
}

// A Point is what a method reaches at a threshold.
type Point struct {
	Method string `json:"method"`
	Key    string `json:"key"`    // of the configuration, for the threshold
	Value  string `json:"value"`  // of that key
	AsSet  bool   `json:"as_set"` // the method's threshold is this one, as configured
	Best   bool   `json:"best"`   // of this method

	// Without a positive label, of pairs of different texts. A pair found that is less similar than
	// the same by up to [Slack] is right, too.
	Precision float64 `json:"precision"`
	Recall    float64 `json:"recall"`
	// With one, as [eval.Work] has it.
	Caught      float64 `json:"caught"`
	Hits        float64 `json:"hit_per_thousand"`
	Clicks      int     `json:"clicks"`
	TooManyHits bool    `json:"too_many_hits,omitempty"`

	Worth float64 `json:"worth"` // F1, or the share caught
	// Net is the worth less what the method costs, see [Price].
	Net float64 `json:"net"`
	// PerSecond and CentreBytes are those of the method at its best threshold, since they hardly
	// depend on it: articles of one core, and what the index takes for a centre.
	PerSecond   float64 `json:"documents_per_second"`
	CentreBytes float64 `json:"centre_bytes"`

	halves [2]float64 // worth in each half of the documents by itself
}

// A Proposal is a [Report] or a [StoryReport].
type Proposal interface{ WriteTable(out io.Writer) error }

// Propose proposes what the options ask for: a method, or thresholds of stories.
func Propose(ctx context.Context, documents []eval.Document, o Options) (Proposal, error) {
	if o.Stories {
		return Stories(ctx, documents, o)
	}
	return Run(ctx, documents, o)
}

// Run proposes a method and a threshold for documents in the order in which they come. Where they
// are too many to compare, it takes as many of the first as it can.
func Run(ctx context.Context, documents []eval.Document, o Options) (Report, error) {
	if !(o.Same >= Near && o.Same <= 1) {
		return Report{}, fmt.Errorf("similarity %v of articles that are the same: it must be %v to 1",
			o.Same, Near)
	}
	r := Report{Articles: len(documents)}
	var (
		g   goal
		err error
	)
	if o.Positive != "" {
		g = r.moderate(documents, o)
	} else if documents, g, err = r.search(ctx, documents, o); err != nil {
		return Report{}, err
	}
	if g == nil {
		return r, nil
	}
	if r.Points, err = measure(ctx, documents, g, o); err != nil {
		return Report{}, err
	}
	r.propose(o.Config)
	return r, nil
}

// search finds near pairs. The goal is nil where there are too few to measure by.
func (r *Report) search(
	ctx context.Context, documents []eval.Document, o Options,
) ([]eval.Document, goal, error) {
	t, err := findTruth(ctx, documents, o.Config)
	if err != nil {
		return nil, nil, err
	}
	r.Articles, r.Levels = len(t.documents), t.levels()
	r.Asked, r.Same = o.Same, t.settle(o.Same)
	s := search{truth: t, same: r.Same}
	s.groups, r.SamePairs = t.connect(r.Same)
	if r.SamePairs < FewPairs {
		r.Why = keep("of different texts only %d pairs are as similar as %v, and copies are found by "+
			"every method; try more articles", r.SamePairs, r.Same)
		return nil, nil, nil
	}
	if r.Same < r.Asked {
		_, pairs := t.connect(r.Asked)
		r.hint("only %d pairs of different texts are the same at %v, so a similarity of %v was taken, "+
			"at which %d are", pairs, r.Asked, r.Same, r.SamePairs)
	}
	return t.documents, s, nil
}

// moderate counts labels. The goal is nil where there are too few to measure by.
func (r *Report) moderate(documents []eval.Document, o Options) goal {
	r.Positive, r.MaxHits = o.Positive, o.Hits
	for i := range documents {
		switch documents[i].Label {
		case "":
		case o.Positive:
			r.Positives++
		default:
			r.Honest++
		}
	}
	if r.Positives < FewPairs || r.Honest < FewPairs {
		r.Why = keep("there are only %d articles with the label %s and %d with another; try more "+
			"articles", r.Positives, r.Positive, r.Honest)
		return nil
	}
	return moderator{o.Positive, o.Hits}
}

func keep(format string, args ...any) string {
	return "Keep the configuration as it is: " + fmt.Sprintf(format, args...) + "."
}

func (r *Report) hint(format string, args ...any) {
	r.Hints = append(r.Hints, fmt.Sprintf(format, args...))
}
