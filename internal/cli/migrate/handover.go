// Package migrate changes how articles are clustered without an outage: a second space, which is an
// ordinary clusterd with another configuration file, clusters the same input beside the first. Two
// configuration files go in; out come the second one, how far both are, how their clusters differ,
// a topic that maps old ids to new ones, and the switch after which the second space writes what
// readers read.
package migrate

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/clusterd/clusterd/internal/cli/migrate/beside"
	"github.com/clusterd/clusterd/internal/consumer"
	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/sink"
)

// pause is how often it is looked whether something has happened.
const pause = 200 * time.Millisecond

// waitEmpty waits until the group of a space has no members. It says so once, if say is not nil.
func waitEmpty(ctx context.Context, s *beside.Space, say func(members int)) error {
	for said := false; ; said = true {
		n, err := s.Members(ctx)
		if err != nil || n == 0 {
			return err
		}
		if !said && say != nil {
			say(n)
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// errStarted is the error of an instance that has started while none may run.
var errStarted = errors.New("an instance has started meanwhile: stop it, and run the command again")

// mark fences the instances of a space, aborts what they have left open, and commits the offsets
// that they have committed once more, with metadata. A partition without an offset gets its first.
// All offsets of one owner are marked in one transaction under its transactional id, so that an
// instance that starts meanwhile either makes it fail or sees the mark.
func mark(ctx context.Context, s *beside.Space, metadata string) error {
	ids, owned, err := s.Owned(ctx)
	if err != nil {
		return err
	}
	first, _, err := s.Offsets(ctx, s.Input.Topic)
	if err != nil {
		return err
	}
	for _, id := range ids {
		p, err := s.Producer(ctx, id)
		if err != nil {
			return err
		}
		if err := p.Fence(ctx); err != nil {
			return kafka.Explain(err)
		}
		commits, err := s.Commits(ctx, s.Input.Topic)
		if err != nil {
			return err
		}
		batch := sink.Batch{Metadata: metadata}
		for _, partition := range owned[id] {
			at := first[partition]
			if c, ok := commits[partition]; ok {
				at = c.Offset
			}
			batch.Offsets = append(batch.Offsets,
				sink.Offset{Topic: s.Input.Topic, Partition: partition, Offset: at})
		}
		if _, err := p.Commit(ctx, batch); errors.Is(err, sink.ErrFenced) {
			return fmt.Errorf("group %s: %w (%w)", s.Input.Group, errStarted, err)
		} else if err != nil {
			return kafka.Explain(err)
		}
	}
	return nil
}

// handOver makes the old space write no more results: from the offsets on that it returns, they are
// those of another group. Its group must be empty. To do it again changes nothing.
func handOver(ctx context.Context, s *beside.Space, to string) (from map[int]int64, err error) {
	before, already, err := s.HandedOver(ctx)
	if err != nil {
		return nil, err
	}
	partitions, err := s.Partitions(ctx, s.Input.Topic)
	switch {
	case err != nil:
		return nil, err
	case len(before) > 0 && already != to:
		return nil, fmt.Errorf("group %s has handed its results over to group %s already",
			s.Input.Group, already)
	case len(before) == len(partitions):
		return before, nil
	}
	if err := mark(ctx, s, consumer.HandedOver+to); err != nil {
		return nil, err
	}
	from, _, err = s.HandedOver(ctx)
	return from, err
}

// fence aborts what instances of a space have left open, and waits until nothing of it is
// undecided.
func fence(ctx context.Context, s *beside.Space) error {
	ids, _, err := s.Owned(ctx)
	if err != nil {
		return err
	}
	for _, id := range ids {
		p, err := s.Producer(ctx, id)
		if err == nil {
			err = p.Fence(ctx)
		}
		if err != nil {
			return kafka.Explain(err)
		}
	}
	return nil
}

// behind returns how many records a space has still to read until it is where the offsets are.
func behind(commits map[int]consumer.Commit, to map[int]int64) (n int64) {
	for _, p := range slices.Sorted(maps.Keys(to)) {
		n += max(0, to[p]-commits[p].Offset)
	}
	return n
}
