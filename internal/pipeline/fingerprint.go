package pipeline

import (
	"bytes"
	"context"
	"sync"
	"time"
	"unsafe"

	"github.com/clusterd/clusterd/internal/article"
	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/method"
	"github.com/clusterd/clusterd/internal/singlepass"
)

// fingerprinted is a record on its way: decoded and fingerprinted, or rejected.
type fingerprinted struct {
	record         kafka.Record           // of an article: without what nobody needs any more
	bytes          int                    // of memory that this holds, and at least those of the record's value
	representative article.Representative // of the cluster that it may found: its id and title
	publishedAt    time.Time              // zero where the article does not say
	fingerprint    singlepass.Fingerprint
	comparable     bool               // there is something in it to compare
	notes          *article.Notes     // what was odd about the article; nil for nothing
	rejection      *article.Rejection // nil for an article
}

func (f *fingerprinted) address() article.Address {
	return article.Address{Topic: f.record.Topic, Partition: f.record.Partition, Offset: f.record.Offset}
}

// Fingerprinter makes fingerprints of records: it decodes, and the method does the rest. It is
// safe for concurrent use.
type Fingerprinter struct {
	method.Method
	decoder  *article.Decoder
	keepKeys bool // results have the keys of their articles
	tally    *article.Tally
	printers *sync.Pool // of *printer, for whoever works
}

type printer struct {
	print func(title, content string) (singlepass.Fingerprint, bool)
}

// NewFingerprinter makes the method that is configured. One of words loads the dictionary, which takes
// about a second.
func NewFingerprinter(c config.Config) (*Fingerprinter, error) {
	m, err := method.New(c)
	if err != nil {
		return nil, err
	}
	return newFingerprinter(c, m)
}

func newFingerprinter(c config.Config, m method.Method) (*Fingerprinter, error) {
	decoder, err := article.NewFormatDecoder(c.Input.Format, article.Fields(c.Input.Fields), c.Input.MaxBytes, c.Input.Encoding)
	if err != nil {
		return nil, err
	}
	return &Fingerprinter{
		Method: m, decoder: decoder,
		keepKeys: c.Output.Key == keySource, tally: NewTally(c.Input),
		printers: &sync.Pool{New: func() any { return &printer{m.NewPrinter()} }},
	}, nil
}

// NewTally returns a tally of what is odd about the articles of an input.
func NewTally(c config.Input) *article.Tally {
	return article.NewTally(c.Format, c.Fields.Content, c.Encoding)
}

// newIndex returns an empty index of centres that are near enough to be joined.
func (f *Fingerprinter) newIndex() (singlepass.Index, error) { return f.NewIndex(f.Bound()) }

// Fingerprints makes the fingerprints of records on all cores, and drops them: it is how fast the stage
// is by itself.
func (f *Fingerprinter) Fingerprints(ctx context.Context, records []kafka.Record) error {
	_, err := f.all(ctx, records)
	return err
}

// all fingerprints records on all cores and keeps their order.
func (f *Fingerprinter) all(ctx context.Context, records []kafka.Record) ([]fingerprinted, error) {
	out := make([]fingerprinted, len(records))
	err := f.onAllCores(ctx, len(records), func(p *printer, i int) { out[i] = f.one(p, records[i]) })
	return out, err
}

// onAllCores has one done for each of n articles, in no order, unless ctx ends.
func (f *Fingerprinter) onAllCores(ctx context.Context, n int, one func(p *printer, i int)) error {
	inPieces(n, func(from, to int) {
		p := f.printers.Get().(*printer)
		defer f.printers.Put(p)
		for i := from; i < to && ctx.Err() == nil; i++ {
			one(p, i)
		}
	})
	return ctx.Err()
}

func (f *Fingerprinter) one(p *printer, r kafka.Record) fingerprinted {
	out := fingerprinted{record: r}
	if r.Unreadable != nil {
		out.reject(&article.Rejection{Class: article.BadBatch, Reason: r.Unreadable.Reason})
		return out
	}
	a, err := f.decoder.Decode(r.Key, r.Value, out.address())
	if err != nil {
		out.reject(err.(*article.Rejection)) // Decode has no other errors
		return out
	}
	out.record.Value, out.record.Headers = nil, nil
	if !f.keepKeys {
		out.record.Key = nil
	} else if len(r.Key) > article.MaxIDBytes {
		out.record.Key = bytes.Clone(r.Key[:article.MaxIDBytes+1]) // too long for results to repeat, as the whole
	}
	out.article(p, a)
	out.bytes = max(len(r.Value), fixed+out.record.Memory()+len(out.representative.ID)+len(out.representative.Title)+len(out.fingerprint.Sketch))
	return out
}

// fixed is what a record takes in a batch beside what it refers to.
const fixed = int(unsafe.Sizeof(fingerprinted{}) - unsafe.Sizeof(kafka.Record{}))

func (f *fingerprinted) reject(r *article.Rejection) {
	f.rejection = r
	f.bytes = fixed + f.record.Memory() + len(r.Reason)
}

func (f *fingerprinted) article(p *printer, a article.Article) {
	f.representative, f.publishedAt, f.notes = article.NewRepresentative(a), a.PublishedAt, a.Notes
	f.fingerprint, f.comparable = p.print(a.Title, a.Content)
}
