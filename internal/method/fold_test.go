package method_test

import (
	"strings"
	"testing"

	"github.com/clusterd/clusterd/internal/method"
	"github.com/clusterd/clusterd/internal/testutil/check"
)

// With text.fold, and only then, every method takes a text for the same that is varied as spam is,
// and its identity says so.
func TestFold(t *testing.T) {
	check.OneGoroutine(t)
	const (
		honest = "big bonus today for all new players, register at once and ask alexis17. no deposit"
		varied = "Вig ★ bónus tоdaу for ɑll nеw plауеrs, rеgistеr at оnсe " +
			"and ask A L E X I S 1 7. ɴᴏ ⓓⓔⓟⓞⓢⓘⓣ"
	)
	for _, name := range method.Names() {
		for _, fold := range []bool{false, true} {
			m := ofSecret(t, name, "")
			if fold {
				m = ofSecret(t, name, "", "text.fold=true")
			}
			printer := m.NewFingerprinter()
			a, _ := printer("", honest)
			b, _ := printer("", varied)
			if same := m.Distance(a, b) == 0; same != fold {
				t.Errorf("%s with text.fold %t: the texts are the same: %t", name, fold, same)
			}
			if named := strings.Contains(m.Identity(), ",fold="); named != fold {
				t.Errorf("%s with text.fold %t: identity %s", name, fold, m.Identity())
			}
		}
	}
}

// The first version of folding leaves digits within words as they are.
func TestFirstFolding(t *testing.T) {
	check.OneGoroutine(t)
	const text = "big bonus at the cas1n0 today for all new players, register at once and ask alexis17"
	for _, name := range method.Names() {
		if name == "pinyin" {
			continue // it does not tell texts apart by one digit
		}
		for version, want := range map[string]bool{"1": false, "true": true} {
			m := ofSecret(t, name, "", "text.fold="+version)
			printer := m.NewFingerprinter()
			a, _ := printer("", text)
			b, _ := printer("", strings.ReplaceAll(text, "cas1n0", "casino"))
			if same := m.Distance(a, b) == 0; same != want {
				t.Errorf("%s with text.fold %s: the texts are the same: %t", name, version, same)
			}
			if named := strings.Contains(m.Identity(), ",fold=1"); named == want {
				t.Errorf("%s with text.fold %s: identity %s", name, version, m.Identity())
			}
		}
	}
}

// Where look-alikes are folded, shingles of characters leave out what spam puts between letters,
// and what short texts end with. Without folding they tell these apart.
func TestFoldedPunctuation(t *testing.T) {
	check.OneGoroutine(t)
	for _, name := range method.Using("fingerprint.shingle") {
		for _, secret := range []string{"", "sixteen bytes or more"} {
			for _, fold := range []string{"false", "true"} {
				m := ofSecret(t, name, secret, "text.fold="+fold)
				printer := m.NewFingerprinter()
				a, _ := printer("", "支持你，加微信看图")
				b, ok := printer("", "支持你！加_微.信-看图~")
				if same := m.Distance(a, b) == 0; !ok || same != (fold == "true") {
					t.Errorf("%s with text.fold %s: the texts are the same: %t, %t", name, fold, same, ok)
				}
				if _, ok := printer("", "！？…—"); ok {
					t.Errorf("%s with text.fold %s: punctuation alone is compared", name, fold)
				}
			}
		}
	}
}
