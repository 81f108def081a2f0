// Package offline clusters files, without Kafka: lines or documents go in, one result a line comes
// out, by the same fingerprints and the same assignment as in the daemon.
package offline

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/files"
	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/space"
	"github.com/clusterd/clusterd/internal/space/fingerprint"
	"github.com/clusterd/clusterd/internal/space/state"
)

const (
	// chunkBytes and chunkEntries are how much is fingerprinted at a time.
	chunkBytes   = 4 << 20
	chunkEntries = 4096
)

// Rejected is a line, or a document, that is no article.
type Rejected struct {
	files.Entry
	*article.Rejection
}

// An Observer is called for each line, in order, with what was odd about its article, nil for
// nothing, or with why it is none.
type Observer func(files.Entry, *article.Notes, *article.Rejection)

// Totals counts what became of the lines.
type Totals struct {
	space.Counts
	Lines, Rejected int
	Clusters        int // at the end, with those that have expired and were not removed yet
}

// Cluster clusters the lines of the inputs, and their documents, one after the other, as if they
// were the records of partition 0 of the input topic, beginning at offset 0: the cluster ids are
// those that the daemon gives to the same lines in Kafka. It writes one result a line to out, in
// order, and hands each line that is no article to rejected. An article that does not say when it
// was published has the event time of the latest one before it. What is odd about a line it hands
// to observe, if that is not nil. A trial, which may be nil, gets the same articles.
//
// Memory is bounded by the clusters, and by 4 MiB or one line or document of input.max_bytes.
func Cluster(
	ctx context.Context, c config.Config, inputs []files.File, out io.Writer,
	rejected func(Rejected) error, observe Observer, trial *Trial,
) (Totals, error) {
	f, err := fingerprint.New(c)
	if err != nil {
		return Totals{}, err
	}
	return run(ctx, c, f, inputs, out, rejected, observe, trial)
}

func run(ctx context.Context, c config.Config, fingerprinter *fingerprint.Fingerprinter,
	inputs []files.File, out io.Writer,
	rejected func(Rejected) error, observe Observer, trial *Trial,
) (Totals, error) {
	s, err := newSpace(c, fingerprinter)
	if err != nil {
		return Totals{}, err
	}
	defer func() { _ = s.Close() }() // nothing of it is kept
	r := &runner{
		config: c, fingerprinter: fingerprinter, identity: fingerprinter.Identity(),
		parts: article.PartsOf(c.Output.Fields), space: s,
		out: bufio.NewWriter(out), rejected: rejected, observe: observe, trial: trial,
	}
	chunks := make(chan []item)
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		defer close(chunks)
		return r.read(ctx, inputs, chunks)
	})
	group.Go(func() error {
		for chunk := range chunks {
			if err := r.assign(chunk); err != nil {
				return err
			}
		}
		if err := r.out.Flush(); err != nil {
			return fmt.Errorf("writing results: %w", err)
		}
		return nil
	})
	err = group.Wait()
	r.totals.Clusters = r.space.Len()
	return r.totals, err
}

// newSpace returns an empty space in memory.
func newSpace(c config.Config, f *fingerprint.Fingerprinter) (*space.Space, error) {
	store, err := state.OpenInMemory(state.Identity{Input: c.Input.Topic})
	if err != nil {
		return nil, err
	}
	index, err := f.NewIndex()
	if err != nil {
		return nil, errors.Join(err, store.Close())
	}
	options := space.OptionsOf(c, f.Threshold())
	options.Stories.Ranks = f.Ranks()
	options.Stories.NewCounter = f.NewCounter
	return space.New(index, store, options, time.Now), nil
}

type runner struct {
	config        config.Config
	fingerprinter *fingerprint.Fingerprinter
	identity      string // of the fingerprinter
	parts         article.Parts
	space         *space.Space
	out           *bufio.Writer
	rejected      func(Rejected) error
	observe       Observer
	trial         *Trial
	totals        Totals
}

// An item is an entry of a file: an article, or why it is none.
type item struct {
	files.Entry
	fingerprint.Article
	*article.Rejection
	tried *fingerprint.Article // by the trial; nil where there is none
}

// read fingerprints the entries of the files, in chunks.
func (r *runner) read(ctx context.Context, inputs []files.File, chunks chan<- []item) error {
	reader, err := files.NewReader(r.config.Input, inputs)
	if err != nil {
		return err
	}
	reader.Copy(r.config.Output.Copy)
	reader.Divide(r.config.Cluster.ScopeField)
	for done := false; !done; {
		var chunk []item
		for size := 0; size < chunkBytes && len(chunk) < chunkEntries; {
			entry, err := reader.Next()
			if done = errors.Is(err, io.EOF); done {
				break
			}
			if err != nil {
				return err
			}
			chunk = append(chunk, item{Entry: entry})
			size += len(entry.Value)
		}
		try := r.trial.takes(len(chunk))
		err := r.fingerprinter.ForEach(ctx, len(chunk), func(w *fingerprint.Worker, i int) {
			it := &chunk[i]
			var a article.Article
			if a, it.Rejection = reader.Article(it.Entry); it.Rejection == nil {
				it.Article = w.Article(a, reader.Address(it.Entry))
				if try {
					it.tried = r.trial.article(a, it.Source)
				}
			}
		})
		if err != nil {
			return err
		}
		select {
		case chunks <- chunk:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// assign assigns a chunk, and writes what became of it.
func (r *runner) assign(chunk []item) error {
	batch, err := r.space.Assign(func(yield func(*fingerprint.Article) bool) {
		for i := range chunk {
			if chunk[i].Rejection == nil && !yield(&chunk[i].Article) {
				return
			}
		}
	}, len(chunk))
	if err == nil {
		err = r.space.Commit(batch, r.space.Meta())
	}
	if err != nil {
		return err
	}
	if err := r.trial.assign(chunk); err != nil {
		return err
	}
	r.totals.Add(batch.Counts())
	assigned := batch.Assignments
	for i := range chunk {
		it := &chunk[i]
		r.totals.Lines++
		if r.observe != nil {
			r.observe(it.Entry, it.Notes, it.Rejection)
		}
		if it.Rejection != nil {
			r.totals.Rejected++
			if err := r.rejected(Rejected{it.Entry, it.Rejection}); err != nil {
				return err
			}
			continue
		}
		line := append(assigned[0].AppendJSON(r.out.AvailableBuffer(), r.identity, r.parts), '\n')
		assigned = assigned[1:]
		if _, err := r.out.Write(line); err != nil {
			return fmt.Errorf("writing results: %w", err)
		}
	}
	return nil
}
