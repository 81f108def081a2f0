package lookup

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/clusterd/clusterd/internal/cli/demo/sample"
	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/message/cluster"
	"github.com/clusterd/clusterd/internal/serve/http/api"
	"github.com/clusterd/clusterd/internal/singlepass"
	"github.com/clusterd/clusterd/internal/space"
	"github.com/clusterd/clusterd/internal/space/disk"
	"github.com/clusterd/clusterd/internal/space/fingerprint"
	"github.com/clusterd/clusterd/internal/space/state"
	"github.com/clusterd/clusterd/internal/testutil/check"
	"github.com/clusterd/clusterd/internal/testutil/clustertest"
)

// A load is a Service of a large space on disk, what is asked, and articles for its writer.
type load struct {
	*Service
	space *space.Space
	texts []api.Text
	r     *rand.Rand
	print func(r *rand.Rand) singlepass.Fingerprint // of an article, about every second a copy
	next  int64
}

// comments returns texts as long as comments.
func comments(seed uint64, n int) []api.Text {
	made, all := sample.New(seed, start), make([]api.Text, n)
	for i := range all {
		content := []rune(made.Next().Content)
		from := int(uint64(i)*7919) % max(1, len(content)-100)
		all[i].Content = string(content[from:min(len(content), from+100)])
	}
	return all
}

func newLoad(b *testing.B, method string, centres int) *load {
	b.Helper()
	c := config.Default()
	c.Fingerprint.Method, c.Cluster.Index = method, "mih"
	f, err := fingerprint.New(c)
	if err != nil {
		b.Fatal(err)
	}
	l := &load{
		Service: New(Options{Config: c}), texts: comments(1, 5000), r: rand.New(rand.NewPCG(1, 1)),
		next: int64(centres),
	}
	known := make([]singlepass.Fingerprint, 100_000)
	for i, t := range comments(2, len(known)) {
		known[i] = f.One(article.Article{Content: t.Content}).Fingerprint
	}
	l.print = func(r *rand.Rand) singlepass.Fingerprint {
		p := known[r.IntN(len(known))]
		if method == "simhash" && r.IntN(2) == 0 {
			p.Hash = r.Uint64()
		}
		return p
	}
	cache := disk.NewCache(128 << 20)
	store, err := state.Open(b.TempDir(), state.Identity{Input: "articles"},
		state.Options{Cache: cache})
	if err != nil {
		b.Fatal(err)
	}
	index, err := f.NewIndex()
	if err != nil {
		b.Fatal(err)
	}
	rule := space.OptionsOf(c, f.Threshold())
	rule.Distance = f.Distance
	l.space = space.New(index, store, rule, func() time.Time { return start })
	b.Cleanup(func() { _ = l.space.Close(); cache.Release() })
	l.fill(b, f, centres)
	l.Begin(f)
	l.Publish("all", l.space)
	return l
}

// fill stores clusters of one article each, and fills the index.
func (l *load) fill(b *testing.B, f *fingerprint.Fingerprinter, centres int) {
	b.Helper()
	const batch = 50_000
	for from := 0; from < centres; from += batch {
		changes := make([]*space.Change, min(batch, centres-from))
		more := comments(uint64(from)+3, 1)
		for i := range changes {
			p := l.print(l.r)
			if f.Threshold() >= 1 {
				p.Hash = l.r.Uint64()
			} else {
				t := []rune(more[0].Content)
				l.r.Shuffle(len(t), func(x, y int) { t[x], t[y] = t[y], t[x] })
				p = f.One(article.Article{Content: string(t)}).Fingerprint
			}
			seq := from + i
			changes[i] = &space.Change{Cluster: cluster.Cluster{
				Centre:  singlepass.Centre{Fingerprint: p, Seq: uint64(seq)},
				Founder: article.Address{Topic: "articles", Offset: int64(seq)}, Size: 1,
				FirstSeen: start.UnixMilli(), LastSeen: start.UnixMilli(), Position: uint64(seq),
				Representative: article.Representative{ID: fmt.Sprint("a", seq), Excerpt: "港口大桥今天通车"},
			}}
		}
		m := l.space.Meta()
		m.Next, m.StreamTime = uint64(from+len(changes)), start.UnixMilli()
		if err := l.space.Apply(slices.Values(changes), m); err != nil {
			b.Fatal(err)
		}
	}
	if err := l.space.Load(b.Context(), f.Check); err != nil {
		b.Fatal(err)
	}
	runtime.GC()
}

