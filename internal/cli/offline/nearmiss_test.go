//go:build unix

package offline

import (
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/files"
	"github.com/clusterd/clusterd/internal/space/fingerprint"
)

// words are how many a comment has, and changed how many of them are others in each near miss: so
// many that hardly any two comments of the template are similar enough, with 30 words, 7 of them
// changed.
const words, changed = 30, 7

// commentsOf returns n comments as configs/comments.yaml reads them, one a second.
func commentsOf(n int, text func() []string) string {
	var b strings.Builder
	for i := range n {
		at := time.Date(2026, 4, 30, 12, 0, i, 0, time.UTC).Format(time.RFC3339)
		fmt.Fprintf(&b, `{"comment":{"id":"%d","text":%q,"created_at":%q,"site":"a.example"}}`+"\n", i,
			strings.Join(text(), " "), at)
	}
	return b.String()
}

// unlike returns a text that has nothing in common with others.
func unlike(r *rand.Rand) []string {
	text := make([]string, words)
	for i := range text {
		text[i] = word(r)
	}
	return text
}

// nearMiss returns a template with other words in some places.
func nearMiss(r *rand.Rand, template []string) []string {
	text := slices.Clone(template)
	for _, place := range r.Perm(words)[:changed] {
		text[place] = word(r)
	}
	return text
}

// Comments of one template that are each just too far from all others, beside as many that have
// nothing in common, in turns: what they take, on the clock and of the processors.
func BenchmarkNearMiss(b *testing.B) {
	const n = 100_000
	c, err := config.Load("../../../configs/comments.yaml")
	if err != nil {
		b.Fatal(err)
	}
	f, err := fingerprint.New(c)
	if err != nil {
		b.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 1))
	template := unlike(r)
	inputs := []struct {
		name, lines string
		took, used  time.Duration
		founded     int
	}{
		{name: "unlike", lines: commentsOf(n, func() []string { return unlike(r) })},
		{name: "near-miss", lines: commentsOf(n, func() []string { return nearMiss(r, template) })},
	}
	for b.Loop() {
		for i := range inputs {
			in := &inputs[i]
			began, used := time.Now(), usedByProcess(b)
			totals, err := run(b.Context(), c, f, []files.File{{
				Name: in.name, Lines: strings.NewReader(in.lines),
			}}, io.Discard, func(r Rejected) error { return r.Rejection }, nil, nil)
			if err != nil {
				b.Fatal(err)
			}
			in.took, in.used = in.took+time.Since(began), in.used+usedByProcess(b)-used
			in.founded = totals.New
		}
	}
	for _, in := range inputs {
		each := float64(b.N * n)
		b.ReportMetric(float64(in.took.Microseconds())/each, "µs/"+in.name)
		b.ReportMetric(float64(in.used.Microseconds())/each, "cpu-µs/"+in.name)
		b.ReportMetric(float64(in.founded), "founded/"+in.name)
	}
	b.ReportMetric(inputs[1].took.Seconds()/inputs[0].took.Seconds(), "ratio")
	b.ReportMetric(inputs[1].used.Seconds()/inputs[0].used.Seconds(), "cpu-ratio")
}

// usedByProcess returns how much processor time this process has used.
func usedByProcess(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
