package text

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterd/clusterd/internal/testutil/check"
	"github.com/clusterd/clusterd/internal/testutil/runes"
	"github.com/clusterd/clusterd/internal/text/fold"
)

func appendPlain(c *Cleaner, dst []byte, s string) []byte {
	work := cleaning{Cleaner: c, mask: c.mask}
	return work.appendPlain(dst, s)
}

// styledOf returns what of a content was written in a style.
func styledOf(c *Cleaner, title, content string) []string {
	clean, ranges := c.AppendStyled([]byte("before "), title, content)
	var styled []string
	for _, r := range ranges {
		styled = append(styled, string(clean[r.Start:r.End]))
	}
	return styled
}

func TestStyled(t *testing.T) {
	c := foldingCleaner(t)
	for in, want := range map[string][]string{
		"no style at all, 微信":  nil,
		"play at 𝐁𝐄𝐓𝐌𝐄𝐍 today": {"betmen"},
		"𝓫𝓮𝓽 𝖒𝖊𝖓 𝚋𝚎𝚝𝟾𝟾":        {"bet", "men", "bet88"},
		"Ⓐⓛⓔⓧⓘⓢ, 🅰🅻🅴🆇🅸🆂 🄰🄻🄴🅇 🅐🅛🅔🅧🅘🅢!": {"alexis", "alexis", "alex", "alexis"},
		"ℬℯ𝓉":                                 {"bet"},
		"①②③ ❶➁ ⓵⓶":                           {"123", "12", "12"},
		"x𝐁𝐄𝐓y":                               {"bet"},
		"𝐁\u0336𝐄\u200b\u0336𝐓":               {"bet"},
		"A L E X I S 1 7 is here":             {"alexis17"},
		"now V.I.A.G.R.A or 加 微 信, Plan A, B": {"viagra", "加微信"},
		"𝐁 𝐄 𝐓 𝐌 𝐄 𝐍 and 𝐁𝐄𝐓 then x y z 𝐂𝐀𝐓": {"betmen", "bet", "xyz", "cat"},
		"🅰 b 🅲":  {"abc"},
		"⒜⒧⒠⒳⒤⒮": {"alexis"},
		"flags 🇺🇸🇩🇪🇫🇷 and ＢＯＮＵＳ, ᴠɪᴀɢʀᴀ": nil,
		"<b>𝐁𝐄𝐓</b> &#x1D401;et":         {"bet", "b"},
	} {
		if diff := cmp.Diff(want, styledOf(c, "", in)); diff != "" {
			t.Errorf("%q: %s", in, diff)
		}
	}
	if diff := cmp.Diff([]string{"title", "alexis"}, styledOf(c, "𝐓𝐈𝐓𝐋𝐄", "A L E X I S")); diff != "" {
		t.Errorf("of a title and a content: %s", diff)
	}
	plain, err := NewCleaner(CleanOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got := styledOf(plain, "", "𝐁𝐄𝐓 A B C"); got != nil {
		t.Errorf("without folding: %q", got)
	}
}

// Whether styles are asked for changes no text. Each range is of whole characters, and there is
// nothing but letters, numbers and marks in it.
func wantStyled(t *testing.T, c *Cleaner, s string) {
	t.Helper()
	joined, _, _ := c.norm.joinSpaced(c.norm.appendNormalized(nil, s), 0, nil)
	want := string(fold.DropMarks(joined, 0))
	clean, ranges := c.norm.appendStyled([]byte("a "), s, []fold.Range{{End: 1}})
	if got := string(clean[2:]); got != want {
		t.Errorf("%+q becomes %+q, want %+q", s, got, want)
	}
	end := 0
	for _, r := range ranges {
		if r.Start < end || r.End <= r.Start || r.End > len(clean) {
			t.Fatalf("%+q: ranges %v", s, ranges)
		}
		if word := string(clean[r.Start:r.End]); strings.ContainsFunc(word, isNoWordRune) {
			t.Errorf("%+q: %+q is in a style", s, word)
		}
		end = r.End
	}
	if ranges[0] != (fold.Range{End: 1}) {
		t.Errorf("%+q: the first range is %v", s, ranges[0])
	}
}

func isNoWordRune(r rune) bool { return !isWordRune(r) }

func TestStyledRandomText(t *testing.T) {
	check.OneGoroutine(t)
	c := foldingCleaner(t)
	pieces := slices.Concat(strings.Split("𝐁|𝐄|Ⓐ|🅰|ℬ|①|a|B|台|é|ab|कि|⒜|🇺🇸|★|\u1161|\u11ab", "|"),
		[]string{" ", " ", " ", ".", "\n", "\u0301", "\u3099", "\u200b", "\xff"})
	r := rand.New(rand.NewPCG(7, 8))
	for range 20_000 {
		var b strings.Builder
		for range r.IntN(30) {
			b.WriteString(pieces[r.IntN(len(pieces))])
		}
		wantStyled(t, c, b.String())
	}
}

// All that is in a style becomes letters and numbers, and begins a segment, where texts may be
// divided.
func TestInStyle(t *testing.T) {
	n := foldingNormalizer(t)
	runes.All(func(r rune) {
		s := string(r)
		if fold.StyledLen(s) == 0 {
			return
		}
		if fold.IndexStyled(s) != 0 || !beginsSegment(r) {
			t.Errorf("%U is found at %d, and begins a segment: %t", r, fold.IndexStyled(s), beginsSegment(r))
		}
		if became := n.normalize(s); became != s && strings.ContainsFunc(became, isNoWordRune) {
			t.Errorf("%U becomes %+q", r, became)
		}
	})
}
