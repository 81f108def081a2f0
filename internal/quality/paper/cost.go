package paper

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"time"

	"github.com/clusterd/clusterd/internal/quality/eval"
	"github.com/clusterd/clusterd/internal/singlepass"
)

// times measures what an article costs on one core, from its title and content to its cluster: all
// articles in a single pass, twice, of which the faster counts, since the first fills caches.
func (b *bench) times(ctx context.Context) ([]Row, error) {
	row := Row{
		What: "time a document", Unit: Milliseconds,
		Published: &Claim{Figure: 22.5, Most: true},
	}
	for _, v := range b.variants {
		first, err := pass(ctx, v, b.articles)
		if err != nil {
			return nil, err
		}
		second, err := pass(ctx, v, b.articles)
		if err != nil {
			return nil, err
		}
		each := float64(min(first, second).Nanoseconds()) / 1e6 / float64(len(b.articles))
		row.Figures = append(row.Figures, &each)
		b.step()
	}
	return []Row{row}, nil
}

// pass clusters articles in a single pass and returns how long it took.
func pass(ctx context.Context, v Variant, articles []Article) (time.Duration, error) {
	index, err := v.Method.NewIndex(v.Threshold)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", v.Name, err)
	}
	space, printer := singlepass.NewSpace(index, singlepass.Rule{}, nil), v.Method.NewFingerprinter()
	began := time.Now()
	for _, a := range articles {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		if f, ok := printer(a.Title, a.Content); ok {
			space.Assign(f, 0)
		}
	}
	return time.Since(began), nil
}

const (
	// Centres is how many centres memory is measured with if nothing else is said.
	Centres = Documents / 1000
	// maxSketches and maxSketchBytes bound what memory is measured with where sketches must be made.
	maxSketches    = 50_000
	maxSketchBytes = 64 << 20
	// patch is the length in characters of the passages that a text is patched together of.
	patch = 50
	// patches is how many of them a text has: 500 characters.
	patches = 10
)

// memory measures what a centre takes in the index, all in, on the heap, and what as many documents
// as the paper's would.
func (b *bench) memory(ctx context.Context) ([]Row, error) {
	what := fmt.Sprintf("memory for %d million", Documents/1_000_000)
	row := Row{What: what, Unit: Gigabytes, Published: &Claim{Figure: 4, Most: true}}
	other := Row{
		What: what + ", cluster.index mih", Unit: Gigabytes, Published: row.Published,
		Figures: make([]*float64, len(b.variants)),
	}
	for i, v := range b.variants {
		figure, err := b.gigabytes(ctx, v, func() (singlepass.Index, error) {
			return v.Method.NewIndex(v.Threshold)
		})
		if err == nil && v.OtherIndex != nil {
			other.Figures[i], err = b.gigabytes(ctx, v, v.OtherIndex)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", v.Name, err)
		}
		row.Figures = append(row.Figures, figure)
		b.step()
	}
	return []Row{row, other}, nil
}

// gigabytes inserts centres into an index, one by one as a daemon does, and returns by how much the
// heap would grow with all [Documents].
func (b *bench) gigabytes(
	ctx context.Context, v Variant, makeIndex func() (singlepass.Index, error),
) (*float64, error) {
	next := b.strangers(v)
	wanted := b.centres(len(next().Sketch))
	before := eval.LiveHeap()
	index, err := makeIndex()
	if err != nil {
		return nil, err
	}
	for n := range wanted {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		index.Insert(singlepass.Centre{Fingerprint: next(), Seq: uint64(n)})
	}
	grown := eval.LiveHeap() - before
	runtime.KeepAlive(index)
	runtime.KeepAlive(next) // it was there before
	figure := float64(grown) / float64(wanted) * Documents / 1e9
	return &figure, nil
}

// centres returns how many centres memory is measured with, by the bytes of a sketch.
func (b *bench) centres(sketch int) int {
	n := b.options.Centres
	if sketch > 0 {
		n = max(min(n, maxSketches, maxSketchBytes/sketch), 1)
	}
	return n
}

// strangers returns a function that makes fingerprints of which no two are of similar articles:
// random bits, or where a method has sketches, those of texts patched together of the articles.
func (b *bench) strangers(v Variant) func() singlepass.Fingerprint {
	d, printer, others := newDice(b.options.Seed, patching, 0), v.Method.NewFingerprinter(), b.others
	others.self = len(b.texts) - 1 // one has to be left out
	patched := func() singlepass.Fingerprint {
		var text strings.Builder
		for range patches {
			text.WriteString(others.passage(d, patch) + "\n")
		}
		f, _ := printer("", text.String())
		return f
	}
	if patched().Sketch == "" {
		return func() singlepass.Fingerprint { return singlepass.Fingerprint{Hash: d.Uint64()} }
	}
	return patched
}
