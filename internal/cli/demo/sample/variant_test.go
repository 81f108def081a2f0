package sample

import (
	"strings"
	"testing"
	"time"
)

// Every letter, digit and character of a variant folds back to the original's.
func TestVariantFoldsBack(t *testing.T) {
	simplified := make(map[rune]rune, len(traditional()))
	for s, r := range traditional() {
		if other, taken := simplified[r]; taken {
			t.Errorf("%c is the traditional form of both %c and %c", r, other, s)
		}
		simplified[r] = s
	}
	fold := func(s string) string {
		return strings.Map(func(r rune) rune {
			if s, ok := simplified[r]; ok {
				return s
			}
			if '０' <= r && r <= 'ｚ' {
				return r - '０' + '0'
			}
			return r
		}, s)
	}

	g := New(10, time.Time{})
	originals, variants := map[string]Article{}, 0
	for range 2000 {
		a := g.Next()
		if a.Kind == Original {
			originals[a.ID] = a
		}
		if a.Kind != Variant {
			continue
		}
		variants++
		origin := originals[a.Origin]
		if strings.ContainsAny(a.Content, "0123456789") || a.Content == origin.Content {
			t.Errorf("%s is as its origin: %s", a.ID, a.Content)
		}
		if fold(a.Title) != fold(origin.Title) || fold(a.Content) != fold(origin.Content) {
			t.Errorf("%s does not fold back to its origin:\n%s\n%s", a.ID, fold(a.Content), origin.Content)
		}
	}
	if variants == 0 {
		t.Error("no variant in 2,000 articles")
	}
}

func TestVariant(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"", ""},
		{"3月12日，地铁9号线开通。", "３月１２日，地鐵９號線開通。"},
		{"Route 7 (new)", "Ｒｏｕｔｅ ７ (ｎｅｗ)"},
		{"公里", "公里"}, // several traditional forms: left
	} {
		if got := variant(c.in); got != c.want {
			t.Errorf("variant(%q) = %q, want %q", c.in, got, c.want)
		}
	}
}
