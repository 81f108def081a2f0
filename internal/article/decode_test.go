package article_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/clusterd/clusterd/internal/article"
)

const maxBytes = 1 << 20

func defaultFields() article.Fields {
	return article.Fields{ID: "id", Title: "title", Content: "content", PublishedAt: "published_at", Source: "source"}
}

func here() article.Address { return article.Address{Topic: "articles", Partition: 3, Offset: 17} }

// rejected fails the test unless err is a rejection of this class, and returns its reason.
func rejected(t *testing.T, err error, class article.Class) string {
	t.Helper()
	var r *article.Rejection
	if !errors.As(err, &r) {
		t.Fatalf("error = %v (%T), want a rejection as %s", err, err, class)
	}
	if r.Class != class {
		t.Fatalf("class = %s (%s), want %s", r.Class, r.Reason, class)
	}
	if want := string(class) + ": " + r.Reason; r.Error() != want {
		t.Errorf("Error() = %q, want %q", r.Error(), want)
	}
	return r.Reason
}

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
		"white space around":        {" \t\r\n{\"title\":\"x\"}\n", article.Article{ID: address, Title: "x"}},
		"unknown fields":            {`{"x":[{"y":1}],"content":"c","n":null}`, article.Article{ID: address, Content: "c"}},
		"title alone":               {`{"id":"1","title":"t"}`, article.Article{ID: "1", Title: "t"}},
		"content alone":             {`{"id":"1","content":"c"}`, article.Article{ID: "1", Content: "c"}},
		"empty title is a title":    {`{"id":"1","title":""}`, article.Article{ID: "1"}},
		"an empty time is absent":   {`{"content":"c","published_at":""}`, article.Article{ID: address, Content: "c"}},
		"null fields are absent":    {`{"id":null,"title":null,"content":"c","published_at":null,"source":null}`, article.Article{ID: address, Content: "c"}},
		"no id":                     {`{"content":"c"}`, article.Article{ID: address, Content: "c"}},
		"empty id":                  {`{"id":"","content":"c"}`, article.Article{ID: address, Content: "c"}},
		"integer id":                {`{"id":42,"content":"c"}`, article.Article{ID: "42", Content: "c"}},
		"id beyond 64 bits":         {`{"id":123456789012345678901234567890,"content":"c"}`, article.Article{ID: "123456789012345678901234567890", Content: "c"}},
		"id beyond 53 bits":         {`{"id":9007199254740993,"content":"c"}`, article.Article{ID: "9007199254740993", Content: "c"}},
		"negative id":               {`{"id":-7,"content":"c"}`, article.Article{ID: "-7", Content: "c"}},
		"id as written":             {`{"id":1.50e3,"content":"c"}`, article.Article{ID: "1.50e3", Content: "c"}},
		"the first of double keys":  {`{"content":"first","content":"second"}`, article.Article{ID: address, Content: "first"}},
		"escaped key":               {`{"\u0063ontent":"c"}`, article.Article{ID: address, Content: "c"}},
		"escapes":                   {`{"content":"\"\\\/\b\f\n\r\t\u4e2d\ud83d\ude00"}`, article.Article{ID: address, Content: "\"\\/\b\f\n\r\t中😀"}},
		"escaped NUL":               {`{"content":"a\u0000b"}`, article.Article{ID: address, Content: "a\x00b"}},
		"lone high surrogate":       {`{"content":"a\ud800"}`, article.Article{ID: address, Content: "a\uFFFD"}},
		"lone low surrogate":        {`{"content":"\udc00b"}`, article.Article{ID: address, Content: "\uFFFDb"}},
		"surrogate in the id":       {`{"id":"\udfff","content":"c"}`, article.Article{ID: "\uFFFD", Content: "c"}},
		"invalid UTF-8":             {"{\"id\":\"i\xff\",\"title\":\"\xe4\xb8\",\"content\":\"a\xc0\xafb\",\"source\":\"\x80\"}", article.Article{ID: "i\uFFFD", Title: "\uFFFD", Content: "a\uFFFDb", Source: "\uFFFD"}},
		"brackets within a string":  {`{"content":"` + strings.Repeat(`[{\"[\\`, 500) + `"}`, article.Article{ID: address, Content: strings.Repeat(`[{"[\`, 500)}},
		"as deep as is allowed":     {`{"content":"c","x":` + strings.Repeat("[", article.MaxDepth-1) + strings.Repeat("]", article.MaxDepth-1) + `}`, article.Article{ID: address, Content: "c"}},
		"as long an id as can be":   {`{"id":"` + strings.Repeat("i", article.MaxIDBytes) + `","content":"c"}`, article.Article{ID: strings.Repeat("i", article.MaxIDBytes), Content: "c"}},
		"many siblings are no deep": {`{"content":"c","x":[` + strings.Repeat("[],", 1000) + `{}]}`, article.Article{ID: address, Content: "c"}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := article.NewDecoder(defaultFields(), maxBytes).Decode(nil, []byte(tt.value), here())
			if err != nil {
				t.Fatal(err)
			}
			if got != tt.want {
				t.Errorf("got  %+v\nwant %+v", got, tt.want)
			}
		})
	}
}

func TestDecodeJSONRejects(t *testing.T) {
	const n = 10_000
	for name, tt := range map[string]struct {
		value  []byte
		class  article.Class
		reason string // a part of it
	}{
		"no value":                   {nil, article.NullValue, "no value"},
		"empty":                      {[]byte{}, article.Empty, "the value is empty"},
		"blank":                      {[]byte(" \t\r\n"), article.Empty, "the value is empty"},
		"no title and no content":    {[]byte(`{"id":"1"}`), article.Empty, `no field "title" and no field "content"`},
		"null title and content":     {[]byte(`{"title":null,"content":null}`), article.Empty, `no field "title"`},
		"empty object":               {[]byte(`{}`), article.Empty, `no field "title"`},
		"not JSON":                   {[]byte(`hello`), article.BadJSON, "not valid JSON"},
		"cut off":                    {[]byte(`{"title":"x"`), article.BadJSON, "not valid JSON"},
		"cut off in a string":        {[]byte(`{"title":"x\`), article.BadJSON, "not valid JSON"},
		"two objects":                {[]byte(`{"title":"x"}{"title":"y"}`), article.BadJSON, "not valid JSON"},
		"trailing comma":             {[]byte(`{"title":"x",}`), article.BadJSON, "not valid JSON"},
		"byte order mark":            {[]byte("\ufeff{\"title\":\"x\"}"), article.BadJSON, "not valid JSON"},
		"raw NUL":                    {[]byte("{\"title\":\"a\x00b\"}"), article.BadJSON, "not valid JSON"},
		"raw line break":             {[]byte("{\"title\":\"a\nb\"}"), article.BadJSON, "not valid JSON"},
		"NUL after the object":       {[]byte("{\"title\":\"a\"}\x00"), article.BadJSON, "not valid JSON"},
		"half an escape":             {[]byte(`{"title":"\u12"}`), article.BadJSON, "not valid JSON"},
		"NaN":                        {[]byte(`{"title":"x","id":NaN}`), article.BadJSON, "not valid JSON"},
		"an array":                   {[]byte(`[{"title":"x"}]`), article.BadJSON, "an array, not an object"},
		"a string":                   {[]byte(`"x"`), article.BadJSON, "a string, not an object"},
		"a number":                   {[]byte(`1`), article.BadJSON, "a number, not an object"},
		"a boolean":                  {[]byte(`true`), article.BadJSON, "a boolean, not an object"},
		"null":                       {[]byte(`null`), article.BadJSON, "null, not an object"},
		"title is a number":          {[]byte(`{"title":1}`), article.BadField, `field "title" is a number; it must be a string`},
		"title is an object":         {[]byte(`{"title":{}}`), article.BadField, `field "title" is an object; it must be a string`},
		"content is an array":        {[]byte(`{"title":"x","content":["c"]}`), article.BadField, `field "content" is an array; it must be a string`},
		"content is a boolean":       {[]byte(`{"content":false}`), article.BadField, `field "content" is a boolean; it must be a string`},
		"source is a number":         {[]byte(`{"title":"x","source":1}`), article.BadField, `field "source" is a number; it must be a string`},
		"id is a boolean":            {[]byte(`{"id":true,"title":"x"}`), article.BadField, `field "id" is a boolean; it must be a string or a number`},
		"id is an object":            {[]byte(`{"id":{"$oid":"1"},"title":"x"}`), article.BadField, `field "id" is an object; it must be a string or a number`},
		"id too long":                {[]byte(`{"id":"` + strings.Repeat("i", article.MaxIDBytes+1) + `","title":"x"}`), article.BadField, `field "id" has 1025 bytes; at most 1024 are allowed`},
		"numeric id too long":        {[]byte(`{"id":` + strings.Repeat("1", article.MaxIDBytes+1) + `,"title":"x"}`), article.BadField, `field "id" has 1025 bytes`},
		"id too long once valid":     {[]byte(`{"id":"` + strings.Repeat("i\xff", article.MaxIDBytes/2) + `","title":"x"}`), article.BadField, `field "id" has 2048 bytes`},
		"one level too deep":         {[]byte(`{"title":"x","y":` + strings.Repeat("[", article.MaxDepth) + strings.Repeat("]", article.MaxDepth) + `}`), article.TooDeep, "more than 64 levels"},
		"deep objects":               {[]byte(strings.Repeat(`{"a":`, n) + "1" + strings.Repeat("}", n)), article.TooDeep, "more than 64 levels"},
		"deep arrays":                {[]byte(`{"a":` + strings.Repeat("[", n) + strings.Repeat("]", n) + "}"), article.TooDeep, "more than 64 levels"},
		"deep, never closed":         {[]byte(strings.Repeat("[", n)), article.TooDeep, "more than 64 levels"},
		"deep after a string":        {[]byte(`{"a":"]]]\"]]]\\",` + strings.Repeat(`"b":{`, n)), article.TooDeep, "more than 64 levels"},
		"closed before it is opened": {[]byte(strings.Repeat("]", n) + strings.Repeat("[", n)), article.BadJSON, "not valid JSON"},
		"never closed string":        {[]byte(`{"title":"` + strings.Repeat("[", n)), article.BadJSON, "not valid JSON"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := article.NewDecoder(defaultFields(), maxBytes).Decode([]byte("key"), tt.value, here())
			if reason := rejected(t, err, tt.class); !strings.Contains(reason, tt.reason) {
				t.Errorf("reason = %q, want %q in it", reason, tt.reason)
			}
			if got != (article.Article{}) {
				t.Errorf("article = %+v beside an error", got)
			}
		})
	}
}

func TestDecodeTime(t *testing.T) {
	utc := func(year int, month time.Month, day, hour, minute, second, ms int) time.Time {
		return time.Date(year, month, day, hour, minute, second, ms*1e6, time.UTC)
	}
	noon := utc(2024, 5, 1, 12, 0, 0, 0)
	for value, want := range map[string]time.Time{
		`"2024-05-01T12:00:00Z"`:           noon,
		`"2024-05-01T20:00:00+08:00"`:      noon,
		`"2024-05-01T07:30:00-04:30"`:      noon,
		`"2024-05-01T12:00:00.125Z"`:       utc(2024, 5, 1, 12, 0, 0, 125),
		`"2024-05-01T12:00:00"`:            noon, // without a zone: UTC
		`"2024-05-01 12:00:00"`:            noon,
		`"2024-05-01T12:00:00.123456789"`:  noon.Add(123456789),
		`"9999-12-31T23:59:59Z"`:           utc(9999, 12, 31, 23, 59, 59, 0),
		`"0001-01-01T00:00:01Z"`:           utc(1, 1, 1, 0, 0, 1, 0),
		`1714564800`:                       noon,
		`"1714564800"`:                     noon,
		`1714564800000`:                    noon,
		`"1714564800000"`:                  noon,
		`1714564800.125`:                   utc(2024, 5, 1, 12, 0, 0, 125),
		`1714564800125`:                    utc(2024, 5, 1, 12, 0, 0, 125),
		`1714564800124.6`:                  utc(2024, 5, 1, 12, 0, 0, 125),
		`1.7145648e9`:                      noon,
		`0`:                                utc(1970, 1, 1, 0, 0, 0, 0),
		`-1`:                               utc(1969, 12, 31, 23, 59, 59, 0),
		`-0.5`:                             utc(1969, 12, 31, 23, 59, 59, 500),
		`99999999999`:                      utc(5138, 11, 16, 9, 46, 39, 0), // the last number of seconds
		`100000000000`:                     utc(1973, 3, 3, 9, 46, 40, 0),   // the first of milliseconds
		`253402300799000`:                  utc(9999, 12, 31, 23, 59, 59, 0),
		`"2024-05-01T12:00:00.123456789Z"`: noon.Add(123456789),
	} {
		got, err := article.NewDecoder(defaultFields(), maxBytes).Decode(nil, []byte(`{"title":"x","published_at":`+value+`}`), here())
		if err != nil {
			t.Errorf("%s: %v", value, err)
		} else if got.PublishedAt != want {
			t.Errorf("%s = %v, want %v", value, got.PublishedAt, want)
		}
	}
}

func TestDecodeTimeRejects(t *testing.T) {
	for _, value := range []string{
		`" "`, `"yesterday"`, `"2024-05-01"`, `"12:00:00"`, `"2024-05-01T12:00"`, `"2024-02-30T12:00:00Z"`, `"2024-02-30T12:00:00"`,
		`"Wed, 01 May 2024 12:00:00 GMT"`, `"2024/05/01"`, `"二〇二四年五月一日"`, `"NaN"`, `"Inf"`, `"-infinity"`, `1e400`, `"1e400"`,
		`1e300`, `-1e300`, `1e15`, `253402300800000`, `-62135596800001`, `"-99999999999999"`,
		// Beyond the years that RFC 3339 can write, but only once they are in UTC.
		`"9999-12-31T23:59:59-01:00"`, `"0001-01-01T00:00:00+01:00"`,
		`true`, `{}`, `["2024-05-01T12:00:00Z"]`, "\"\xff\xfe\"", `"` + strings.Repeat("时", 100) + `"`,
	} {
		_, err := article.NewDecoder(defaultFields(), maxBytes).Decode(nil, []byte(`{"title":"x","published_at":`+value+`}`), here())
		reason := rejected(t, err, article.BadField)
		if !strings.Contains(reason, `field "published_at" is `) || !strings.Contains(reason, "RFC 3339 (2006-01-02T15:04:05Z), or Unix seconds or milliseconds") {
			t.Errorf("%s: reason = %q, want the field and what is allowed", value, reason)
		}
		if !utf8.ValidString(reason) || len(reason) > 250 {
			t.Errorf("%s: the reason is to be short and valid UTF-8: %q", value, reason)
		}
	}
}

// Every time that decodes can be written again: the year is one that JSON can hold.
func TestDecodedTimesCanBeWritten(t *testing.T) {
	for year := 0; year <= 10000; year += 1 + year%7*313 {
		for _, zone := range []string{"Z", "+14:00", "-12:00", "+23:59", "-23:59"} {
			for _, day := range []string{"01-01T00:00:00", "12-31T23:59:59"} {
				value := fmt.Sprintf(`{"title":"x","published_at":"%04d-%s%s"}`, year, day, zone)
				a, err := article.NewDecoder(defaultFields(), maxBytes).Decode(nil, []byte(value), here())
				if err != nil {
					rejected(t, err, article.BadField)
					continue
				}
				if line := (article.Result{PublishedAt: &a.PublishedAt}).JSON(); !json.Valid(line) {
					t.Errorf("%s: %s", value, line)
				}
			}
		}
	}
}

func TestDecodeMaxBytes(t *testing.T) {
	value := []byte(`{"title":"文章"}`)
	for name, decoder := range map[string]func(int) *article.Decoder{
		"json": func(n int) *article.Decoder { return article.NewDecoder(defaultFields(), n) },
		"text": article.NewTextDecoder,
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := decoder(len(value)).Decode(nil, value, here()); err != nil {
				t.Errorf("at the limit: %v", err)
			}
			_, err := decoder(len(value)-1).Decode(nil, value, here())
			want := fmt.Sprintf("the value is larger than input.max_bytes, %d bytes", len(value)-1)
			if reason := rejected(t, err, article.TooLarge); reason != want {
				t.Errorf("reason = %q, want %q", reason, want)
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
			decoder := article.NewDecoder(fields, maxBytes)
			got, err := decoder.Decode(nil, value, here())
			if err != nil {
				t.Fatalf("%s: %v", value, err)
			}
			if got.Content != "正文" {
				t.Errorf("%s: content = %q", value, got.Content)
			}
			_, err = decoder.Decode(nil, []byte(`{"aaa":"wrong","zzz":"wrong","c":"wrong"}`), here())
			if reason := rejected(t, err, article.Empty); !strings.Contains(reason, fmt.Sprintf("no field %q", path)) {
				t.Errorf("reason = %q, want the path as it was written", reason)
			}
		})
	}
}

func TestDecodePathsOfEveryField(t *testing.T) {
	fields := article.Fields{ID: "meta.@id", Title: "doc.head|line", Content: "doc.*", PublishedAt: "meta.time.#", Source: "meta.from.0.name"}
	value := `{"meta":{"@id":7,"time":{"#":0},"from":[{"name":"s"}]},"doc":{"x":"wrong","head|line":"t","*":"c"}}`
	got, err := article.NewDecoder(fields, maxBytes).Decode(nil, []byte(value), here())
	want := article.Article{ID: "7", Title: "t", Content: "c", Source: "s", PublishedAt: time.Unix(0, 0).UTC()}
	if err != nil || got != want {
		t.Errorf("got %+v, %v; want %+v", got, err, want)
	}
	_, err = article.NewDecoder(fields, maxBytes).Decode(nil, []byte(`{"doc":{"*":1}}`), here())
	if reason := rejected(t, err, article.BadField); !strings.Contains(reason, `field "doc.*" is a number`) {
		t.Errorf("reason = %q, want the path as it was written", reason)
	}
}

func TestDecodeText(t *testing.T) {
	address := here().String()
	for name, tt := range map[string]struct {
		key, value []byte
		want       article.Article
	}{
		"key and value":    {[]byte("k"), []byte("正文\nsecond line"), article.Article{ID: "k", Content: "正文\nsecond line"}},
		"no key":           {nil, []byte("c"), article.Article{ID: address, Content: "c"}},
		"empty key":        {[]byte{}, []byte("c"), article.Article{ID: address, Content: "c"}},
		"blank is content": {nil, []byte(" \n"), article.Article{ID: address, Content: " \n"}},
		"JSON is content":  {nil, []byte(`{"title":1}`), article.Article{ID: address, Content: `{"title":1}`}},
		"NUL":              {nil, []byte("a\x00b"), article.Article{ID: address, Content: "a\x00b"}},
		"invalid UTF-8":    {[]byte("k\xff"), []byte("a\xe4\xb8b"), article.Article{ID: "k\uFFFD", Content: "a\uFFFDb"}},
		"longest key":      {[]byte(strings.Repeat("k", article.MaxIDBytes)), []byte("c"), article.Article{ID: strings.Repeat("k", article.MaxIDBytes), Content: "c"}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := article.NewTextDecoder(maxBytes).Decode(tt.key, tt.value, here())
			if err != nil || got != tt.want {
				t.Errorf("got %+v, %v; want %+v", got, err, tt.want)
			}
		})
	}
}

