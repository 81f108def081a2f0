package pipeline

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

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
}

// NewFingerprinter loads the dictionary, which takes about a second.
func NewFingerprinter(c config.Config) (*Fingerprinter, error) {
	tokenizer, err := text.New(text.Options{Dictionaries: c.Text.Dictionaries, StopWords: c.Text.StopWords, HTML: c.Text.HTML})
	if err != nil {
		return nil, fmt.Errorf("loading dictionaries and stop words: %w", err)
	}
	return newFingerprinter(c, tokenizer)
}

func newFingerprinter(c config.Config, tokenizer *text.Tokenizer) (*Fingerprinter, error) {
	hasher, err := simhash.New(c.Fingerprint.Hash, c.Fingerprint.Weight)
	if err != nil {
		return nil, err
	}
	f := &Fingerprinter{tokenizer: tokenizer, hasher: hasher, identity: strings.Join([]string{
		"method=" + c.Fingerprint.Method, "hash=" + c.Fingerprint.Hash, "weight=" + c.Fingerprint.Weight, tokenizer.Identity(),
	}, ",")}
	if c.Input.Format == "text" {
		f.decoder = article.NewTextDecoder(c.Input.MaxBytes)
	} else {
		f.decoder = article.NewDecoder(article.Fields(c.Input.Fields), c.Input.MaxBytes)
	}
	return f, nil
}

// Identity names how fingerprints are made, as name=value pairs joined by commas. Only
// fingerprints of the same identity can be compared.
func (f *Fingerprinter) Identity() string { return f.identity }

// all fingerprints records on all cores and keeps their order.
func (f *Fingerprinter) all(ctx context.Context, records []kafka.Record) ([]fingerprinted, error) {
	out := make([]fingerprinted, len(records))
	var next atomic.Int64
	var group errgroup.Group
	for range min(runtime.GOMAXPROCS(0), len(records)) {
		group.Go(func() error {
			for i := next.Add(1) - 1; i < int64(len(records)); i = next.Add(1) - 1 {
				if ctx.Err() != nil {
					return ctx.Err()
				}
				out[i] = f.one(records[i])
			}
			return nil
		})
	}
	return out, group.Wait()
}

func (f *Fingerprinter) one(r kafka.Record) fingerprinted {
	out := fingerprinted{record: r, bytes: len(r.Value)}
	a, err := f.decoder.Decode(r.Key, r.Value, out.address())
	if err != nil {
		out.rejection = err.(*article.Rejection) // Decode has no other errors
		return out
	}
	out.record.Value = nil
	counts := f.tokenizer.Tokens(a.Title, a.Content)
	out.representative, out.publishedAt = article.NewRepresentative(a), a.PublishedAt
	out.fingerprint, out.hasTokens = f.hasher.Fingerprint(counts), len(counts) > 0
	return out
}
