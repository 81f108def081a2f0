package article_test

import (
	"encoding/json"
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

// jsonDecoder returns the decoder of objects in an encoding.
func jsonDecoder(fields article.Fields, maxBytes int, encoding string) article.Decoder {
	return newDecoder(article.JSON, fields, maxBytes, encoding)
}

// plainTextDecoder returns the decoder of plain texts in an encoding.
func plainTextDecoder(maxBytes int, encoding string) article.Decoder {
	return newDecoder(article.Text, article.Fields{}, maxBytes, encoding)
}

func newDecoder(format string, fields article.Fields, maxBytes int, encoding string) article.Decoder {
	d, err := article.NewDecoder(format, fields, maxBytes, encoding)
	if err != nil {
		panic(err) // the format and the encoding are a test's own
	}
	return d
}

// rejected fails the test unless r is a rejection of this class, and returns its reason.
func rejected(t *testing.T, r *article.Rejection, class article.Class) string {
	t.Helper()
	if r == nil {
		t.Fatalf("there is no rejection, want one as %s", class)
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
		"content is an array":        {[]byte(`{"content":["c"]}`), article.BadField, `field "content" is an array; it must be a string`},
		"title and content are none": {[]byte(`{"title":1,"content":[]}`), article.BadField, `field "content" is an array; it must be a string`},
		"title is one, no content":   {[]byte(`{"title":1,"content":null}`), article.BadField, `field "title" is a number; it must be a string`},
		"other keys":                 {[]byte(`{"headline":"x","body":{"text":"y","n":1},"a\u001b\u202e":[{"b":1}]}`), article.Empty, `with a value; there is "headline", "body.text", "body.n", "a\x1b\u202e"`},
		"many keys":                  {[]byte(`{` + strings.Repeat(`"k":0,`, 30) + `"last":1}`), article.Empty, strings.Repeat(`"k", `, 20) + "…"},
		"content is a boolean":       {[]byte(`{"content":false}`), article.BadField, `field "content" is a boolean; it must be a string`},
		"one level too deep":         {[]byte(`{"title":"x","y":` + strings.Repeat("[", article.MaxDepth) + strings.Repeat("]", article.MaxDepth) + `}`), article.TooDeep, "more than 64 levels"},
		"deep objects":               {[]byte(strings.Repeat(`{"a":`, n) + "1" + strings.Repeat("}", n)), article.TooDeep, "more than 64 levels"},
		"deep arrays":                {[]byte(`{"a":` + strings.Repeat("[", n) + strings.Repeat("]", n) + "}"), article.TooDeep, "more than 64 levels"},
		"deep, never closed":         {[]byte(strings.Repeat("[", n)), article.TooDeep, "more than 64 levels"},
		"deep after a string":        {[]byte(`{"a":"]]]\"]]]\\",` + strings.Repeat(`"b":{`, n)), article.TooDeep, "more than 64 levels"},
		"closed before it is opened": {[]byte(strings.Repeat("]", n) + strings.Repeat("[", n)), article.BadJSON, "not valid JSON"},
		"never closed string":        {[]byte(`{"title":"` + strings.Repeat("[", n)), article.BadJSON, "not valid JSON"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := jsonDecoder(defaultFields(), maxBytes, "auto").Decode([]byte("key"), tt.value, here())
			if reason := rejected(t, err, tt.class); !strings.Contains(reason, tt.reason) {
				t.Errorf("reason = %q, want %q in it", reason, tt.reason)
			}
			if got != (article.Article{}) {
				t.Errorf("article = %+v beside an error", got)
			}
		})
	}
}

