package topics

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterd/clusterd/internal/message/article"
)

// What the encoder writes, the decoder reads as the same article, by whatever fields and in
// whatever encoding the input topic has.
func TestEncodedIsDecoded(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	words := []string{"港口", "a", "\"", "\\", "<b>", "é", "\u2028", "\x01", " ", "😀"}
	text := func() string {
		var b strings.Builder
		for range random.IntN(20) {
			b.WriteString(words[random.IntN(len(words))])
		}
		return b.String()
	}
	for _, encoding := range []string{"auto", "utf-8", "gbk", "big5", "utf-16", "windows-1252"} {
		for _, fields := range []article.Fields{
			{ID: "id", Title: "title", Content: "content", PublishedAt: "published_at", Source: "source"},
			{
				ID: "meta.id", Title: "post.title.raw", Content: "post.body", PublishedAt: "meta.at",
				Source: "meta.site*",
			},
		} {
			e, err := newEncoder(article.JSON, fields, encoding)
			if err != nil {
				t.Fatal(err)
			}
			d, err := article.NewDecoder(article.JSON, fields, 1<<20, encoding)
			if err != nil {
				t.Fatal(err)
			}
			for range 50 {
				in := Input{ID: text(), Title: text(), Content: text() + "x", Source: text()}
				if random.IntN(2) == 0 {
					in.PublishedAt = time.UnixMilli(random.Int64N(1 << 41)).UTC()
				}
				in.Others = map[string][]byte{"url": []byte(`"https://a/"`), "post": []byte(`{"n":1.50}`)}
				key, value, err := e.encode(&in)
				if err != nil {
					t.Fatal(err)
				}
				got, rejection := d.Decode(key, value, article.Address{Topic: "t"})
				if rejection != nil {
					t.Fatalf("%s: %v", value, rejection)
				}
				want := article.Article{
					ID: in.ID, Title: in.Title, Content: in.Content, Source: in.Source,
					PublishedAt: in.PublishedAt, Notes: got.Notes,
				}
				if in.ID == "" {
					want.ID = "t/0/0"
				}
				if diff := cmp.Diff(want, got); diff != "" || got.Notes != nil {
					t.Fatalf("%s in %s: notes %+v (-want +got)\n%s", value, encoding, got.Notes, diff)
				}
				var all struct {
					URL  string
					Post struct{ N json.Number }
				}
				value = bytes.TrimPrefix(value, []byte("\ufeff"))
				if err := json.Unmarshal(value, &all); err != nil ||
					all.URL != "https://a/" || all.Post.N != "1.50" {
					t.Fatalf("%s: %+v, %v", value, all, err)
				}
			}
		}
	}
}

func TestEncodedTextIsDecoded(t *testing.T) {
	for _, encoding := range []string{"auto", "utf-8", "gbk", "utf-16"} {
		e, err := newEncoder(article.Text, article.Fields{}, encoding)
		if err != nil {
			t.Fatal(err)
		}
		d, err := article.NewDecoder(article.Text, article.Fields{}, 1<<20, encoding)
		if err != nil {
			t.Fatal(err)
		}
		for _, in := range []Input{{ID: "编号", Content: "港口大桥"}, {Content: "a\x00b"}} {
			key, value, err := e.encode(&in)
			if err != nil {
				t.Fatal(err)
			}
			got, rejection := d.Decode(key, value, article.Address{Topic: "t"})
			if rejection != nil || got.Content != in.Content || in.ID != "" && got.ID != in.ID {
				t.Errorf("%s: %q is read as %+v, %v", encoding, value, got, rejection)
			}
		}
	}
}

func TestEncodeRefuses(t *testing.T) {
	for name, test := range map[string]struct {
		format string
		fields article.Fields
		in     Input
		want   string
	}{
		"a title in a text": {
			article.Text, article.Fields{}, Input{Title: "t", Content: "c"}, "input.format is text",
		},
		"a long id": {
			article.JSON, article.Fields{ID: "id"}, Input{ID: strings.Repeat("x", 1025)}, "at most 1024",
		},
		"what is no JSON": {
			article.JSON, article.Fields{}, Input{Others: map[string][]byte{"a": []byte("{")}}, "not valid",
		},
		"one in another": {
			article.JSON,
			article.Fields{Title: "a", Content: "a.b"},
			Input{Title: "t", Content: "c"},
			"no object",
		},
		"a field for an object": {
			article.JSON,
			article.Fields{Content: "a.b"},
			Input{Content: "c", Others: map[string][]byte{"a": []byte("null")}},
			"no object",
		},
	} {
		e, err := newEncoder(test.format, test.fields, "auto")
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := e.encode(&test.in); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
	}
	if _, err := newEncoder("xml", article.Fields{}, "auto"); err == nil {
		t.Error("xml is a format")
	}
	if _, err := newEncoder(article.JSON, article.Fields{}, "ebcdic"); err == nil {
		t.Error("ebcdic is an encoding")
	}
}
