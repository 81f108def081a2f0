package article_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/clusterd/clusterd/internal/message/article"
)

// Fields are copied as they came, in the order in which they are wanted, as far as they fit.
func TestCopying(t *testing.T) {
	long := func(n int) string { return `"` + strings.Repeat("x", n-2) + `"` }
	fields := []string{"url", "meta.tags", "a|b", "none", "z"}
	const rest = `"content":"c"`
	for name, tt := range map[string]struct {
		in, want string
		left     int // fields that are said to be too long
	}{
		"nothing":       {`{` + rest + `}`, ``, 0},
		"null":          {`{"url":null,` + rest + `}`, ``, 0},
		"in that order": {`{"z":1,"a|b":false,"url":"u",` + rest + `}`, `{"url":"u","a|b":false,"z":1}`, 0},
		"as they came":  {`{"z":1.50e+2,"url":"\u00e9\/<&>` + "é\u2028" + `",` + rest + `}`, `{"url":"\u00e9\/<&>` + "é\u2028" + `","z":1.50e+2}`, 0},
		"within":        {`{"meta":{"tags":["a", "b"]},` + rest + `}`, `{"meta.tags":["a","b"]}`, 0},
		"line breaks":   {"{\"url\":\n{\n\t\"a b\": [1,\r\n2]\n},\n" + rest + `}`, `{"url":{"a b":[1,2]}}`, 0},
		"twice":         {`{"url":1,"url":2,` + rest + `}`, `{"url":1}`, 0},
		"the largest":   {`{"url":` + long(article.MaxCopiedValue) + `,` + rest + `}`, `{"url":` + long(article.MaxCopiedValue) + `}`, 0},
		"one too large": {`{"url":` + long(article.MaxCopiedValue+1) + `,"z":1,` + rest + `}`, `{"z":1}`, 1},
	} {
		t.Run(name, func(t *testing.T) {
			value := []byte(tt.in)
			d := article.Copying(jsonDecoder(defaultFields(), maxBytes, "auto"), fields)
			a, rejection := d.Decode(nil, value, here())
			if rejection != nil || a.Content != "c" {
				t.Fatalf("%+v, %v", a, rejection)
			}
			clear(value)
			if string(a.Copied) != tt.want {
				t.Errorf("copied %s, want %s", a.Copied, tt.want)
			}
			if a.Copied != "" && !json.Valid([]byte(a.Copied)) {
				t.Errorf("%s is not valid", a.Copied)
			}
			left := 0
			if a.Notes != nil {
				left = len(a.Notes.Fallbacks)
				if f := a.Notes.Fallbacks[0]; f.Field != "copy" || f.Reason != "too_long" {
					t.Errorf("%+v", f)
				}
			}
			if left != tt.left {
				t.Errorf("%d fields are too long, want %d", left, tt.left)
			}
		})
	}
}

// All that is copied of an article is bounded. What still fits is not left out for what does not.
func TestCopyingIsBounded(t *testing.T) {
	var fields []string
	object := map[string]string{"content": "c", "last": "l"}
	for i := range 10 {
		name := fmt.Sprintf("field%d", i)
		fields, object[name] = append(fields, name), strings.Repeat("x", 900)
	}
	value, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	d := article.Copying(jsonDecoder(defaultFields(), maxBytes, "auto"), append(fields, "last"))
	a, rejection := d.Decode(nil, value, here())
	if rejection != nil {
		t.Fatal(rejection)
	}
	var copied map[string]string
	if err := json.Unmarshal([]byte(a.Copied), &copied); err != nil {
		t.Fatal(err)
	}
	if len(copied) != 5 || copied["last"] != "l" || len(a.Copied) > article.MaxCopied ||
		len(a.Notes.Fallbacks) != 6 {
		t.Errorf("%d fields of %d bytes, %d left out", len(copied), len(a.Copied), len(a.Notes.Fallbacks))
	}
	fill := func(n int) int { // the length of what is copied of fields that fill it, but for n bytes
		object["last"] = strings.Repeat("l", article.MaxCopied-4*900-len(
			`{"field0":"","field1":"","field2":"","field3":"","last":""}`)-n)
		value, _ := json.Marshal(object)
		a, _ := article.Copying(jsonDecoder(defaultFields(), maxBytes, "auto"),
			append(fields[:4:4], "last")).Decode(nil, value, here())
		return len(a.Copied)
	}
	if fill(0) != article.MaxCopied || fill(1) != article.MaxCopied-1 || fill(-1) > 4000 {
		t.Errorf("%d, %d and %d bytes at the limit, below and beyond", fill(0), fill(1), fill(-1))
	}
}

func TestCopyingLeavesOthersAlone(t *testing.T) {
	for _, d := range []article.Decoder{
		plainTextDecoder(maxBytes, "auto"), jsonDecoder(defaultFields(), maxBytes, "auto"),
	} {
		if got := article.Copying(d, nil); got != d {
			t.Error("a decoder that copies nothing is another one")
		}
	}
	d := article.Copying(plainTextDecoder(maxBytes, "auto"), []string{"url"})
	if a, _ := d.Decode(nil, []byte(`{"url":1}`), here()); a.Copied != "" || a.Content != `{"url":1}` {
		t.Errorf("of a plain text: %+v", a)
	}
}

func TestNewPublisher(t *testing.T) {
	for source, want := range map[string]string{
		"": "", "site": "site", strings.Repeat("x", 257): strings.Repeat("x", 256) + "…",
		strings.Repeat("x", article.MaxPublisherBytes): strings.Repeat("x", article.MaxPublisherBytes),
		strings.Repeat("文", article.MaxPublisherBytes): strings.Repeat("文", 85) + "…",
	} {
		if got := article.NewPublisher(article.Article{Source: source}); got != want {
			t.Errorf("of %d bytes: %q, want %q", len(source), got, want)
		}
	}
}

// What results and clusters carry comes back as it was.
func TestCarriedRoundTrips(t *testing.T) {
	want := joined()
	want.Publisher, want.Copied = "p", `{"a.b":["x",{"c":1.50}]}`
	want.Representative.Excerpt = "the beginning"
	for _, publishers := range []int{0, 1, 64, 65} {
		want.Signals = &article.Signals{
			Publishers: article.NewPublishers(publishers), Recent: 7,
			FirstSeen: *want.PublishedAt, LastSeen: *want.PublishedAt,
		}
		got, err := article.ParseResult(want.JSON())
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("got %+v, %v\nwant %+v", got, err, want)
		}
	}
	now, before := []byte(`"publishers":64,"publishers_more":true,`), []byte(`"publishers":"64+",`)
	earlier := bytes.Replace(want.JSON(), now, before, 1)
	if !bytes.Contains(earlier, before) {
		t.Errorf("more publishers than are told apart: %s", want.JSON())
	}
	if got, err := article.ParseResult(earlier); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("of an earlier version: got %+v, %v\nwant %+v", got, err, want)
	}
	for _, bad := range []string{
		`{"signals":{"publishers":65}}`, `{"signals":{"publishers":-1}}`, `{"copied":[1]}`,
		`{"signals":{"publishers":"64"}}`, `{"copied":7}`,
		`{"signals":{"publishers":63,"publishers_more":true}}`,
	} {
		if _, err := article.ParseResult([]byte(bad)); err == nil {
			t.Errorf("%s: taken", bad)
		}
	}
	if got, err := article.ParseResult([]byte(`{"copied":null}`)); err != nil || got.Copied != "" {
		t.Errorf("copied null: %q, %v", got.Copied, err)
	}
}
