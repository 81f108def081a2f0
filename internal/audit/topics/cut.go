package topics

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/clusterd/clusterd/internal/config"
)

// A Span is a part of a topic: the offsets from (first) to (behind the last) of each partition.
type Span struct {
	Topic    string
	From, To map[int32]int64
	Missing  bool // there is no such topic
}

// Size returns how many offsets the span has.
func (s Span) Size() (n int64) {
	for p, end := range s.To {
		n += max(0, end-s.From[p])
	}
	return n
}

// Deleted returns the first partition of which the beginning has been deleted, and the offset from
// which on it is there, if there is one.
func (s Span) Deleted() (partition int32, from int64, ok bool) {
	for p, offset := range s.From {
		if offset > 0 && (!ok || p < partition) {
			partition, from, ok = p, offset, true
		}
	}
	return partition, from, ok
}

// A Cut says up to where each topic is looked at. clusterd may be running, so the order matters in
// which the cut is made. A transaction carries results, dead letters, clusters and offsets. All its
// records are in the topics before it is decided; the markers that make them visible come to each
// partition in their own time. Hence:
//
//  1. The offsets of the group, as committed. A transaction that they show is decided, so all its
//     records are below the ends that are asked for later.
//  2. The end of the clusters topic; then waiting until everything below it is decided (the last
//     stable offset is there). A transaction with a cluster below that end has by then all its
//     results and dead letters in the topics.
//  3. The ends of results and dead letters, and waiting again. So the results are those of all
//     clusters below the end, and the clusters those of all offsets. There may also be a part of
//     later transactions: their articles are not below the offsets.
//  4. The group's offsets again, asked for so that a decided transaction counts though its marker
//     is not yet in the group's own log. Every result that was found must be below them.
//  5. The input's last stable offset: no result is of a record behind it. Likewise of labels.
//
// Where articles are fingerprinted by other instances than assign them, there are two such groups.
// The offsets of the one that fingerprints come first and last, those of the other one between
// them, and the end of the topic that joins them after these: so that has all that is fingerprinted
// by the former, and all that is assigned by the latter.
type Cut struct {
	Committed                      map[int32]int64 // of the group, when the cut began
	Applied                        map[int32]int64 // of the group, when it was complete
	Input                          Span
	Clusters, Results, DeadLetters Span
	Labels, Corrections, Stories   Span // empty where there are none

	// Where articles are fingerprinted by other instances than assign them, Committed and Applied are
	// of those that fingerprint, and these of those that assign: their topic, and offsets in it.
	Fingerprints      Span
	Read, ReadApplied map[int32]int64
}

// Cut makes a cut of the topics of a clusterd that has these settings.
func (c *Client) Cut(ctx context.Context, settings config.Config) (Cut, error) {
	for began := time.Now(); ; {
		cut, err := c.cut(ctx, settings)
		// franz-go asks again wherever it failed, but not where a broker hangs.
		if !errors.Is(err, os.ErrDeadlineExceeded) || time.Since(began) > answerLimit {
			return cut, err
		}
	}
}

func (c *Client) cut(ctx context.Context, settings config.Config) (cut Cut, err error) {
	in, out, labels := settings.Input, settings.Output, settings.Labels
	input := config.Source{Topic: in.Topic, Group: in.Group}
	fingerprints := config.Source{Topic: settings.Fingerprints.Topic, Group: settings.AssignGroup()}
	if cut.Committed, _, err = c.groupOffsets(ctx, input); err != nil {
		return cut, err
	}
	if settings.Divided() {
		if cut.Read, _, err = c.groupOffsets(ctx, fingerprints); err != nil {
			return cut, err
		}
	}
	if cut.Clusters, err = c.decidedEnd(ctx, out.ClustersTopic); err != nil {
		return cut, err
	}
	if cut.Results, err = c.decidedEnd(ctx, out.Topic); err != nil {
		return cut, err
	}
	if cut.DeadLetters, err = c.decidedEnd(ctx, out.DeadLetterTopic); err != nil {
		return cut, err
	}
	if labels.Corrections != "" {
		if cut.Corrections, err = c.decidedEnd(ctx, labels.Corrections); err != nil {
			return cut, err
		}
	}
	if settings.Stories.Topic != "" {
		if cut.Stories, err = c.decidedEnd(ctx, settings.Stories.Topic); err != nil {
			return cut, err
		}
	}
	if settings.Divided() {
		if cut.ReadApplied, err = c.stableGroupOffsets(ctx, fingerprints); err != nil {
			return cut, err
		}
		if cut.Fingerprints, err = c.decidedEnd(ctx, fingerprints.Topic); err != nil {
			return cut, err
		}
	}
	if cut.Applied, err = c.stableGroupOffsets(ctx, input); err != nil {
		return cut, err
	}
	return cut, c.spans(ctx, &cut, in, labels)
}

