package pipeline

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unsafe"

	"github.com/clusterd/clusterd/internal/article"
	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/consumer"
	"github.com/clusterd/clusterd/internal/fingerprint"
	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/monitor"
	"github.com/clusterd/clusterd/internal/parallel"
	"github.com/clusterd/clusterd/internal/replica"
	"github.com/clusterd/clusterd/internal/sink"
	"github.com/clusterd/clusterd/internal/testutil/texts"
)

func sized(partition int, offset int64, bytes int) item {
	return item{Article: fingerprint.Article{Source: article.Address{Partition: partition, Offset: offset}}, next: offset + 1, bytes: bytes}
}

func TestBacklogHead(t *testing.T) {
	b := backlog{maxRecords: 3, maxBytes: 100, next: make(map[int]int64)}
	b.add([]item{sized(0, 5, 60), sized(0, 8, 60)}, 0, 12)
	b.add([]item{sized(1, 2, 300)}, 1, 3)
	b.add([]item{sized(0, 12, 1), sized(0, 13, 1)}, 0, 20)
	for i, want := range []struct {
		offsets []int64
		next    map[int]int64
	}{
		{[]int64{5}, map[int]int64{0: 6}},             // the second would be too many bytes
		{[]int64{8}, map[int]int64{0: 9}},             // the third too
		{[]int64{2}, map[int]int64{1: 3}},             // too large by itself, but alone
		{[]int64{12, 13}, map[int]int64{0: 20, 1: 3}}, // all: up to where the chunks reach
		{nil, map[int]int64{}},                        // empty
	} {
		head := b.head()
		var offsets []int64
		for _, r := range head.records {
			offsets = append(offsets, r.Source.Offset)
		}
		if !slices.Equal(offsets, want.offsets) || !maps.Equal(head.next, want.next) {
			t.Errorf("head %d = %v, next %v; want %v, next %v", i, offsets, head.next, want.offsets, want.next)
		}
		b.drop(head)
	}
	if b.bytes != 0 || b.full() {
		t.Errorf("an empty backlog has %d bytes", b.bytes)
	}
}

func TestBacklogLosesNothing(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 4))
		b := backlog{maxRecords: 1 + r.IntN(10), maxBytes: 1 + r.IntN(200), next: make(map[int]int64)}
		end := map[int]int64{} // what was added, by partition
		var added, taken []item
		committed := map[int]int64{}
		for range 100 {
			if !b.full() && r.IntN(2) == 0 {
				p := r.IntN(3)
				var chunk []item
				for range 1 + r.IntN(8) {
					end[p] += 1 + int64(r.IntN(3)) // compaction and control records leave gaps
					chunk = append(chunk, sized(p, end[p]-1, r.IntN(60)))
				}
				added = append(added, chunk...)
				b.add(chunk, p, end[p])
				continue
			}
			taken = append(taken, checkedHead(t, &b, committed)...)
		}
		for len(b.records) > 0 {
			taken = append(taken, checkedHead(t, &b, committed)...)
		}
		same := func(x, y item) bool {
			return x.Source == y.Source
		}
		if !slices.EqualFunc(added, taken, same) {
			t.Fatalf("seed %d: %d records went in and %d came out, or in another order", seed, len(added), len(taken))
		}
		if !maps.Equal(committed, end) {
			t.Fatalf("seed %d: committed %v, want %v", seed, committed, end)
		}
	}
}

// checkedHead takes a head, and holds it to the limits and to offsets that only move on, and never
// over a record that is still to come.
func checkedHead(t *testing.T, b *backlog, committed map[int]int64) []item {
	t.Helper()
	head := b.head()
	if len(b.records) > 0 && len(head.records) == 0 {
		t.Fatal("nothing was taken of what waits")
	}
	bytes := 0
	for _, r := range head.records {
		bytes += r.bytes
	}
	if len(head.records) > b.maxRecords || len(head.records) > 1 && bytes > b.maxBytes {
		t.Fatalf("%d records of %d bytes; allowed are %d of %d", len(head.records), bytes, b.maxRecords, b.maxBytes)
	}
	b.drop(head)
	for p, next := range head.next {
		if next < committed[p] {
			t.Fatalf("partition %d goes back from %d to %d", p, committed[p], next)
		}
		committed[p] = next
	}
	for _, r := range b.records {
		if r.Source.Offset < committed[r.Source.Partition] {
			t.Fatalf("offset %d of partition %d would be committed with %d still waiting", committed[r.Source.Partition], r.Source.Partition, r.Source.Offset)
		}
	}
	return head.records
}

func TestBatchOffsets(t *testing.T) {
	got := batch{next: map[int]int64{0: 5, 2: 7}}.offsets("articles")
	slices.SortFunc(got, func(a, b sink.Offset) int { return a.Partition - b.Partition })
	want := []sink.Offset{{Topic: "articles", Partition: 0, Offset: 5}, {Topic: "articles", Partition: 2, Offset: 7}}
	if !slices.Equal(got, want) {
		t.Errorf("offsets = %v, want %v", got, want)
	}
}

