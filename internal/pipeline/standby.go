package pipeline

import (
	"context"

	"github.com/clusterd/clusterd/internal/kafka"
)

// standby keeps a replica up to date while nobody works on it, so that whoever takes the space over has
// only the tail to read. It also opens the disk and fills the index while the group is still being joined.
type standby struct {
	replica *replica
	failed  chan<- error // for what waiting does not mend

	stop context.CancelFunc // nil: paused
	done chan struct{}
}

// resume begins to follow the clusters topic.
func (s *standby) resume(ctx context.Context) {
	ctx, s.stop = context.WithCancel(ctx)
	s.done = make(chan struct{})
	go func() {
		defer close(s.done)
		if err := s.follow(ctx); err != nil && ctx.Err() == nil {
			select {
			case s.failed <- kafka.Explain(err):
			case <-ctx.Done():
			}
		}
	}()
}

// pause ends that, and waits: then the replica is the caller's.
func (s *standby) pause() {
	if s.stop != nil {
		s.stop()
		<-s.done
		s.stop = nil
	}
}

// close ends it for good.
func (s *standby) close() {
	s.pause()
	s.replica.close()
	s.replica.monitor.Gone(s.replica.name)
}

func (s *standby) follow(ctx context.Context) error {
	var backoff kafka.Backoff
	for {
		err := s.replica.catchUp(ctx)
		if err == nil {
			s.replica.monitor.Standby(s.replica.name)
			err = s.replica.follow(ctx)
		}
		if !unusable(err) {
			return err
		}
		if err := s.replica.discard(err); err != nil {
			return err
		}
		if err := backoff.Wait(ctx); err != nil {
			return err
		}
	}
}
