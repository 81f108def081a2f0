package article_test

import (
	"strings"
	"testing"

	"github.com/clusterd/clusterd/internal/message/article"
)

// The value that divides articles is a string, or what a number or boolean is written as. All that
// has no such value is together.
func TestByField(t *testing.T) {
	for name, tt := range map[string]struct{ field, in, want, reason string }{
		"a string":       {"lang", `{"lang":"zh","content":"c"}`, "zh", ""},
		"with escapes":   {"lang", `{"lang":"\u4e2d\n","content":"c"}`, "中\n", ""},
		"within":         {"meta.tenant", `{"meta":{"tenant":"t"},"content":"c"}`, "t", ""},
		"a number":       {"n", `{"n":1.50,"content":"c"}`, "1.50", ""},
		"a boolean":      {"n", `{"n":false,"content":"c"}`, "false", ""},
		"the first":      {"n", `{"n":1,"n":2,"content":"c"}`, "1", ""},
		"missing":        {"n", `{"content":"c"}`, "", ""},
		"null":           {"n", `{"n":null,"content":"c"}`, "", ""},
		"empty":          {"n", `{"n":"","content":"c"}`, "", ""},
		"an object":      {"n", `{"n":{},"content":"c"}`, "", "type"},
		"a list":         {"n", `{"n":["a"],"content":"c"}`, "", "type"},
		"the longest":    {"n", `{"n":"` + strings.Repeat("x", 256) + `","content":"c"}`, strings.Repeat("x", 256), ""},
		"longer":         {"n", `{"n":"` + strings.Repeat("x", 257) + `","content":"c"}`, "", "too_long"},
		"no field":       {"", `{"n":1,"content":"c"}`, "", ""},
		"a header's":     {"header:n", `{"n":1,"header:n":2,"content":"c"}`, "", ""},
		"beside a title": {"title", `{"title":"t","content":"c"}`, "t", ""},
	} {
		t.Run(name, func(t *testing.T) {
			d := article.ByField(jsonDecoder(defaultFields(), maxBytes, "auto"), tt.field)
			for _, d := range []article.Decoder{d, article.Copying(d, []string{"x"})} {
				a, rejection := d.Decode(nil, []byte(tt.in), here())
				if rejection != nil || a.Content != "c" || a.Space != tt.want {
					t.Errorf("%q, %v, want %q", a.Space, rejection, tt.want)
				}
				wantReason(t, a.Notes, tt.reason)
			}
		})
	}
}

func wantReason(t *testing.T, n *article.Notes, want string) {
	t.Helper()
	if n == nil {
		n = &article.Notes{}
	}
	got := ""
	for _, f := range n.Fallbacks {
		got += f.Field + " " + f.Reason
	}
	if want != "" {
		want = "space " + want
	}
	if got != want {
		t.Errorf("notes say %q, want %q", got, want)
	}
}

func TestSpaceOfHeader(t *testing.T) {
	for name, tt := range map[string]struct{ in, want, reason string }{
		"a text":      {"zh", "zh", ""},
		"nothing":     {"", "", ""},
		"too long":    {strings.Repeat("x", 257), "", "too_long"},
		"not a text":  {"\xff", "", "type"},
		"the longest": {strings.Repeat("x", 256), strings.Repeat("x", 256), ""},
	} {
		got, notes := article.SpaceOfHeader(nil, "tenant", []byte(tt.in))
		if got != tt.want {
			t.Errorf("%s: %q", name, got)
		}
		wantReason(t, notes, tt.reason)
	}
}
