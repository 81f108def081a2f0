package stories

import "github.com/clusterd/clusterd/internal/audit/wire"

// unheld returns what is expected of a story where texts were erased: the words that are left are
// not known, and an erasure has a position of its own.
func unheld(want, got wire.Story) wire.Story {
	want.Headline, want.Own.Headline = got.Headline, got.Own.Headline
	want.Terms, want.Own.Terms = got.Terms, got.Own.Terms
	want.Position = max(want.Position, got.Position)
	return want
}