func TestDecodeTextRejects(t *testing.T) {
	for name, tt := range map[string]struct {
		key, value []byte
		class      article.Class
	}{
		"no value":                {[]byte("k"), nil, article.NullValue},
		"empty":                   {[]byte("k"), []byte{}, article.Empty},
		"key too long":            {[]byte(strings.Repeat("k", article.MaxIDBytes+1)), []byte("c"), article.BadField},
		"key too long once valid": {[]byte(strings.Repeat("k\xff", article.MaxIDBytes/2)), []byte("c"), article.BadField},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := article.NewTextDecoder(maxBytes).Decode(tt.key, tt.value, here())
			rejected(t, err, tt.class)
		})
	}
}

// A buffer that was used makes no difference, and neither it nor the record is left with anything of the article.
// A record without escapes is decoded without allocation.
func TestDecodeDoesNotAllocate(t *testing.T) {
	decoder := article.NewDecoder(defaultFields(), maxBytes)
	for _, name := range []string{"comment", "english"} {
		value := benchmarkValues()[name]
		if n := testing.AllocsPerRun(10, func() {
			if _, err := decoder.Decode(nil, value, here()); err != nil {
				t.Fatal(err)
			}
		}); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

func TestDecoderIsSafeForConcurrentUse(t *testing.T) {
	decoder := article.NewDecoder(defaultFields(), maxBytes)
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			want := fmt.Sprint(i)
			got, err := decoder.Decode(nil, []byte(`{"id":`+want+`,"content":"c`+want+`"}`), here())
			if err != nil || got.ID != want || got.Content != "c"+want {
				t.Errorf("got %+v, %v", got, err)
			}
		})
	}
	group.Wait()
}

