package offline

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/testutil/schematest"
	"github.com/clusterd/clusterd/internal/testutil/texts"
)

// Files' results carry what those of the daemon do, but for headers, which files do not have.
func TestClusterCarriesMore(t *testing.T) {
	c := config.Default()
	c.Output.Copy = []string{"url"}
	c.Signals.Enabled, c.Signals.Window = true, time.Hour
	text := texts.Sentence(3, 20)
	lines := ""
	for i, publisher := range []string{"one", "two", "one"} {
		lines += fmt.Sprintf(`{"content":%q,"source":%q,"url":[%d],"published_at":"2026-05-01T10:0%d:00Z"}`,
			text, publisher, i, i) + "\n"
	}
	results, _, _ := clusterText(t, c, lines)
	var got []string
	for _, r := range results {
		if err := schematest.Check("result", r.JSON()); err != nil {
			t.Error(err)
		}
		signals, err := json.Marshal(r.Signals)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprintf("%s %s %s", r.Publisher, r.Copied, signals))
		if r.Representative.Excerpt != text {
			t.Errorf("excerpt %q, want %q", r.Representative.Excerpt, text)
		}
	}
	of := func(publishers, recent int) string {
		return fmt.Sprintf(`{"publishers":%d,"recent":%d,"first_seen":"2026-05-01T10:00:00Z",`+
			`"last_seen":"2026-05-01T10:0%d:00Z"}`, publishers, recent, recent-1)
	}
	want := []string{
		`one {"url":[0]} ` + of(1, 1), `two {"url":[1]} ` + of(2, 2), `one {"url":[2]} ` + of(2, 3),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("results (-want +got):\n%s", diff)
	}
}

// As many characters of a content represent it as the configuration says.
func TestExcerpts(t *testing.T) {
	text := texts.Sentence(3, 20)
	if got := config.Default().Output.Excerpt; got != article.MaxExcerpt {
		t.Errorf("%d characters by default, and a cluster may have %d", got, article.MaxExcerpt)
	}
	for _, n := range []int{0, 1, 5} {
		c := config.Default()
		c.Output.Excerpt = n
		results, _, _ := clusterText(t, c, fmt.Sprintf(`{"content":%q}`, text))
		if got, want := results[0].Representative.Excerpt, string([]rune(text)[:n]); got != want {
			t.Errorf("%d: excerpt %q, want %q", n, got, want)
		}
	}
}
