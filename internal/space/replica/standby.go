package replica

import (
	"context"

	"github.com/clusterd/clusterd/internal/kafka"
)

// A Standby keeps a replica up to date while nobody works on it, so that whoever takes the space
// over has only the tail to read. It also opens the disk and fills the index while the group is
// still being joined. Its methods are called by one goroutine.
type Standby struct {
	*Replica
	failed chan<- error // for what waiting does not mend

	stop context.CancelFunc
	done chan struct{} // closed while it is paused
}

// NewStandby returns a Standby of the replica, which is paused. It sends an error that waiting does
// not mend to failed.
func NewStandby(r *Replica, failed chan<- error) *Standby {
	s := &Standby{Replica: r, failed: failed, stop: func() {}, done: make(chan struct{})}
	close(s.done)
	return s
}

// Resume begins to follow the clusters topic, until Pause or Close, or until ctx ends. It must be
// paused.
func (s *Standby) Resume(ctx context.Context) {
	ctx, s.stop = context.WithCancel(ctx)
	done := make(chan struct{})
	s.done = done
	go func() {
		defer close(done)
		if err := s.run(ctx); err != nil && ctx.Err() == nil {
			select {
			case s.failed <- kafka.Explain(err):
			case <-ctx.Done():
			}
		}
	}()
}

// Pause tells it to stop. The replica is the caller's once the channel is closed, which takes a
// while where the index is being filled.
func (s *Standby) Pause() (paused <-chan struct{}) {
	s.stop()
	return s.done
}

// Close ends it for good.
func (s *Standby) Close() {
	<-s.Pause()
	s.Replica.Close()
	s.Monitor.Gone(s.Name())
}

func (s *Standby) run(ctx context.Context) error {
	var backoff kafka.Backoff
	for {
		err := s.CatchUp(ctx)
		if err == nil {
			s.Monitor.Standby(s.Name())
			err = s.follow(ctx)
		}
		if !unusable(err) {
			return err
		}
		if err := s.Discard(err); err != nil {
			return err
		}
		if err := backoff.Wait(ctx); err != nil {
			return err
		}
	}
}
