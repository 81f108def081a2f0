package audit

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
)

// A span is a part of a topic: the offsets from (first) to (behind the last) of each partition.
type span struct {
	topic    string
	from, to map[int32]int64
	missing  bool // there is no such topic
}

func (s span) size() (n int64) {
	for p, end := range s.to {
		n += max(0, end-s.from[p])
	}
	return n
}

// begun is the first partition of which the beginning has been deleted, if there is one.
func (s span) begun() (partition int32, from int64, ok bool) {
	for p, offset := range s.from {
		if offset > 0 && (!ok || p < partition) {
			partition, from, ok = p, offset, true
		}
	}
	return partition, from, ok
}

// A cut says up to where each topic is looked at. clusterd may run on meanwhile, so the order in which
// the cut is made matters. A transaction carries results, dead letters, clusters and offsets; all its
// records are in the topics before it is decided, while the markers that make them visible come to each
// partition in their own time. Hence:
//
//  1. The offsets of the group, as committed. A transaction that they show is decided, so all its
//     records are below the ends that are asked for later.
//  2. The end of the clusters topic, and then waiting until everything below is decided (the last
//     stable offset is there). A transaction of which a cluster is below that end has by then all its
//     results and dead letters in the topics.
//  3. The ends of results and dead letters, and waiting again. So they hold everything that the clusters
//     topic speaks of, and this everything that the offsets speak of. They may also hold a part of
//     transactions that came later: their articles are not below the offsets.
//  4. The group's offsets again, asked for so that a decided transaction counts though its marker is not
//     yet in the group's own log. Every result that was found must be below them.
//  5. The input's last stable offset: no result is of a record behind it.
type cut struct {
	committed               map[int32]int64 // of the group, when the cut began
	applied                 map[int32]int64 // of the group, when it was complete
	clusters, results, dead span
	input                   span
	read                    map[int32]int64 // up to where the input is compared with what came out
}

func (a *audit) takeCut(ctx context.Context) (c cut, err error) {
	out := a.config.Output
	if c.committed, err = a.groupOffsets(ctx); err != nil {
		return c, err
	}
	if c.clusters, err = a.decidedEnd(ctx, out.ClustersTopic); err != nil {
		return c, err
	}
	if c.results, err = a.decidedEnd(ctx, out.Topic); err != nil {
		return c, err
	}
	if c.dead, err = a.decidedEnd(ctx, out.DeadLetterTopic); err != nil {
		return c, err
	}
	if c.applied, err = a.stableGroupOffsets(ctx); err != nil {
		return c, err
	}
	c.input = span{topic: a.config.Input.Topic}
	if c.input.to, c.input.missing, err = listed(a.admin.ListCommittedOffsets(ctx, c.input.topic)); err != nil {
		return c, err
	}
	for _, s := range []*span{&c.clusters, &c.results, &c.dead, &c.input} {
		if s.from, _, err = listed(a.admin.ListStartOffsets(ctx, s.topic)); err != nil {
			return c, err
		}
	}
	return c, nil
}

// decidedEnd is the end of a topic as it is now, once no transaction is open below it.
func (a *audit) decidedEnd(ctx context.Context, topic string) (s span, err error) {
	s.topic = topic
	if s.to, s.missing, err = listed(a.admin.ListEndOffsets(ctx, topic)); err != nil {
		return s, err
	}
	return s, a.wait(ctx, "transactions that are open in topic "+topic, func() (bool, error) {
		stable, _, err := listed(a.admin.ListCommittedOffsets(ctx, topic))
		for p, end := range s.to {
			if stable[p] < end {
				return false, err
			}
		}
		return true, err
	})
}

// wait asks again and again until done. It says so when it takes longer than a moment.
func (a *audit) wait(ctx context.Context, what string, done func() (bool, error)) error {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for began, said := time.Now(), false; ; {
		if ok, err := done(); ok || err != nil {
			return err
		}
		if !said && time.Since(began) > time.Second {
			a.options.Log.Info("waiting for " + what + "; the broker ends them when their timeout is over")
			said = true
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// groupOffsets are the offsets that the group has committed for the input, by partition.
func (a *audit) groupOffsets(ctx context.Context) (map[int32]int64, error) {
	offsets, _, err := a.fetchOffsets(ctx)
	return offsets, err
}

// stableGroupOffsets are groupOffsets as of some moment of each partition from now on at which no
// transaction had staged another one.
func (a *audit) stableGroupOffsets(ctx context.Context) (map[int32]int64, error) {
	all := make(map[int32]int64)
	err := a.wait(ctx, "transactions that have staged offsets of group "+a.config.Input.Group, func() (bool, error) {
		stable, unstable, err := a.fetchOffsets(kadm.RequireStable(ctx))
		for p, offset := range stable {
			if _, ok := all[p]; !ok {
				all[p] = offset
			}
		}
		for _, p := range unstable {
			if _, ok := all[p]; !ok {
				return false, err
			}
		}
		return true, err
	})
	return all, err
}

func (a *audit) fetchOffsets(ctx context.Context) (offsets map[int32]int64, unstable []int32, err error) {
	input := a.config.Input
	responses, err := a.admin.FetchOffsets(ctx, input.Group)
	if err != nil && !errors.Is(err, kerr.GroupIDNotFound) {
		return nil, nil, fmt.Errorf("fetching the offsets of group %s: %w", input.Group, err)
	}
	offsets = make(map[int32]int64)
	for p, o := range responses[input.Topic] {
		switch {
		case errors.Is(o.Err, kerr.UnstableOffsetCommit):
			unstable = append(unstable, p)
		case o.Err != nil:
			return nil, nil, fmt.Errorf("fetching the offset of group %s for %s/%d: %w", input.Group, input.Topic, p, o.Err)
		case o.At >= 0:
			offsets[p] = o.At
		}
	}
	return offsets, unstable, nil
}

// listed are offsets by partition, of one topic.
func listed(answer kadm.ListedOffsets, failed error) (offsets map[int32]int64, missing bool, err error) {
	if failed != nil {
		return nil, false, fmt.Errorf("listing offsets: %w", failed)
	}
	offsets = make(map[int32]int64)
	answer.Each(func(o kadm.ListedOffset) {
		switch {
		case errors.Is(o.Err, kerr.UnknownTopicOrPartition):
			missing = true
		case o.Err != nil:
			err = fmt.Errorf("listing offsets of %s/%d: %w", o.Topic, o.Partition, o.Err)
		default:
			offsets[o.Partition] = o.Offset
		}
	})
	return offsets, missing, err
}
