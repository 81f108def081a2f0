package eval

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/files"
)

func TestRead(t *testing.T) {
	for _, test := range []struct {
		name    string
		set     map[string]string
		label   string
		lines   string
		want    []Document
		skipped int
	}{
		{
			name:  "articles",
			lines: `{"id":"a","title":"T","content":"C","label":"spam","published_at":"2020-01-02T03:04:05Z"}` + "\r\n" + `{"id":7,"content":"D"}`,
			want: []Document{
				{ID: "a", Title: "T", Content: "C", PublishedAt: time.Date(2020, 1, 2, 3, 4, 5, 0, time.UTC)},
				{ID: "7", Content: "D"},
			},
		},
		{
			name: "labels", label: "kind.of", lines: `{"id":"a","content":"C","kind":{"of":"spam"}}` + "\n" +
				`{"id":"b","content":"C","kind":{"of":3}}` + "\n" + `{"id":"c","content":"C"}` + "\n",
			want: []Document{
				{ID: "a", Content: "C", Label: "spam"},
				{ID: "b", Content: "C", Label: "3"},
				{ID: "c", Content: "C"},
			},
		},
		{
			name: "without an id, the address", lines: `{"content":"C"}` + "\n" + `{"content":"D"}`,
			want: []Document{{ID: "articles/0/0", Content: "C"}, {ID: "articles/0/1", Content: "D"}},
		},
		{
			name: "no articles", label: "label", lines: `{"id":"a","label":"ham"}` + "\nnot JSON\n\n" +
				`{"title":null}` + "\n" + `{"content":"C"}`,
			want:    []Document{{ID: "a", Label: "ham", Rejected: true}, {ID: "articles/0/4", Content: "C"}},
			skipped: 3,
		},
		{
			name: "text", set: map[string]string{"input.format": "text"}, label: "label",
			lines: "one\ntwo\n",
			want:  []Document{{ID: "articles/0/0", Content: "one"}, {ID: "articles/0/1", Content: "two"}},
		},
		{
			name: "other fields", set: map[string]string{
				"input.fields.id":      "meta.url",
				"input.fields.content": "body",
			},
			lines: `{"meta":{"url":"u"},"body":"B"}` + "\n" + `{"meta":{"url":"v"}}`,
			want:  []Document{{ID: "u", Content: "B"}, {ID: "v", Rejected: true}},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := config.Default()
			for key, value := range test.set {
				if err := c.Set(key, value); err != nil {
					t.Fatal(err)
				}
			}
			got, skipped, err := ReadDocuments(c.Input, test.label,
				[]files.File{{Name: "lines", Lines: strings.NewReader(test.lines)}}, nil)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
			if skipped != test.skipped {
				t.Errorf("%d skipped, not %d", skipped, test.skipped)
			}
		})
	}
}
