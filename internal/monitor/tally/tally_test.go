package tally_test

import (
	"fmt"
	"strings"
	"testing"

	"golang.org/x/text/encoding/simplifiedchinese"

	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/monitor/tally"
)

var fields = article.Fields{
	ID: "id", Title: "title", Content: "content", PublishedAt: "published_at", Source: "source",
}

// decoderOf returns the decoder of a format, of the fields that are the default.
func decoderOf(t *testing.T, format string) article.Decoder {
	t.Helper()
	d, err := article.NewDecoder(format, fields, 1<<20, "auto")
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// A tally says each kind of thing once, and counts all.
func TestTally(t *testing.T) {
	counted := tally.New("json", fields, "auto")
	decoder := decoderOf(t, article.JSON)
	inGBK, err := simplifiedchinese.GBK.NewEncoder().Bytes([]byte(
		`{"content":"港口大桥今天正式通车，居民沿着河岸庆祝，这项工程历时三年建成。"}`))
	if err != nil {
		t.Fatal(err)
	}
	var said []string
	for range 3 {
		for _, value := range []string{
			`{"id":[],"content":"c","published_at":"yesterday"}`, `{"id":"1","content":"c"}`,
			string(inGBK), "{\"content\":\"a\xff\"}", `{`,
		} {
			a, rejection := decoder.Decode(nil, []byte(value), article.Address{})
			said = append(said, counted.Add(a.Notes, rejection)...)
		}
	}
	for i, want := range []string{
		`field "id" is an array, and neither a string nor a number; the record's address is the id; further ones`,
		`field "published_at" is "yesterday", which is no time`,
		"the text was taken for gb18030",
		"U+FFFD stands for them",
	} {
		if len(said) != 4 || !strings.Contains(said[i], want) {
			t.Fatalf("said %q, want %q and three others", said, want)
		}
	}
	got := counted.Counts()
	want := tally.Counts{
		Articles: 12, Rejected: 3, Invalid: 3, Encodings: map[string]int{"gb18030": 3},
		Fallbacks: map[article.Fallback]int{
			{Field: "id", Reason: "type"}:             3,
			{Field: "published_at", Reason: "format"}: 3,
		},
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("counts %+v, want %+v", got, want)
	}
	if warning := counted.Warning(); warning != "" {
		t.Errorf("warning %q", warning)
	}
}

// What seems to be wrong with the configuration is said, with what to change.
func TestTallyWarns(t *testing.T) {
	for name, tt := range map[string]struct {
		format string
		values []string
		want   string // parts of the warning, divided by |
	}{
		"nothing":  {"json", nil, ""},
		"articles": {"json", []string{`{"content":"c"}`, `{"title":"t"}`, `{`}, ""},
		"content elsewhere": {
			"json",
			[]string{`{"title":"t","body":{"text":"x"}}`, `{`},
			`none of 1 articles has a field "content"|the first has "title", "body.text"|input.fields.content`,
		},
		"no article": {
			"json", []string{`{`, `x`}, "none of 2 records is an article|bad_json|input.format to text",
		},
		"neither": {
			"json", []string{`{"headline":"x"}`}, `none of 1 records is an article|"headline"|input.fields`,
		},
		"an empty content": {"json", []string{`{"title":"t","content":""}`}, ""},
		"JSON as text": {
			"text",
			[]string{`{"content":"c"}`, `{"content":"d"}`},
			"all of 2 texts look like JSON|input.format to json",
		},
		"JSON among the texts": {"text", []string{`{"content":"c"}`, `some text`}, ""},
	} {
		counted := tally.New(tt.format, fields, "auto")
		decoder := decoderOf(t, tt.format)
		for _, value := range tt.values {
			a, rejection := decoder.Decode(nil, []byte(value), article.Address{})
			counted.Add(a.Notes, rejection)
		}
		warning := counted.Warning()
		for part := range strings.SplitSeq(tt.want, "|") {
			if !strings.Contains(warning, part) || (part == "") != (warning == "") {
				t.Errorf("%s: %q, want %q in it", name, warning, part)
			}
		}
		if again := counted.Warning(); again != "" {
			t.Errorf("%s: said again: %s", name, again)
		}
	}
}
