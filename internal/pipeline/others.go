package pipeline

import (
	"context"
	"errors"
	"slices"

	"github.com/clusterd/clusterd/internal/consumer"
	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/kafka/topics"
	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/message/cluster"
)

// resultEnds returns up to where the results can be read, by partition, before anything is written:
// nil where that is not known.
func (w *worker) resultEnds(ctx context.Context) map[int]int64 {
	ends, err := w.client.StableOffsets(ctx, w.out.Topic, w.out.Partitions[w.out.Topic])
	if err != nil {
		w.log.Debug("the newest results are not looked at", "error", err)
		return nil
	}
	return ends
}

// warnOfOthers looks at the newest results up to these ends, and says if one is of an article that
// this group has not read: another group has written it. The right to read results may be missing,
// and it is no reason to stop.
func (w *worker) warnOfOthers(ctx context.Context, ends map[int]int64) {
	err := consumer.Newest(ctx, w.client, w.out.Topic, ends, func(result *kafka.Record) bool {
		for _, h := range result.Headers {
			if h.Key == article.HeaderSource && w.isUnread(string(h.Value)) {
				w.log.Warn("output.topic has a result of an article that this group has not read: another "+
					"group has written it. After a start anew, that is as it should be. If the other group "+
					"still runs, each article gets two results: give one of them its own output.topic and "+
					"output.clusters_topic", "topic", w.out.Topic, "article", string(h.Value), "group",
					w.source.Group)
				return true
			}
		}
		return false
	})
	if err != nil && ctx.Err() == nil {
		w.log.Debug("the newest results are not looked at", "error", err)
	}
}

// isUnread reports whether an article was not read when the space was taken over.
func (w *worker) isUnread(source string) bool {
	at, err := article.ParseAddress(source)
	return err == nil && at.Topic == w.config.Input.Topic &&
		slices.Contains(w.partitions, at.Partition) && at.Offset >= w.began[at.Partition]
}

// errFound ends a search.
var errFound = errors.New("found")

// warnOfEmpty says that the topic of stories never had a record, although there are stories, or
// that of corrections, although clusters have labels: it was created again, or is another one than
// before, and what was in it is not written again.
func (w *worker) warnOfEmpty(ctx context.Context) error {
	view, err := w.replica.Space().View()
	if err != nil {
		return err
	}
	defer view.Release()
	if told := w.untouched; told != nil && len(told.Corrections) == 0 && len(view.Labelled()) > 0 {
		err = topics.WarnIfEmpty(ctx, w.client, w.log, w.out.Corrections, "the topic of corrections is "+
			"empty, and clusters have labels: it was created again, or labels.corrections has changed. "+
			"Earlier corrections are not written again. No label is lost: /v1/clusters has them all")
	}
	if err == nil {
		err = view.Stories(ctx, func(*cluster.Story) error { return errFound })
	}
	if !errors.Is(err, errFound) {
		return err // there is no story
	}
	return topics.WarnIfEmpty(ctx, w.client, w.log, w.out.Stories, "the topic of stories is empty, "+
		"and there are stories: it was created again, or stories.topic has changed. A story is written "+
		"there when it changes, not before. No story is lost: /v1/stories has them all")
}
