package article_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/clusterd/clusterd/internal/message/article"
)

func TestDecodeJSON(t *testing.T) {
	noon := time.Date(2024, 5, 1, 12, 0, 0, 0, time.UTC)
	address := "articles/3/17"
	for name, tt := range map[string]struct {
		value string
		want  article.Article
	}{
		"all fields": {
			`{"id":"a1","title":"标题","content":"正文 text","published_at":"2024-05-01T12:00:00Z","source":"新华"}`,
			article.Article{ID: "a1", Title: "标题", Content: "正文 text", PublishedAt: noon, Source: "新华"},
		},
		"white space around": {
			" \t\r\n{\"title\":\"x\"}\n",
			article.Article{ID: address, Title: "x"},
		},
		"unknown fields": {
			`{"x":[{"y":1}],"content":"c","n":null}`, article.Article{ID: address, Content: "c"},
		},
		"title alone":            {`{"id":"1","title":"t"}`, article.Article{ID: "1", Title: "t"}},
		"content alone":          {`{"id":"1","content":"c"}`, article.Article{ID: "1", Content: "c"}},
		"empty title is a title": {`{"id":"1","title":""}`, article.Article{ID: "1"}},
		"an empty time is absent": {
			`{"content":"c","published_at":""}`, article.Article{ID: address, Content: "c"},
		},
		"null fields are absent": {`{"id":null,"title":null,"content":"c","published_at":null,"source":null}`, article.Article{ID: address, Content: "c"}},
		"no id":                  {`{"content":"c"}`, article.Article{ID: address, Content: "c"}},
		"empty id": {
			`{"id":"","content":"c"}`, article.Article{ID: address, Content: "c"},
		},
		"integer id": {`{"id":42,"content":"c"}`, article.Article{ID: "42", Content: "c"}},
		"id beyond 64 bits": {
			`{"id":123456789012345678901234567890,"content":"c"}`,
			article.Article{ID: "123456789012345678901234567890", Content: "c"},
		},
		"id beyond 53 bits": {
			`{"id":9007199254740993,"content":"c"}`, article.Article{ID: "9007199254740993", Content: "c"},
		},
		"negative id": {`{"id":-7,"content":"c"}`, article.Article{ID: "-7", Content: "c"}},
		"id as written": {
			`{"id":1.50e3,"content":"c"}`, article.Article{ID: "1.50e3", Content: "c"},
		},
		"the first of double keys": {
			`{"content":"first","content":"second"}`, article.Article{ID: address, Content: "first"},
		},
		"escaped key": {`{"\u0063ontent":"c"}`, article.Article{ID: address, Content: "c"}},
		"escapes": {
			`{"content":"\"\\\/\b\f\n\r\t\u4e2d\ud83d\ude00"}`,
			article.Article{ID: address, Content: "\"\\/\b\f\n\r\t中😀"},
		},
		"escaped NUL": {
			`{"content":"a\u0000b"}`, article.Article{ID: address, Content: "a\x00b"},
		},
		"lone high surrogate": {
			`{"content":"a\ud800"}`, article.Article{ID: address, Content: "a\uFFFD"},
		},
		"lone low surrogate": {
			`{"content":"\udc00b"}`, article.Article{ID: address, Content: "\uFFFDb"},
		},
		"surrogate in the id": {
			`{"id":"\udfff","content":"c"}`, article.Article{ID: "\uFFFD", Content: "c"},
		},
		"invalid UTF-8": {
			"{\"id\":\"i\xff\",\"title\":\"\xe4\xb8\",\"content\":\"a\xc0\xafb\",\"source\":\"\x80\"}",
			article.Article{ID: "i\uFFFD", Title: "\uFFFD", Content: "a\uFFFDb", Source: "\uFFFD"},
		},
		"brackets within a string": {
			`{"content":"` + strings.Repeat(`[{\"[\\`, 500) + `"}`,
			article.Article{ID: address, Content: strings.Repeat(`[{"[\`, 500)},
		},
		"as deep as is allowed": {
			`{"content":"c","x":` +
				strings.Repeat("[", article.MaxDepth-1) + strings.Repeat("]", article.MaxDepth-1) + `}`,
			article.Article{ID: address, Content: "c"},
		},
		"as long an id as can be": {`{"id":"` + strings.Repeat("i", article.MaxIDBytes) +
			`","content":"c"}`, article.Article{ID: strings.Repeat("i", article.MaxIDBytes), Content: "c"}},
		"many siblings are no deep": {
			`{"content":"c","x":[` + strings.Repeat("[],", 1000) + `{}]}`,
			article.Article{ID: address, Content: "c"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := jsonDecoder(defaultFields(), maxBytes, "auto").Decode(nil, []byte(tt.value), here())
			if err != nil {
				t.Fatal(err)
			}
			if got.Notes = nil; got != tt.want {
				t.Errorf("got  %+v\nwant %+v", got, tt.want)
			}
		})
	}
}

func TestDecodeJSONRejects(t *testing.T) {
	const n = 10_000
	seen := map[article.Class]bool{article.TooLarge: true, article.BadBatch: true} // tested elsewhere
	for name, tt := range map[string]struct {
		value  []byte
		class  article.Class
		reason string // a part of it
	}{
		"no value": {nil, article.NullValue, "no value"},
		"empty":    {[]byte{}, article.Empty, "the value is empty"},
		"blank":    {[]byte(" \t\r\n"), article.Empty, "the value is empty"},
		"no title and no content": {
			[]byte(`{"id":"1"}`), article.Empty, `no field "title" and no field "content"`,
		},
		"null title and content": {
			[]byte(`{"title":null,"content":null}`), article.Empty, `no field "title"`,
		},
		"empty object":        {[]byte(`{}`), article.Empty, `no field "title"`},
		"not JSON":            {[]byte(`hello`), article.BadJSON, "not valid JSON"},
		"cut off":             {[]byte(`{"title":"x"`), article.BadJSON, "not valid JSON"},
		"cut off in a string": {[]byte(`{"title":"x\`), article.BadJSON, "not valid JSON"},
		"two objects": {
			[]byte(`{"title":"x"}{"title":"y"}`), article.BadJSON, "not valid JSON",
		},
		"trailing comma": {[]byte(`{"title":"x",}`), article.BadJSON, "not valid JSON"},
		"raw NUL": {
			[]byte("{\"title\":\"a\x00b\"}"), article.BadJSON,
			"not valid JSON",
		},
		"raw line break": {[]byte("{\"title\":\"a\nb\"}"), article.BadJSON, "not valid JSON"},
		"NUL after the object": {
			[]byte("{\"title\":\"a\"}\x00"), article.BadJSON,
			"not valid JSON",
		},
		"half an escape": {[]byte(`{"title":"\u12"}`), article.BadJSON, "not valid JSON"},
		"NaN": {
			[]byte(`{"title":"x","id":NaN}`), article.BadJSON, "not valid JSON",
		},
		"an array": {
			[]byte(`[{"title":"x"}]`), article.BadJSON, "an array, not an object",
		},
		"a string":  {[]byte(`"x"`), article.BadJSON, "a string, not an object"},
		"a number":  {[]byte(`1`), article.BadJSON, "a number, not an object"},
		"a boolean": {[]byte(`true`), article.BadJSON, "a boolean, not an object"},
		"null":      {[]byte(`null`), article.BadJSON, "null, not an object"},
		"title is a number": {
			[]byte(`{"title":1}`), article.BadField, `field "title" is a number; it must be a string`,
		},
		"title is an object": {
			[]byte(`{"title":{}}`), article.BadField, `field "title" is an object; it must be a string`,
		},
		"content is an array": {
			[]byte(`{"content":["c"]}`), article.BadField,
			`field "content" is an array; it must be a string`,
		},
		"title and content are none": {
			[]byte(`{"title":1,"content":[]}`), article.BadField,
			`field "content" is an array; it must be a string`,
		},
		"title is one, no content": {
			[]byte(`{"title":1,"content":null}`), article.BadField,
			`field "title" is a number; it must be a string`,
		},
		"other keys": {
			[]byte(
				`{"headline":"x","body":{"text":"y","n":1},"a\u001b\u202e":[{"b":1}]}`), article.Empty,
			`with a value; there is "headline", "body.text", "body.n", "a\x1b\u202e"`,
		},
		"many keys": {
			[]byte(`{` + strings.Repeat(`"k":0,`, 30) + `"last":1}`), article.Empty,
			strings.Repeat(`"k", `, 20) + "…",
		},
		"content is a boolean": {
			[]byte(`{"content":false}`), article.BadField,
			`field "content" is a boolean; it must be a string`,
		},
		"one level too deep": {
			[]byte(`{"title":"x","y":` +
				strings.Repeat("[", article.MaxDepth) + strings.Repeat("]", article.MaxDepth) + `}`),
			article.TooDeep, "more than 64 levels",
		},
		"deep objects": {
			[]byte(strings.Repeat(`{"a":`, n) + "1" + strings.Repeat("}", n)), article.TooDeep,
			"more than 64 levels",
		},
		"deep arrays": {[]byte(`{"a":` + strings.Repeat("[", n) + strings.Repeat("]", n) +
			"}"), article.TooDeep, "more than 64 levels"},
		"deep, never closed": {
			[]byte(strings.Repeat("[", n)), article.TooDeep,
			"more than 64 levels",
		},
		"deep after a string": {
			[]byte(`{"a":"]]]\"]]]\\",` + strings.Repeat(`"b":{`, n)), article.TooDeep,
			"more than 64 levels",
		},
		"closed before it is opened": {
			[]byte(strings.Repeat("]", n) + strings.Repeat("[", n)),
			article.BadJSON, "not valid JSON",
		},
		"never closed string": {
			[]byte(`{"title":"` + strings.Repeat("[", n)), article.BadJSON, "not valid JSON",
		},
	} {
		seen[tt.class] = true
		t.Run(name, func(t *testing.T) {
			got, err := jsonDecoder(defaultFields(), maxBytes, "auto").Decode([]byte("key"), tt.value,
				here())
			if reason := rejected(t, err, tt.class); !strings.Contains(reason, tt.reason) {
				t.Errorf("reason = %q, want %q in it", reason, tt.reason)
			}
			if got != (article.Article{}) {
				t.Errorf("article = %+v beside an error", got)
			}
		})
	}
	for _, class := range article.Classes {
		if !seen[class] {
			t.Errorf("no record is rejected as %s", class)
		}
	}
}

// A field that is not needed never costs the article.
func TestDecodeFallsBack(t *testing.T) {
	address := here().String()
	long := strings.Repeat("i", article.MaxIDBytes+1)
	for name, tt := range map[string]struct {
		value string
		want  article.Article // without notes
		falls string          // field and reason of each fallback
	}{
		"id is a boolean": {
			`{"id":true,"content":"c"}`, article.Article{ID: address, Content: "c"}, "id type",
		},
		"id is an object": {
			`{"id":{"$oid":"1"},"content":"c"}`, article.Article{ID: address, Content: "c"}, "id type",
		},
		"id is an array": {
			`{"id":[],"content":"c"}`, article.Article{ID: address, Content: "c"}, "id type",
		},
		"id too long": {
			`{"id":"` + long + `","content":"c"}`, article.Article{ID: address, Content: "c"}, "id too_long",
		},
		"numeric id too long": {
			`{"id":1` + strings.Repeat("0", article.MaxIDBytes) + `,"content":"c"}`,
			article.Article{ID: address, Content: "c"},
			"id too_long",
		},
		"id too long once read": {`{"id":"` + strings.Repeat("i\xff", article.MaxIDBytes/2) +
			`","content":"c"}`, article.Article{ID: address, Content: "c"}, "id too_long"},
		"title is a number": {
			`{"title":7,"content":"c"}`, article.Article{ID: address, Content: "c"}, "title type",
		},
		"content is an array": {
			`{"title":"t","content":["c"]}`, article.Article{ID: address, Title: "t"}, "content type",
		},
		"source is an object": {
			`{"source":{},"content":"c"}`, article.Article{ID: address, Content: "c"}, "source type",
		},
		"time is a boolean": {
			`{"published_at":false,"content":"c"}`,
			article.Article{ID: address, Content: "c"},
			"published_at type",
		},
		"time is none": {
			`{"published_at":"soon","content":"c"}`,
			article.Article{ID: address, Content: "c"},
			"published_at format",
		},
		"a blank time is none": {
			`{"published_at":" ","content":"c"}`, article.Article{ID: address, Content: "c"}, "",
		},
		"all at once": {
			`{"id":[1],"title":"t","content":false,"source":1,"published_at":"?"}`,
			article.Article{ID: address, Title: "t"},
			"id type, content type, source type, published_at format",
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := jsonDecoder(defaultFields(), maxBytes, "auto").Decode(nil, []byte(tt.value), here())
			if err != nil {
				t.Fatal(err)
			}
			var falls []string
			if got.Notes != nil {
				for _, f := range got.Notes.Fallbacks {
					falls = append(falls, f.Field+" "+f.Reason)
				}
			}
			if got.Notes = nil; got != tt.want || strings.Join(falls, ", ") != tt.falls {
				t.Errorf("got  %+v, %v\nwant %+v, %s", got, falls, tt.want, tt.falls)
			}
		})
	}
}

// A path is a list of keys. Nothing in a key means anything but itself.
func TestDecodePaths(t *testing.T) {
	for _, keys := range [][]string{
		{"content"},
		{"body", "text"},
		{"a", "b", "c", "d"},
		{"标题", "正文"},
		{"0"},
		{"a", "0"},
		{"-1"},
		{"con-tent_2:x"},
		{"*"},
		{"?"},
		{"c*"},
		{"conten?"},
		{"|"},
		{"a|b"},
		{"#"},
		{"a#"},
		{"a", "#"},
		{"@this"},
		{"@reverse"},
		{"a", "@this"},
		{"!x"},
		{`!"x"`},
		{`back\slash`},
		{`\`},
		{`"quoted"`},
		{"{a,b}"},
		{"[0]"},
		{"(a==b)"},
		{"a b"},
		{" "},
		{"~true"},
		{"%"},
		{"<"},
		{"a", "", "b"},
		{"@this", "*", "!x", "#", "文"},
		{"tab\there"},
		{"é"},
		{"😀"},
	} {
		path := strings.Join(keys, ".")
		t.Run(path, func(t *testing.T) {
			var object any = "正文"
			for i := len(keys) - 1; i >= 0; i-- {
				// What a wildcard or a modifier would find instead.
				decoys := map[string]any{"aaa": "wrong", "zzz": "wrong", "c": "wrong"}
				decoys[keys[i]] = object
				object = decoys
			}
			value, err := json.Marshal(object)
			if err != nil {
				t.Fatal(err)
			}
			fields := defaultFields()
			fields.Content = path
			decoder := jsonDecoder(fields, maxBytes, "auto")
			got, rejection := decoder.Decode(nil, value, here())
			if rejection != nil {
				t.Fatalf("%s: %v", value, rejection)
			}
			if got.Content != "正文" {
				t.Errorf("%s: content = %q", value, got.Content)
			}
			_, rejection = decoder.Decode(nil, []byte(`{"aaa":"wrong","zzz":"wrong","c":"wrong"}`), here())
			if reason := rejected(t, rejection, article.Empty); !strings.Contains(reason,
				fmt.Sprintf("no field %q", path)) {
				t.Errorf("reason = %q, want the path as it was written", reason)
			}
		})
	}
}

func TestDecodePathsOfEveryField(t *testing.T) {
	fields := article.Fields{
		ID: "meta.@id", Title: "doc.head|line", Content: "doc.*",
		PublishedAt: "meta.time.#", Source: "meta.from.0.name",
	}
	value := `{"meta":{"@id":7,"time":{"#":0},"from":[{"name":"s"}]},"doc":{"x":"wrong","head|line":"t","*":"c"}}`
	got, err := jsonDecoder(fields, maxBytes, "auto").Decode(nil, []byte(value), here())
	want := article.Article{
		ID: "7", Title: "t", Content: "c", Source: "s",
		PublishedAt: time.Unix(0, 0).UTC(),
	}
	if err != nil || got != want {
		t.Errorf("got %+v, %v; want %+v", got, err, want)
	}
	_, err = jsonDecoder(fields, maxBytes, "auto").Decode(nil, []byte(`{"doc":{"*":1}}`), here())
	if reason := rejected(t, err, article.BadField); !strings.Contains(reason,
		`field "doc.*" is a number`) {
		t.Errorf("reason = %q, want the path as it was written", reason)
	}
}
