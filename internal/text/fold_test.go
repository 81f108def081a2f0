package text

import (
	"math/rand/v2"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/clusterd/clusterd/internal/testutil/check"
	"github.com/clusterd/clusterd/internal/testutil/golden"
	"github.com/clusterd/clusterd/internal/testutil/runes"
	"github.com/clusterd/clusterd/internal/text/fold"
)

func foldingCleaner(t testing.TB) *Cleaner {
	t.Helper()
	c, err := NewCleaner(CleanOptions{Fold: fold.Latest})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// folded returns a content, cleaned and folded.
func folded(c *Cleaner, s string) string { return string(c.AppendClean(nil, "", s)[1:]) }

func TestFold(t *testing.T) {
	c := foldingCleaner(t)
	for _, group := range []struct {
		what string
		want map[string]string
	}{
		{"letters that look like Latin", map[string]string{
			"Сувеr":       "cyber",      // С, у, в of Cyrillic
			"ΒΑΝΚ, νοτε":  "bank, vote", // Greek; νοτε has the look of v
			"раураl":      "paypal",
			"ВОNUS бонус": "bonus bohyc",
			"ᏚᎪᏞᎬ ꓢꓮꓡꓰ":   "sale sale", // Cherokee, Lisu
			"օffеr ոօտ":   "offer nos", // Armenian
			"ɡɑmеꮪⲣ":      "gamesp",    // script letters, small Cherokee, Coptic
			"Іnfо іnfо":   "info info", // the capital looks like l, too
		}},
		{"Latin letters with more on them, or in other shapes", map[string]string{
			"øłđħŧƀɨɓƙⱥ":        "oldhtbibka",
			"ᴠɪᴀɢʀᴀ ꜱᴀʟᴇ ʜᴏᴡ":   "viagra sale how",
			"ＢＯＮＵＳ 𝐛𝓸𝔫𝕦𝖘 ⓑⓞⓝⓤⓢ": "bonus bonus bonus", // as NFKC has it
			"🅑🅞🅝🅤🅢 🅱🅾🅽🆄🆂 🄱🄾🄽🅄🅂": "bonus bonus bonus",
			"🇧🇴🇳🇺🇸":             "bonus",
			"ıȷ ſ":              "ij s",
		}},
		{"digits", map[string]string{
			"❶❷❸ ➀➁ ➊➋ ⓵⓶ ⓿🄋": "123 12 12 12 00",
			"❿ ⓴ ㉈":           "10 20 10",
			"٠١٢٣ ०१२ ０１２ 𝟘𝟙": "0123 012 012 01",
			"1️⃣2️⃣3️⃣":       "123",
			"二〇二六 ①②":         "二0二六 12",
		}},
		{"marks", map[string]string{
			"éa e\u0301a e\u0301\u0302a Ế":     "ea ea ea e",
			"s\u0336a\u0336l\u0336e":           "sale",
			"f\u20e3ree\ufe20 n\u0489o":        "free n\u0489o", // U+0489 is of Cyrillic
			"й ё":                              "и e",
			"\u0301\u0302":                     "",
			"हिन्दी ไทยแล้ว":                   "हिन्दी ไทยแล้ว", // vowel signs stay
			"が か\u3099 ｶﾞ한 \u1112\u1161\u11ab": "が が ガ한 한",
			"か\u20dd\u3099":                    "が", // what stood between is no more
		}},
		{"symbols", map[string]string{
			"★sale★ ♥love♥":     " sale   love ",
			"🔥hot👍🏻hot👨‍👩‍👧":    " hot  hot   ",
			"꧁vip꧂ ☞go ➤go →go": " vip   go  go  go",
			"20°c • tm™ © a·b":  "20 c   tmtm   a b",
			"`^|~<=>$+":         "`^|~<=>$+", // ASCII stays
		}},
		{"spaced out", map[string]string{
			"A L E X I S 1 7":                "alexis17",
			"7 8 9-0":                        "7890",
			"V.I.A.G.R.A now":                "viagra now",
			"加 微 信":                          "加微信",
			"加★微★信 abc":                      "加微信 abc",
			"m💋o💋n💋e💋y":                      "money",
			"F-R-E-E F_R_E_E\nF/*/R/*/E/*/E": "freefree\nfree",
			"Ｗ．Ｅ．Ｃ．Ｈ．Ａ．Ｔ":                    "wechat",
			"𝐚 𝐛 𝐜 é ø":                      "abceo",
			"x1 2 3 4 5x":                    "x1 234 5x",
			"(a b c)":                        "(abc)",
			"о п е":                          "oпe",
			"A\u0336 B\u0336 C\u0336":        "abc",
		}},
		{"not spaced out", map[string]string{
			"Plan A, B or C":       "plan a, b or c",
			"3.5 kg, 1, 2":         "3.5 kg, 1, 2",
			"I am a cat, e.g. bb":  "i am a cat, e.g. bb",
			"a b\nc d":             "a b\nc d",
			"a\u2028b\u2028c":      "a\u2028b\u2028c",
			"a    b    c":          "a    b    c", // four characters between
			"我 是 abc":              "我 是 abc",
			"कि कि कि":             "कि कि कि",             // with a mark it is not single
			"\u1112 \u1161 \u11ab": "\u1112 \u1161 \u11ab", // would compose
		}},
		{"words at the ends of a run stay apart", map[string]string{
			"ALEXIS 1 7":       "alexis 1 7",
			"A L E X I S17":    "alexi s17",
			"ALEXIS 1 7 1":     "alexis 171",
			"the V I P lounge": "the vip lounge",
		}},
		{"invisible", map[string]string{
			"v\u202ei\u202cagra \u2066v\u2067i\u2068a\u2069":   "viagra via", // controls of direction
			"v\u061ci\u200ea\u200fg\u202ar\u202ba\u202d!":      "viagra!",
			"v\u200bi\u200ca\u200dg\u2060r\ufeffa\u00ad\u180e": "viagra",
			"v\u034fi\u115fa\u1160g\u3164r\uffa0a\ufe0f":       "viagra",
			"v\u2061i\u206fa\U000e0041g\U000e0100ra\ufff9":     "viagra",
		}},
		{"marks of other scripts, beyond two on a letter", map[string]string{
			"s\u064b\u064c\u064d\u064eale":                    "s\u064b\u064cale", // of Arabic
			"s\u0e31\u0e48\u0e49\u0e4a\u0e4ba\u0335le":        "s\u0e31\u0e48ale", // of Thai
			"д\u0483\u0484\u0485\u0486а, λ\u0488\u0489\u0483": "д\u0483\u0484a, λ\u0488\u0489",
			"台\u093f\u0941\u0943风":                            "台\u093f\u0941风",
			"a\u0335\u0336\u0337\u0338\u0301\u0302\u0303 b":   "a b",
			"s \u064b\u064c\u064d\u064e":                      "s \u064b\u064c\u064d\u064e",
		}},
		{"marks that stay", map[string]string{
			"ก\u0e34\u0e48\u0e49\u0e4a":             "ก\u0e34\u0e48\u0e49\u0e4a",
			"ب\u064b\u064c\u064d\u064e":             "ب\u064b\u064c\u064d\u064e",
			"ש\u05b0\u05bc\u05bd\u05c1":             "ש\u05b0\u05bc\u05bd\u05c1",
			"क\u094d\u0930\u093f\u093f\u0902\u0903": "क\u094d\u0930\u093f\u093f\u0902\u0903",
			"Tiếng Việt, phở":                       "tieng viet, pho", // as ever
			"д\u0483 д\u0483\u0484":                 "д\u0483 д\u0483\u0484",
		}},
		{"broken", map[string]string{
			"a\xffb": "a b", "\xe5\x8f": "  ", "a\x00b\x00c": "abc",
		}},
	} {
		t.Run(group.what, func(t *testing.T) {
			for in, want := range group.want {
				if got := folded(c, in); got != want {
					t.Errorf("%q becomes %+q, want %+q", in, got, want)
				}
			}
		})
	}
}

// All of ASCII, and all that is no look-alike, mark or symbol, is as it is without folding.
func TestFoldLeavesTheRest(t *testing.T) {
	check.OneGoroutine(t)
	plain, folding := newTestNormalizer(t), foldingNormalizer(t)
	runes.All(func(r rune) {
		before := plain.normalize(string(r))
		after := folding.normalize(string(r))
		for _, r := range before {
			if r >= utf8.RuneSelf && folding.folder.Folds(r) {
				return
			}
		}
		if after != before && !folding.folder.Folds(r) {
			t.Errorf("%U becomes %+q, want %+q", r, after, before)
		}
	})
}

// Nothing is left that looks like ASCII, no mark and no symbol.
func TestFoldLeavesNothing(t *testing.T) {
	check.OneGoroutine(t)
	n := foldingNormalizer(t)
	runes.All(func(r rune) {
		for _, f := range n.normalize(string(r)) {
			if f >= utf8.RuneSelf && n.folder.Folds(f) {
				t.Errorf("%U becomes %+q, in which %U should be folded", r, n.normalize(string(r)), f)
			}
		}
	})
}

// joinedByDefinition is what joinSpaced says, over all of the text.
func joinedByDefinition(s string) string {
	all := []rune(s)
	word := func(i int) bool {
		return i >= 0 && i < len(all) && (isLetterOrNumber(all[i]) || unicode.IsMark(all[i]))
	}
	isSingle := func(i int) bool {
		return isLetterOrNumber(all[i]) && beginsSegment(all[i]) && !word(i-1) && !word(i+1)
	}
	next := func(i int) int { // the single character that i is spaced out with, or i
		for j := i + 2; j <= i+1+maxGap && j < len(all); j++ {
			between := string(all[i+1 : j])
			if isSingle(j) && !strings.ContainsFunc(between, isWordRune) &&
				!strings.ContainsAny(between, "\n\v\f\r\u0085\u2028\u2029") {
				return j
			}
		}
		return i
	}
	var b strings.Builder
	for i := 0; i < len(all); i++ {
		run := []int{i}
		for isSingle(i) && next(run[len(run)-1]) != run[len(run)-1] {
			run = append(run, next(run[len(run)-1]))
		}
		if len(run) < minSpaced {
			run = run[:1]
		}
		for _, j := range run {
			b.WriteRune(all[j])
		}
		i = run[len(run)-1]
	}
	return b.String()
}

// fewMarksByDefinition is what [fold.DropMarks] says.
func fewMarksByDefinition(s string) string {
	var b strings.Builder
	var base rune
	marks := 0
	for _, r := range s {
		if unicode.IsMark(r) {
			marks++
		} else {
			base, marks = r, 0
		}
		letter := '0' <= base && base <= '9' ||
			unicode.In(base, unicode.Latin, unicode.Cyrillic, unicode.Greek, unicode.Han)
		if marks <= 2 || !letter {
			b.WriteRune(r)
		}
	}
	return b.String()
}

func wantFolded(t *testing.T, c *Cleaner, s string) {
	t.Helper()
	normalized := c.norm.normalize(s)
	got := string(appendPlain(c, []byte("a "), s))
	want := "a " + leetByDefinition(joinedByDefinition(fewMarksByDefinition(normalized)))
	if got != want {
		t.Errorf("%+q\n got %+q\nwant %+q", s, got, want)
	}
	if again := string(appendPlain(c, nil, got[2:])); again != got[2:] {
		t.Errorf("%+q becomes %+q, then %+q", s, got[2:], again)
	}
	if !utf8.ValidString(got) {
		t.Errorf("%+q becomes invalid %+q", s, got)
	}
}

func TestFoldRandomText(t *testing.T) {
	check.OneGoroutine(t)
	c := foldingCleaner(t)
	pieces := strings.Split("a|B|7|é|ø|台|台风|typhoon|ab|abcdefgh|कि|\u1112|\u1161|\u11ab|𝐚|🅰|𐐀|💋|★|"+
		" |  |.|, |-|_|*|   |    |\n|\u2028|\u3000|、|\u0301|\u3099|\u200b|\ufe0f|\x00|\xff|\xe5\x8f"+
		"|\u064b|\u0e31|\u093f|\u0489|д|v1agra|cas1n0|b0|mp3|p0rn|ca$|@|.", "|")
	r := rand.New(rand.NewPCG(5, 6))
	for range 20_000 {
		var b strings.Builder
		for range r.IntN(40) {
			// Spaced-out texts more often than chance would have them.
			if r.IntN(3) == 0 {
				b.WriteString(" " + pieces[r.IntN(8)] + " ")
			} else {
				b.WriteString(pieces[r.IntN(len(pieces))])
			}
		}
		wantFolded(t, c, b.String())
	}
}

// A fold that is on stands in the identity. One that is off does not.
func TestIdentityOfFold(t *testing.T) {
	c := foldingCleaner(t)
	if got, want := c.Identity(), "norm=1,html=auto,fold=2"; got != want {
		t.Errorf("identity %q, want %q", got, want)
	}
}

func TestFoldDoesNotAllocate(t *testing.T) {
	c := foldingCleaner(t)
	text := article(2000) + " V i a g r a ★ øłđ Ｅ e\u0301 " + article(100)
	dst := c.AppendClean(nil, "台风登陆", text)
	if n := testing.AllocsPerRun(20, func() { dst = c.AppendClean(dst[:0], "台风登陆", text) }); n != 0 {
		t.Errorf("%v allocations into memory that suffices, want none", n)
	}
}

// A change of the file is a change of the version of folding.
func TestFoldGolden(t *testing.T) {
	c := foldingCleaner(t)
	var b strings.Builder
	for _, s := range []string{
		"Сувеr ᏚᎪᏞᎬ ᴠɪᴀɢʀᴀ øłđ 🅑🅞🅝🅤🅢 🇧🇴🇳🇺🇸 ❶➁➌ 1️⃣", "e\u0301 é A\u0336 が 한 हिन्दी", "★m💋o💋n💋e💋y°•꧁",
		"加 微 信 A L E X I S 1 7", "Plan A, B or C", "ΒΑΝΚ νοτε й Б б З з",
		"v1agra cas1n0 p0rn 5G COVID-19 mp3", "s\u202ea\u064b\u064c\u064dle д\u0483\u0484\u0485",
	} {
		b.WriteString(s + "\n\t" + folded(c, s) + "\n")
	}
	golden.Check(t, "testdata/fold.golden", []byte(b.String()))
}

func FuzzFold(f *testing.F) {
	check.OneGoroutine(f)
	f.Add("A L E X I S 1 7")
	f.Add("加★微★信 m💋o💋n💋e💋y\n1 2 3")
	f.Add("abcdefgh i j k lmnopqr\xff s t u")
	f.Add("v1agra, buy c4s1n0 at www.b0nus.com or b0nus. ca$h 1ow p0rn w3c mp3player")
	f.Add("s\u064b\u064c\u064d\u064eale \u202ed\u0483\u0484\u0485")
	f.Add("\u1112 \u1161 \u11ab か\u20dd\u3099 e\u0301 ❿ ❿ ❿")
	c := foldingCleaner(f)
	f.Fuzz(func(t *testing.T, s string) {
		wantFolded(t, c, s)
		wantStyled(t, c, s)
	})
}
