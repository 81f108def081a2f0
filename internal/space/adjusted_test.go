package space

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/space/fingerprint"
)

// That event times were adjusted is logged the first time, and then once a minute, with how many
// there were.
func TestAdjustedTimesAreLogged(t *testing.T) {
	var out bytes.Buffer
	began := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	log := slog.New(slog.NewTextHandler(&out, nil))
	a, example := AdjustedLog{},
		&fingerprint.Article{Source: article.Address{Topic: "articles", Offset: 7}}
	for _, step := range []struct {
		after time.Duration
		Adjusted
		want string // in the line that it says, empty for none
	}{
		{0, Adjusted{}, ""},
		{
			time.Second,
			Adjusted{Ahead: 2, Example: example},
			"ahead=2 old=0 for_example=articles/0/7 published_at=none",
		},
		{30 * time.Second, Adjusted{Old: 3, Example: example}, ""},
		{60 * time.Second, Adjusted{Ahead: 1, Example: example}, ""},
		{61 * time.Second, Adjusted{}, ""},
		{90 * time.Second, Adjusted{Old: 1, Example: example}, "ahead=1 old=4"},
	} {
		before := len(out.String())
		a.Add(log, step.Adjusted, began.Add(step.after))
		if said := out.String()[before:]; (said == "") != (step.want == "") ||
			!strings.Contains(said, step.want) {
			t.Errorf("after %s: %q, want %q in it", step.after, said, step.want)
		}
	}
}
