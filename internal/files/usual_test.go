package files_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/clusterd/clusterd/internal/files"
	"github.com/clusterd/clusterd/internal/message/article"
)

func TestFields(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		values []string
		want   string // what is taken
	}{
		"nothing":          {nil, ""},
		"no usual name":    {[]string{`{"name":"x","contents":"y"}`}, ""},
		"empty":            {[]string{`{"text":" "}`, `{"text":null}`, `{"text":7}`, `{"text":["x"]}`}, ""},
		"the first name":   {[]string{`{"comment":"x","body":"y","text":"z"}`}, `content: "text"`},
		"upper case":       {[]string{`{"COMMENT_ID":7,"Comment-Text":"x"}`}, `content: "Comment-Text", id: "COMMENT_ID"`},
		"a rare name":      {[]string{`{"text":"x","body":"y"}`, `{"body":"y"}`, `{"body":"y"}`}, `content: "body"`},
		"a title alone":    {[]string{`{"headline":"x","id":1}`}, `title: "headline", id: "id"`},
		"title and text":   {[]string{`{"subject":"x","body":"y"}`}, `content: "body", title: "subject"`},
		"another's title":  {[]string{`{"post":{"title":"x"},"text":"y"}`}, `content: "text"`},
		"within an object": {[]string{`{"id":1,"a":{"text":"y","title":"x","date":1.5}}`}, `content: "a.text", title: "a.title", id: "id", published_at: "a.date"`},
		"the nearer one":   {[]string{`{"a":{"text":"x"},"text":"y"}`}, `content: "text"`},
		"a step":           {[]string{`{"content":{"rendered":"x"}}`}, `content: "content.rendered"`},
		"a key with a dot": {[]string{`{"a.text":"x"}`}, ""},
		"Chinese":          {[]string{`{"标题":"x","内容":"y"}`}, `content: "内容", title: "标题"`},
		"too deep":         {[]string{`{"a":{"b":{"c":{"d":{"text":"x"}}}}}`}, ""},
		"all parts": {
			[]string{`{"uuid":"u","content":"x","site":"s","created_at":"2026-05-01"}`},
			`content: "content", id: "uuid", source: "site", published_at: "created_at"`,
		},
		"those that are where they should be": {
			[]string{`{"c":{"id":1,"site":"s","at":1},"id":2,"site":"t","date":2,"text":"x"}`}, `content: "text"`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := files.NewSightings(article.Fields{
				ID: "c.id", Title: "c.title", Content: "c.text", Source: "c.site", PublishedAt: "c.at",
			})
			for _, value := range tt.values {
				s.Add([]byte(value))
			}
			fields, taken := s.Fields()
			if taken != tt.want {
				t.Errorf("takes %s, want %s", taken, tt.want)
			}
			// What is not taken stays as it is configured.
			for part, field := range map[string][2]string{
				"content: ": {fields.Content, "c.text"}, "title: ": {fields.Title, "c.title"},
				"id: ": {fields.ID, "c.id"}, "source: ": {fields.Source, "c.site"},
				"published_at: ": {fields.PublishedAt, "c.at"},
			} {
				if want := fmt.Sprintf("%s%q", part, field[0]); !strings.Contains(taken, part) {
					if field[0] != field[1] {
						t.Errorf("%s%s, want %s", part, field[0], field[1])
					}
				} else if !strings.Contains(taken, want) {
					t.Errorf("%s is not in %s", want, taken)
				}
			}
		})
	}
}

// Objects with ever other keys do not fill the memory, and do not hide what came first.
func TestManyKeys(t *testing.T) {
	t.Parallel()
	s := files.NewSightings(article.Fields{
		Content: "c", Title: "t", ID: "i", Source: "s", PublishedAt: "p",
	})
	for i := range 5000 {
		s.Add(fmt.Appendf(nil, `{"body":"x","k%d":{"text":"y"},"%s":1}`, i, strings.Repeat("k", 100)))
	}
	if _, taken := s.Fields(); taken != `content: "body"` {
		t.Errorf("takes %s", taken)
	}
}

func TestUseless(t *testing.T) {
	t.Parallel()
	decoder, err := article.NewDecoder(article.JSON, article.Fields{
		ID: "id", Title: "title", Content: "content", PublishedAt: "at", Source: "source",
	}, 100, "auto")
	if err != nil {
		t.Fatal(err)
	}
	for value, want := range map[string]bool{
		`{"title":"x"}`: false, `{"content":"x"}`: false, `{"title":"","content":"!"}`: false,
		`{"title":" "}`: true, `{"content":""}`: true, `{"content":7}`: true, `{"id":7}`: true,
		`{`: false, `[]`: false, strings.Repeat(" ", 101): false,
	} {
		a, rejection := decoder.Decode(nil, []byte(value), article.Address{})
		if got := files.Useless(a, rejection); got != want {
			t.Errorf("%s: %v, want %v", value, got, want)
		}
	}
}
