package story

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A pair is a Space and the plain rule, which do the same.
type pair struct {
	*stream
	space    *Space
	follower *Space // that is told what is committed
	model    *plain
	sealed   []*plain // the model before each batch that is not committed; the last one is in hand
	times    []int64  // of the stream, likewise
	seen     []Article
	written  map[string]Story // what changes of committed batches add up to
	waiting  []Changes        // of sealed batches
	happened map[string]int
	hands    int // of sixty steps, how many are by hand
}

func newPair(seed, purpose uint64, happened map[string]int) *pair {
	p := &pair{
		stream:  &stream{Rand: rand.New(rand.NewPCG(seed, purpose))},
		written: make(map[string]Story), happened: happened, hands: 4,
	}
	o := small(p.Rand)
	p.space, p.follower, p.model = New(o), New(o), &plain{Options: o}
	p.sealed, p.times = []*plain{p.model.clone()}, []int64{0}
	return p
}

// step does one thing with both, at random, and fails where they differ.
func (p *pair) step(t *testing.T) {
	t.Helper()
	switch n := p.IntN(60); {
	case n < 2:
		p.rollback()
	case n < 8 && len(p.sealed) < 4:
		p.seal()
	case n < 14:
		p.commit(t)
	case n < 14+p.hands && len(p.seen) > 1:
		p.byHand(t)
	case n < 22+p.hands && len(p.model.stories) > 0:
		address, moment := p.any(), p.moment()
		got, living, ok := p.space.Touch(address, moment)
		want, wantLiving, wantOK := p.model.Touch(address, moment)
		if got != want || living != wantLiving || ok != wantOK {
			t.Fatalf("touched %s: %s %s %v, want %s %s %v", address, got, living, ok, want, wantLiving,
				wantOK)
		}
		p.happened[fmt.Sprint("touched ", ok)]++
		if got != living {
			p.happened["touched a part"]++
		}
	default:
		p.assign(t)
	}
}

func (p *pair) assign(t *testing.T) {
	t.Helper()
	a := p.article()
	found, ok := p.space.Find(a)
	got, want := p.space.Assign(a), p.model.Assign(a)
	if got != want || found != want || ok != want.Joined {
		t.Fatalf("%+v, found %+v %v, want %+v", got, found, ok, want)
	}
	p.seen = append(p.seen, a)
	p.happened[fmt.Sprintf("joined %v merged %v", got.Joined, got.Merged != "")]++
}

// any returns the address of a story, or seldom of none.
func (p *pair) any() string {
	if p.IntN(20) == 0 || len(p.model.stories) == 0 {
		return "t/0/none"
	}
	return p.model.stories[p.IntN(len(p.model.stories))].Address
}

func (p *pair) byHand(t *testing.T) {
	t.Helper()
	switch p.IntN(8) {
	case 0, 1, 2, 3:
		a, b := p.any(), p.any()
		older, younger, ok := p.space.Join(a, b)
		wantOlder, wantYounger, wantOK := p.model.Join(a, b)
		if older != wantOlder || younger != wantYounger || ok != wantOK {
			t.Fatalf("join of %s, %s: %s %s %v, want %s %s %v",
				a, b, older, younger, ok, wantOlder, wantYounger, wantOK)
		}
		p.happened[fmt.Sprint("by hand joined ", ok)]++
	case 4, 5:
		p.leave(t)
	default:
		p.split(t)
	}
}

func (p *pair) split(t *testing.T) {
	t.Helper()
	story, article := p.any(), p.seen[p.IntN(len(p.seen))]
	if p.IntN(4) == 0 {
		article.Words = ""
	}
	got, ok := p.space.Split(story, article)
	want, wantOK := p.model.Split(story, article)
	if fmt.Sprint(got, ok) != fmt.Sprint(want, wantOK) {
		t.Fatalf("split of %s by %+v: %s %v, want %s %v", story, article, got, ok, want, wantOK)
	}
	p.happened[fmt.Sprint("split ", ok)]++
	if len(got) > 1 {
		p.happened["split a part"]++
	}
}

// leave takes a story out of another, nearly always out of one that it is part of.
func (p *pair) leave(t *testing.T) {
	t.Helper()
	a, b := p.any(), p.any()
	for range 20 {
		if s := p.model.find(a); s != nil && s.Apart && s.Into != "" {
			b = s.Into
			break
		}
		a = p.any()
	}
	for _, s := range p.model.stories { // by another name
		if s.Into == b && !s.Apart {
			b = s.Address
			break
		}
	}
	if p.IntN(2) == 0 {
		a, b = b, a
	}
	got, from, ok := p.space.Leave(a, b)
	want, wantFrom, wantOK := p.model.Leave(a, b)
	if got != want || fmt.Sprint(from, ok) != fmt.Sprint(wantFrom, wantOK) {
		t.Fatalf("%s and %s apart: %s %s %v, want %s %s %v", a, b, got, from, ok, want, wantFrom, wantOK)
	}
	p.happened[fmt.Sprint("left ", ok)]++
	if len(from) > 1 {
		p.happened["left a part of a part"]++
	}
	if ok && got != a && got != b || ok && from[0] != a && from[0] != b {
		p.happened["left what the rule made part of another"]++
	}
	if ok && len(p.space.Parts(got)) > 0 {
		p.happened["left with a part"]++
	}
}

func (p *pair) seal() {
	p.waiting = append(p.waiting, p.space.Seal())
	p.sealed, p.times = append(p.sealed, p.model.clone()), append(p.times, p.time)
}

// commit commits a batch, where one is sealed, and holds what changed to what is written.
func (p *pair) commit(t *testing.T) {
	t.Helper()
	p.space.Commit()
	if len(p.sealed) == 1 {
		return
	}
	for _, story := range p.waiting[0].Touched {
		p.written[story.Address] = story
		if err := p.follower.Put(story); err != nil {
			t.Fatal(err)
		}
	}
	for _, address := range p.waiting[0].Expired {
		delete(p.written, address)
		p.follower.Remove(address)
	}
	if p.sealed[1].began {
		p.follower.Reach(p.sealed[1].streamTime)
	}
	p.sealed, p.times, p.waiting = p.sealed[1:], p.times[1:], p.waiting[1:]
	want := make(map[string]Story)
	for _, story := range p.sealed[0].all() {
		want[story.Address] = story
	}
	if diff := cmp.Diff(want, p.written); diff != "" {
		t.Fatalf("what is written down: %s", diff)
	}
	p.happened[fmt.Sprint("committed, sealed ", len(p.waiting))]++
}

func (p *pair) rollback() {
	p.space.Rollback()
	if n := len(p.sealed); n > 1 {
		p.sealed, p.times, p.waiting = p.sealed[:n-1], p.times[:n-1], p.waiting[:len(p.waiting)-1]
	}
	n := len(p.sealed)
	p.model, p.time = p.sealed[n-1].clone(), p.times[n-1]
	p.happened["rollback"]++
}

// same holds the whole state of the Space to the model's.
func (p *pair) same(t *testing.T) {
	t.Helper()
	if diff := cmp.Diff(p.model.all(), sorted(p.space)); diff != "" {
		t.Fatal(diff)
	}
	if p.model.began && p.space.StreamTime() != p.model.streamTime {
		t.Fatalf("stream time %d, want %d", p.space.StreamTime(), p.model.streamTime)
	}
	consistent(t, p.space)
}
