package model

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/clusterd/clusterd/internal/story"
)

// The model decides as the daemon's rule does, and has the same stories after each article: where
// stories expire or not, become one by themselves or by hand, and where there is little room.
func TestStoriesAreThoseOfTheRule(t *testing.T) {
	t.Parallel()
	seen := make(map[string]int)
	for seed := range uint64(24) {
		random := rand.New(rand.NewPCG(seed, 13))
		o := story.Defaults()
		if seed%2 == 0 {
			o.Window = 200 * time.Millisecond
		}
		if seed%3 == 0 {
			o.ArticleTerms, o.StoryTerms, o.List, o.Postings, o.Candidates = 12, 20, 6, 20, 3
		}
		o.Merge = []uint32{0, 300_000, 600_000}[seed%3]
		pair := storyPair{
			T: t, rule: story.New(o), model: NewStories(StoryRule{
				Threshold: o.Threshold, Han: o.Han, Merge: o.Merge, Window: o.Window.Milliseconds(),
				ArticleTerms: o.ArticleTerms, StoryTerms: o.StoryTerms, List: o.List, Postings: o.Postings,
				Candidates: o.Candidates,
			}), seen: seen,
		}
		for at := range int64(250) {
			pair.step(random, at)
		}
		pair.rule.Seal()
	}
	for _, what := range []string{
		"joined", "merged", "copied", "expired", "by hand", "split",
		"split out of a part", "taken out", "taken out of two", "copied to a part",
	} {
		if seen[what] == 0 {
			t.Errorf("nothing was %s: the test proves nothing of it", what)
		}
	}
}

// A storyPair is the rule and its model, which go the same way.
type storyPair struct {
	*testing.T
	rule  *story.Space
	model *Stories
	ids   []string // of clusters
	words []story.Vector
	seen  map[string]int
}

// step does something at a time to both.
func (p *storyPair) step(random *rand.Rand, at int64) {
	p.Helper()
	when := 1000 + 4*at - random.Int64N(60)
	pick := func() int { return random.IntN(len(p.ids)) }
	switch what := random.IntN(16); {
	case len(p.ids) > 2 && what < 2:
		a, b := p.ids[pick()], p.ids[pick()]
		older, younger, ok := p.rule.Join(a, b)
		gotOlder, gotYounger, gotOK := p.model.Join(a, b, true)
		p.same("join of "+a+" and "+b, fmt.Sprint(older, younger, ok),
			fmt.Sprint(gotOlder, gotYounger, gotOK))
		p.note("by hand", ok)
	case len(p.ids) > 2 && what == 2:
		i, from := pick(), p.ids[pick()]
		for range 20 { // most clusters are the first of a story, and most stories no part of another
			if _, first := p.model.Of(p.ids[i]); first {
				i = pick()
			}
			if len(p.model.Chain(from)) < 2 {
				from = p.ids[pick()]
			}
		}
		left, ok := p.rule.Split(from, story.Article{
			Address: p.ids[i], Seq: uint64(i), EventTime: when, Words: p.words[i],
		})
		got, gotOK := p.model.Split(from, Founder{
			ID: p.ids[i], Seq: int64(i), At: when, Words: p.terms(p.words[i]),
		})
		p.same("split of "+p.ids[i], fmt.Sprint(left, ok), fmt.Sprint(idsOf(got), gotOK))
		p.note("split", ok)
		p.note("split out of a part", len(left) > 1)
	case len(p.ids) > 2 && what == 3:
		p.leave(random)
	case len(p.ids) > 2 && what < 7:
		id := p.ids[pick()]
		now, living, ok := p.rule.Touch(id, when)
		got, gotLiving, gotOK := p.model.Touch(id, when)
		p.same("copy in "+id, fmt.Sprint(now, living, ok), fmt.Sprint(got, gotLiving, gotOK))
		p.note("copied", ok)
		p.note("copied to a part", now != living)
		p.note("expired", !ok)
	default:
		p.found(random, when)
	}
	if at%8 == 0 {
		p.compare()
	}
}

// leave takes a story that is part of another by hand out of that, or of what that is part of.
func (p *storyPair) leave(random *rand.Rand) {
	p.Helper()
	for _, i := range random.Perm(len(p.ids)) {
		chain := p.model.Chain(p.ids[i])
		if len(chain) < 2 {
			continue
		}
		id, whole := chain[0].ID, chain[1+random.IntN(len(chain)-1)].ID
		left, from, ok := p.rule.Leave(whole, id)
		part, got, gotOK := p.model.Leave(id, whole)
		p.same(id+" leaves "+whole, fmt.Sprint(left, from, ok), fmt.Sprint(part.ID, idsOf(got), gotOK))
		p.note("taken out", ok)
		p.note("taken out of two", len(from) > 1)
		return
	}
	_, _, ok := p.model.Leave(p.ids[0], p.ids[1])
	p.same("nothing to leave", "false", fmt.Sprint(ok))
}

