package pipeline

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/clusterd/clusterd/internal/consumer"
	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/message/checkpoint"
	"github.com/clusterd/clusterd/internal/monitor"
	"github.com/clusterd/clusterd/internal/pipeline/intake"
	"github.com/clusterd/clusterd/internal/pipeline/labelling"
	"github.com/clusterd/clusterd/internal/space"
	"github.com/clusterd/clusterd/internal/space/replica"
)

const (
	// labelBytes is how much of the topic of labels is fetched at once.
	labelBytes = 1 << 20
	// retold is how long to wait where corrections are to be written, no articles come, and members
	// were not known.
	retold = 100 * time.Millisecond
)

// newLabels returns the work of labels from what is committed on, nil where labels are off.
func (w *worker) newLabels(
	ctx context.Context,
) (work *labelling.Work, next map[int]int64, err error) {
	topic := w.config.Labels.Topic
	if topic == "" {
		return nil, nil, nil
	}
	o := labelling.Options{
		Topic: topic, Input: w.config.Input.Topic, Space: w.replica.Inputs,
		Corrections: w.out.Corrections != "", Members: w.members, Log: w.log,
	}
	var labels []int
	err = kafka.Retry(ctx, w.log, "looking at topic "+topic, func() error {
		inputs, err := w.client.Partitions(ctx, o.Input)
		if err == nil {
			o.Partitions = len(inputs)
			labels, err = w.client.Partitions(ctx, topic)
		}
		return kafka.MarkRetriable(err)
	})
	if err != nil {
		return nil, nil, err
	}
	work = labelling.New(o, w.untouched)
	w.reportTaken()
	next = work.Next()
	return work, next, w.begin(ctx, topic, labels, next)
}

// reportTaken says what becomes of labels that are taken over from an earlier version: they mark
// contacts, and none is suspended.
func (w *worker) reportTaken() {
	committed := w.untouched
	if committed == nil {
		return
	}
	if committed.Adopt != nil {
		w.log.Info("labels of the version before mark the contacts of their clusters now, as one click " +
			"each; telephone numbers are left out")
	}
	for _, name := range slices.Sorted(maps.Keys(committed.Flood)) {
		if committed.Flood[name].Suspended {
			w.log.Info("a label that the version before had suspended is resumed: labels.flood is an alert "+
				"alone now, and suspends nothing", "label", name)
		}
	}
}

// labelled returns how far the space is with labels, nil where it never had any.
func (w *worker) labelled() *checkpoint.Labels {
	c := w.replica.Space().Meta().Checkpoint
	if c == nil {
		return nil
	}
	if c.Labels == nil || !w.config.Contacts.Join || !c.Unmarked() {
		return c.Labels
	}
	adopting := *c.Labels
	adopting.Adopt = new(uint64)
	return &adopting
}

// readLabels hands on what is in the topic of labels.
func (w *worker) readLabels(
	ctx context.Context, next map[int]int64, out chan<- consumer.Chunk,
) error {
	log := consumer.NewLog(w.client, w.log, w.config.Labels.Topic, next, labelBytes)
	log.MaxValue = max(article.MaxLabelRecordBytes, w.out.Limits[w.out.DeadLetterTopic])
	log.OnPoll = func(positions []kafka.Position) {
		w.monitor.PolledClusters(w.replica.Name(), positions)
	}
	log.TopicID = w.replica.TopicID(w.config.Labels.Topic)
	log.Remedy = replica.LabelsAnew(w.config.Labels.Topic)
	return log.Read(ctx, out)
}

// labelProgress returns how far the space is with labels when a batch, which is assigned, is
// committed. Where labels are off, that stays as it was, but for the position up to which they
// were.
func (w *worker) labelProgress(b batch, assigned *space.Batch, next uint64) *checkpoint.Labels {
	if w.labels == nil && w.untouched != nil {
		off := *w.untouched
		off.Since = next
		return &off
	}
	if w.labels == nil {
		return nil
	}
	return w.labels.Progress(&b.labels, assigned)
}

// letters returns the records of a batch that are neither articles nor labels that apply.
func (b batch) letters(assigned *space.Batch) []*intake.DeadLetter {
	letters := b.DeadLetters()
	for _, r := range b.labels.Rejected(assigned.Labelled) {
		stage := intake.StageLabel
		if r.Unreadable != nil {
			stage = intake.StageFetch
		}
		letters = append(letters, &intake.DeadLetter{
			Record: r.Record, Rejection: r.Rejection, Stage: stage,
		})
	}
	return letters
}

// reportLabels counts what became of the labels of a committed batch, and logs which hit too many
// articles.
func (w *worker) reportLabels(
	b batch, assigned *space.Batch, done *totals, rejected map[string]int,
) {
	for _, r := range b.labels.Rejected(assigned.Labelled) {
		done.deadLetters++
		rejected[string(r.Class)]++
		w.log.Warn("a record of the topic of labels was not applied; it is in the dead letters", "class",
			r.Class, "reason", r.Reason, "record", fmt.Sprintf("%s/%d/%d", r.Topic, r.Partition, r.Offset))
	}
	w.reportLabelling()
	for _, name := range assigned.Flood.Above {
		w.log.Warn("a label hits more of 1,000 articles than labels.flood: results carry it; look at "+
			"its clusters, and remove it where it is wrong",
			"label", name, "flood", w.config.Labels.Flood, "position", assigned.Next())
	}
}

// reportLabelling says how the space is with labels, where they are on.
func (w *worker) reportLabelling() {
	if w.labels != nil {
		of := w.replica.Space()
		w.monitor.Labelling(w.replica.Name(), monitor.Labelling{
			Flood: of.FloodLabels(), Pending: w.labels.Pending(), Marks: of.Marks(),
		})
	}
}
