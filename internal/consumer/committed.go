package consumer

import (
	"cmp"
	"errors"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/kafka/recordbatch"
)

// cutter makes chunks of a fetched record set.
type cutter struct {
	chunk    Chunk
	send     func(Chunk) error
	topic    string
	maxBytes int // of records in memory, at which a chunk is sent
	size     int // of the chunk's records in memory
	sent     int64
	reader   *recordbatch.Reader
}

func newCutter(
	topic string, partition int, next int64, maxBytes int, reader *recordbatch.Reader,
) *cutter {
	return &cutter{
		chunk: Chunk{Partition: partition, Next: next}, topic: topic, maxBytes: maxBytes, sent: next,
		reader: reader,
	}
}

// committed sends the records from the chunk's position on, without those of aborted transactions:
// a transaction's records lie between its first offset, which the broker lists, and its control
// record.
func (c *cutter) committed(
	set []byte, transactions []kmsg.FetchResponseTopicPartitionAbortedTransaction,
) error {
	transactions = slices.SortedFunc(slices.Values(transactions), func(
		a, b kmsg.FetchResponseTopicPartitionAbortedTransaction,
	) int {
		return cmp.Compare(a.FirstOffset, b.FirstOffset)
	})
	aborted := make(map[int64]bool) // by producer id: its records are being dropped
	start, some := c.chunk.Next, false
	for {
		batch, rest, err := recordbatch.Next(set)
		if err != nil {
			return errors.Join(c.flush(), err) // what came before it is good
		}
		if batch == nil {
			break
		}
		// Before a control record too: where a fetch begins at it, it ends a transaction that the
		// broker lists though nothing of it is in the set.
		for len(transactions) > 0 && transactions[0].FirstOffset <= batch.First() {
			aborted[transactions[0].ProducerID] = true
			transactions = transactions[1:]
		}
		switch {
		case batch.Control():
			delete(aborted, batch.ProducerID())
		case batch.Transactional() && aborted[batch.ProducerID()]:
		default:
			// No more at once than few batches have: what it says may be wrong.
			c.chunk.Records = slices.Grow(c.chunk.Records, min(batch.Records(), 4096))
			if err := c.reader.Each(batch, c.take); err != nil {
				return err
			}
		}
		// Its last records may have been compacted away, or all of them.
		c.chunk.Next = max(c.chunk.Next, batch.Last()+1)
		set, some = rest, true
	}
	if some && c.chunk.Next == start {
		// These batches end before the position, and the broker has no others: what was there is gone.
		c.chunk.Next++
	}
	return c.flush()
}

// take keeps a record, unless it is from before the position. Of an unreadable rest of a batch it
// keeps what is not before the position, which only somebody else can have set to the middle of
// one.
func (c *cutter) take(r kafka.Record) error {
	if r.Next() <= c.chunk.Next {
		return nil
	}
	r.Offset = max(r.Offset, c.chunk.Next)
	r.Topic, r.Partition = c.topic, c.chunk.Partition
	c.chunk.Records = append(c.chunk.Records, r)
	c.chunk.Next = r.Next()
	if c.size += r.Memory(); c.size < c.maxBytes {
		return nil
	}
	return c.flush()
}

// flush sends the chunk, if it moves the position, and begins another.
func (c *cutter) flush() error {
	if c.chunk.Next == c.sent {
		return nil
	}
	chunk := c.chunk
	c.chunk.Records, c.size, c.sent = nil, 0, chunk.Next
	return c.send(chunk)
}
