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
