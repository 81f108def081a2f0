package pipeline

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/clusterd/clusterd/internal/article"
	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/simhash"
	"github.com/clusterd/clusterd/internal/text"
)

// fingerprinted is a record on its way: decoded and fingerprinted, or rejected.
type fingerprinted struct {
	record         kafka.Record           // without its value, unless it is rejected
	bytes          int                    // the size of the record's value
	representative article.Representative // of the cluster that it may found: its id and title
	publishedAt    time.Time              // zero where the article does not say
	fingerprint    uint64
	hasTokens      bool
	rejection      *article.Rejection // nil for an article
}

func (f *fingerprinted) address() article.Address {
	return article.Address{Topic: f.record.Topic, Partition: f.record.Partition, Offset: f.record.Offset}
}

// Fingerprinter makes fingerprints of records: it decodes, takes the tokens, and hashes. It is
// safe for concurrent use.
type Fingerprinter struct {
	decoder   *article.Decoder
	tokenizer *text.Tokenizer
	hasher    *simhash.Hasher
	identity  string
	counters  *sync.Pool // of *text.Counter, for whoever works
}

// NewFingerprinter loads the dictionary, which takes about a second.
func NewFingerprinter(c config.Config) (*Fingerprinter, error) {
	hasher, err := simhash.New(c.Fingerprint.Hash, c.Fingerprint.Weight)
	if err != nil {
		return nil, err
	}
	tokenizer, err := text.New(text.Options{
		Dictionaries: c.Text.Dictionaries, StopWords: c.Text.StopWords, HTML: c.Text.HTML, Hash: hasher.Hash,
	})
	if err != nil {
		return nil, fmt.Errorf("loading dictionaries and stop words: %w", err)
	}
	return newFingerprinter(c, tokenizer, hasher), nil
}

func newFingerprinter(c config.Config, tokenizer *text.Tokenizer, hasher *simhash.Hasher) *Fingerprinter {
	f := &Fingerprinter{
		tokenizer: tokenizer, hasher: hasher,
		identity: strings.Join([]string{
			"method=" + c.Fingerprint.Method, "hash=" + c.Fingerprint.Hash, "weight=" + c.Fingerprint.Weight, tokenizer.Identity(),
		}, ","),
		counters: &sync.Pool{New: func() any { return tokenizer.NewCounter() }},
	}
	if c.Input.Format == "text" {
		f.decoder = article.NewTextDecoder(c.Input.MaxBytes)
	} else {
		f.decoder = article.NewDecoder(article.Fields(c.Input.Fields), c.Input.MaxBytes)
	}
	return f
}

// Identity names how fingerprints are made, as name=value pairs joined by commas. Only
// fingerprints of the same identity can be compared.
func (f *Fingerprinter) Identity() string { return f.identity }

// Fingerprints makes the fingerprints of records on all cores, and drops them: it is how fast the stage
// is by itself.
func (f *Fingerprinter) Fingerprints(ctx context.Context, records []kafka.Record) error {
	_, err := f.all(ctx, records)
	return err
}

// all fingerprints records on all cores and keeps their order.
func (f *Fingerprinter) all(ctx context.Context, records []kafka.Record) ([]fingerprinted, error) {
	out := make([]fingerprinted, len(records))
	inPieces(len(records), func(from, to int) {
		counter := f.counters.Get().(*text.Counter)
		defer f.counters.Put(counter)
		for i := from; i < to && ctx.Err() == nil; i++ {
			out[i] = f.one(counter, records[i])
		}
	})
	return out, ctx.Err()
}

func (f *Fingerprinter) one(counter *text.Counter, r kafka.Record) fingerprinted {
	out := fingerprinted{record: r, bytes: len(r.Value)}
	a, err := f.decoder.Decode(r.Key, r.Value, out.address())
	if err != nil {
		out.rejection = err.(*article.Rejection) // Decode has no other errors
		return out
	}
	out.record.Value = nil
	tokens := counter.Tokens(a.Title, a.Content)
	out.representative, out.publishedAt = article.NewRepresentative(a), a.PublishedAt
	out.fingerprint, out.hasTokens = f.hasher.Fingerprint(tokens), len(tokens) > 0
	return out
}
