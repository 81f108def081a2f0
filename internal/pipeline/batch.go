package pipeline

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/clusterd/clusterd/internal/consumer"
	"github.com/clusterd/clusterd/internal/monitor"
	"github.com/clusterd/clusterd/internal/sink"
)

// batch is what one transaction takes in: records, and up to where each partition is read by them.
type batch struct {
	records []fingerprinted
	next    map[int]int64
}

func (b batch) offsets(topic string) []sink.Offset {
	offsets := make([]sink.Offset, 0, len(b.next))
	for p, next := range b.next {
		offsets = append(offsets, sink.Offset{Topic: topic, Partition: p, Offset: next})
	}
	return offsets
}

// size is what the records hold of memory, in bytes.
func size(records []fingerprinted) (n int64) {
	for i := range records {
		n += int64(records[i].bytes)
	}
	return n
}

// backlog is what is fingerprinted and waits for its transaction.
type backlog struct {
	records    []fingerprinted
	taken      int           // records that were dropped, and are in the same array
	bytes      int64         // of memory that the records hold
	next       map[int]int64 // behind the last record of each partition
	maxRecords int
	maxBytes   int
}

func (b *backlog) full() bool { return len(b.records) >= b.maxRecords || b.bytes >= int64(b.maxBytes) }

func (b *backlog) add(records []fingerprinted, partition int, next int64) {
	b.bytes += size(records)
	b.records = append(b.records, records...)
	b.next[partition] = next
}

// head is as much of the backlog as one transaction may carry, at least one record if there is one.
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
		next[b.records[i].record.Partition] = b.records[i].record.Next()
	}
	return batch{records: b.records[:n:n], next: next}
}

// drop takes what head returned out of the backlog.
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

// prints is a chunk of records that are fingerprinted. What else the chunk says stands.
type prints struct {
	consumer.Chunk
	records []fingerprinted
	bytes   int64 // of the records' values, as they were fetched
}

// fingerprint makes fingerprints of chunks, which have records, and passes over those that have none.
func (w *worker) fingerprint(ctx context.Context, chunks <-chan consumer.Chunk, out chan<- prints) error {
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
		records, err := w.fingerprinter.all(ctx, chunk.Records)
		if err != nil {
			return err
		}
		w.monitor.Spent(monitor.Fingerprinting, began)
		p := prints{chunk, records, 0}
		for i := range chunk.Records {
			p.bytes += int64(len(chunk.Records[i].Value))
		}
		p.Records, chunk.Records = nil, nil // the values have served
		select {
		case out <- p:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// collect hands fingerprinted records on in batches. A batch waits for batch.linger, so that
// a trickle is not one transaction a record; and it grows while the one before it is being
// committed, so that a backlog is worked off in large ones. What waits is bounded: when a batch is
// full, nothing is read until it is taken.
func (w *worker) collect(ctx context.Context, chunks <-chan prints, out chan<- batch) error {
	waiting := backlog{maxRecords: w.config.Batch.Records, maxBytes: w.config.Batch.Bytes, next: make(map[int]int64)}
	linger := time.NewTimer(0)
	defer linger.Stop()
	lingered := false
	for {
		var receive <-chan prints
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
			waiting.add(chunk.records, chunk.Partition, chunk.Next)
			w.monitor.Polled(len(chunk.records), chunk.bytes)
			w.monitor.Waiting(w.replica.name, waiting.bytes)
		case <-linger.C:
			lingered = true
		case send <- head:
			waiting.drop(head)
			w.monitor.Waiting(w.replica.name, waiting.bytes)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
