package shingling

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/clusterd/clusterd/internal/simhash/keyedhash"
	"github.com/clusterd/clusterd/internal/testutil/check"
	"github.com/clusterd/clusterd/internal/text"
)

type page struct{ title, content string }

// elements returns the set of an article: its shingles of five characters, and its extras.
func elements(t testing.TB, e *Extras, p page) map[uint64]bool {
	t.Helper()
	cleaner, err := text.NewCleaner(text.CleanOptions{HTML: "never"})
	if err != nil {
		t.Fatal(err)
	}
	clean := cleaner.AppendClean(nil, p.title, p.content)
	e.Begin(clean, p.title, p.content)
	solid, _ := WithoutSpace(clean)
	set := make(map[uint64]bool)
	add := func(element uint64) { set[element] = true }
	var none *keyedhash.Hash
	letters := []rune(string(solid))
	for i := range max(1, len(letters)-4) {
		shingle := none.SumString(string(letters[i:min(i+5, len(letters))]))
		add(shingle)
		e.Add(shingle, add)
	}
	return set
}

func extrasOf(t testing.TB, s Shingles) *Extras {
	t.Helper()
	var err error
	if s.Cleaner, err = text.NewCleaner(text.CleanOptions{HTML: "never"}); err != nil {
		t.Fatal(err)
	}
	return s.NewExtras(nil)
}

func jaccard(a, b map[uint64]bool) float64 {
	shared := 0
	for h := range a {
		if b[h] {
			shared++
		}
	}
	return float64(shared) / float64(len(a)+len(b)-shared)
}

func chinese(seed uint64, n int) string {
	r := rand.New(rand.NewPCG(seed, 1))
	letters := make([]rune, n)
	for i := range letters {
		letters[i] = '一' + r.Int32N(3000)
	}
	return string(letters)
}

// Articles of the same short content are as similar as their titles let them be.
func TestWeighedTitles(t *testing.T) {
	check.OneGoroutine(t)
	e := extrasOf(t, Shingles{WeighTitles: true})
	title, body := chinese(1, 24), chinese(2, 240)
	alike := title[:3*20] + chinese(3, 4)
	for _, test := range []struct {
		name        string
		a, b        page
		least, most float64
	}{
		{"the same", page{title, body}, page{title, body}, 1, 1},
		{"unlike titles", page{title, body}, page{chinese(4, 24), body}, .4, .65},
		{"and a shorter content", page{title, body[:3*80]}, page{chinese(4, 24), body[:3*80]}, .3, .5},
		{"alike titles", page{title, body}, page{alike, body}, .77, .95},
		{"one without a title", page{title, body}, page{"", body}, .7, .8},
		{"both without a title", page{"", body}, page{"", body}, 1, 1},
		{"a title of signs alone", page{"--", body}, page{"**", body}, .95, 1},
		{"a title of one character", page{"台", body}, page{"风", body}, .65, .75},
		{
			"a long content",
			page{title, body + chinese(5, 160)},
			page{chinese(4, 24), body + chinese(5, 160)},
			.85, .95,
		},
		{
			"one that is somewhat longer",
			page{title, body},
			page{title, body + chinese(5, 12)},
			.85, .97,
		},
		{"titles alone", page{title, ""}, page{alike, ""}, .5, .75},
	} {
		a, b := elements(t, e, test.a), elements(t, e, test.b)
		if got := jaccard(a, b); got < test.least || got > test.most {
			t.Errorf("%s: a Jaccard index of %.3f, want %v to %v", test.name, got, test.least, test.most)
		}
	}
}

// Articles are the same only where their sets of numbers are.
func TestNumbers(t *testing.T) {
	check.OneGoroutine(t)
	e := extrasOf(t, Shingles{TellNumbers: true})
	body := chinese(6, 400)
	for _, test := range []struct {
		name, a, b string
		same       bool
	}{
		{"the same", "涨 5 点", "涨 5 点", true},
		{"another", "涨 5 点", "涨 6 点", false},
		{"one more", "涨 5 点", "涨 5 点 6", false},
		{"none", "涨", "涨 5", false},
		{"none in either", "涨", "跌", true},
		{"full width", "５", "5", true},
		{"zeros in front", "2026-05-01", "2026年5月1日", true},
		{"zero", "0", "00", true},
		{"zero is a number", "0", "", false},
		{"zeros behind", "5", "50", false},
		{"a fraction", "1.5", "5,1", true},
		{"more often", "5", "5 5", true},
		{"in another order", "5 6", "6 5", true},
	} {
		a, b := elements(t, e, page{test.a, body}), elements(t, e, page{test.b, body})
		got := jaccard(a, b)
		if same := got > .9; same != test.same || !same && got > .55 {
			t.Errorf("%s: a Jaccard index of %.3f, the same: %t, want %t", test.name, got, same, test.same)
		}
	}
}

func TestQuotes(t *testing.T) {
	check.OneGoroutine(t)
	e := extrasOf(t, Shingles{MarkQuotes: true})
	for content, want := range map[string]bool{
		"": false, "a > b: c": false, "No.\n> Yes?": true, "No.\n  >> Yes?": true, "：是的": true, ">": true,
		"one\n\ntwo": false,
	} {
		if elements(t, e, page{"it", content}); e.Quotes() != want {
			t.Errorf("%q quotes: %t, want %t", content, e.Quotes(), want)
		}
	}
	off := extrasOf(t, Shingles{TellNumbers: true})
	if elements(t, off, page{"it", "> Yes?"}); off.Quotes() {
		t.Error("a quote is marked where that is off")
	}
}

// With extras no two articles are more alike than without, but for what a sample may be off.
func TestExtrasNeverMakeAlike(t *testing.T) {
	check.OneGoroutine(t)
	r := rand.New(rand.NewPCG(9, 9))
	words := strings.Fields("港口 大桥 通车 storm warning 2026 5 market prices rise " +
		"蔬菜 水果 12 harbour opens 2,5")
	some := func(n int) string {
		all := make([]string, n)
		for i := range all {
			all[i] = words[r.IntN(len(words))]
		}
		return strings.Join(all, " ")
	}
	with := extrasOf(t, Shingles{WeighTitles: true, TellNumbers: true})
	for range 200 {
		a := page{some(r.IntN(6)), some(1 + r.IntN(60))}
		b := page{a.title, a.content + some(r.IntN(30))}
		if r.IntN(2) == 0 {
			b.title = some(r.IntN(6))
		}
		plain := jaccard(elements(t, nil, a), elements(t, nil, b))
		if got := jaccard(elements(t, with, a), elements(t, with, b)); got > plain+.08 {
			t.Fatalf("%q and %q: a Jaccard index of %.3f, without extras %.3f", a, b, got, plain)
		}
	}
}

// Whatever the text, extras are the same each time and do not depend on the articles before.
func FuzzExtras(f *testing.F) {
	check.OneGoroutine(f)
	f.Fuzz(func(t *testing.T, title, content string) {
		used := extrasOf(t, Shingles{WeighTitles: true, TellNumbers: true})
		elements(t, used, page{content, title})
		again, fresh := elements(t, used, page{title, content}), elements(t,
			extrasOf(t, Shingles{WeighTitles: true, TellNumbers: true}), page{title, content})
		if jaccard(again, fresh) != 1 {
			t.Errorf("%d elements, and %d in a new one", len(again), len(fresh))
		}
	})
}
