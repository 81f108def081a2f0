package text

import (
	"testing"
	"unicode"
	"unicode/utf8"
)

func newTestNormalizer(t testing.TB) *normalizer {
	t.Helper()
	n, err := newNormalizer()
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestNormalize(t *testing.T) {
	n := newTestNormalizer(t)
	for in, want := range map[string]string{
		"":                  "",
		"Typhoon":           "typhoon",
		"颱風登陸":              "台风登陆",
		"薴":                 "苎", // over 苧
		"\U0002895b":        "\U00028c40",
		"Ａ１，（　）":            "a1,( )",
		"\ufeffa\u200bb":    "ab",
		"a\xffb\xc0":        "a\ufffdb\ufffd",
		"Ä Ω İ":             "ä ω i",
		"H\u0331 \u210cx":   "\u1e96 hx",
		"e\u00ad\u0301":     "é",
		"㍿ ㎏ ½":             "株式会社 kg 1\u20442",
		"\U0001d400ª\u2460": "aa1",
	} {
		if got := n.normalize(in); got != want {
			t.Errorf("normalize(%q) = %q, want %q", in, got, want)
		}
	}
}

// Normalised text stays as it is: a single character, and a letter with case
// before each mark, which is all that lower case can make compose.
func TestNormalizeIsIdempotent(t *testing.T) {
	n := newTestNormalizer(t)
	check := func(s string) {
		once := n.normalize(s)
		if twice := n.normalize(once); twice != once {
			t.Errorf("%+q becomes %+q, then %+q", s, once, twice)
		}
		if !utf8.ValidString(once) {
			t.Errorf("%+q becomes invalid %+q", s, once)
		}
	}
	var marks, upper []rune
	for r := rune(0); r <= unicode.MaxRune; r++ {
		check(string(r))
		if unicode.Is(unicode.Mn, r) && r < 0x3100 {
			marks = append(marks, r)
		}
		if unicode.ToLower(r) != r && r < 0x3100 {
			upper = append(upper, r)
		}
	}
	for _, u := range upper {
		for _, m := range marks {
			check(string([]rune{u, m}))
		}
	}
}

func TestAddTraditionalRefuses(t *testing.T) {
	n := newTestNormalizer(t)
	for _, row := range []string{"", "風", "風 风向", "颱風 台风", "a b"} {
		if err := n.addTraditional(row); err == nil {
			t.Errorf("row %q is accepted", row)
		}
	}
}
