package intake

import (
	"context"
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/pipeline/tracing"
	"github.com/clusterd/clusterd/internal/sink"
	"github.com/clusterd/clusterd/internal/space/fingerprint"
)

// A Batch is what one transaction takes in: items, and up to where each partition is read by them.
type Batch struct {
	Items []Item
	Next  map[int]int64
}

// Offsets returns the offsets that the transaction commits, of a topic.
func (b Batch) Offsets(topic string) []sink.Offset {
	offsets := make([]sink.Offset, 0, len(b.Next))
	for p, next := range b.Next {
		offsets = append(offsets, sink.Offset{Topic: topic, Partition: p, Offset: next})
	}
	return offsets
}

// Articles returns those among the items, in order.
func (b Batch) Articles() iter.Seq[*fingerprint.Article] {
	return func(yield func(*fingerprint.Article) bool) {
		for i := range b.Items {
			if r := &b.Items[i]; r.DeadLetter == nil && !yield(&r.Article) {
				return
			}
		}
	}
}

// Parents returns the spans that the items come from; nil of one that has none.
func (b Batch) Parents() iter.Seq[*tracing.Parent] {
	return func(yield func(*tracing.Parent) bool) {
		for i := range b.Items {
			if !yield(b.Items[i].Parent) {
				return
			}
		}
	}
}

// DeadLetters returns those among the items, in order.
func (b Batch) DeadLetters() (letters []*DeadLetter) {
	for i := range b.Items {
		if d := b.Items[i].DeadLetter; d != nil {
			letters = append(letters, d)
		}
	}
	return letters
}

// DropBefore leaves out articles that are not behind those before them in their partition, or are
// before its offset in next. It returns how many, and where the batch began.
func (b *Batch) DropBefore(next map[int]int64) (dropped int, first article.Address) {
	next = maps.Clone(next)
	kept := make([]Item, 0, len(b.Items))
	for _, item := range b.Items {
		if item.DeadLetter == nil {
			if item.Source.Offset < next[item.Source.Partition] {
				continue
			}
			next[item.Source.Partition] = item.Source.Offset + 1
		}
		kept = append(kept, item)
	}
	if dropped = len(b.Items) - len(kept); dropped > 0 {
		first, b.Items = b.Items[0].Source, kept
	}
	return dropped, first
}

// size returns what items hold of memory, in bytes.
func size(items []Item) (n int64) {
	for i := range items {
		n += int64(items[i].Bytes)
	}
	return n
}

// backlog is what is fingerprinted and waits for its transaction.
type backlog struct {
	items      []Item
	taken      int           // records that were dropped, and are in the same array
	bytes      int64         // of memory that the records hold
	next       map[int]int64 // behind the last record of each partition
	expected   int           // items, as many as the last batch had
	maxRecords int
	maxBytes   int
}

func (b *backlog) full() bool {
	return len(b.items) >= b.maxRecords || b.bytes >= int64(b.maxBytes)
}

func (b *backlog) add(items []Item, partition int, next int64) {
	b.bytes += size(items)
	if b.items == nil {
		b.items = make([]Item, 0, max(len(items), b.expected))
	}
	b.items = append(b.items, items...)
	b.next[partition] = next
}

// head returns as much of the backlog as one transaction may carry, at least one record if there is
// one.
func (b *backlog) head() Batch {
	n, sum := 0, 0
	for n < len(b.items) && n < b.maxRecords && (n == 0 || sum+b.items[n].Bytes <= b.maxBytes) {
		sum += b.items[n].Bytes
		n++
	}
	if n == len(b.items) {
		return Batch{Items: b.items, Next: maps.Clone(b.next)}
	}
	next := make(map[int]int64)
	for i := range b.items[:n] {
		next[b.items[i].Source.Partition] = b.items[i].Next
	}
	return Batch{Items: b.items[:n:n], Next: next}
}

// drop removes what head returned from the backlog.
func (b *backlog) drop(head Batch) {
	b.bytes -= size(head.Items)
	b.expected = len(head.Items)
	b.items = b.items[len(head.Items):]
	// What was taken is held with what is left, until that moves.
	if b.taken += len(head.Items); b.taken >= len(b.items) {
		b.items, b.taken = slices.Clone(b.items), 0
	}
	if len(b.items) == 0 {
		b.items = nil
		clear(b.next)
	}
}

// collect hands fingerprinted records on in batches. A batch waits for batch.linger, so that a
// trickle is not one transaction a record. It grows while the one before it is being committed, so
// that a backlog is worked off in large ones. What waits is bounded: when a batch is full, nothing
// is read until it is taken.
func (r *Reading) collect(ctx context.Context, chunks <-chan chunk, out chan<- Batch) error {
	waiting := backlog{
		maxRecords: r.Batch.Records, maxBytes: r.Batch.Bytes, next: make(map[int]int64),
	}
	linger := time.NewTimer(0)
	defer linger.Stop()
	lingered := false
	for {
		var receive <-chan chunk
		var send chan<- Batch
		var head Batch
		if !waiting.full() {
			receive = chunks
		}
		if len(waiting.items) > 0 && (lingered || waiting.full()) {
			send, head = out, waiting.head()
		}
		select {
		case c := <-receive:
			if len(waiting.items) == 0 {
				linger.Reset(r.Batch.Linger)
				lingered = false
			}
			waiting.add(c.items, c.partition, c.next)
			r.Monitor.Received(len(c.items), c.bytes)
			r.Monitor.Waiting(r.Space, waiting.bytes)
		case <-linger.C:
			lingered = true
		case send <- head:
			waiting.drop(head)
			r.Monitor.Waiting(r.Space, waiting.bytes)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
