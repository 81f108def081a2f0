package article_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/clusterd/clusterd/internal/message/article"
)

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
		got, err := jsonDecoder(defaultFields(), maxBytes, "auto").Decode(nil,
			[]byte(`{"content":"x","published_at":`+value+`}`), here())
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
		`"yesterday"`, `"12:00:00"`, `"2024-02-30T12:00:00Z"`, `"2024-02-30T12:00:00"`, `"2024-02-30"`,
		`"2024-13-01"`, `"3小时前"`,
		`"02/03/2024"`, `"2/3/24"`, `"02-03-2024"`, `"02.03.2024 10:00"`, `"05/13/2024"`, `"31/12/2024"`,
		`"24-05-01"`,
		`"2024-05-01T25:00:00Z"`, `"2024-05-01T12:60:00"`, `"2024-05-01 12:00:00 +25:00"`,
		`"2024-05-01 12:00:00 XYZ"`, `"2024-05-01 13:00 PM"`,
		`"Wed, 32 May 2024 12:00:00 GMT"`, `"Wed, 01 Mai 2024 12:00:00 GMT"`, `"May 2024"`, `"2024-05"`,
		`"2024-W18-3"`, `"10:00 1 May"`, `"Wed May 01 20:00:00 CST 2024"`,
		`"2024-05-01 12:00:00 and more"`, `"before 2024-05-01"`, `"2024-05-01 12:00 13:00"`, `"20241301"`,
		`"2024年5月"`,
		`"二〇二四年五月一日"`, `"NaN"`, `"Inf"`, `"-infinity"`, `1e400`, `"1e400"`, `1e300`, `-1e300`, `1e20`,
		`"-99999999999"`,
		// Beyond the years that RFC 3339 can write, but only once they are in UTC.
		`"9999-12-31T23:59:59-01:00"`, `"0001-01-01T00:00:00+01:00"`,
		`true`, `{}`, `["2024-05-01T12:00:00Z"]`, "\"\xff\xfe\"", `"` + strings.Repeat("时", 100) + `"`,
		`"` + strings.Repeat("1 May ", 10_000) + `"`,
	} {
		a, err := jsonDecoder(defaultFields(), maxBytes, "auto").Decode(nil,
			[]byte(`{"id":"1","content":"x","published_at":`+value+`}`), here())
		if err != nil || a.ID != "1" || a.Content != "x" || !a.PublishedAt.IsZero() || a.Notes == nil ||
			len(a.Notes.Fallbacks) != 1 {
			t.Errorf("%.60s: %+v, %v", value, a, err)
			continue
		}
		f := a.Notes.Fallbacks[0]
		if f.Field != "published_at" || !strings.Contains(f.Detail, `field "published_at" is `) ||
			!strings.Contains(f.Detail, "RFC 3339 (2006-01-02T15:04:05Z)") {
			t.Errorf("%.60s: %+v, want the field and what is allowed", value, f)
		}
		if !utf8.ValidString(f.Detail) || len(f.Detail) > 400 {
			t.Errorf("%.60s: the detail is to be short and valid UTF-8: %q", value, f.Detail)
		}
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
