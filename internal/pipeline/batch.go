package pipeline

import (
	"context"
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/clusterd/clusterd/internal/fingerprint"
	"github.com/clusterd/clusterd/internal/labelling"
	"github.com/clusterd/clusterd/internal/sink"
	"github.com/clusterd/clusterd/internal/tracing"
)

// batch is what one transaction takes in: records, and up to where each partition is read by them.
type batch struct {
	records []item
	next    map[int]int64
	labels  labelling.Share // what it does about labels
}

func (b batch) offsets(topic string) []sink.Offset {
	offsets := make([]sink.Offset, 0, len(b.next))
	for p, next := range b.next {
		offsets = append(offsets, sink.Offset{Topic: topic, Partition: p, Offset: next})
	}
	return offsets
}

// articles returns the records that are articles, in order.
func (b batch) articles() iter.Seq[*fingerprint.Article] {
	return func(yield func(*fingerprint.Article) bool) {
		for i := range b.records {
			if r := &b.records[i]; r.deadLetter == nil && !yield(&r.Article) {
				return
			}
		}
	}
}

// parents returns the spans that the records come from; nil of one that has none.
func (b batch) parents() iter.Seq[*tracing.Parent] {
	return func(yield func(*tracing.Parent) bool) {
		for i := range b.records {
			if !yield(b.records[i].parent) {
				return
			}
		}
	}
}

// deadLetters returns the records that are no articles, in order.
func (b batch) deadLetters() (letters []*deadLetter) {
	for i := range b.records {
		if d := b.records[i].deadLetter; d != nil {
			letters = append(letters, d)
		}
	}
	return letters
}

// size returns what the records hold of memory, in bytes.
func size(records []item) (n int64) {
	for i := range records {
		n += int64(records[i].bytes)
	}
	return n
}

// backlog is what is fingerprinted and waits for its transaction.
type backlog struct {
	records    []item
	taken      int           // records that were dropped, and are in the same array
	bytes      int64         // of memory that the records hold
	next       map[int]int64 // behind the last record of each partition
	maxRecords int
	maxBytes   int
}

func (b *backlog) full() bool {
	return len(b.records) >= b.maxRecords || b.bytes >= int64(b.maxBytes)
}

func (b *backlog) add(records []item, partition int, next int64) {
	b.bytes += size(records)
	b.records = append(b.records, records...)
	b.next[partition] = next
}

// head returns as much of the backlog as one transaction may carry, at least one record if there is
// one.
func (b *backlog) head() batch {
	n, sum := 0, 0
	for n < len(b.records) && n < b.maxRecords && (n == 0 || sum+b.records[n].bytes <= b.maxBytes) {
		sum += b.records[n].bytes
		n++
	}
	if n == len(b.records) {
		return batch{records: b.records, next: maps.Clone(b.next)}
	}
	next := make(map[int]int64)
	for i := range b.records[:n] {
		next[b.records[i].Source.Partition] = b.records[i].next
	}
	return batch{records: b.records[:n:n], next: next}
}

// drop removes what head returned from the backlog.
func (b *backlog) drop(head batch) {
	b.bytes -= size(head.records)
	b.records = b.records[len(head.records):]
	// What was taken is held with what is left, until that moves.
	if b.taken += len(head.records); b.taken >= len(b.records) {
		b.records, b.taken = slices.Clone(b.records), 0
	}
	if len(b.records) == 0 {
		b.records = nil
		clear(b.next)
	}
}

// collect hands fingerprinted records on in batches. A batch waits for batch.linger, so that a
// trickle is not one transaction a record. It grows while the one before it is being committed, so
// that a backlog is worked off in large ones. What waits is bounded: when a batch is full, nothing
// is read until it is taken.
func (w *worker) collect(ctx context.Context, chunks <-chan items, out chan<- batch) error {
	waiting := backlog{
		maxRecords: w.config.Batch.Records, maxBytes: w.config.Batch.Bytes, next: make(map[int]int64),
	}
	linger := time.NewTimer(0)
	defer linger.Stop()
	lingered := false
	for {
		var receive <-chan items
		var send chan<- batch
		var head batch
		if !waiting.full() {
			receive = chunks
		}
		if len(waiting.records) > 0 && (lingered || waiting.full()) {
			send, head = out, waiting.head()
		}
		select {
		case chunk := <-receive:
			if len(waiting.records) == 0 {
				linger.Reset(w.config.Batch.Linger)
				lingered = false
			}
			waiting.add(chunk.records, chunk.partition, chunk.next)
			w.monitor.Received(len(chunk.records), chunk.bytes)
			w.monitor.Waiting(w.replica.Name(), waiting.bytes)
		case <-linger.C:
			lingered = true
		case send <- head:
			waiting.drop(head)
			w.monitor.Waiting(w.replica.Name(), waiting.bytes)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
