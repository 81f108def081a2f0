package tune

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/clusterd/clusterd/internal/quality/eval"
	"github.com/clusterd/clusterd/internal/story"
)

const (
	// FewLabels is how many labels of two clusters and more say too little of stories.
	FewLabels = 10
	// FewFounders is how many clusters say too little of stories, without labels.
	FewFounders = 200
	// StoryGain is the B-cubed F1 by which a threshold must be ahead of the configured one.
	StoryGain = .01
	// Clearer is the share by which its mean silhouette must be, without labels.
	Clearer = .05
	// Structure is the mean silhouette below which there is no structure to speak of: Kaufman and
	// Rousseeuw, Finding Groups in Data (1990).
	Structure = .25
	// storyHalves is how many random halves say how far a gain may be chance.
	storyHalves = 50
	// Thresholds of stories that are tried, in hundredths.
	firstStory, lastStory, storyStep = 6, 50, 2
)

// A StoryReport is what is proposed for stories.
type StoryReport struct {
	Articles int        `json:"articles"`
	Clusters int        `json:"clusters"`
	Labels   bool       `json:"labels"`          // worth is B-cubed F1; else the mean silhouette
	Texts    []StoryKey `json:"texts,omitempty"` // the two thresholds, for each kind of text
	// Config is what to put into the configuration, YAML: what differs alone.
	Config string `json:"config,omitempty"`
}

// A StoryKey is a threshold: of mostly Chinese texts, or of others.
type StoryKey struct {
	Key    string           `json:"key"`
	Of     string           `json:"of"`
	Found  int              `json:"founders"`         // clusters that such a text founded
	Labels int              `json:"labels,omitempty"` // of two such clusters and more
	Points []StoryThreshold `json:"points,omitempty"`
	// Proposed is nil where nothing is better, or too little is known to tell: Why says so.
	Proposed *StoryThreshold `json:"proposed"`
	Gain     float64         `json:"gain"`   // of the best threshold over the configured one
	Spread   float64         `json:"spread"` // standard error of the gain
	Why      string          `json:"why"`
}

// A StoryThreshold is what a threshold gives.
type StoryThreshold struct {
	Threshold float64 `json:"threshold"`
	AsSet     bool    `json:"as_set,omitempty"`
	Best      bool    `json:"best,omitempty"`
	Stories   int     `json:"stories"`
	Largest   float64 `json:"largest"` // share of the clusters in the largest story
	Worth     float64 `json:"worth"`
}

// A judge says what stories are worth, in all and in random halves: of the labels, or of the
// stories as they are configured.
type judge interface {
	all(stories eval.Clustering) float64
	half(stories eval.Clustering, h uint64) float64
}

// Stories proposes thresholds of stories for documents in the order in which they come.
func Stories(
	ctx context.Context, documents []eval.Document, o Options,
) (StoryReport, error) {
	v := eval.Variant{Name: o.Config.Fingerprint.Method, Config: o.Config}
	p, err := eval.Prepare(ctx, documents, v,
		eval.Options{Threads: 1, Now: o.Now, Progress: o.Progress})
	if err != nil {
		return StoryReport{}, err
	}
	c, err := p.Cluster(ctx, p.Threshold)
	if err != nil {
		return StoryReport{}, err
	}
	over, err := p.Stories(ctx, c.Clustering)
	if err != nil {
		return StoryReport{}, err
	}
	rule := o.Config.Stories.Rule()
	rule.Window = 0 // documents have no order in time
	if o.Rule != nil {
		rule = *o.Rule
	}
	s := storyTuner{documents, over, o, rule, over.Decide(rule)}
	r := StoryReport{Articles: len(documents), Labels: o.Labels}
	for _, han := range []bool{false, true} {
		k, err := s.key(ctx, han)
		if err != nil {
			return StoryReport{}, err
		}
		r.Clusters += k.Found
		if k.Found > 0 {
			r.Texts = append(r.Texts, k)
		}
		if k.Proposed == nil {
			continue
		}
		if r.Config == "" {
			r.Config = "stories:\n"
		}
		r.Config += fmt.Sprintf("  %s: %.2f\n", k.Key[len("stories."):], k.Proposed.Threshold)
	}
	return r, nil
}

type storyTuner struct {
	documents  []eval.Document
	over       *eval.Stories
	o          Options
	rule       story.Options // as configured
	configured eval.Clustering
}