// benchmarkValues are made-up records: a news article with and without line breaks, a comment, and an article
// as programs write it that escape all but ASCII.
func benchmarkValues() map[string][]byte {
	encode := func(content string) []byte {
		value, err := json.Marshal(map[string]any{
			"id": "20240501-000123", "title": "关于近重复新闻的说明", "content": content,
			"published_at": "2024-05-01T12:00:00+08:00", "source": "新华", "url": "https://example.com/1", "tags": []string{"a", "b"},
		})
		if err != nil {
			panic(err)
		}
		return value
	}
	paragraph := strings.Repeat("本市今日举行了一场活动，来自各地的1200多名代表参加。", 9)
	escaped := []byte(strconv.QuoteToASCII(paragraph))
	return map[string][]byte{
		"plain":   encode(strings.Repeat(paragraph, 3)),
		"lines":   encode(strings.Repeat(paragraph+"\n", 3)),
		"english": encode(strings.Repeat("The quick brown fox said “hello” to 12 lazy dogs. ", 40)),
		"escaped": []byte(`{"id":"1","title":"x","published_at":"2024-05-01 12:00:00","content":` + string(escaped) + `}`),
		"comment": []byte(`{"id":"c-1073","title":"","content":"转发微博，说得很好！","published_at":"2011-03-03T00:14:13+08:00"}`),
	}
}

func BenchmarkDecode(b *testing.B) {
	decoder, plain := article.NewDecoder(defaultFields(), maxBytes), newPlainDecoder(defaultFields(), maxBytes)
	for name, value := range benchmarkValues() {
		for way, decode := range map[string]func() (article.Article, error){
			"plain": func() (article.Article, error) { return plain.Decode(nil, value, here()) },
			"new":   func() (article.Article, error) { return decoder.Decode(nil, value, here()) },
		} {
			b.Run(name+"/"+way, func(b *testing.B) {
				b.SetBytes(int64(len(value)))
				b.ReportAllocs()
				for b.Loop() {
					if _, err := decode(); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
