package sink

import (
	"cmp"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/kafka/recordbatch"
)

const (
	// batchBytes is where a record batch is cut, unless the topic wants it smaller. A transaction
	// holds as many batches as it needs.
	batchBytes = 900 << 10
	// minLimit is where halving the size of a topic's record batches ends.
	minLimit = 16 << 10
)

// Size returns what a record takes as a batch of its own, at most, before compression.
func Size(r kafka.Record) int { return recordbatch.Size(&r) }

// SetLimit says how large a record batch may be in a topic, in bytes.
func (p *Producer) SetLimit(topic string, bytes int) { p.limits[topic] = bytes }

// shrink makes the record batches of a topic smaller, which has refused one of several records: its
// real limit could not be read.
func (p *Producer) shrink(topic string) { p.limits[topic] = max(minLimit, p.limits[topic]/2) }

// A recordBatch is encoded once: retries send the very same bytes, by which the broker knows them.
type recordBatch struct {
	to       Partition
	records  []*kafka.Record
	sequence int32  // of its first record
	data     []byte // encoded
}

// encode puts the records into record batches: rounds of at most one batch a partition, since a
// produce request takes no more.
func (p *Producer) encode(records []kafka.Record) ([][]recordBatch, error) {
	rounds := p.divide(records)
	now := time.Now()
	// Compression is most of the work, and each batch is compressed by itself.
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for _, round := range rounds {
		for i := range round {
			group.Go(func() (err error) {
				b := &round[i]
				from := recordbatch.Origin{
					ProducerID: p.producerID, Epoch: p.epoch, Sequence: b.sequence, Alone: p.id == "",
				}
				if b.data, err = p.writer.Encode(b.records, from, now); err != nil {
					return fmt.Errorf("encoding records for %s/%d: %w", b.to.Topic, b.to.ID, err)
				}
				return nil
			})
		}
	}
	return rounds, group.Wait()
}

// divide returns which records go together.
func (p *Producer) divide(records []kafka.Record) (rounds [][]recordBatch) {
	byPartition := make(map[Partition][]*kafka.Record)
	for i := range records {
		to := Partition{records[i].Topic, records[i].Partition}
		byPartition[to] = append(byPartition[to], &records[i])
	}
	order := slices.SortedFunc(maps.Keys(byPartition), func(a, b Partition) int {
		return cmp.Or(cmp.Compare(a.Topic, b.Topic), cmp.Compare(a.ID, b.ID))
	})
	for _, to := range order {
		limit := min(batchBytes, recordbatch.Room(p.limits[to.Topic]))
		for round, records := range cut(byPartition[to], limit) {
			if round == len(rounds) {
				rounds = append(rounds, nil)
			}
			rounds[round] = append(
				rounds[round], recordBatch{to: to, records: records, sequence: p.sequence[to]},
			)
			// Sequence numbers go round at 2^31.
			p.sequence[to] = int32((int64(p.sequence[to]) + int64(len(records))) & 0x7fffffff)
		}
	}
	return rounds
}

// cut splits records so that each part takes at most limit bytes, or is a single record.
func cut(records []*kafka.Record, limit int) [][]*kafka.Record {
	var parts [][]*kafka.Record
	start, size := 0, 0
	for i, r := range records {
		n := recordbatch.RecordSize(r)
		if i > start && size+n > limit {
			parts = append(parts, records[start:i])
			start, size = i, 0
		}
		size += n
	}
	return append(parts, records[start:])
}
