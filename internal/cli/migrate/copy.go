package migrate

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/clusterd/clusterd/internal/cli/migrate/beside"
	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/consumer"
	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/sink"
)

const (
	// copyRecords is how many records one transaction appends, about.
	copyRecords = 2000
)

// A route is a topic of the new space, what is read from it, and the topic of the old space to
// which it is appended.
type route struct {
	from, to   string
	partitions []int         // of to
	next       map[int]int64 // up to where from was copied or passed over
	keyed      bool          // records go where their keys put them; else where their article is
}

// A copier appends what the new space says of the articles from some offsets on to the topics that
// readers read. How far it is stands in the offsets of the old group, in the same transactions: it
// can end at any moment, and another one goes on.
type copier struct {
	beside.Two
	from     map[int]int64 // by partition of the input: the first article to copy
	routes   []*route
	producer *sink.Producer
	copied   int64
	// finished says that the new instances write to the old topics already: what is copied is what
	// one has written that ran with its former configuration all the same.
	finished bool
}

func newRoutes(t beside.Two) []*route {
	return []*route{
		{
			from: t.New.Output.Topic, to: t.Old.Output.Topic,
			keyed: t.New.Output.Partition == config.PartitionByKey,
		},
		{from: t.New.Output.DeadLetterTopic, to: t.Old.Output.DeadLetterTopic},
	}
}

// seek lets the routes begin where they were, or else at the first record of an article at one of
// these offsets or behind it. It may be called again, with later ones.
func seek(ctx context.Context, t beside.Two, routes []*route, from map[int]int64) error {
	for _, r := range routes {
		commits, err := t.Old.Copied(ctx, r.from, r.to)
		if err != nil {
			return err
		}
		first, end, err := t.New.Offsets(ctx, r.from)
		if err != nil {
			return err
		}
		if r.partitions, err = t.Old.Partitions(ctx, r.to); err != nil {
			return err
		}
		if r.next == nil {
			r.next = first
		}
		for p, c := range commits {
			r.next[p] = c.Offset
		}
		if len(commits) == len(r.next) {
			continue
		}
		found := make(map[int]bool)
		passed := maps.Clone(end)
		err = t.New.Read(ctx, r.from, r.next, end, func(record *kafka.Record) error {
			at, ok := beside.SourceOf(record, t.New.Input.Topic)
			if ok && at.Offset >= from[at.Partition] && !found[record.Partition] {
				found[record.Partition], passed[record.Partition] = true, record.Offset
			}
			return nil
		})
		if err != nil {
			return err
		}
		for p, at := range passed {
			if _, ok := commits[p]; !ok {
				r.next[p] = max(r.next[p], at)
			}
		}
	}
	return nil
}

// begin makes the copier the one producer of the old space.
func (c *copier) begin(ctx context.Context) error {
	ids, _, err := c.Old.Owned(ctx)
	if err != nil {
		return err
	}
	topics := []string{c.Old.Output.Topic, c.Old.Output.DeadLetterTopic}
	if c.producer, err = c.Old.Producer(ctx, ids[0], topics...); err != nil {
		return err
	}
	return kafka.Explain(c.producer.Fence(ctx))
}

