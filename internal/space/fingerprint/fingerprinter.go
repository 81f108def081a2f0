// Package fingerprint fingerprints articles on all cores. Articles go in, or the records that hold
// them; out comes an [Article] each, in which none of the text is left, or the reason why a record
// is no article. It knows neither Kafka nor files.
package fingerprint

import (
	"context"
	"strings"
	"sync"

	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/message/cluster"
	"github.com/clusterd/clusterd/internal/method"
	"github.com/clusterd/clusterd/internal/parallel"
	"github.com/clusterd/clusterd/internal/singlepass"
	"github.com/clusterd/clusterd/internal/story/words"
	"github.com/clusterd/clusterd/internal/text"
)

// A Fingerprinter decodes records and fingerprints articles, by one method. It is safe for
// concurrent use.
type Fingerprinter struct {
	method.Method
	config  config.Config
	decoder article.Decoder
	workers *sync.Pool // of *Worker
	// newCounter returns what counts the words of stories; nil where these are off.
	newCounter func() *words.Counter
	ranks      cluster.Ranks
}

// New returns a Fingerprinter by the configured method. A method of words loads the dictionary.
func New(c config.Config) (*Fingerprinter, error) {
	m, err := method.New(c.MethodSettings())
	if err != nil {
		return nil, err
	}
	return With(m, c)
}

// With returns a Fingerprinter by a method, for records of the configured input.
func With(m method.Method, c config.Config) (*Fingerprinter, error) {
	in := c.Input
	decoder, err := article.NewDecoder(in.Format, article.Fields(in.Fields), in.MaxBytes, in.Encoding)
	if err != nil {
		return nil, err
	}
	decoder = article.ByField(article.Copying(decoder, c.Output.Copy), c.Cluster.ScopeField)
	f := &Fingerprinter{Method: m, config: c, decoder: decoder}
	stories, eager := c.Stories.Topic != "", c.Role == config.FingerprintOnly
	if stories {
		if f.newCounter, err = words.New(c.Text); err != nil {
			return nil, err
		}
		if f.ranks, err = cluster.LoadRanks(c.Stories.Ranks); err != nil {
			return nil, err
		}
	}
	f.workers = &sync.Pool{New: func() any {
		w := &Worker{
			decoder: decoder, excerpt: c.Output.Excerpt, fingerprint: m.NewFingerprinter(),
			scope: c.Cluster.ScopeField, keepText: stories && !eager,
		}
		if stories && eager {
			w.words = f.newCounter()
		}
		return w
	}}
	return f, nil
}

// NewCounter returns what counts the words of stories; nil where these are off.
func (f *Fingerprinter) NewCounter() *words.Counter {
	if f.newCounter == nil {
		return nil
	}
	return f.newCounter()
}

// Ranks returns the ranks of publishers, where stories are on and have some.
func (f *Fingerprinter) Ranks() cluster.Ranks { return f.ranks }

// Wire returns the form in which instances with the same settings hand articles on.
func (f *Fingerprinter) Wire() Wire {
	identity := f.Identity()
	if field := f.config.Cluster.ScopeField; field != "" {
		identity += ",scope_field=" + field
	}
	if f.config.Stories.Topic != "" {
		identity += ",stories"
	}
	if contacts := method.ContactsIdentity(f.Method); contacts != "" {
		identity += "," + contacts
	}
	return NewWire(f.config.Input.Topic, identity)
}

// few is how many centres of a value of a divided space are scanned, and not indexed: as many as
// [method.Near] is for.
const few = 32

// NewIndex returns an empty index of centres that are near enough to be joined.
func (f *Fingerprinter) NewIndex() (singlepass.Index, error) {
	index, err := f.Method.NewIndex(f.Threshold())
	if err != nil || f.config.Cluster.Scope != config.ByField {
		return index, err
	}
	return singlepass.NewDivided(singlepass.Division{
		New: func() singlepass.Index {
			index, _ := f.Method.NewIndex(f.Threshold()) // this threshold is allowed
			return index
		},
		Small: few, Near: method.Near(f.Method, index),
	}), nil
}

// ForEach calls do for each item from 0 to n, on all cores and in no order, until ctx ends. Calls
// with the same Worker do not overlap.
func (f *Fingerprinter) ForEach(ctx context.Context, n int, do func(w *Worker, i int)) error {
	parallel.Chunks(n, func(from, to int) {
		w := f.workers.Get().(*Worker)
		defer f.workers.Put(w)
		for i := from; i < to && ctx.Err() == nil; i++ {
			do(w, i)
		}
	})
	return ctx.Err()
}

// One fingerprints an article that is in no record.
func (f *Fingerprinter) One(a article.Article) Article {
	w := f.workers.Get().(*Worker)
	defer f.workers.Put(w)
	return w.Article(a, article.Address{})
}

// A Worker fingerprints one article at a time, in memory that it uses again.
type Worker struct {
	decoder     article.Decoder
	excerpt     int    // characters
	scope       string // cluster.scope_field
	fingerprint func(title, content string) (singlepass.Fingerprint, bool)
	// words counts those of stories at once, for another instance; nil: that is left to whoever knows
	// which articles found clusters, if text is kept for it.
	words    *words.Counter
	keepText bool
}

// SpaceHeader returns the name of the header by which articles are divided, and whether there is
// one.
func (w *Worker) SpaceHeader() (name string, ok bool) { return article.SpaceHeader(w.scope) }

// Record decodes and fingerprints a record. Nothing in the Article refers to key or value, and its
// Key and RecordedAt are not set.
func (w *Worker) Record(key, value []byte, at article.Address) (Article, *article.Rejection) {
	a, rejection := w.decoder.Decode(key, value, at)
	if rejection != nil {
		return Article{}, rejection
	}
	return w.Article(a, at), nil
}

// Article fingerprints an article.
func (w *Worker) Article(a article.Article, source article.Address) Article {
	out := Article{
		Source: source, Representative: article.NewRepresentative(a), PublishedAt: a.PublishedAt,
		Publisher: article.NewPublisher(a), Copied: a.Copied, Notes: a.Notes,
	}
	out.Fingerprint, out.Comparable = w.fingerprint(a.Title, a.Content)
	out.Fingerprint.Space = strings.Clone(a.Space)
	if w.excerpt > 0 && out.Comparable && strings.TrimSpace(a.Title) == "" {
		out.Representative.Excerpt = text.Excerpt(a.Content, w.excerpt)
	}
	switch {
	case !out.Comparable:
	case w.words != nil:
		out.Words = w.words.Count(a.Title, a.Content)
	case w.keepText:
		out.Text = words.TextOf(a.Title, a.Content).Clone()
	}
	return out
}
