// Package paper repeats the experiments of the paper that the design follows, on articles of
// the user's own. In go articles and methods; out come, beside each published figure, what each
// method reaches.
//
// The paper leaves open how its texts were edited. Here a text is title and content as the
// methods read them, without mark-up and normalised, and its units are characters:
//
//   - p % added: words of other articles, drawn at random, are put in one at a time at random
//     places until they have p % as many characters as the text; or one passage of another article
//     is.
//   - p % deleted: words are taken out one at a time at random places until they had p % of the
//     characters; or one passage is.
//   - p % changed: words that have p % of the characters, at random places, are replaced by words
//     of other articles.
//   - reordered: the text is cut after each sentence, and all sentences are put in random order.
//
// A word is a run of letters and digits; of Han characters, two. Recognised is an edited text at a
// distance from the original that is within the threshold of the method.
package paper

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"unicode/utf8"

	"github.com/clusterd/clusterd/internal/method"
	"github.com/clusterd/clusterd/internal/parallel"
	"github.com/clusterd/clusterd/internal/quality/eval"
	"github.com/clusterd/clusterd/internal/singlepass"
)

// An Article is one of the user's: as it came, and as the methods read it.
type Article struct {
	Title, Content string
	Text           string // title, line break and content, cleaned; valid UTF-8 with words in it
}

// A Variant is a method at one threshold.
type Variant struct {
	Name string // METHOD[,KEY=VALUE]...
	// Method is the same one for several thresholds, whose fingerprints are then made once.
	Method    method.Method
	Threshold float64
	// OtherIndex makes an index of the same centres that needs other memory; nil if there is none.
	OtherIndex func() (singlepass.Index, error)
}

// Options are what an experiment depends on beside articles and methods.
type Options struct {
	Seed uint64
	// Progress is called after each step with how many of all are done.
	Progress func(done, all int)
	// Centres is how many centres memory is measured with, at least 1. Of methods with sketches it
	// is 50,000 at most, or as many as take 64 MiB.
	Centres int
}

// A Report is what came out.
type Report struct {
	Seed       uint64   `json:"seed"`
	Articles   int      `json:"articles"`
	Characters float64  `json:"characters"` // of an article, on average, as it is edited
	Variants   []string `json:"variants"`
	Rows       []Row    `json:"rows"`
}

// A Row is one figure, published and ours.
type Row struct {
	What string `json:"what"`
	Unit string `json:"unit"`
	// Published is the paper's for SimHash at distance 3, nil where it has none.
	Published *Claim `json:"published,omitempty"`
	// Shingle is the paper's for Shingle above a similarity of .95, nil where it has none.
	Shingle *float64 `json:"published_shingle,omitempty"`
	// Figures are ours, in the order of the variants; nil where there is none to measure.
	Figures []*float64 `json:"figures"`
}

// Run repeats the experiments. All rows but those of time and memory depend on articles,
// variants and seed alone.
func Run(ctx context.Context, articles []Article, variants []Variant, o Options) (Report, error) {
	if len(articles) < 2 {
		return Report{}, errors.New(
			"two articles are needed at least, since text is added to one from another")
	}
	b := newBench(articles, variants, o)
	report := Report{Seed: o.Seed, Articles: len(articles), Characters: b.characters()}
	for _, v := range variants {
		report.Variants = append(report.Variants, v.Name)
	}
	for _, part := range []func(context.Context) ([]Row, error){
		b.times, b.memory, b.recognised,
		b.mistaken,
	} {
		rows, err := part(ctx)
		if err != nil {
			return Report{}, err
		}
		report.Rows = append(report.Rows, rows...)
	}
	return report, nil
}

// A bench is what the experiments work on.
type bench struct {
	articles []Article
	texts    []string
	others   donor
	variants []Variant
	methods  []method.Method // of the variants, each once
	options  Options
	done     int // steps

	originals [][]eval.Print // by method, of each text
}

func newBench(articles []Article, variants []Variant, o Options) *bench {
	b := &bench{articles: articles, variants: variants, options: o}
	for _, a := range articles {
		b.texts = append(b.texts, a.Text)
	}
	b.others = newDonor(b.texts)
	for _, v := range variants {
		if b.place(v.Method) < 0 {
			b.methods = append(b.methods, v.Method)
		}
	}
	return b
}

// place returns where a method is among those of the bench, -1 if it is not.
func (b *bench) place(m method.Method) int {
	return slices.Index(b.methods, m)
}

// step reports that one more is done: for each variant its time and its memory, and for each method
// its fingerprints of the originals and of what each experiment makes of them.
func (b *bench) step() {
	b.done++
	if b.options.Progress != nil {
		b.options.Progress(b.done, 2*len(b.variants)+len(b.methods)*(1+len(experiments())))
	}
}

func (b *bench) characters() float64 {
	sum := 0
	for _, t := range b.texts {
		sum += utf8.RuneCountInString(t)
	}
	return float64(sum) / float64(len(b.texts))
}

// fingerprints makes the fingerprints of texts, on all cores.
func (b *bench) fingerprints(
	ctx context.Context, m method.Method, texts []string,
) ([]eval.Print, error) {
	docs := make([]eval.Document, len(texts))
	for i, t := range texts {
		docs[i].Content = t
	}
	all, _, err := eval.Fingerprint(ctx, m, docs, runtime.GOMAXPROCS(0), func(int) {})
	b.step()
	return all, err
}

// each calls a function with each number below n, on all cores and in no order.
func each(ctx context.Context, n int, do func(i int)) error {
	parallel.Chunks(n, func(from, to int) {
		for i := from; i < to && ctx.Err() == nil; i++ {
			do(i)
		}
	})
	return ctx.Err()
}
