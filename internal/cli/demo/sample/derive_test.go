package sample

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func TestDerive(t *testing.T) {
	s := &original{title: "T", sentences: []string{"A 1.", "B & C.", "D.", "E “x”."}}
	s.language = &language{
		Space:    " ",
		Synonyms: [][2]string{{"B", "Bee"}},
		Openings: []string{"Lead."},
		Credits:  []string{"By %s."},
		More:     "More",
	}
	const plain = "A 1. B & C. D.\nE “x”."
	for _, c := range []struct {
		kind Kind
		want []string // what may come out, and does for some seed
	}{
		{Copy, []string{plain}},
		{Edit, []string{
			"A 1. Bee & C. D.\nE “x”.",
			"Lead. A 1. Bee & C.\nD. E “x”.",
			"A 1. Bee & C. D.\nE “x”. By s.example.",
			"A 1. Bee & C. D.",
		}},
		{Reorder, []string{
			"A 1. B & C. E “x”.\nD.", "A 1. D. B & C.\nE “x”.", "A 1. D. E “x”.\nB & C.",
			"A 1. E “x”. B & C.\nD.", "A 1. E “x”. D.\nB & C.",
		}},
		{HTML, []string{
			`<div class="article"><p>A 1. B &amp; C. D.</p>` + "\n" + `<p>E &ldquo;x&rdquo;.</p>` + "\n" +
				`<a href="https://s.example/article?id=N&amp;from=list">More</a></div>`,
		}},
		{Variant, []string{"Ａ １. Ｂ & Ｃ. Ｄ.\nＥ “ｘ”."}},
	} {
		got := map[string]bool{}
		for seed := range uint64(100) {
			_, content := s.derive(dice{rand.NewPCG(seed, 0)}, c.kind, "s.example")
			if before, after, ok := strings.Cut(content, "?id="); ok {
				content = before + "?id=N" + strings.TrimLeft(after, "0123456789")
			}
			got[content] = true
			if !slices.Contains(c.want, content) {
				t.Errorf("%s gives %q, want one of %q", c.kind, content, c.want)
			}
		}
		if len(got) != len(c.want) {
			t.Errorf("%s gives %d different texts in 100, want %d", c.kind, len(got), len(c.want))
		}
	}
	if s.content() != plain {
		t.Errorf("the original itself has changed to %q", s.content())
	}
}

func TestBump(t *testing.T) {
	for in, want := range map[string]string{
		"": "", "none": "none", "9": "9", "从3到5": "从4到5",
		"98": "99",
	} {
		if got := bump(in); got != want {
			t.Errorf("bump(%q) = %q, want %q", in, got, want)
		}
	}
}
