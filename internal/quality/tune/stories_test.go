package tune

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/quality/eval"
	"github.com/clusterd/clusterd/internal/story"
	"github.com/clusterd/clusterd/internal/testutil/golden"
)

// events returns n articles of each of so many events, in turns. What is of one event has half of
// its words in common, and the other half with all: those are what every event has.
func events(count, n int, han bool) (documents []eval.Document) {
	random := rand.New(rand.NewPCG(1, 2))
	word := func(n int) string {
		if han {
			return string([]rune{rune(0x4e00 + n%5000), rune(0x5e00 + n/7%3000), ' '})
		}
		return fmt.Sprintf("w%x ", n*7919)
	}
	for i := range n {
		for event := range count {
			var text strings.Builder
			for range 60 {
				if random.IntN(2) == 0 {
					text.WriteString(word(event*40 + random.IntN(40)))
				} else {
					text.WriteString(word(100_000 + random.IntN(4000)))
				}
			}
			documents = append(documents, eval.Document{
				ID: fmt.Sprintf("%d-%d", event, i), Content: text.String(), Label: fmt.Sprint("e", event),
			})
		}
	}
	return documents
}

func storyOptions(labels bool) Options {
	c := config.Default()
	c.Fingerprint.Method = "exact"
	rule := story.Defaults()
	return Options{Config: c, Rule: &rule, Labels: labels, Stories: true, Now: time.Unix(0, 0)}
}

// keyOf returns one of the two thresholds.
func keyOf(t *testing.T, r StoryReport, key string) StoryKey {
	t.Helper()
	for _, k := range r.Texts {
		if k.Key == key {
			return k
		}
	}
	t.Fatalf("no %s in %+v", key, r)
	return StoryKey{}
}

// A threshold that is far too high is found to be so, by labels and without, and the proposal
// stays.
func TestStoriesProposes(t *testing.T) {
	documents := events(20, 15, false)
	for _, labels := range []bool{true, false} {
		o := storyOptions(labels)
		o.Rule.Threshold = 900_000
		r, err := Stories(t.Context(), documents, o)
		if err != nil {
			t.Fatal(err)
		}
		k := keyOf(t, r, "stories.threshold")
		if r.Articles != 300 || r.Clusters != 300 || k.Found != 300 || k.Proposed == nil ||
			k.Proposed.Stories < 20 || k.Proposed.Stories > 30 || len(k.Points) != 24 ||
			labels && (k.Labels != 20 || k.Proposed.Worth < .95) {
			t.Fatalf("labels %v: %+v", labels, k)
		}
		if want := fmt.Sprintf("stories:\n  threshold: %.2f\n", k.Proposed.Threshold); r.Config != want {
			t.Errorf("labels %v: %q, want %q", labels, r.Config, want)
		}
		o.Rule.Threshold = uint32(math.Round(k.Proposed.Threshold * 1e6))
		again, err := Stories(t.Context(), documents, o)
		if err != nil || again.Config != "" || keyOf(t, again, "stories.threshold").Proposed != nil {
			t.Errorf("labels %v, %v: then %+v", labels, err, again)
		}
	}
}

// Each kind of text has its own threshold.
func TestStoriesOfTwoLanguages(t *testing.T) {
	o := storyOptions(true)
	o.Rule.Han, o.Rule.Threshold = 950_000, 100_000
	documents := append(events(12, 10, true), events(12, 10, false)...)
	r, err := Stories(t.Context(), documents, o)
	if err != nil {
		t.Fatal(err)
	}
	han, other := keyOf(t, r, "stories.han_threshold"), keyOf(t, r, "stories.threshold")
	if han.Found != 120 || other.Found != 120 || han.Proposed == nil || other.Proposed != nil ||
		!strings.HasPrefix(r.Config, "stories:\n  han_threshold: ") {
		t.Errorf("%s\nChinese %+v\nother %+v", r.Config, han, other)
	}
}

func TestNothingToTellStoriesBy(t *testing.T) {
	nine := events(9, 40, false)
	random := rand.New(rand.NewPCG(3, 3))
	var noise []eval.Document
	for range 300 {
		var text strings.Builder
		for range 40 {
			fmt.Fprintf(&text, "w%d ", random.IntN(3000))
		}
		noise = append(noise, eval.Document{Content: text.String()})
	}
	for name, tt := range map[string]struct {
		documents []eval.Document
		labels    bool
		threshold uint32
		why       string
	}{
		"few labels":   {nine, true, 900_000, "only 9 labels have two clusters and more"},
		"few clusters": {nine[:100], false, 900_000, "there are only 100 clusters"},
		"as good":      {events(12, 20, false), true, 100_000, "none of the other thresholds is"},
		"no structure": {noise, false, 300_000, "no threshold has stories that are clearly apart"},
	} {
		t.Run(name, func(t *testing.T) {
			o := storyOptions(tt.labels)
			o.Rule.Threshold = tt.threshold
			r, err := Stories(t.Context(), tt.documents, o)
			if err != nil {
				t.Fatal(err)
			}
			k := keyOf(t, r, "stories.threshold")
			if k.Proposed != nil || r.Config != "" || !strings.HasPrefix(k.Why, tt.why) {
				t.Errorf("%+v", k)
			}
		})
	}
	if r, err := Stories(t.Context(), nil, storyOptions(false)); err != nil || len(r.Texts) != 0 {
		t.Errorf("of nothing: %v, %+v", err, r)
	}
}

