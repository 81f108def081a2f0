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
func (p *Producer) SetLimit(topic string, bytes int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.limits[topic] = bytes
}

// limit returns how large a record batch may be in a topic.
func (p *Producer) limit(topic string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.limits[topic]
}

// shrink makes the record batches of a topic smaller, which has refused one of several records: its
// real limit could not be read.
func (p *Producer) shrink(topic string) { p.SetLimit(topic, max(minLimit, p.limit(topic)/2)) }

// A recordBatch is encoded and stamped once: retries send the very same bytes, by which the broker
// knows them.
type recordBatch struct {
	to      Partition
	records []*kafka.Record // that count, unless they are gone since
	count   int
	first   []byte // key of the first record
	data    []byte // encoded
}

// encode puts the records into record batches: rounds of at most one batch a partition, since a
// produce request takes no more. It may be called beside anything else. What it returns has to be
// stamped before it is sent.
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
				if b.data, err = p.writer.Encode(b.records, now); err != nil {
					return fmt.Errorf("encoding records for %s/%d: %w", b.to.Topic, b.to.ID, err)
				}
				return nil
			})
		}
	}
	return rounds, group.Wait()
}

// stamp numbers the records of batches that are about to be sent.
func (p *Producer) stamp(rounds [][]recordBatch) {
	for _, round := range rounds {
		for _, b := range round {
			recordbatch.Stamp(b.data, recordbatch.Origin{
				ProducerID: p.producerID, Epoch: p.epoch, Sequence: p.sequence[b.to], Alone: p.id == "",
			})
			// Sequence numbers go round at 2^31.
			p.sequence[b.to] = int32((int64(p.sequence[b.to]) + int64(b.count)) & 0x7fffffff)
		}
	}
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
		limit := min(batchBytes, recordbatch.Room(p.limit(to.Topic)))
		for round, records := range cut(byPartition[to], limit) {
			if round == len(rounds) {
				rounds = append(rounds, nil)
			}
			rounds[round] = append(rounds[round], recordBatch{
				to: to, records: records, count: len(records), first: records[0].Key,
			})
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
