package offline

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/files"
	"github.com/clusterd/clusterd/internal/space"
	"github.com/clusterd/clusterd/internal/space/fingerprint"
	"github.com/clusterd/clusterd/internal/text/fold"
)

// comments are the settings that comments have.
func comments(join bool) config.Config {
	c := config.Default()
	c.Fingerprint.Method, c.Fingerprint.Shingle.Size = "minhash", 3
	c.Cluster.Similarity, c.Cluster.Recall = .5, .99
	if c.Contacts.Join = join; join {
		c.Text.Fold = fold.Latest
	}
	return c
}

// Inputs by which somebody might want to slow clusterd down, or fill its memory, by contacts. No
// two texts are alike.
var contactInputs = []struct {
	name string
	join bool
	text func(r *rand.Rand, i int) string
}{
	{"contacts off", false, func(r *rand.Rand, i int) string { return pitch(r) + " alexis17" }},
	{"none", true, func(r *rand.Rand, i int) string { return pitch(r) }},
	{"one each", true, func(r *rand.Rand, i int) string {
		return fmt.Sprintf("%s alexis%d", pitch(r), 100+i)
	}},
	{"the same in all", true, func(r *rand.Rand, i int) string { return pitch(r) + " alexis17" }},
	{"a thousand in each", true, func(r *rand.Rand, i int) string {
		var b strings.Builder
		b.WriteString(pitch(r))
		for range 1000 {
			fmt.Fprintf(&b, " %s%d", word(r), 10+r.IntN(90))
		}
		return b.String()
	}},
	{"sixteen of twenty in each", true, func(r *rand.Rand, i int) string {
		var b strings.Builder
		b.WriteString(pitch(r))
		for _, n := range r.Perm(20)[:16] {
			fmt.Fprintf(&b, " alexis%d", 10+n)
		}
		return b.String()
	}},
	{"one domain, ever other hosts", true, func(r *rand.Rand, i int) string {
		return fmt.Sprintf("%s http://a%d.shop.example/%d", pitch(r), i, i)
	}},
}

// pitch returns a text like no other.
func pitch(r *rand.Rand) string {
	words := make([]string, 12)
	for i := range words {
		words[i] = word(r)
	}
	return strings.Join(words, " ")
}

func word(r *rand.Rand) string {
	letters := make([]byte, 4+r.IntN(5))
	for i := range letters {
		letters[i] = byte('a' + r.IntN(26))
	}
	return string(letters)
}

func pitches(text func(r *rand.Rand, i int) string, n int) string {
	r := rand.New(rand.NewPCG(1, 1))
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `{"id":"%d","content":%q}`+"\n", i, text(r, i))
	}
	return b.String()
}

// What contacts cost, and what hostile ones cost: 100,000 texts, and how many of them joined.
func BenchmarkContacts(b *testing.B) {
	const articles = 100_000
	for _, input := range contactInputs {
		b.Run(input.name, func(b *testing.B) {
			n := articles
			if strings.HasPrefix(input.name, "a thousand") {
				n /= 10 // 20 kB each
			}
			c := comments(input.join)
			f, err := fingerprint.New(c)
			if err != nil {
				b.Fatal(err)
			}
			lines := pitches(input.text, n)
			var totals Totals
			for b.Loop() {
				totals, err = run(b.Context(), c, f, []files.File{{
					Name: input.name, Lines: strings.NewReader(lines),
				}}, io.Discard, func(r Rejected) error { return r.Rejection }, nil, nil)
				if err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/article")
			b.ReportMetric(float64(totals.Joined), "joined")
			runtime.KeepAlive(lines)
		})
	}
}

// What contacts take of memory: the heap for each of 100,000 comments that have one each, as
// configs/comments.yaml has it and without them. The store is in memory, too.
func BenchmarkContactMemory(b *testing.B) {
	const n = 100_000
	lines := pitches(func(r *rand.Rand, i int) string {
		return fmt.Sprintf("%s alexis%d", pitch(r), 100+i)
	}, n)
	for _, join := range []bool{false, true} {
		b.Run(fmt.Sprintf("join=%t", join), func(b *testing.B) {
			c, _, err := config.LoadSet("../../../configs/comments.yaml", []string{
				fmt.Sprintf("contacts.join=%t", join), "input.fields.id=id", "input.fields.content=content",
			})
			if err != nil {
				b.Fatal(err)
			}
			f, err := fingerprint.New(c)
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				before := liveHeap()
				s := assigned(b, c, f, lines)
				b.ReportMetric(float64(liveHeap()-before)/n, "B/comment")
				if err := s.Close(); err != nil {
					b.Fatal(err)
				}
			}
			runtime.KeepAlive(lines)
		})
	}
}

// assigned returns a space to which the lines have been assigned.
func assigned(
	b *testing.B, c config.Config, f *fingerprint.Fingerprinter, lines string,
) *space.Space {
	b.Helper()
	s, err := newSpace(c, f)
	if err != nil {
		b.Fatal(err)
	}
	r := &runner{
		config: c, fingerprinter: f, space: s, out: bufio.NewWriter(io.Discard),
		rejected: func(r Rejected) error { return r.Rejection },
	}
	chunks, failed := make(chan []item), make(chan error, 1)
	go func() {
		defer close(chunks)
		failed <- r.read(b.Context(), []files.File{{Lines: strings.NewReader(lines)}}, chunks)
	}()
	for chunk := range chunks {
		if err := r.assign(chunk); err != nil {
			b.Fatal(err)
		}
	}
	if err := <-failed; err != nil {
		b.Fatal(err)
	}
	return s
}

func liveHeap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
