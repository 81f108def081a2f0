package pipeline

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"golang.org/x/sync/errgroup"

	"github.com/clusterd/clusterd/internal/article"
	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/state"
)

const (
	// fileChunkBytes and fileChunkLines are how much of a file is fingerprinted at a time.
	fileChunkBytes = 4 << 20
	fileChunkLines = 4096
)

// Input is a file to be clustered: one article a line.
type Input struct {
	Name string // for messages
	io.Reader
}

// Rejected is a line that is no article.
type Rejected struct {
	Name  string // of the file
	Line  int    // from 1
	Value []byte // the line; of one that is too large, its beginning
	*article.Rejection
}

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

// File clusters the lines of the inputs, one after the other, as if they were the records of
// partition 0 of the input topic, beginning at offset 0: the cluster ids are those that [Run] gives
// to the same lines in Kafka. It writes one result a line to out, in order, and hands each line that
// is no article to rejected. An article that does not say when it was published has the event time
// of the latest one before it.
//
// Memory is bounded by the clusters, and by [fileChunkBytes] or one line of input.max_bytes.
func File(ctx context.Context, c config.Config, inputs []Input, out io.Writer, rejected func(Rejected) error) (Totals, error) {
	fingerprinter, err := NewFingerprinter(c)
	if err != nil {
		return Totals{}, err
	}
	return clusterFiles(ctx, c, fingerprinter, inputs, out, rejected)
}

func clusterFiles(ctx context.Context, c config.Config, fingerprinter *Fingerprinter, inputs []Input, out io.Writer, rejected func(Rejected) error) (Totals, error) {
	// The same store as the daemon's, in memory.
	store, err := state.Open("clusters", state.Identity{Input: c.Input.Topic}, state.Options{FS: vfs.NewMem()})
	if err != nil {
		return Totals{}, err
	}
	defer func() { _ = store.Close() }() // nothing of it is kept
	clusters, err := newSpace(c.Cluster.Index, c.Cluster.Distance, c.Cluster.Window, fingerprinter.Identity(), store, time.Now)
	if err != nil {
		return Totals{}, err
	}
	f := &file{config: c, fingerprinter: fingerprinter, clusters: clusters, out: bufio.NewWriter(out), rejected: rejected}
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
	totals        Totals
}

// fileChunk is a run of lines of one file, and the offset of that file's first line.
type fileChunk struct {
	name    string
	first   int64
	records []fingerprinted
}

func (f *file) read(ctx context.Context, inputs []Input, chunks chan<- fileChunk) error {
	var offset int64
	for _, input := range inputs {
		first := offset
		lines := lineReader{r: bufio.NewReaderSize(input, 1<<20), limit: f.config.Input.MaxBytes + 1}
		for done := false; !done; {
			var records []kafka.Record
			for size := 0; size < fileChunkBytes && len(records) < fileChunkLines; {
				line, err := lines.next()
				if errors.Is(err, io.EOF) {
					done = true
					break
				}
				if err != nil {
					return fmt.Errorf("reading %s: %w", input.Name, err)
				}
				records = append(records, kafka.Record{Topic: f.config.Input.Topic, Offset: offset, Value: line})
				offset++
				size += len(line)
			}
			prints, err := f.fingerprinter.all(ctx, records)
			if err != nil {
				return err
			}
			select {
			case chunks <- fileChunk{name: input.Name, first: first, records: prints}:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	}
	return nil
}

// lineReader reads lines without their ends, and of a line over the limit only the first limit bytes.
type lineReader struct {
	r     *bufio.Reader
	limit int
}

func (l *lineReader) next() ([]byte, error) {
	line := []byte{}
	for {
		part, err := l.r.ReadSlice('\n')
		line = append(line, part[:min(len(part), l.limit+2-len(line))]...)
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF) && len(line) == 0:
			return nil, io.EOF
		case err != nil && !errors.Is(err, io.EOF):
			return nil, err
		default:
			line = bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
			return line[:min(len(line), l.limit)], nil
		}
	}
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
		if o.rejection != nil {
			line := int(o.record.Offset-chunk.first) + 1
			if err := f.rejected(Rejected{Name: chunk.name, Line: line, Value: o.record.Value, Rejection: o.rejection}); err != nil {
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
