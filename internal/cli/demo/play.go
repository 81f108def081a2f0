package demo

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/clusterd/clusterd/internal/cli/demo/sample"
	"github.com/clusterd/clusterd/internal/kafka"
)

// maxPause keeps the time between two articles to what a duration can hold.
const maxPause = 24 * time.Hour

// play writes articles at a steady rate. A file that is played to its end leaves
// the demo running, for what others send.
func play(ctx context.Context, o Options, writer *kafka.Writer, view *view) error {
	defer writer.Close()
	next := madeUp(view)
	if o.Articles != nil {
		next = lines(o.Articles)
	}
	ticker := time.NewTicker(time.Duration(min(float64(time.Second)/o.Rate, float64(maxPause))))
	defer ticker.Stop()
	for {
		value, err := next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("--articles: %w", err)
		}
		if err := writer.Write(ctx, value); err != nil {
			return err
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// madeUp makes articles up, without end.
func madeUp(view *view) func() ([]byte, error) {
	generator := sample.New(uint64(time.Now().UnixNano()), time.Now())
	return func() ([]byte, error) {
		a := generator.Next()
		view.sent(a)
		return a.JSON(), nil
	}
}

// lines reads a file line by line. A line that is longer than the topic takes is an error of the
// writer, not of the reader.
func lines(r io.Reader) func() ([]byte, error) {
	buffered := bufio.NewReader(r)
	return func() ([]byte, error) {
		line, err := buffered.ReadBytes('\n')
		if errors.Is(err, io.EOF) && len(line) > 0 {
			err = nil
		}
		return line, err
	}
}
