package replica

import (
	"context"

	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/message/checkpoint"
)

// hold has readers see the space as of the last checkpoint that was read, while more is read. All
// partitions are read as far as that, or the space is not loaded.
func (r *Replica) hold() {
	if r.space.Loaded() {
		r.space.Settle(r.space.Meta().Checkpoint)
	}
}

// settling moves on what readers see. A transaction writes clusters to several partitions, and the
// checkpoint to one of them. When that is read, the others were written, but perhaps not read.
type settling struct {
	*Replica
	seen    uint64             // checkpoints that were looked at
	waiting *checkpoint.Record // nil: none
	ends    map[int]int64      // by partition: up to where to read for it
}

// settle has readers see the space as of the last checkpoint for which all was read.
func (s *settling) settle(ctx context.Context) error {
	for {
		if s.waiting == nil {
			if s.seen == s.advanced {
				return nil
			}
			s.seen, s.waiting = s.advanced, s.space.Meta().Checkpoint
			if err := s.look(ctx); err != nil {
				return err
			}
		}
		reached := s.space.Meta().Offsets
		for p, end := range s.ends {
			if reached[p] < end {
				return nil
			}
		}
		s.space.Settle(s.waiting)
		s.waiting = nil
	}
}

// look asks where the partitions end now, if there are several.
func (s *settling) look(ctx context.Context) error {
	s.ends = nil
	if len(s.partitions) == 1 {
		return nil
	}
	return kafka.Retry(ctx, s.Log, "looking at topic "+s.Topic, func() (err error) {
		s.ends, err = s.Client.Offsets(ctx, s.Topic, s.partitions, kafka.Last)
		return err
	})
}