// The forms in which feeds, data bases and programs write times.
func TestDecodeTime(t *testing.T) {
	utc := func(year int, month time.Month, day, hour, minute, second, ms int) time.Time {
		return time.Date(year, month, day, hour, minute, second, ms*1e6, time.UTC)
	}
	noon, midnight := utc(2024, 5, 1, 12, 0, 0, 0), utc(2024, 5, 1, 0, 0, 0, 0)
	for value, want := range map[string]time.Time{
		`"2024-05-01T12:00:00Z"`:           noon,
		`"2024-05-01T20:00:00+08:00"`:      noon,
		`"2024-05-01T07:30:00-04:30"`:      noon,
		`"2024-05-01T12:00:00.125Z"`:       utc(2024, 5, 1, 12, 0, 0, 125),
		`"2024-05-01T12:00:00"`:            noon, // without a zone: UTC
		`"2024-05-01 12:00:00"`:            noon,
		`"2024-05-01T12:00:00.123456789"`:  noon.Add(123456789),
		`"2024-05-01T12:00:00.123456789Z"`: noon.Add(123456789),
		`"9999-12-31T23:59:59Z"`:           utc(9999, 12, 31, 23, 59, 59, 0),
		`"0001-01-01T00:00:01Z"`:           utc(1, 1, 1, 0, 0, 1, 0),

		// ISO 8601 with fewer parts, or other marks.
		`"2024-05-01"`:                      midnight,
		`" 2024-05-01 "`:                    midnight,
		`"2024-05-01Z"`:                     midnight,
		`"2024-05-01+08:00"`:                midnight.Add(-8 * time.Hour),
		`"2024-05-01T12:00"`:                noon,
		`"2024-05-01T12:00Z"`:               noon,
		`"2024-05-01 12:00"`:                noon,
		`"2024-05-01T20:00:00+0800"`:        noon,
		`"2024-05-01T20:00:00+08"`:          noon,
		`"2024-05-01 20:00:00 +08:00"`:      noon,
		`"2024-05-01 20:00:00+08"`:          noon,
		`"2024-05-01 20:00:00.125 +0800"`:   utc(2024, 5, 1, 12, 0, 0, 125),
		`"2024-05-01 12:00:00,125"`:         utc(2024, 5, 1, 12, 0, 0, 125),
		`"2024-05-01 12:00:00 UTC"`:         noon,
		`"2024-05-01 12:00:00 +0000 UTC"`:   noon, // Go
		`"2024-05-01T12:00:00.1234567890Z"`: noon.Add(123456789),
		`"2024-05-01t12:00:00z"`:            noon,
		`"2024-5-1 9:05"`:                   utc(2024, 5, 1, 9, 5, 0, 0),
		`"2024/05/01"`:                      midnight,
		`"2024/5/1 12:00"`:                  noon,
		`"2024.05.01 12:00:00"`:             noon,
		`"20240501"`:                        midnight,
		`"20240501T120000Z"`:                noon,
		`"20240501T200000+0800"`:            noon,
		`"20240501120000"`:                  noon,
		`"202405011200"`:                    noon,
		`"2016-12-31T23:59:60Z"`:            utc(2017, 1, 1, 0, 0, 0, 0), // a leap second

		// RFC 822, 1123, 2822, 850, and what C, Java, JavaScript and git write.
		`"Wed, 01 May 2024 12:00:00 GMT"`:                           noon,
		`"Wed, 01 May 2024 20:00:00 +0800"`:                         noon,
		`"Wed, 1 May 2024 12:00:00 Z"`:                              noon,
		`"Wed, 1 May 2024 12:00 UT"`:                                noon,
		`"1 May 2024 12:00:00 GMT"`:                                 noon,
		`"01 May 24 12:00 UTC"`:                                     noon,
		`"Wed, 01 May 2024 07:00:00 EST"`:                           noon,
		`"Wed, 01 May 2024 08:00:00 EDT"`:                           noon,
		`"Wed, 01 May 2024 06:00:00 CST"`:                           noon,
		`"Wed, 01 May 2024 07:00:00 CDT"`:                           noon,
		`"Wed, 01 May 2024 05:00:00 MST"`:                           noon,
		`"Wed, 01 May 2024 06:00:00 MDT"`:                           noon,
		`"Wed, 01 May 2024 04:00:00 PST"`:                           noon,
		`"Wed, 01 May 2024 05:00:00 pdt"`:                           noon,
		`"Wed, 01 May 2024 12:00:00 +0000 (UTC)"`:                   noon,
		`"Wed,01 May 2024 12:00:00 GMT"`:                            noon,
		`"wednesday, 01-May-24 12:00:00 GMT"`:                       noon,
		`"Wed May  1 12:00:00 2024"`:                                noon,
		`"Wed May 01 12:00:00 +0000 2024"`:                          noon,
		`"Wed May  1 12:00:00 UTC 2024"`:                            noon,
		`"Wed May 01 2024 20:00:00 GMT+0800 (China Standard Time)"`: noon,
		`"Wed May 1 20:00:00 2024 +0800"`:                           noon,
		`"May 1, 2024"`:                                             midnight,
		`"May 1st, 2024, 12:00 PM"`:                                 noon,
		`"May 1, 2024 12:00:00 AM"`:                                 midnight,
		`"Sept 5, 2024 at 1:05 p.m."`:                               {},
		`"Sep 5, 2024 1:05 p.m."`:                                   utc(2024, 9, 5, 13, 5, 0, 0),
		`"September 5 2024"`:                                        utc(2024, 9, 5, 0, 0, 0, 0),
		`"1 May 2024"`:                                              midnight,
		`"1 may 2024 12:00"`:                                        noon,
		`"01-May-2024 12:00:00"`:                                    noon,
		`"2024-05-01 20:00:00 UTC+8"`:                               noon,
		`"2024年5月1日"`:                                               midnight,
		`"2024年05月01日 12:00"`:                                       noon,
		`"2024年05月01日12:00:00"`:                                     noon,
		`"2024年5月1日12时5分"`:                                          utc(2024, 5, 1, 12, 5, 0, 0),
		`"2024年5月1日 12点05分30秒"`:                                     utc(2024, 5, 1, 12, 5, 30, 0),

		// Unix times.
		`1714564800`:            noon,
		`"1714564800"`:          noon,
		`" 1714564800"`:         noon,
		`1714564800000`:         noon,
		`"1714564800000"`:       noon,
		`1714564800000000`:      noon,
		`"1714564800000001"`:    noon.Add(time.Microsecond),
		`1714564800000000000`:   noon,
		`"1714564800000000001"`: noon.Add(1),
		`1714564800.125`:        utc(2024, 5, 1, 12, 0, 0, 125),
		`"1714564800.125"`:      utc(2024, 5, 1, 12, 0, 0, 125),
		`1714564800125`:         utc(2024, 5, 1, 12, 0, 0, 125),
		`1714564800124.6`:       utc(2024, 5, 1, 12, 0, 0, 125),
		`1.7145648e9`:           noon,
		`20240501`:              utc(1970, 8, 23, 6, 21, 41, 0), // a number is a Unix time
		`"99990501"`:            utc(1973, 3, 3, 7, 8, 21, 0),
		`0`:                     utc(1970, 1, 1, 0, 0, 0, 0),
		`-1`:                    utc(1969, 12, 31, 23, 59, 59, 0),
		`-0.5`:                  utc(1969, 12, 31, 23, 59, 59, 500),
		`99999999999`:           utc(5138, 11, 16, 9, 46, 39, 0), // the last number of seconds
		`100000000000`:          utc(1973, 3, 3, 9, 46, 40, 0),   // the first of milliseconds
		`99999999999999`:        utc(5138, 11, 16, 9, 46, 39, 999),
		`100000000000000`:       utc(1973, 3, 3, 9, 46, 40, 0), // the first of microseconds
	} {
		got, err := jsonDecoder(defaultFields(), maxBytes, "auto").Decode(nil, []byte(`{"content":"x","published_at":`+value+`}`), here())
		if err != nil {
			t.Errorf("%s: %v", value, err)
		} else if got.PublishedAt != want || (got.Notes == nil) != (want != time.Time{}) {
			t.Errorf("%s = %v, want %v", value, got.PublishedAt, want)
		}
	}
}

