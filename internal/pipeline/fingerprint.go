package pipeline

import (
	"context"
	"time"
	"unsafe"

	"github.com/clusterd/clusterd/internal/article"
	"github.com/clusterd/clusterd/internal/consumer"
	"github.com/clusterd/clusterd/internal/fingerprint"
	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/monitor"
	"github.com/clusterd/clusterd/internal/tracing"
)

// An item is a record on its way: an article, or a dead letter.
type item struct {
	fingerprint.Article
	next       int64           // the offset behind the record
	bytes      int             // of memory that this holds, and at least those of the record's value
	deadLetter *deadLetter     // nil for an article, of which only the source is set otherwise
	parent     *tracing.Parent // the span that the record comes from; nil: none, or nobody traces
}

// A deadLetter is a record that is no article, and why.
type deadLetter struct {
	kafka.Record
	*article.Rejection
	stage string // which part found out
}

// fingerprintRecords turns records into items, on all cores and in their order.
func fingerprintRecords(
	ctx context.Context, f *fingerprint.Fingerprinter, records []kafka.Record, carry *carried,
) ([]item, error) {
	out := make([]item, len(records))
	err := f.ForEach(ctx, len(records), func(w *fingerprint.Worker, i int) {
		out[i] = fingerprintRecord(ctx, w, &records[i], carry)
	})
	return out, err
}

func fingerprintRecord(
	ctx context.Context, w *fingerprint.Worker, r *kafka.Record, carry *carried,
) item {
	source := article.Address{Topic: r.Topic, Partition: r.Partition, Offset: r.Offset}
	out := item{next: r.Next()}
	out.parent = carry.tracer.Parent(ctx, r)
	var rejection *article.Rejection
	stage := stageDecode
	if r.Unreadable != nil {
		stage = stageFetch
		rejection = &article.Rejection{Class: article.BadBatch, Reason: r.Unreadable.Reason}
	} else {
		out.Article, rejection = w.Record(r.Key, r.Value, source)
	}
	if rejection != nil {
		out.Source, out.deadLetter = source, &deadLetter{*r, rejection, stage}
		out.bytes = int(unsafe.Sizeof(out)) + r.Memory() + len(rejection.Reason)
		return out
	}
	out.RecordedAt = r.Time
	carry.add(&out.Article, r)
	out.bytes = max(len(r.Value), int(unsafe.Sizeof(out)-unsafe.Sizeof(out.Article))+out.Size())
	return out
}

// items are a chunk of records that are fingerprinted.
type items struct {
	records   []item
	partition int
	next      int64 // the offset behind the chunk
	bytes     int64 // of the records' values, as they were fetched
}

// fingerprint fingerprints chunks that have records, and passes over those that have none.
func (w *worker) fingerprint(
	ctx context.Context, chunks <-chan consumer.Chunk, out chan<- items,
) error {
	carry := carriedBy(w.config.Output, w.tracer)
	for {
		var chunk consumer.Chunk
		select {
		case chunk = <-chunks:
		case <-ctx.Done():
			return ctx.Err()
		}
		if len(chunk.Records) == 0 {
			continue
		}
		began := time.Now()
		records, err := fingerprintRecords(ctx, w.fingerprinter, chunk.Records, &carry)
		if err != nil {
			return err
		}
		w.monitor.Spent(monitor.Fingerprinting, began)
		done := items{records: records, partition: chunk.Partition, next: chunk.Next}
		for i := range chunk.Records {
			done.bytes += int64(len(chunk.Records[i].Value))
		}
		chunk.Records = nil // the values have served
		select {
		case out <- done:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