// run copies until the group of the new space is empty and all that it has written is copied. It
// calls caughtUp when it first has copied what was there a moment before.
func (c *copier) run(ctx context.Context, caughtUp func()) error {
	var chunks [2]<-chan consumer.Chunk
	var failed [2]<-chan error
	for i, r := range c.routes {
		log := consumer.NewLog(c.New.Client, c.New.Log, r.from, maps.Clone(r.next), beside.FetchBytes)
		log.Remedy = "begin the migration anew"
		reading := log.Start(ctx)
		defer reading.Stop()
		chunks[i], failed[i] = reading.Chunks, reading.Failed
	}
	tick := time.NewTicker(pause)
	defer tick.Stop()
	var target []map[int]int64 // the ends of a moment ago
	for {
		var err error
		select {
		case chunk := <-chunks[0]:
			err = c.take(ctx, c.routes[0], chunk)
		case chunk := <-chunks[1]:
			err = c.take(ctx, c.routes[1], chunk)
		case err = <-failed[0]:
		case err = <-failed[1]:
		case <-tick.C:
			if target != nil && c.reached(target) {
				caughtUp()
				caughtUp = func() {}
				done, err := c.done(ctx)
				if done || err != nil {
					return err
				}
			}
			target, err = c.ends(ctx)
		case <-ctx.Done():
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
	}
}

// done reports whether the new space writes nothing any more and all that it wrote is copied.
func (c *copier) done(ctx context.Context) (bool, error) {
	if c.finished {
		return c.complete(ctx)
	}
	if n, err := c.New.Members(ctx); n > 0 || err != nil {
		return false, err
	}
	if err := fence(ctx, &c.New); err != nil {
		return false, err
	}
	if n, err := c.New.Members(ctx); n > 0 || err != nil {
		return false, err
	}
	return c.complete(ctx)
}

// complete reports whether all that is committed now is copied.
func (c *copier) complete(ctx context.Context) (bool, error) {
	ends, err := c.ends(ctx)
	return err == nil && c.reached(ends), err
}

// ends returns up to where each route can be copied now.
func (c *copier) ends(ctx context.Context) (ends []map[int]int64, err error) {
	for _, r := range c.routes {
		_, end, err := c.New.Offsets(ctx, r.from)
		if err != nil {
			return nil, err
		}
		ends = append(ends, end)
	}
	return ends, nil
}

// reached reports whether the routes are copied up to there.
func (c *copier) reached(ends []map[int]int64) bool {
	for i, r := range c.routes {
		for p, to := range ends[i] {
			if r.next[p] < to {
				return false
			}
		}
	}
	return true
}

// take appends what is in a chunk, in transactions that also say how far the route is.
func (c *copier) take(ctx context.Context, r *route, chunk consumer.Chunk) error {
	for records := range slices.Chunk(chunk.Records, copyRecords) {
		next := records[len(records)-1].Next()
		if err := c.commit(ctx, r, chunk.Partition, records, next); err != nil {
			return err
		}
	}
	r.next[chunk.Partition] = chunk.Next // what follows the last of them are no records
	return nil
}

func (c *copier) commit(
	ctx context.Context, r *route, partition int, records []kafka.Record, next int64,
) error {
	batch := sink.Batch{
		Metadata: beside.CopiedTo + r.to,
		Offsets:  []sink.Offset{{Topic: r.from, Partition: partition, Offset: next}},
	}
	for i := range records {
		at, ok := beside.SourceOf(&records[i], c.New.Input.Topic)
		if ok && at.Offset >= c.from[at.Partition] {
			batch.Records = append(batch.Records, r.record(&records[i], at.Partition))
		}
	}
	if len(batch.Records) == 0 { // whoever goes on from before finds nothing either
		r.next[partition] = next
		return nil
	}
	_, err := c.producer.Commit(ctx, batch)
	switch {
	case errors.Is(err, sink.ErrFenced):
		return fmt.Errorf("group %s: %w (%w)", c.Old.Input.Group, errStarted, err)
	case err != nil:
		// Whether it was committed is not known: the next run reads how far this one came.
		return fmt.Errorf("appending to %s; run the command again, it goes on where it was: %w", r.to,
			kafka.Explain(err))
	}
	r.next[partition] = next
	c.copied += int64(len(batch.Records))
	return nil
}

// record returns what is appended for a record of the new space. Its time stays, so that retention
// sees no difference.
func (r *route) record(from *kafka.Record, partition int) kafka.Record {
	to := kafka.Record{
		Topic: r.to, Time: from.Time, Key: from.Key, Value: from.Value, Headers: from.Headers,
		Partition: partition % len(r.partitions),
	}
	if r.keyed && from.Key != nil {
		to.Partition = sink.PartitionOf(from.Key, r.partitions)
	}
	return to
}
