package article_test

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/testutil/check"
)

const maxBytes = 1 << 20

func defaultFields() article.Fields {
	return article.Fields{
		ID: "id", Title: "title", Content: "content", PublishedAt: "published_at",
		Source: "source",
	}
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

func newDecoder(
	format string, fields article.Fields, maxBytes int, encoding string,
) article.Decoder {
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

func TestDecodeText(t *testing.T) {
	check.OneGoroutine(t)
	address := here().String()
	for name, tt := range map[string]struct {
		key, value []byte
		want       article.Article
	}{
		"key and value": {
			[]byte("k"), []byte("正文\nsecond line"),
			article.Article{ID: "k", Content: "正文\nsecond line"},
		},
		"no key":           {nil, []byte("c"), article.Article{ID: address, Content: "c"}},
		"empty key":        {[]byte{}, []byte("c"), article.Article{ID: address, Content: "c"}},
		"blank is content": {nil, []byte(" \n"), article.Article{ID: address, Content: " \n"}},
		"JSON is content": {
			nil, []byte(`{"title":1}`), article.Article{ID: address, Content: `{"title":1}`},
		},
		"NUL": {nil, []byte("a\x00b"), article.Article{ID: address, Content: "a\x00b"}},
		"invalid UTF-8": {
			[]byte("k\xff"), []byte("a\xe4\xb8b"),
			article.Article{ID: "k\uFFFD", Content: "a\uFFFDb"},
		},
		"key too long": {
			[]byte(strings.Repeat("k", article.MaxIDBytes+1)), []byte("c"),
			article.Article{ID: address, Content: "c"},
		},
		"byte order marks": {
			[]byte("\ufeffk"), []byte("\ufeffc"),
			article.Article{ID: "k", Content: "c"},
		},
		"longest key": {
			[]byte(strings.Repeat("k", article.MaxIDBytes)), []byte("c"),
			article.Article{ID: strings.Repeat("k", article.MaxIDBytes), Content: "c"},
		},
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
			"published_at": "2024-05-01T12:00:00+08:00", "source": "新华", "url": "https://example.com/1",
			"tags": []string{"a", "b"},
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
		"escaped": []byte(`{"id":"1","title":"x","published_at":"2024-05-01 12:00:00","content":` +
			string(escaped) + `}`),
		"comment": []byte(
			`{"id":"c-1073","title":"","content":"转发微博，说得很好！","published_at":"2011-03-03T00:14:13+08:00"}`),
	}
}

func BenchmarkDecode(b *testing.B) {
	decoder, plain := jsonDecoder(defaultFields(), maxBytes, "auto"), newPlainDecoder(defaultFields(),
		maxBytes)
	for name, value := range benchmarkValues() {
		for way, decode := range map[string]func() (article.Article, *article.Rejection){
			"plain": func() (article.Article, *article.Rejection) {
				a, _, err := plain.Decode(nil, value, here())
				return a, err
			},
			"new": func() (article.Article,
				*article.Rejection,
			) {
				return decoder.Decode(nil, value, here())
			},
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