// What a few labels decide may be chance: then nothing is proposed.
func TestChance(t *testing.T) {
	k := StoryKey{Points: []StoryThreshold{
		{Threshold: .2, Worth: .84}, {Threshold: .3, Worth: .8, AsSet: true},
	}}
	decided := []eval.Clustering{{0}, {1}}
	for _, tt := range []struct {
		swing float64
		why   string
	}{
		{.1, "0.20 is ahead by 0.040, which may be chance: the standard error is 0.1"},
		{.001, "0.20 is ahead by 0.040, with a standard error of 0.001"},
	} {
		k.Proposed, k.Why = nil, ""
		k.propose(decided, swinging(tt.swing), true)
		if (k.Proposed != nil) != (tt.swing < .01) || !strings.HasPrefix(k.Why, tt.why) {
			t.Errorf("%v: %+v", tt.swing, k)
		}
	}
}

// swinging is a judge to whom the first of two is better by so much in one half, and worse in the
// next.
type swinging float64

func (s swinging) all(eval.Clustering) float64 { return 0 }

func (s swinging) half(stories eval.Clustering, h uint64) float64 {
	if stories[0] == 0 && h%2 == 0 {
		return float64(s)
	}
	if stories[0] == 0 {
		return -float64(s)
	}
	return 0
}

// Silhouettes are those of the definition, computed plainly.
func TestSilhouette(t *testing.T) {
	for seed := range uint64(20) {
		random := rand.New(rand.NewPCG(seed, 8))
		var articles []story.Article
		var founders []int
		stories := make(eval.Clustering, 40)
		for i := range 40 {
			var w story.Words
			w.Reset()
			for range 1 + random.IntN(8) {
				w.Content(fmt.Append(nil, random.IntN(20)))
			}
			articles = append(articles, story.Article{Words: w.Vector()})
			founders = append(founders, i)
			stories[i] = random.IntN(8)
		}
		s := newSilhouette(founders, articles, stories, 6)
		for i, got := range s.of(stories) {
			if want := plainSilhouette(s, stories, i); math.Abs(got-want) > 1e-9 {
				t.Fatalf("seed %d, founder %d: %v, want %v", seed, i, got, want)
			}
		}
		if alone := s.all(founders); alone != 0 {
			t.Errorf("of stories of one it is %v", alone)
		}
	}
}

func plainSilhouette(s *silhouette, stories eval.Clustering, i int) float64 {
	centres := make([][]float64, 8)
	members := make([]int, 8)
	for k, v := range s.vectors {
		if centres[stories[k]] == nil {
			centres[stories[k]] = make([]float64, s.terms)
		}
		if k == i {
			continue // not in its own
		}
		members[stories[k]]++
		for _, p := range v {
			centres[stories[k]][p.term] += p.weight
		}
	}
	if members[stories[i]] == 0 {
		return 0
	}
	rest, next := 0., 0.
	for story, centre := range centres {
		dot, square := 0., 0.
		for _, x := range centre {
			square += x * x
		}
		for _, p := range s.vectors[i] {
			if centre != nil {
				dot += p.weight * centre[p.term]
			}
		}
		switch {
		case square == 0:
		case story == stories[i]:
			rest = dot / math.Sqrt(square)
		default:
			next = max(next, dot/math.Sqrt(square))
		}
	}
	return silhouetteOf(rest, next)
}

func TestWriteStories(t *testing.T) {
	r := StoryReport{Articles: 100, Clusters: 90, Texts: []StoryKey{
		{
			Key: "stories.threshold", Of: "other texts", Found: 60, Labels: 12,
			Points: []StoryThreshold{
				{Threshold: .28, Best: true, Stories: 12, Largest: .2, Worth: .9},
				{Threshold: .3, AsSet: true, Stories: 20, Largest: .1, Worth: .8},
			},
			Gain: .1, Spread: .01, Why: "0.28 is ahead by 0.100, with a standard error of 0.010",
		},
		{
			Key: "stories.han_threshold", Of: "Chinese texts", Found: 30,
			Why: "there are only 30 clusters",
		},
	}, Config: "stories:\n  threshold: 0.28\n"}
	r.Texts[0].Proposed = &r.Texts[0].Points[0]
	var out bytes.Buffer
	err := r.WriteTable(&out)
	r.Labels = true
	if err := errors.Join(err, r.WriteTable(&out)); err != nil {
		t.Fatal(err)
	}
	golden.Check(t, "testdata/stories.txt", out.Bytes())
	object, err := json.Marshal(r)
	var back StoryReport
	if err == nil {
		err = json.Unmarshal(object, &back)
	}
	if err != nil || back.Texts[0].Proposed == nil || back.Texts[1].Proposed != nil {
		t.Errorf("%v: %s", err, object)
	}
}