// What is no time, or may be one day or another, costs the article its time and nothing else.
func TestDecodeTimeFallsBack(t *testing.T) {
	for _, value := range []string{
		`"yesterday"`, `"12:00:00"`, `"2024-02-30T12:00:00Z"`, `"2024-02-30T12:00:00"`, `"2024-02-30"`, `"2024-13-01"`, `"3小时前"`,
		`"02/03/2024"`, `"2/3/24"`, `"02-03-2024"`, `"02.03.2024 10:00"`, `"05/13/2024"`, `"31/12/2024"`, `"24-05-01"`,
		`"2024-05-01T25:00:00Z"`, `"2024-05-01T12:60:00"`, `"2024-05-01 12:00:00 +25:00"`, `"2024-05-01 12:00:00 XYZ"`, `"2024-05-01 13:00 PM"`,
		`"Wed, 32 May 2024 12:00:00 GMT"`, `"Wed, 01 Mai 2024 12:00:00 GMT"`, `"May 2024"`, `"2024-05"`, `"2024-W18-3"`, `"10:00 1 May"`, `"Wed May 01 20:00:00 CST 2024"`,
		`"2024-05-01 12:00:00 and more"`, `"before 2024-05-01"`, `"2024-05-01 12:00 13:00"`, `"20241301"`, `"2024年5月"`,
		`"二〇二四年五月一日"`, `"NaN"`, `"Inf"`, `"-infinity"`, `1e400`, `"1e400"`, `1e300`, `-1e300`, `1e20`, `"-99999999999"`,
		// Beyond the years that RFC 3339 can write, but only once they are in UTC.
		`"9999-12-31T23:59:59-01:00"`, `"0001-01-01T00:00:00+01:00"`,
		`true`, `{}`, `["2024-05-01T12:00:00Z"]`, "\"\xff\xfe\"", `"` + strings.Repeat("时", 100) + `"`, `"` + strings.Repeat("1 May ", 10_000) + `"`,
	} {
		a, err := jsonDecoder(defaultFields(), maxBytes, "auto").Decode(nil, []byte(`{"id":"1","content":"x","published_at":`+value+`}`), here())
		if err != nil || a.ID != "1" || a.Content != "x" || !a.PublishedAt.IsZero() || a.Notes == nil || len(a.Notes.Fallbacks) != 1 {
			t.Errorf("%.60s: %+v, %v", value, a, err)
			continue
		}
		f := a.Notes.Fallbacks[0]
		if f.Field != "published_at" || !strings.Contains(f.Detail, `field "published_at" is `) || !strings.Contains(f.Detail, "RFC 3339 (2006-01-02T15:04:05Z)") {
			t.Errorf("%.60s: %+v, want the field and what is allowed", value, f)
		}
		if !utf8.ValidString(f.Detail) || len(f.Detail) > 400 {
			t.Errorf("%.60s: the detail is to be short and valid UTF-8: %q", value, f.Detail)
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
		"id is a boolean":       {`{"id":true,"content":"c"}`, article.Article{ID: address, Content: "c"}, "id type"},
		"id is an object":       {`{"id":{"$oid":"1"},"content":"c"}`, article.Article{ID: address, Content: "c"}, "id type"},
		"id is an array":        {`{"id":[],"content":"c"}`, article.Article{ID: address, Content: "c"}, "id type"},
		"id too long":           {`{"id":"` + long + `","content":"c"}`, article.Article{ID: address, Content: "c"}, "id too_long"},
		"numeric id too long":   {`{"id":1` + strings.Repeat("0", article.MaxIDBytes) + `,"content":"c"}`, article.Article{ID: address, Content: "c"}, "id too_long"},
		"id too long once read": {`{"id":"` + strings.Repeat("i\xff", article.MaxIDBytes/2) + `","content":"c"}`, article.Article{ID: address, Content: "c"}, "id too_long"},
		"title is a number":     {`{"title":7,"content":"c"}`, article.Article{ID: address, Content: "c"}, "title type"},
		"content is an array":   {`{"title":"t","content":["c"]}`, article.Article{ID: address, Title: "t"}, "content type"},
		"source is an object":   {`{"source":{},"content":"c"}`, article.Article{ID: address, Content: "c"}, "source type"},
		"time is a boolean":     {`{"published_at":false,"content":"c"}`, article.Article{ID: address, Content: "c"}, "published_at type"},
		"time is none":          {`{"published_at":"soon","content":"c"}`, article.Article{ID: address, Content: "c"}, "published_at format"},
		"a blank time is none":  {`{"published_at":" ","content":"c"}`, article.Article{ID: address, Content: "c"}, ""},
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

// Every time that decodes can be written again: the year is one that JSON can hold.
func TestDecodedTimesCanBeWritten(t *testing.T) {
	for year := 0; year <= 10000; year += 1 + year%7*313 {
		for _, zone := range []string{"Z", "+14:00", "-12:00", "+23:59", "-23:59"} {
			for _, day := range []string{"01-01T00:00:00", "12-31T23:59:59"} {
				value := fmt.Sprintf(`{"title":"x","published_at":"%04d-%s%s"}`, year, day, zone)
				a, err := jsonDecoder(defaultFields(), maxBytes, "auto").Decode(nil, []byte(value), here())
				if err != nil {
					t.Fatal(err)
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
	for name, decoder := range map[string]func(int) article.Decoder{
		"json": func(n int) article.Decoder { return jsonDecoder(defaultFields(), n, "auto") },
		"text": func(n int) article.Decoder { return plainTextDecoder(n, "auto") },
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

// A decoder is of a format and an encoding that are known.
func TestNewDecoderRefuses(t *testing.T) {
	for _, tt := range []struct{ format, encoding, want string }{
		{"avro", "auto", `input.format: "avro" is neither json nor text`},
		{article.JSON, "utf-9", `input.encoding: "utf-9": `},
	} {
		d, err := article.NewDecoder(tt.format, defaultFields(), maxBytes, tt.encoding)
		if err == nil || !strings.HasPrefix(err.Error(), tt.want) || d != nil {
			t.Errorf("%s in %s: %v, %v; want %s", tt.format, tt.encoding, d, err, tt.want)
		}
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
			if reason := rejected(t, rejection, article.Empty); !strings.Contains(reason, fmt.Sprintf("no field %q", path)) {
				t.Errorf("reason = %q, want the path as it was written", reason)
			}
		})
	}
}

func TestDecodePathsOfEveryField(t *testing.T) {
	fields := article.Fields{ID: "meta.@id", Title: "doc.head|line", Content: "doc.*", PublishedAt: "meta.time.#", Source: "meta.from.0.name"}
	value := `{"meta":{"@id":7,"time":{"#":0},"from":[{"name":"s"}]},"doc":{"x":"wrong","head|line":"t","*":"c"}}`
	got, err := jsonDecoder(fields, maxBytes, "auto").Decode(nil, []byte(value), here())
	want := article.Article{ID: "7", Title: "t", Content: "c", Source: "s", PublishedAt: time.Unix(0, 0).UTC()}
	if err != nil || got != want {
		t.Errorf("got %+v, %v; want %+v", got, err, want)
	}
	_, err = jsonDecoder(fields, maxBytes, "auto").Decode(nil, []byte(`{"doc":{"*":1}}`), here())
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
		"key too long":     {[]byte(strings.Repeat("k", article.MaxIDBytes+1)), []byte("c"), article.Article{ID: address, Content: "c"}},
		"byte order marks": {[]byte("\ufeffk"), []byte("\ufeffc"), article.Article{ID: "k", Content: "c"}},
		"longest key":      {[]byte(strings.Repeat("k", article.MaxIDBytes)), []byte("c"), article.Article{ID: strings.Repeat("k", article.MaxIDBytes), Content: "c"}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := plainTextDecoder(maxBytes, "auto").Decode(tt.key, tt.value, here())
			if got.Notes = nil; err != nil || got != tt.want {
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
		"no value": {[]byte("k"), nil, article.NullValue},
		"empty":    {[]byte("k"), []byte{}, article.Empty},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := plainTextDecoder(maxBytes, "auto").Decode(tt.key, tt.value, here())
			rejected(t, err, tt.class)
		})
	}
}

// A buffer that was used makes no difference, and neither it nor the record is left with anything
// of the article. A record without escapes is decoded without allocation.
func TestDecodeDoesNotAllocate(t *testing.T) {
	decoder := jsonDecoder(defaultFields(), maxBytes, "auto")
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
	decoder := jsonDecoder(defaultFields(), maxBytes, "auto")
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

// benchmarkValues are made-up records: a news article with and without line breaks, a comment, and
// an article as programs write it that escape all but ASCII.
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
	decoder, plain := jsonDecoder(defaultFields(), maxBytes, "auto"), newPlainDecoder(defaultFields(), maxBytes)
	for name, value := range benchmarkValues() {
		for way, decode := range map[string]func() (article.Article, *article.Rejection){
			"plain": func() (article.Article, *article.Rejection) {
				a, _, err := plain.Decode(nil, value, here())
				return a, err
			},
			"new": func() (article.Article, *article.Rejection) { return decoder.Decode(nil, value, here()) },
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
