package intake

import (
	"context"
	"errors"
	"fmt"
	"unsafe"

	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/parallel"
	"github.com/clusterd/clusterd/internal/pipeline/tracing"
	"github.com/clusterd/clusterd/internal/space/fingerprint"
)

// An Item is a record on its way: an article, or a dead letter.
type Item struct {
	fingerprint.Article
	Next       int64           // the offset behind the record, in the log that it was read from
	Bytes      int             // of memory that this holds, and at least those of the record's value
	DeadLetter *DeadLetter     // nil for an article, of which only the source is set otherwise
	Parent     *tracing.Parent // the span that the record comes from; nil: none, or nobody traces
}

// Records returns what fingerprints the records of the input.
func Records(f *fingerprint.Fingerprinter, carry *Carried) Items {
	return func(ctx context.Context, records []kafka.Record) ([]Item, error) {
		out := make([]Item, len(records))
		err := f.ForEach(ctx, len(records), func(w *fingerprint.Worker, i int) {
			out[i] = fingerprintRecord(ctx, w, &records[i], carry)
		})
		return out, err
	}
}

func fingerprintRecord(
	ctx context.Context, w *fingerprint.Worker, r *kafka.Record, carry *Carried,
) Item {
	source := article.Address{Topic: r.Topic, Partition: r.Partition, Offset: r.Offset}
	out := Item{Next: r.Next()}
	out.Parent = carry.tracer.Parent(ctx, r)
	var rejection *article.Rejection
	stage := StageDecode
	if r.Unreadable != nil {
		stage = StageFetch
		rejection = &article.Rejection{Class: article.BadBatch, Reason: r.Unreadable.Reason}
	} else {
		out.Article, rejection = w.Record(r.Key, r.Value, source)
	}
	if rejection != nil {
		out.reject(r, rejection, stage)
		return out
	}
	out.RecordedAt = r.Time
	carry.add(&out.Article, r)
	if name, ok := w.SpaceHeader(); ok {
		addSpace(&out.Article, name, r.Headers)
	}
	out.Bytes = max(len(r.Value), int(unsafe.Sizeof(out)-unsafe.Sizeof(out.Article))+out.Size())
	return out
}

// Fingerprinted returns the reader of articles that other instances have fingerprinted. An article
// of a newer clusterd, or by other settings than w has, ends the reading. A record that is no
// fingerprinted article is a dead letter.
func Fingerprinted(w fingerprint.Wire, identity string, t *tracing.Tracer) Items {
	return func(ctx context.Context, records []kafka.Record) ([]Item, error) {
		out, failed := make([]Item, len(records)), make([]error, len(records))
		parallel.Chunks(len(records), func(from, to int) {
			for i := from; i < to; i++ {
				out[i], failed[i] = parse(w, &records[i])
				out[i].Parent = t.Parent(ctx, &records[i])
			}
		})
		for i, err := range failed {
			if err != nil {
				r := &records[i]
				return nil, fmt.Errorf("%s/%d/%d: %w. Nothing was skipped. %s",
					r.Topic, r.Partition, r.Offset, err, advise(err, identity))
			}
		}
		return out, nil
	}
}

// advise says what to do about an article that ends the reading.
func advise(err error, identity string) string {
	if errors.Is(err, fingerprint.ErrOtherVersion) {
		return "Upgrade the instances with role: assign first, this one included, and then those with " +
			"role: fingerprint"
	}
	return "This instance has the settings " + identity + ". Give all instances the same " +
		"input.topic and the same sections text, fingerprint and contacts, and cluster.scope_field. " +
		"If an earlier version made the articles in the topic, stop the instances with role: " +
		"fingerprint, run that version with role: assign until all of them are assigned, and upgrade " +
		"then. If older settings made them, start anew with another input.group, " +
		"fingerprints.topic and output.clusters_topic"
}

// parse makes an item of a fingerprinted article. The error is [fingerprint.ErrOtherSettings] or
// [fingerprint.ErrOtherVersion].
func parse(w fingerprint.Wire, r *kafka.Record) (Item, error) {
	out := Item{Next: r.Next()}
	var rejection *article.Rejection
	stage := StageDecode
	if r.Unreadable != nil {
		stage = StageFetch
		rejection = &article.Rejection{Class: article.BadBatch, Reason: r.Unreadable.Reason}
	} else {
		var err error
		out.Article, err = w.Parse(r.Value, r.Partition)
		switch {
		case errors.Is(err, fingerprint.ErrOtherSettings), errors.Is(err, fingerprint.ErrOtherVersion):
			return out, err
		case err != nil:
			rejection = &article.Rejection{
				Class: article.BadFingerprint, Reason: "not a fingerprinted article: " + err.Error(),
			}
		}
	}
	if rejection != nil {
		out.reject(r, rejection, stage)
		return out, nil
	}
	out.Bytes = max(len(r.Value), int(unsafe.Sizeof(out)-unsafe.Sizeof(out.Article))+out.Size())
	return out, nil
}

// reject makes a dead letter of the item.
func (i *Item) reject(r *kafka.Record, why *article.Rejection, stage string) {
	i.Source = article.Address{Topic: r.Topic, Partition: r.Partition, Offset: r.Offset}
	i.DeadLetter = &DeadLetter{*r, why, stage}
	i.Bytes = int(unsafe.Sizeof(*i)) + r.Memory() + len(why.Reason)
}
