package pipeline

import (
	"context"
	"errors"
	"fmt"
	"maps"

	"golang.org/x/sync/errgroup"

	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/consumer"
	"github.com/clusterd/clusterd/internal/failpoint"
	"github.com/clusterd/clusterd/internal/kafka/topics"
	"github.com/clusterd/clusterd/internal/message/checkpoint"
	"github.com/clusterd/clusterd/internal/pipeline/intake"
	"github.com/clusterd/clusterd/internal/pipeline/labelling"
	"github.com/clusterd/clusterd/internal/sink"
	"github.com/clusterd/clusterd/internal/space"
	"github.com/clusterd/clusterd/internal/space/replica"
	"github.com/clusterd/clusterd/internal/space/state"
)

// worker owns one space: its partitions, its transactional id, its clusters. It assigns articles,
// which it fingerprints itself unless its role is to read them fingerprinted.
type worker struct {
	owner
	replica   *replica.Replica
	adjusted  space.AdjustedLog
	reached   map[int]int64 // by input partition: up to where it is committed
	began     map[int]int64 // likewise, when the space was taken over
	read      map[int]int64 // likewise of the fingerprinted articles; nil where these are not read
	members   Members
	labels    *labelling.Work    // nil where labels are off
	untouched *checkpoint.Labels // how far the space is with labels, where they are off
	placed    []checkpoint.Placement
	// storiesSince is from which position on stories were never off, nil where they are off.
	storiesSince *uint64
}

// run works until ctx ends (then it returns nil), until another instance takes over
// ([sink.ErrFenced]), or until an error comes that beginning again does not mend.
func (w *worker) run(ctx context.Context) error {
	defer w.monitor.Gone(w.name)
	if err := w.out.Describe(ctx, w.client, w.log); err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return err
	}
	if n := len(w.out.Partitions[w.out.ClustersTopic]); n != w.replica.Partitions() {
		return fmt.Errorf("topic %s had %d partitions and has %d, which moves its keys. "+
			"Start anew with another input.group and another output.clusters_topic",
			w.out.ClustersTopic, w.replica.Partitions(), n)
	}
	producer, err := w.newProducer()
	if err != nil {
		return err
	}
	return w.owner.run(ctx, producer, w.takeOver, func(err error) (bool, error) {
		if !errors.Is(err, state.ErrDamaged) {
			return false, nil
		}
		return true, w.replica.Discard(err)
	})
}

// takeOver takes ownership of the space, in the order that exactly-once needs: fence, then offsets,
// then clusters; and works from there. It calls progressed after each batch.
func (w *worker) takeOver(ctx context.Context, producer *sink.Producer, progressed func()) error {
	w.monitor.Recovering(w.name, "taking the space over")
	if err := producer.Fence(ctx); err != nil {
		return err
	}
	if err := failpoint.Hit(failpoint.Fenced); err != nil {
		return fmt.Errorf("%w: %w", errAgain, err)
	}
	committed, next, err := w.positions(ctx)
	if err != nil {
		return err
	}
	if err := w.replica.CatchUp(ctx); err != nil {
		return err
	}
	if err := w.resume(committed, next); err != nil {
		return err
	}
	w.began = maps.Clone(w.reached)
	w.untouched = w.labelled()
	if err := w.warnOfEmpty(ctx); err != nil {
		return err
	}
	var nextLabels map[int]int64
	if w.labels, nextLabels, err = w.newLabels(ctx); err != nil {
		return err
	}
	results := w.resultEnds(ctx)
	w.monitor.Live(w.name, w.partitions)
	w.reportLabelling()
	w.log.Info("live", "partitions", w.partitions)

	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		w.warnOfOthers(ctx, results)
		return nil
	})
	chunks, batches := make(chan consumer.Chunk), make(chan intake.Batch)
	log := w.newLog(w.replica.TopicID(w.source.Topic), next, w.maxValue())
	group.Go(func() error { return log.Read(ctx, chunks) })
	group.Go(func() error { return w.newReading(w.items()).Run(ctx, chunks, batches) })
	var labels chan consumer.Chunk // nil: none ever come
	if w.labels != nil {
		labels = make(chan consumer.Chunk)
		group.Go(func() error { return w.readLabels(ctx, nextLabels, labels) })
	}
	group.Go(func() error { return w.commitAll(ctx, producer, batches, labels, progressed) })
	return group.Wait()
}

// resume compares what the group has committed, and where reading goes on, with the checkpoint of
// the space, and sets from where on articles are assigned.
func (w *worker) resume(committed, next map[int]int64) error {
	last := w.replica.Space().Meta().Checkpoint
	w.placed = last.PlacedBy(w.config.Output.Partition)
	w.storiesSince = last.StoriesOn(w.config.Stories.Topic != "")
	if last != nil && last.Output != "" && last.Output != w.config.Output.Topic {
		w.log.Warn("output.topic has changed: results up to now are in another topic, and the members "+
			"of clusters are not known from there. If that was not meant, stop and set it back", "was",
			last.Output, "is", w.config.Output.Topic)
	}
	if w.config.Role != config.AssignOnly {
		if last != nil && last.Fingerprints != nil {
			return fmt.Errorf("space %s was last worked on with role assign, from topic %s: what is in "+
				"that topic and was not assigned would be lost. Nothing was read. Set role to assign, beside "+
				"instances with role fingerprint, or %s", w.replica.Name(), last.Fingerprints.Topic,
				replica.StartAnew)
		}
		w.reached = committed
		if last != nil {
			if err := w.replica.CheckOffsets(w.source.Topic, w.source.Group, last.Offsets,
				committed); err != nil {
				return err
			}
		}
		return w.replica.CheckFounders(next)
	}
	w.reached, w.read = make(map[int]int64), committed
	if last == nil {
		return nil
	}
	w.reached = maps.Clone(last.Offsets)
	if f := last.Fingerprints; f != nil && f.Topic == w.source.Topic {
		err := w.replica.CheckOffsets(w.source.Topic, w.source.Group, f.Offsets, committed)
		if err != nil {
			return err
		}
	}
	return w.replica.CheckFounders(last.Offsets)
}

// placeable returns an error where the topic of results lacks the partition of an article that its
// result is to go to: the input has got more partitions since the start.
func (w *worker) placeable(ctx context.Context, b batch) error {
	if w.config.Output.Partition != config.PartitionOfSource {
		return nil
	}
	inputs := 0
	for a := range b.Articles() {
		inputs = max(inputs, a.Source.Partition+1)
	}
	if inputs <= len(w.out.Partitions[w.out.Topic]) {
		return nil
	}
	// It may have got more, too.
	if err := w.out.Describe(ctx, w.client, w.log); err != nil {
		return err
	}
	all, err := w.client.Partitions(ctx, w.config.Input.Topic)
	if err != nil {
		return fmt.Errorf("%w: %w", errAgain, err)
	}
	inputs = max(inputs, len(all))
	return topics.CheckPlacement(&w.config, inputs, len(w.out.Partitions[w.out.Topic]))
}

// items returns what makes items of the records of the source.
func (w *worker) items() intake.Items {
	if w.config.Role == config.AssignOnly {
		return intake.Fingerprinted(w.fingerprinter.Wire(), w.fingerprinter.Identity(), w.tracer)
	}
	return intake.Records(w.fingerprinter, intake.CarriedBy(w.config.Output, w.tracer))
}

// maxValue returns how large a value of the source may be that is read whole. What is too large for
// an article goes on whole if a dead letter can hold it.
func (w *worker) maxValue() int {
	return max(w.config.Input.MaxBytes, w.out.Limits[w.out.DeadLetterTopic])
}
