package eval

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/files"
)

// What counts is the content alone, without markup and white space around it.
func TestLeaveOut(t *testing.T) {
	docs := []Document{
		{ID: "long", Content: "12345", Label: "ham"},
		{ID: "short", Title: "with a long title", Content: "1234", Label: "ham"},
		{ID: "Chinese", Content: "转载请注明", Label: "ham"},
		{ID: "markup", Content: "<p class=notice>1234</p>", Label: "ham"},
		{ID: "white space", Content: "  1234\n\n", Label: "ham"},
		{ID: "unknown", Rejected: true, Label: "ham"},
	}
	if err := LeaveOut(config.Default().Text, docs, 5); err != nil {
		t.Fatal(err)
	}
	for i, want := range []bool{false, true, false, true, true, false} {
		if docs[i].LeftOut != want || (docs[i].Label == "") != want {
			t.Errorf("%s: left out %v, label %q", docs[i].ID, docs[i].LeftOut, docs[i].Label)
		}
	}
}

// A document that is left out founds a cluster, which others join, and is no member of it in any
// measure: scores are those of the other documents alone.
func TestScoreWithoutWhatIsLeftOut(t *testing.T) {
	docs := documents("x", "a", "b", "c", "d")
	docs[0].LeftOut = true
	truth := mustTruth(t, "x\t1\na\t1\nc\t2\nd\t2\n", "x\ta\t1\nx\tb\t.6\n")
	got := truth.Score(docs, Clustering{0, 0, 0, 3, Unclustered}, []float64{.5})
	// a is a copy of x, so that it is half the same as b.
	want := "docs 4 missing 0 clusters 3 true 3 | B3 P 0.750 R 0.750 F1 0.750 | pairs P 0.000 P50 " +
		"1.000 R 0.000 (0/1/1) | wrong/1000 0.00"
	if got.String() != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
	if diff := cmp.Diff([]Level{{.5, 1, 1}}, got.Levels); diff != "" {
		t.Error(diff)
	}
}

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
