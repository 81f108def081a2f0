package consumer

import "context"

// A Reading is a [Log] that is being read.
type Reading struct {
	Chunks <-chan Chunk
	// Failed has the error with which it ended, once.
	Failed <-chan error

	cancel context.CancelFunc
	ended  <-chan struct{}
}

// Start begins to read. The caller ends it with [Reading.Stop].
func (l *Log) Start(ctx context.Context) *Reading {
	ctx, cancel := context.WithCancel(ctx)
	chunks, failed, ended := make(chan Chunk), make(chan error, 1), make(chan struct{})
	go func() {
		defer close(ended)
		failed <- l.Read(ctx, chunks)
	}()
	return &Reading{Chunks: chunks, Failed: failed, cancel: cancel, ended: ended}
}

// Stop ends the reading, and returns when nothing of the Log is called any more.
func (r *Reading) Stop() {
	r.cancel()
	<-r.ended
}