// collecting is a collect at work, on virtual time.
type collecting struct {
	chunks chan items
	out    chan batch
	offset int64
	err    error
}

func collect(t *testing.T, records int, linger time.Duration, test func(*collecting)) {
	synctest.Test(t, func(t *testing.T) {
		w := &worker{
			config: config.Default(), monitor: monitor.New("test"), replica: &replica.Replica{Options: replica.Options{Space: article.Checkpoint{Space: "all"}}},
		}
		w.config.Batch = config.Batch{Records: records, Bytes: 1000, Linger: linger}
		c := &collecting{chunks: make(chan items), out: make(chan batch)}
		ctx, cancel := context.WithCancel(t.Context())
		go func() { c.err = w.collect(ctx, c.chunks, c.out) }()
		test(c)
		cancel()
		synctest.Wait()
		if !errors.Is(c.err, context.Canceled) {
			t.Errorf("collect ended with %v", c.err)
		}
	})
}

func (c *collecting) chunk(n int) items {
	var chunk items
	for range n {
		chunk.records = append(chunk.records, sized(0, c.offset, 0))
		c.offset++
	}
	chunk.next = c.offset
	return chunk
}

func TestCollectLingers(t *testing.T) {
	collect(t, 100, 50*time.Millisecond, func(c *collecting) {
		for range 3 { // each batch lingers anew
			began := time.Now()
			c.chunks <- c.chunk(1)
			time.Sleep(30 * time.Millisecond)
			c.chunks <- c.chunk(2)
			b := <-c.out
			if len(b.records) != 3 || time.Since(began) != 50*time.Millisecond {
				t.Errorf("a batch of %d after %v, want 3 after 50ms from the first", len(b.records), time.Since(began))
			}
			time.Sleep(time.Second)
		}
	})
}

func TestCollectWithoutLinger(t *testing.T) {
	collect(t, 100, 0, func(c *collecting) {
		began := time.Now()
		c.chunks <- c.chunk(1)
		if b := <-c.out; len(b.records) != 1 || time.Since(began) != 0 {
			t.Errorf("a batch of %d after %v, want 1 at once", len(b.records), time.Since(began))
		}
	})
}

func TestCollectHandsOnAFullBatchAtOnce(t *testing.T) {
	collect(t, 4, time.Hour, func(c *collecting) {
		began := time.Now()
		c.chunks <- c.chunk(5)
		if b := <-c.out; len(b.records) != 4 || time.Since(began) != 0 {
			t.Errorf("a batch of %d after %v, want 4 at once", len(b.records), time.Since(began))
		}
		b := <-c.out
		if len(b.records) != 1 || b.next[0] != 5 || time.Since(began) > time.Hour {
			t.Errorf("then a batch of %d up to %d after %v, want the rest within the linger", len(b.records), b.next[0], time.Since(began))
		}
	})
}

func TestCollectGrowsWhileTheReceiverIsBusy(t *testing.T) {
	collect(t, 10, time.Millisecond, func(c *collecting) {
		for range 7 {
			c.chunks <- c.chunk(1)
			time.Sleep(time.Second)
		}
		if b := <-c.out; len(b.records) != 7 || b.next[0] != 7 {
			t.Errorf("a batch of %d up to %d, want all 7", len(b.records), b.next[0])
		}
	})
}

func TestCollectReadsNothingWhenFull(t *testing.T) {
	collect(t, 2, time.Millisecond, func(c *collecting) {
		c.chunks <- c.chunk(3)
		select {
		case c.chunks <- c.chunk(1):
			t.Error("another chunk was taken on top of a full batch")
		case <-time.After(time.Minute):
		}
		<-c.out
		c.offset = 3
		c.chunks <- c.chunk(1) // one is left: there is room again
		if b := <-c.out; len(b.records) != 2 || b.next[0] != 4 {
			t.Errorf("a batch of %d up to %d, want 2 up to 4", len(b.records), b.next[0])
		}
	})
}

// Of a record that is no article all is kept, and counts: what waits is bounded, whatever is large
// in it.
func TestWhatWaitsIsBounded(t *testing.T) {
	const maxBytes, records, large = 8 << 20, 3000, 1 << 20
	for name, record := range map[string]func() kafka.Record{
		"keys": func() kafka.Record { return kafka.Record{Key: make([]byte, large), Value: []byte("{")} },
		"headers": func() kafka.Record {
			return kafka.Record{Value: []byte("{"), Headers: []kafka.Header{{Value: make([]byte, large)}}}
		},
		"values": func() kafka.Record { return kafka.Record{Value: make([]byte, large)} },
		"batches": func() kafka.Record {
			return kafka.Record{Value: make([]byte, large), Unreadable: &kafka.Unreadable{Reason: "no"}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := testFingerprinter(t, testConfig())
			synctest.Test(t, func(t *testing.T) {
				w := &worker{config: config.Default(), monitor: monitor.New("test"), replica: &replica.Replica{Options: replica.Options{Space: article.Checkpoint{Space: "all"}}}, fingerprinter: f}
				w.config.Batch.Bytes = maxBytes
				ctx, cancel := context.WithCancel(t.Context())
				chunks, done, batches := make(chan consumer.Chunk), make(chan items), make(chan batch)
				go w.fingerprint(ctx, chunks, done)
				go w.collect(ctx, done, batches) //nolint:errcheck // it ends with the context
				taken := 0
			feed: // a record a chunk, so that nothing but the stages bounds them
				for ; taken < records; taken++ {
					r := record()
					r.Offset = int64(taken)
					select {
					case chunks <- consumer.Chunk{Records: []kafka.Record{r}, Next: r.Next()}:
					case <-time.After(time.Minute): // nobody takes a batch
						break feed
					}
				}
				if taken > maxBytes/large+3 {
					t.Errorf("%d records of 1 MiB were taken", taken)
				}
				for taken > 0 {
					b := <-batches
					if n := size(b.records); n > maxBytes {
						t.Errorf("a batch of %d bytes", n)
					}
					taken -= len(b.records)
				}
				cancel()
			})
		})
	}
}