// spans completes the spans of a cut.
func (c *Client) spans(ctx context.Context, cut *Cut, in config.Input, labels config.Labels) error {
	var err error
	cut.Input.Topic, cut.Labels.Topic = in.Topic, labels.Topic
	for _, s := range []*Span{&cut.Input, &cut.Labels} {
		if s.Topic == "" {
			continue
		}
		s.To, s.Missing, err = listed(c.admin.ListCommittedOffsets(ctx, s.Topic))
		if err != nil {
			return err
		}
	}
	for _, s := range []*Span{
		&cut.Clusters, &cut.Results, &cut.DeadLetters, &cut.Input, &cut.Labels, &cut.Corrections,
		&cut.Fingerprints, &cut.Stories,
	} {
		if s.Topic == "" {
			continue
		}
		if s.From, _, err = listed(c.admin.ListStartOffsets(ctx, s.Topic)); err != nil {
			return err
		}
	}
	return nil
}

// decidedEnd returns the end of a topic as it is now, once no transaction is open below it.
func (c *Client) decidedEnd(ctx context.Context, topic string) (s Span, err error) {
	s.Topic = topic
	if s.To, s.Missing, err = listed(c.admin.ListEndOffsets(ctx, topic)); err != nil {
		return s, err
	}
	return s, c.wait(ctx, "transactions that are open in topic "+topic, func() (bool, error) {
		stable, _, err := listed(c.admin.ListCommittedOffsets(ctx, topic))
		for p, end := range s.To {
			if stable[p] < end {
				return false, err
			}
		}
		return true, err
	})
}

// wait asks again and again until done. It logs when that takes longer than a moment.
func (c *Client) wait(ctx context.Context, what string, done func() (bool, error)) error {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for began, logged := time.Now(), false; ; {
		if ok, err := done(); ok || err != nil {
			return err
		}
		if !logged && time.Since(began) > time.Second {
			c.log.Info("waiting for " + what + "; the broker ends them when their timeout is over")
			logged = true
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// stableGroupOffsets returns the group's offsets as of some moment of each partition from now on
// at which no transaction had staged another one.
func (c *Client) stableGroupOffsets(
	ctx context.Context, input config.Source,
) (map[int32]int64, error) {
	all := make(map[int32]int64)
	what := "transactions that have staged offsets of group " + input.Group
	return all, c.wait(ctx, what, func() (bool, error) {
		stable, unstable, err := c.groupOffsets(kadm.RequireStable(ctx), input)
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
}

// groupOffsets returns the offsets that the group has committed for the input, by partition, and
// the partitions of which the offset is not stable, if the context asks for such alone.
func (c *Client) groupOffsets(
	ctx context.Context, input config.Source,
) (offsets map[int32]int64, unstable []int32, err error) {
	responses, err := c.admin.FetchOffsets(ctx, input.Group)
	if err != nil && !errors.Is(err, kerr.GroupIDNotFound) {
		return nil, nil, fmt.Errorf("fetching the offsets of group %s: %w", input.Group, err)
	}
	offsets = make(map[int32]int64)
	for p, o := range responses[input.Topic] {
		switch {
		case errors.Is(o.Err, kerr.UnstableOffsetCommit):
			unstable = append(unstable, p)
		case o.Err != nil:
			return nil, nil, fmt.Errorf("fetching the offset of group %s for %s/%d: %w",
				input.Group, input.Topic, p, o.Err)
		case o.At >= 0:
			offsets[p] = o.At
		}
	}
	return offsets, unstable, nil
}

// listed returns offsets by partition, of one topic.
func listed(
	answer kadm.ListedOffsets, failed error,
) (offsets map[int32]int64, missing bool, err error) {
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
