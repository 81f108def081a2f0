package text

import (
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/clusterd/clusterd/internal/testutil/check"
	"github.com/clusterd/clusterd/internal/testutil/runes"
)

func newTestNormalizer(t testing.TB) *normalizer {
	t.Helper()
	n, err := newNormalizer()
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// byDefinition is the definition of a normalised text, over the whole text.
func byDefinition(n *normalizer, s string) string {
	visible := func(r rune) rune {
		if unicode.Is(n.invisible, r) {
			return -1
		}
		return r
	}
	s = strings.Map(visible, s)
	s = foldEach(n, norm.NFKC.String(s))
	return foldEach(n, norm.NFKC.String(s))
}

// foldEach returns s folded, character by character.
func foldEach(n *normalizer, s string) string {
	var folded []byte
	for _, r := range s {
		folded = n.appendFold(folded, r)
	}
	return string(folded)
}

// eachNormalizer tests the one that folds and the one that does not.
func eachNormalizer(t *testing.T, test func(t *testing.T, n *normalizer)) {
	t.Helper()
	t.Run("plain", func(t *testing.T) { test(t, newTestNormalizer(t)) })
	t.Run("folding", func(t *testing.T) { test(t, foldingNormalizer(t)) })
}

func foldingNormalizer(t testing.TB) *normalizer {
	t.Helper()
	n, err := newFoldingNormalizer()
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func wantByDefinition(t *testing.T, n *normalizer, s string) {
	t.Helper()
	if got, want := n.normalize(s), byDefinition(n, s); got != want {
		t.Errorf("normalize(%+q)\n got %+q\nwant %+q", s, got, want)
	}
}

func TestNormalize(t *testing.T) {
	n := newTestNormalizer(t)
	for in, want := range map[string]string{
		"":                   "",
		"Typhoon":            "typhoon",
		"TYPHOON [@`{] Zaz":  "typhoon [@`{] zaz",
		"颱風登陸":               "台风登陆",
		"薴":                  "苎", // over 苧
		"\U0002895b":         "\U00028c40",
		"Ａ１，（　）":             "a1,( )",
		"\ufeffa\u200bb":     "ab",
		"a\xffb\xc0":         "a\ufffdb\ufffd",
		"Ä Ω İ":              "ä ω i",
		"H\u0331 \u210cx":    "\u1e96 hx",
		"e\u00ad\u0301":      "é",
		"㍿ ㎏ ½":              "株式会社 kg 1\u20442",
		"\U0001d400ª\u2460":  "aa1",
		"台风……登陆":             "台风......登陆",
		"\u1112\u314f\u11ab": "\ud55c", // 한
		"☂\ufe0f🌀\ufe0f":     "☂🌀",
	} {
		if got := n.normalize(in); got != want {
			t.Errorf("normalize(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestAppendNormalizedKeepsWhatIsThere(t *testing.T) {
	eachNormalizer(t, func(t *testing.T, n *normalizer) {
		for _, s := range []string{
			"", "\u0301", "\u0301e\u0301", "台", "Typhoons", "\u200b",
			"\u200b\u0301",
		} {
			got := string(n.appendNormalized([]byte("e"), s))
			if want := "e" + byDefinition(n, s); got != want {
				t.Errorf("%+q after e: got %+q, want %+q", s, got, want)
			}
		}
	})
}

// Normalised text stays as it is: a single character, and a letter with case
// before each mark that composes with any, which is all that lower case can make
// compose.
func TestNormalizeIsIdempotent(t *testing.T) {
	check.OneGoroutine(t)
	eachNormalizer(t, func(t *testing.T, n *normalizer) {
		check := func(s string) {
			once := n.normalize(s)
			if twice := n.normalize(once); twice != once {
				t.Errorf("%+q becomes %+q, then %+q", s, once, twice)
			}
			if !utf8.ValidString(once) {
				t.Errorf("%+q becomes invalid %+q", s, once)
			}
		}
		var upper []rune
		marks := make(map[rune]bool)
		runes.All(func(r rune) {
			check(string(r))
			if unicode.ToLower(r) != r {
				upper = append(upper, r)
			}
			d := []rune(norm.NFD.String(string(r)))
			if last := d[len(d)-1]; len(d) > 1 && unicode.Is(unicode.Mn, last) {
				marks[last] = true
			}
		})
		for _, u := range upper {
			for m := range marks {
				check(string([]rune{u, m}))
			}
		}
	})
}

// The comment of normalizer relies on this.
func TestSegmentsStaySegments(t *testing.T) {
	check.OneGoroutine(t)
	eachNormalizer(t, func(t *testing.T, n *normalizer) {
		runes.All(func(r rune) {
			begins := beginsSegment(r)
			if boundary := norm.NFKC.NextBoundaryInString("a"+string(r), true) == 1; begins != boundary {
				t.Errorf("%U begins a segment: %t; norm has a boundary before it: %t", r, begins, boundary)
			}
			folded := string(n.appendFold(nil, r))
			for _, f := range folded {
				if begins && !beginsSegment(f) {
					t.Errorf("%U begins a segment, folded to %+q it does not", r, folded)
				}
			}
			if again := foldEach(n, folded); again != folded {
				t.Errorf("%U is folded to %+q, then to %+q", r, folded, again)
			}
			// Whatever a character composes with, it goes on beginning a segment.
			for _, form := range []norm.Form{norm.NFC, norm.NFD, norm.NFKC, norm.NFKD} {
				first, _ := utf8.DecodeRuneInString(form.String(string(r)))
				if beginsSegment(first) != begins {
					t.Errorf("%U begins a segment: %t; what it decomposes into, %U, does not agree", r, begins,
						first)
				}
			}
		})
	})
}

func TestNormalizeEachCharacter(t *testing.T) {
	check.OneGoroutine(t)
	eachNormalizer(t, func(t *testing.T, n *normalizer) {
		runes.All(func(r rune) { wantByDefinition(t, n, string(r)) })
	})
}

// Before and after each character of the table stands what could compose with
// it or hide in between.
func TestNormalizeEachCharacterInContext(t *testing.T) {
	check.OneGoroutine(t)
	eachNormalizer(t, func(t *testing.T, n *normalizer) {
		for i := range n.table {
			if r := rune(i); utf8.ValidRune(r) {
				wantByDefinition(t, n, "e"+string(r)+"\u0301H\u200b"+string(r)+"\u0331\u1100"+string(r)+
					"\u1161\u11a8")
			}
		}
	})
}

// joinedRunes are all that do not begin a segment.
func joinedRunes() []rune {
	var all []rune
	runes.All(func(r rune) {
		if !beginsSegment(r) {
			all = append(all, r)
		}
	})
	return all
}

func TestNormalizePairs(t *testing.T) {
	check.OneGoroutine(t)
	eachNormalizer(t, func(t *testing.T, n *normalizer) {
		others := []rune(
			"aHẖé≂台颱Å가각ㅎㅏﾊㄱ①½Ǆ…☂🌀\U0001d400" +
				"\U0002895b\u200b\ufe0f\u00ad\u034f\ufffd\uffff\u0000" +
				"\u1100\u1112\u09c7\u0dd9\u1025\U0001d15e\ufdfa")
		joined := joinedRunes()
		for _, a := range others {
			for _, b := range others {
				wantByDefinition(t, n, string([]rune{a, b}))
			}
			for _, b := range joined {
				wantByDefinition(t, n, string([]rune{a, b}))
			}
		}
		for _, a := range joined[:len(joined)/8] {
			for _, b := range joined {
				wantByDefinition(t, n, string([]rune{'e', a, b}))
			}
		}
	})
}

func TestNormalizeRandomText(t *testing.T) {
	check.OneGoroutine(t)
	eachNormalizer(t, func(t *testing.T, n *normalizer) {
		joined := joinedRunes()
		pieces := strings.Fields("a Z H k ABCDEFGH typhoons é ß İ ſ 台 颱 風 薴 ， … ½ ㍿ ﷺ Å ｶ ﾞ 가 각 ㅎ ㅏ " +
			"\u1112 \u1161 \u11ab \u0301 \u0331 \u0345 \u0327 ☂ 🌀 𐐀 𝐀 \U0002895b \u200b \ufe0f \U000e0061 " +
			"\xff \xc0 \xe5\x8f \xed\xa0\x80 \xe0\x80\x80 \xf0\x9f")
		pieces = append(pieces, " ", "\u3000", "\x00")
		r := rand.New(rand.NewPCG(1, 2))
		for range 20_000 {
			var b strings.Builder
			for range r.IntN(24) {
				switch r.IntN(8) {
				case 0:
					b.WriteRune(joined[r.IntN(len(joined))])
				case 1:
					b.WriteRune(rune(r.IntN(unicode.MaxRune)))
				default:
					b.WriteString(pieces[r.IntN(len(pieces))])
				}
			}
			wantByDefinition(t, n, b.String())
		}
	})
}

// NFKC divides a long run of marks by a grapheme joiner, which is itself one of
// the characters that are dropped.
func TestNormalizeRunsOfMarks(t *testing.T) {
	check.OneGoroutine(t)
	eachNormalizer(t, func(t *testing.T, n *normalizer) {
		r := rand.New(rand.NewPCG(3, 4))
		joined := joinedRunes()
		for length := range 100 {
			wantByDefinition(t, n, "e"+strings.Repeat("\u0301", length)+"x")
			wantByDefinition(t, n, strings.Repeat("\u200b\u0331", length)+"H"+
				strings.Repeat("\u0331\u034f", length))
			var marks strings.Builder
			for range length {
				marks.WriteRune(joined[r.IntN(len(joined))])
			}
			wantByDefinition(t, n, "H"+marks.String()+"\u314f"+marks.String())
		}
	})
}

// Scratch memory is shared by goroutines, one after the other.
func TestNormalizeConcurrently(t *testing.T) {
	eachNormalizer(t, func(t *testing.T, n *normalizer) {
		var group sync.WaitGroup
		for _, mark := range []string{"\u0300", "\u0301", "\u0302", "\u0303"} {
			group.Go(func() {
				s := strings.Repeat("E"+mark, 2000)
				if got, want := n.normalize(s), byDefinition(n, s); got != want {
					t.Errorf("got %.40q, want %.40q", got, want)
				}
			})
		}
		group.Wait()
	})
}

func TestAppendNormalizedDoesNotAllocate(t *testing.T) {
	eachNormalizer(t, func(t *testing.T, n *normalizer) {
		s := "Ｔyphoon 颱風……½ ☂\ufe0f🌀 é \xff\u200b"
		dst := make([]byte, 0, 1024)
		if allocs := testing.AllocsPerRun(100, func() { n.appendNormalized(dst, s) }); allocs != 0 {
			t.Errorf("%v allocations, want none", allocs)
		}
	})
}

func TestAddTraditionalRefuses(t *testing.T) {
	for _, row := range []string{"", "風", "風 风向", "颱風 台风", "a b"} {
		if err := addTraditional(make(map[rune]rune), row); err == nil {
			t.Errorf("row %q is accepted", row)
		}
	}
}

func FuzzNormalize(f *testing.F) {
	check.OneGoroutine(f)
	f.Add("Ｔyphoon's 颱風……½ ㍿")
	f.Add("\ufeffTy\u200bphoon\x00\xff\xe5\x8f")
	f.Add("H\u0331\u0301e\u00ad\u0301 İẞΣ😀1️⃣")
	f.Add("\u1112\u314f\u11abﾊﾞ\u3164")
	f.Add("Ѵ1å̶gr① ❿🅰🇦★ か\u20dd\u3099")
	plain, folding := newTestNormalizer(f), foldingNormalizer(f)
	f.Fuzz(func(t *testing.T, s string) {
		for _, n := range []*normalizer{plain, folding} {
			wantByDefinition(t, n, s)
			if once := n.normalize(s); n.normalize(once) != once {
				t.Errorf("%+q becomes %+q, then %+q", s, once, n.normalize(once))
			}
		}
	})
}
