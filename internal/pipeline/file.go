package pipeline

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"golang.org/x/sync/errgroup"

	"github.com/clusterd/clusterd/internal/article"
	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/files"
	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/state"
)

const (
	// fileChunkBytes and fileChunkLines are how much of a file is fingerprinted at a time.
	fileChunkBytes = 4 << 20
	fileChunkLines = 4096
)

// Rejected is a line, or a document, that is no article.
type Rejected struct {
	files.Entry
	*article.Rejection
}

// An Observer is told of each line, in order, what was odd about its article, nil for nothing, or why it is none.
type Observer func(files.Entry, *article.Notes, *article.Rejection)

// Totals counts what became of records, or of the lines of a file.
type Totals struct {
	Lines, New, Joined, Unclustered, Rejected int
	Clusters                                  int // at the end, with those that have expired and were not taken away yet
}

func (t *Totals) add(o *outcome) {
	t.Lines++
	switch {
	case o.rejection != nil:
		t.Rejected++
	case o.result.Status == article.Unclustered:
		t.Unclustered++
	case o.result.Status == article.New:
		t.New++
	default:
		t.Joined++
	}
}

// File clusters the lines of the inputs, and their documents, one after the other, as if they were the records of
// partition 0 of the input topic, beginning at offset 0: the cluster ids are those that [Run] gives
// to the same lines in Kafka. It writes one result a line to out, in order, and hands each line that
// is no article to rejected. An article that does not say when it was published has the event time
// of the latest one before it. What is odd about
// a line it tells observe, if that is not nil.
//
// Memory is bounded by the clusters, and by [fileChunkBytes] or one line or document of input.max_bytes.
func File(ctx context.Context, c config.Config, inputs []files.File, out io.Writer, rejected func(Rejected) error, observe Observer) (Totals, error) {
	fingerprinter, err := NewFingerprinter(c)
	if err != nil {
		return Totals{}, err
	}
	return clusterFiles(ctx, c, fingerprinter, inputs, out, rejected, observe)
}

func clusterFiles(ctx context.Context, c config.Config, fingerprinter *Fingerprinter, inputs []files.File, out io.Writer, rejected func(Rejected) error, observe Observer) (Totals, error) {
	// The same store as the daemon's, in memory.
	store, err := state.Open("clusters", state.Identity{Input: c.Input.Topic}, state.Options{FS: vfs.NewMem()})
	if err != nil {
		return Totals{}, err
	}
	defer func() { _ = store.Close() }() // nothing of it is kept
	index, err := fingerprinter.newIndex()
	if err != nil {
		return Totals{}, err
	}
	clusters := newSpace(index, c.Cluster.Window, fingerprinter.Identity(), store, time.Now)
	f := &file{config: c, fingerprinter: fingerprinter, clusters: clusters, out: bufio.NewWriter(out), rejected: rejected, observe: observe}
	chunks := make(chan fileChunk)
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		defer close(chunks)
		return f.read(ctx, inputs, chunks)
	})
	group.Go(func() error {
		for chunk := range chunks {
			if err := f.assign(chunk); err != nil {
				return err
			}
		}
		if err := f.out.Flush(); err != nil {
			return fmt.Errorf("writing results: %w", err)
		}
		return nil
	})
	err = group.Wait()
	f.totals.Clusters = clusters.rule.Len()
	return f.totals, err
}

type file struct {
	config        config.Config
	fingerprinter *Fingerprinter
	clusters      *space
	out           *bufio.Writer
	rejected      func(Rejected) error
	observe       Observer
	totals        Totals
}

// fileChunk is a run of entries.
type fileChunk struct {
	entries []files.Entry
	records []fingerprinted
}

func (f *file) read(ctx context.Context, inputs []files.File, chunks chan<- fileChunk) error {
	reader, err := files.NewReader(f.config.Input, inputs)
	if err != nil {
		return err
	}
	for done := false; !done; {
		var chunk fileChunk
		for size := 0; size < fileChunkBytes && len(chunk.entries) < fileChunkLines; {
			entry, err := reader.Next()
			if done = errors.Is(err, io.EOF); done {
				break
			}
			if err != nil {
				return err
			}
			chunk.entries = append(chunk.entries, entry)
			size += len(entry.Value)
		}
		chunk.records = make([]fingerprinted, len(chunk.entries))
		err := f.fingerprinter.onAllCores(ctx, len(chunk.entries), func(p *printer, i int) {
			chunk.records[i] = printEntry(p, reader, chunk.entries[i])
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

func printEntry(p *printer, reader *files.Reader, e files.Entry) fingerprinted {
	at := reader.Address(e)
	out := fingerprinted{record: kafka.Record{Topic: at.Topic, Partition: at.Partition, Offset: at.Offset}}
	a, rejection := reader.Article(e)
	if rejection != nil {
		out.rejection = rejection
	} else {
		out.article(p, a)
	}
	return out
}

func (f *file) assign(chunk fileChunk) error {
	c, err := f.clusters.assign(chunk.records)
	if err == nil {
		err = f.clusters.apply(c, nil)
	}
	if err != nil {
		return err
	}
	for i := range c.outcomes {
		o := &c.outcomes[i]
		f.totals.add(o)
		if f.observe != nil {
			f.observe(chunk.entries[i], o.notes, o.rejection)
		}
		if o.rejection != nil {
			if err := f.rejected(Rejected{chunk.entries[i], o.rejection}); err != nil {
				return err
			}
			continue
		}
		if _, err := f.out.Write(append(o.result.AppendJSON(f.out.AvailableBuffer()), '\n')); err != nil {
			return fmt.Errorf("writing results: %w", err)
		}
	}
	return nil
}