// write assigns and commits batches of 1,000 at a rate, 0 for as fast as it can, until ctx ends,
// and returns how many articles a second it does while it is at it.
func (l *load) write(ctx context.Context, b *testing.B, rate float64) (perSecond float64) {
	b.Helper()
	n, busy, began := 0, time.Duration(0), time.Now()
	for ctx.Err() == nil {
		articles := make([]fingerprint.Article, 1000)
		for i := range articles {
			articles[i] = clustertest.Article(l.next, 0, start)
			articles[i].Fingerprint, articles[i].RecordedAt = l.print(l.r), start
			l.next++
		}
		from := time.Now()
		batch, err := l.space.Assign(clustertest.Each(articles), len(articles))
		if err == nil {
			err = l.space.Commit(batch, l.space.Meta())
		}
		if err != nil {
			b.Error(err)
			return 0
		}
		busy += time.Since(from)
		n += len(articles)
		if rate > 0 {
			time.Sleep(time.Duration(float64(n)/rate*float64(time.Second)) - time.Since(began))
		}
	}
	return float64(n) / busy.Seconds()
}

// ask asks one question after the other in several goroutines, together at a rate, 0 for as fast as
// it can, until ctx ends. Latencies are from when a question was due.
func (l *load) ask(ctx context.Context, b *testing.B, askers int, rate float64) []time.Duration {
	b.Helper()
	var next atomic.Int64
	took := make([][]time.Duration, askers)
	began := time.Now()
	var group sync.WaitGroup
	for k := range askers {
		group.Go(func() {
			for ctx.Err() == nil {
				i := next.Add(1)
				due := time.Now()
				if rate > 0 {
					due = began.Add(time.Duration(float64(i) / rate * float64(time.Second)))
					time.Sleep(time.Until(due))
				}
				text := l.texts[i%int64(len(l.texts)):][:1]
				if _, err := l.Check(context.Background(), text, api.CheckOptions{}); err != nil {
					b.Error(err)
					return
				}
				took[k] = append(took[k], time.Since(due))
			}
		})
	}
	group.Wait()
	all := slices.Concat(took...)
	slices.Sort(all)
	return all
}

func report(b *testing.B, name string, took []time.Duration, lasted time.Duration) {
	b.Helper()
	b.ReportMetric(float64(len(took))/lasted.Seconds(), name+"/s")
	b.ReportMetric(float64(took[len(took)/2].Microseconds()), name+"-p50-µs")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), name+"-p99-µs")
}

// What checks take, alone and beside a writer at half the rate that it can, and what they cost it.
// The writer is the assigning and storing of fingerprinted articles, without Kafka.
func BenchmarkCheck(b *testing.B) {
	for _, tt := range []struct {
		method  string
		centres int
	}{{"simhash", 1_000_000}, {"simhash", 10_000_000}, {"minhash", 1_000_000}} {
		b.Run(fmt.Sprintf("%s/%d", tt.method, tt.centres), func(b *testing.B) {
			if tt.centres > 1_000_000 && !check.Long {
				b.Skip("it takes minutes; -tags long runs it")
			}
			l := newLoad(b, tt.method, tt.centres)
			const lasts = 5 * time.Second
			for b.Loop() {
				during := func(do func(ctx context.Context)) {
					ctx, stop := context.WithTimeout(context.Background(), lasts)
					defer stop()
					do(ctx)
				}
				during(func(ctx context.Context) { report(b, "alone", l.ask(ctx, b, 8, 0), lasts) })
				during(func(ctx context.Context) { report(b, "1000", l.ask(ctx, b, 16, 1000), lasts) })
				var full, half float64
				during(func(ctx context.Context) { full = l.write(ctx, b, 0) })
				during(func(ctx context.Context) { half = l.write(ctx, b, full/2) })
				b.ReportMetric(full, "written/s")
				for name, rate := range map[string]float64{"beside-1000": 1000, "beside": 0} {
					during(func(ctx context.Context) {
						var rates sync.WaitGroup
						var slowed float64
						rates.Go(func() { slowed = l.write(ctx, b, full/2) })
						report(b, name, l.ask(ctx, b, 16, rate), lasts)
						rates.Wait()
						b.ReportMetric(100*(1-slowed/half), name+"-%slower")
					})
				}
				during(func(ctx context.Context) {
					var rates sync.WaitGroup
					var slowed float64
					rates.Go(func() { slowed = l.write(ctx, b, 0) })
					report(b, "full-1000", l.ask(ctx, b, 16, 1000), lasts)
					rates.Wait()
					b.ReportMetric(100*(1-slowed/full), "full-1000-%slower")
				})
			}
		})
	}
}

// What one check takes of the processor, with its fingerprint and without.
func BenchmarkOneCheck(b *testing.B) {
	for _, method := range []string{"simhash", "minhash"} {
		l := newLoad(b, method, 1_000_000)
		b.Run(method, func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				text := l.texts[i%len(l.texts):][:1]
				if _, err := l.Check(b.Context(), text, api.CheckOptions{}); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(method+"/fingerprinted", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				q := space.Question{Fingerprint: l.print(l.r)}
				if _, err := l.space.Check(b.Context(), q); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