// What counts is at least what is held, also of articles, of which little is.
func TestHeldIsCounted(t *testing.T) {
	const n = 2000
	large := strings.Repeat("k", 10_000)
	headers := func() []kafka.Header { return []kafka.Header{{Key: large[:100], Value: []byte(large)}, {}, {Key: "h"}} }
	for name, tt := range map[string]struct {
		change func(*config.Config)
		record func(i int) kafka.Record
		most   int // bytes held of a record
	}{
		"articles": {func(*config.Config) {}, func(i int) kafka.Record {
			return kafka.Record{Key: []byte(large), Value: texts.ArticleJSON(fmt.Sprint(i), "一个标题", large), Headers: headers()}
		}, 1000},
		"articles whose key is kept": {func(c *config.Config) { c.Output.Key = "source" }, func(i int) kafka.Record {
			return kafka.Record{Key: []byte(large), Value: texts.ArticleJSON(fmt.Sprint(i), "", large), Headers: headers()}
		}, 2000},
		"articles with sketches": {func(c *config.Config) { c.Fingerprint.Method = "minhash" }, func(i int) kafka.Record {
			return kafka.Record{Value: texts.ArticleJSON(fmt.Sprint(i), "", fmt.Sprint(i, " ", large))}
		}, 4000},
		"long titles": {func(*config.Config) {}, func(i int) kafka.Record {
			return kafka.Record{Value: texts.ArticleJSON(large[:1000], large, fmt.Sprint(i))}
		}, 3000},
		"rejected": {func(*config.Config) {}, func(int) kafka.Record {
			return kafka.Record{Key: []byte(large), Value: []byte("{" + large), Headers: headers()}
		}, 40_000},
		"rejected, of many headers": {func(*config.Config) {}, func(int) kafka.Record {
			var r kafka.Record
			for range 100 {
				r.Headers = append(r.Headers, kafka.Header{Key: "a header " + fmt.Sprint(n), Value: []byte("1")})
			}
			return r
		}, 20_000},
	} {
		t.Run(name, func(t *testing.T) {
			c := testConfig()
			tt.change(&c)
			f := testFingerprinter(t, c)
			held := make([]item, n)
			var before int64
			err := f.ForEach(t.Context(), 1, func(w *fingerprint.Worker, _ int) {
				one := func(i int) item {
					r := tt.record(i)
					return fingerprintRecord(w, &r, c.Output.Key == keySource)
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
			took := heapAlloc() - before + int64(n*int(unsafe.Sizeof(item{})))
			counted := size(held)
			runtime.KeepAlive(held)
			if took > counted+counted/5 || took > int64(n*tt.most) {
				t.Errorf("%d bytes a record are held, %d are counted; at most %d may be", took/n, counted/n, tt.most)
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

func TestFingerprintPassesOverEmptyChunks(t *testing.T) {
	w := &worker{fingerprinter: testFingerprinter(t, testConfig()), monitor: monitor.New("test")}
	ctx, cancel := context.WithCancel(t.Context())
	chunks, out, ended := make(chan consumer.Chunk), make(chan items), make(chan error, 1)
	go func() { ended <- w.fingerprint(ctx, chunks, out) }()
	chunks <- consumer.Chunk{Next: 5} // control records alone
	// More than a core takes at a time, and not a multiple of it.
	records := make([]kafka.Record, 5*parallel.ChunkSize+3)
	for i := range records {
		records[i] = kafka.Record{Offset: int64(i) + 5, Value: texts.ArticleJSON(fmt.Sprint(i), "", "台风登陆")}
	}
	chunks <- consumer.Chunk{Partition: 3, Records: records, Next: 900}
	got := <-out
	if len(got.records) != len(records) || got.partition != 3 || got.next != 900 {
		t.Errorf("%d records of partition %d up to %d", len(got.records), got.partition, got.next)
	}
	for i, r := range got.records {
		if r.Source.Offset != records[i].Offset || r.Representative.ID != fmt.Sprint(i) || !r.Comparable || r.Fingerprint != got.records[0].Fingerprint {
			t.Fatalf("record %d: %+v", i, r)
		}
	}
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("fingerprint ended with %v", err)
	}
}
