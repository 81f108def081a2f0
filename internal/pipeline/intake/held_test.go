//go:build !race

package intake

import (
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"unsafe"

	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/space/fingerprint"
)

// What counts is at least what is held, also of articles, of which little is.
func TestHeldIsCounted(t *testing.T) {
	const n = 1000
	large := strings.Repeat("k", 10_000)
	quoted := strconv.Quote(large)
	headers := func() []kafka.Header {
		return []kafka.Header{
			{Key: large[:100], Value: []byte(large)}, {}, {Key: "h"},
		}
	}
	for name, tt := range map[string]struct {
		change func(*config.Config)
		record func(i int) kafka.Record
		most   int // bytes held of a record
	}{
		"articles": {
			func(c *config.Config) { c.Output.Headers = nil },
			func(i int) kafka.Record {
				return kafka.Record{
					Key: []byte(large), Value: quotedArticle(i, `"一个标题"`, quoted), Headers: headers(),
				}
			}, 1000,
		},
		"articles whose headers are kept": {
			func(*config.Config) {}, func(i int) kafka.Record {
				return kafka.Record{Value: quotedArticle(i, `"一个标题"`, quoted), Headers: headers()}
			}, 12_000,
		},
		"articles of which fields are copied": {
			func(c *config.Config) { c.Output.Copy = []string{"id", "title", "url"} },
			func(i int) kafka.Record {
				return kafka.Record{Value: fmt.Appendf(nil, `{"title":"%s","content":"%d","url":"%s"}`,
					large[:1000], i, large[:1000])}
			}, 4000,
		},
		"articles whose key is kept": {
			func(c *config.Config) { c.Output.Key, c.Output.Headers = "source", []string{"other"} },
			func(i int) kafka.Record {
				return kafka.Record{
					Key: []byte(large), Value: quotedArticle(i, `""`, quoted), Headers: headers(),
				}
			}, 2000,
		},
		"articles with sketches": {
			func(c *config.Config) { c.Fingerprint.Method = "minhash" },
			func(i int) kafka.Record {
				return kafka.Record{Value: quotedArticle(i, `""`, fmt.Sprintf(`"%d %s`, i, quoted[1:]))}
			}, 4000,
		},
		"long titles": {func(*config.Config) {}, func(i int) kafka.Record {
			return kafka.Record{
				Value: fmt.Appendf(nil, `{"id":"%s","title":%s,"content":"%d"}`, large[:1000], quoted, i),
			}
		}, 3000},
		"rejected": {func(*config.Config) {}, func(int) kafka.Record {
			return kafka.Record{Key: []byte(large), Value: []byte("{" + large), Headers: headers()}
		}, 40_000},
		"rejected, of many headers": {func(*config.Config) {}, func(int) kafka.Record {
			var r kafka.Record
			for range 100 {
				r.Headers = append(r.Headers, kafka.Header{
					Key: "a header " + fmt.Sprint(n), Value: []byte("1"),
				})
			}
			return r
		}, 20_000},
	} {
		t.Run(name, func(t *testing.T) {
			c := config.Default()
			tt.change(&c)
			f := testFingerprinter(t, c)
			held := make([]Item, n)
			var before int64
			err := f.ForEach(t.Context(), 1, func(w *fingerprint.Worker, _ int) {
				one := func(i int) Item {
					r := tt.record(i)
					return fingerprintRecord(t.Context(), w, &r, CarriedBy(c.Output, nil))
				}
				one(0) // what a worker keeps for itself
				before = heapAlloc()
				for i := range held {
					held[i] = one(i)
				}
			})
			if err != nil {
				t.Fatal(err)
			}
			took := heapAlloc() - before + int64(n*int(unsafe.Sizeof(Item{})))
			counted := size(held)
			runtime.KeepAlive(held)
			if took > counted+counted/5 || took > int64(n*tt.most) {
				t.Errorf("%d bytes a record are held, %d are counted; at most %d may be", took/n, counted/n,
					tt.most)
			}
		})
	}
}

func heapAlloc() int64 {
	runtime.GC()
	runtime.GC() // what is in pools goes with the second
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// quotedArticle returns the record of an article of which title and content are JSON already: to
// quote what is large takes longer than to decode it.
func quotedArticle(id int, title, content string) []byte {
	return fmt.Appendf(nil, `{"id":"%d","title":%s,"content":%s}`, id, title, content)
}