func idsOf(stories []*Story) (ids []string) {
	for _, s := range stories {
		ids = append(ids, s.ID)
	}
	return ids
}

// found founds a cluster, of one of eight events.
func (p *storyPair) found(random *rand.Rand, when int64) {
	p.Helper()
	var words story.Words
	event := random.IntN(8)
	for range 5 + random.IntN(30) {
		words.Content(fmt.Appendf(nil, "%d/%d", event, random.IntN(50)))
		words.Title(fmt.Appendf(nil, "%d", random.IntN(200)))
	}
	n, han := len(p.ids), random.IntN(4) == 0
	id := fmt.Sprintf("articles/0/%d", n)
	p.ids, p.words = append(p.ids, id), append(p.words, words.Vector())
	d := p.rule.Assign(story.Article{
		Address: id, Seq: uint64(n), EventTime: when, Words: p.words[n], Han: han,
	})
	v := p.model.Assign(Founder{ID: id, Seq: int64(n), At: when, Words: p.terms(p.words[n]), Han: han})
	p.same(id, fmt.Sprint(d.Story, d.Similarity, d.Merged),
		fmt.Sprint(v.Story, v.Similarity, v.Merged))
	p.note("joined", d.Joined)
	p.note("merged", d.Merged != "")
}

// compare holds all stories of the model to those of the rule.
func (p *storyPair) compare() {
	p.Helper()
	n := 0
	for want := range p.rule.All() {
		n++
		got, ok := p.model.Of(want.Address)
		if !ok {
			p.Fatalf("no story %s", want.Address)
		}
		p.same("story "+want.Address,
			fmt.Sprintf("%d %d %d %d %q %x %v %x", want.Seq, want.FirstSeen, want.LastSeen, want.Clusters,
				want.Into, string(want.Vector), want.Apart, string(want.Own)),
			fmt.Sprintf("%d %d %d %d %q %x %v %x", got.Seq, got.FirstSeen, got.LastSeen, got.Clusters,
				got.Into, got.Terms.Wire(), got.Apart, got.Own.Wire()))
	}
	for got := range p.model.All() {
		if n--; n < 0 {
			p.Fatalf("story %s beyond those of the rule", got.ID)
		}
	}
}

func (p *storyPair) terms(v story.Vector) Terms {
	p.Helper()
	terms, err := ParseTerms(string(v))
	if err != nil {
		p.Fatal(err)
	}
	return terms
}

func (p *storyPair) note(what string, ok bool) {
	if ok {
		p.seen[what]++
	}
}

func (p *storyPair) same(what, want, got string) {
	p.Helper()
	if got != want {
		p.Fatalf("%s: %s, want %s", what, got, want)
	}
}

// Weights and vectors as large as they can be are taken as the rule takes them.
func TestLargeTerms(t *testing.T) {
	t.Parallel()
	space, model := story.New(story.Defaults()), NewStories(StoryRule{
		Threshold: 300_000, Han: 180_000, Merge: 600_000, ArticleTerms: 48, StoryTerms: 256, List: 1024,
		Postings: 4096, Candidates: 32,
	})
	p := storyPair{T: t, rule: space, model: model, seen: make(map[string]int)}
	random := rand.New(rand.NewPCG(1, 14))
	for range 900 { // two events, each of which needs its weights halved now and then
		var words story.Words
		event := random.IntN(2)
		for i := range 60 {
			words.Content(fmt.Appendf(nil, "%d/%d", event, i%(3+random.IntN(3))))
		}
		n := len(p.ids)
		id, v := fmt.Sprintf("articles/0/%d", n), words.Vector()
		p.ids = append(p.ids, id)
		d := space.Assign(story.Article{Address: id, Seq: uint64(n), EventTime: 1, Words: v})
		got := model.Assign(Founder{ID: id, Seq: int64(n), At: 1, Words: p.terms(v)})
		p.same(id, fmt.Sprint(d.Story, d.Similarity, d.Merged),
			fmt.Sprint(got.Story, got.Similarity, got.Merged))
	}
	p.compare()
	if space.Len() != 2 {
		t.Errorf("%d stories, want 2", space.Len())
	}
	_, _, _ = space.Join("articles/0/0", p.second())
	_, _, _ = model.Join("articles/0/0", p.second(), true)
	p.compare()
	_, _, _ = space.Leave("articles/0/0", p.second())
	_, _, _ = model.Leave(p.second(), "articles/0/0")
	p.compare()
}

// second returns the id of the story that is not the first.
func (p *storyPair) second() (id string) {
	for s := range p.rule.All() {
		if s.Address != "articles/0/0" {
			id = s.Address
		}
	}
	return id
}