// key tries the threshold of one kind of text; the other one stays as it is.
func (s *storyTuner) key(ctx context.Context, han bool) (StoryKey, error) {
	k := StoryKey{Key: "stories.threshold", Of: "other texts"}
	set := func(o *story.Options) *uint32 { return &o.Threshold }
	if han {
		k.Key, k.Of = "stories.han_threshold", "Chinese texts"
		set = func(o *story.Options) *uint32 { return &o.Han }
	}
	var founders []int
	var articles []story.Article
	for document, a := range s.over.Founders() {
		if a.Han == han && a.Words != "" {
			founders, articles = append(founders, document), append(articles, a)
		}
	}
	k.Found = len(founders)
	j := s.judge(&k, founders, articles, han)
	if j == nil {
		return k, nil
	}
	rule := s.rule
	asSet := *set(&rule)
	var decided []eval.Clustering
	for _, threshold := range storyThresholds(asSet) {
		if err := ctx.Err(); err != nil {
			return StoryKey{}, err
		}
		*set(&rule) = threshold
		stories := s.over.Decide(rule)
		decided = append(decided, stories)
		p := StoryThreshold{
			Threshold: float64(threshold) / 1e6, AsSet: threshold == asSet, Worth: j.all(stories),
		}
		p.Stories, p.Largest = largestStory(stories, founders)
		k.Points = append(k.Points, p)
	}
	k.propose(decided, j, s.o.Labels)
	return k, nil
}

// judge returns what the threshold is judged by; nil, with the reason, where too little is known.
func (s *storyTuner) judge(
	k *StoryKey, founders []int, articles []story.Article, han bool,
) judge {
	if !s.o.Labels {
		if k.Found < FewFounders {
			k.Why = fmt.Sprintf("there are only %d clusters", k.Found)
			return nil
		}
		return newSilhouette(founders, articles, s.configured, s.rule.ArticleTerms)
	}
	j := newLabelJudge(s.documents, s.over, founders, han)
	if k.Labels = j.several; k.Labels < FewLabels {
		k.Why = fmt.Sprintf("only %d labels have two clusters and more", k.Labels)
		return nil
	}
	return j
}

// storyThresholds returns those to try, in millionths, ascending. The configured one is among them.
func storyThresholds(configured uint32) []uint32 {
	tried := []uint32{configured}
	for t := firstStory; t <= lastStory; t += storyStep {
		if threshold := uint32(t) * 10_000; threshold != configured {
			tried = append(tried, threshold)
		}
	}
	slices.Sort(tried)
	return tried
}

func largestStory(stories eval.Clustering, founders []int) (count int, share float64) {
	sizes, most := make(map[int]int), 0
	for _, document := range founders {
		sizes[stories[document]]++
		most = max(most, sizes[stories[document]])
	}
	return len(sizes), float64(most) / float64(len(founders))
}

// propose takes the threshold that is worth most, of equal ones the nearest to what is configured,
// if it is ahead of that by more than chance. Each half has half of the units that chance draws, so
// the standard deviation of a gain over halves is the standard error of the gain in all.
func (k *StoryKey) propose(decided []eval.Clustering, j judge, labels bool) {
	asSet := slices.IndexFunc(k.Points, func(p StoryThreshold) bool { return p.AsSet })
	now := k.Points[asSet]
	best := asSet
	for i, p := range k.Points {
		nearer := math.Abs(p.Threshold-now.Threshold) < math.Abs(k.Points[best].Threshold-now.Threshold)
		if c := cmp.Compare(p.Worth, k.Points[best].Worth); c > 0 || c == 0 && nearer {
			best = i
		}
	}
	k.Points[best].Best = true
	first := k.Points[best]
	k.Gain = first.Worth - now.Worth
	var sum, squares float64
	for h := range uint64(storyHalves) {
		gain := j.half(decided[best], h) - j.half(decided[asSet], h)
		sum, squares = sum+gain, squares+gain*gain
	}
	k.Spread = math.Sqrt(max(0, squares-sum*sum/storyHalves) / (storyHalves - 1))
	k.decide(best == asSet, first, now, labels)
	if k.Why == "" {
		k.Proposed = &k.Points[best]
		k.Why = fmt.Sprintf("%.2f is ahead by %.3f, with a standard error of %.3f", first.Threshold,
			k.Gain, k.Spread)
	}
}

// decide says why the best threshold is not to be proposed in place of the configured one, if so.
func (k *StoryKey) decide(same bool, best, now StoryThreshold, labels bool) {
	needed := StoryGain
	if !labels {
		needed = Clearer * max(0, now.Worth)
	}
	switch {
	case same:
		k.Why = "none of the other thresholds is worth more"
	case !labels && best.Worth < Structure:
		k.Why = fmt.Sprintf("no threshold has stories that are clearly apart: the best has a silhouette "+
			"of %.3f, less than %v", best.Worth, Structure)
	case k.Gain < needed:
		k.Why = fmt.Sprintf("%.2f is ahead by %.3f, and should be by %.3f", best.Threshold, k.Gain,
			needed)
	case k.Gain < 2*k.Spread:
		k.Why = fmt.Sprintf("%.2f is ahead by %.3f, which may be chance: the standard error is %.3f; "+
			"try more articles", best.Threshold, k.Gain, k.Spread)
	}
}
