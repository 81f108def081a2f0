package sink

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"maps"
	"slices"
	"sync"
	"time"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol"
	"github.com/segmentio/kafka-go/protocol/produce"
	"github.com/segmentio/kafka-go/protocol/rawproduce"
	"golang.org/x/sync/errgroup"

	"github.com/clusterd/clusterd/internal/kafka"
)

const (
	// batchBytes is where a record batch is cut, unless the topic wants it smaller. A transaction
	// holds as many batches as it needs.
	batchBytes = 900 << 10
	// recordOverhead is the most that a record takes beside its key, value and headers, and
	// headerOverhead a header beside its own; both are variable-length numbers in the main.
	recordOverhead = 64
	headerOverhead = 16
	// batchOverhead is the most that a batch takes beside its records: its head, and what
	// compression adds to bytes that do not compress.
	batchOverhead  = 1 << 10
	codec          = protocol.Lz4
	acksAll        = -1
	produceTimeout = 20 * time.Second
)

// Size is what a record takes as a batch of its own, at most, before compression.
func Size(r kafka.Record) int {
	size := batchOverhead + recordSize(r)
	return size + size/256
}

func recordSize(r kafka.Record) int {
	size := recordOverhead + len(r.Key) + len(r.Value)
	for _, h := range r.Headers {
		size += headerOverhead + len(h.Key) + len(h.Value)
	}
	return size
}

// recordBatch is one encoded record batch; retries send the very same bytes, by which the broker
// knows them.
type recordBatch struct {
	to    Partition
	data  []byte
	count int // of its records
}

// encode puts the records into record batches: rounds of at most one batch a partition, since a
// produce request takes no more.
func (p *Producer) encode(records []kafka.Record) ([][]recordBatch, error) {
	byPartition := make(map[Partition][]kafka.Record)
	for _, r := range records {
		to := Partition{r.Topic, r.Partition}
		byPartition[to] = append(byPartition[to], r)
	}
	order := slices.SortedFunc(maps.Keys(byPartition), func(a, b Partition) int {
		return cmp.Or(cmp.Compare(a.Topic, b.Topic), cmp.Compare(a.ID, b.ID))
	})
	var rounds [][]recordBatch
	for _, to := range order {
		for round, records := range cut(byPartition[to], min(batchBytes, p.limits[to.Topic]-p.limits[to.Topic]/128-batchOverhead)) {
			data, err := p.encodeBatch(to, records)
			if err != nil {
				return nil, fmt.Errorf("encoding records for %s/%d: %w", to.Topic, to.ID, err)
			}
			if round == len(rounds) {
				rounds = append(rounds, nil)
			}
			rounds[round] = append(rounds[round], recordBatch{to, data, len(records)})
		}
	}
	return rounds, nil
}

// cut splits records so that each part takes at most limit bytes, or is a single record.
func cut(records []kafka.Record, limit int) [][]kafka.Record {
	var parts [][]kafka.Record
	start, size := 0, 0
	for i, r := range records {
		n := recordSize(r)
		if i > start && size+n > limit {
			parts = append(parts, records[start:i])
			start, size = i, 0
		}
		size += n
	}
	return append(parts, records[start:])
}

// The places in an encoded record batch, after its size of four bytes, that kafka-go leaves to
// be filled in. https://kafka.apache.org/documentation/#recordbatch
const (
	crcAt        = 17
	attributesAt = 21 // the checksum covers everything from here
	producerAt   = 43
	epochAt      = 51
	sequenceAt   = 53
)

func (p *Producer) encodeBatch(to Partition, records []kafka.Record) ([]byte, error) {
	batch := make([]protocol.Record, len(records))
	for i, r := range records {
		batch[i] = protocol.Record{Time: r.Time, Key: protocol.NewBytes(r.Key), Value: protocol.NewBytes(r.Value), Headers: r.Headers}
	}
	set := protocol.RecordSet{Version: 2, Attributes: protocol.Transactional | codec, Records: protocol.NewRecordReader(batch...)}
	var buffer bytes.Buffer
	if _, err := set.WriteTo(&buffer); err != nil {
		return nil, err
	}
	data := buffer.Bytes()
	b := data[4:]
	binary.BigEndian.PutUint64(b[producerAt:], uint64(p.producerID))
	binary.BigEndian.PutUint16(b[epochAt:], uint16(p.epoch))
	binary.BigEndian.PutUint32(b[sequenceAt:], uint32(p.sequence[to]))
	binary.BigEndian.PutUint32(b[crcAt:], crc32.Checksum(b[attributesAt:], crc32.MakeTable(crc32.Castagnoli)))
	// Sequence numbers go round at 2^31.
	p.sequence[to] = int32((int64(p.sequence[to]) + int64(len(records))) & 0x7fffffff)
	return data, nil
}

func (p *Producer) produce(ctx context.Context, rounds [][]recordBatch) (Written, error) {
	written := make(Written)
	for _, round := range rounds {
		if err := p.produceRound(ctx, round, written); err != nil {
			return nil, err
		}
	}
	return written, nil
}

// produceRound sends one request to each leader. Several requests to one leader would make the
// broker's checks of the transaction displace one another, which costs tens of milliseconds.
func (p *Producer) produceRound(ctx context.Context, round []recordBatch, written Written) error {
	var mutex sync.Mutex // of written
	note := func(to Partition, next int64) {
		mutex.Lock()
		defer mutex.Unlock()
		written[to] = next
	}
	for _, b := range round {
		delete(written, b.to) // what a round before wrote is not the last
	}
	return p.retry(ctx, "producing", func() error {
		byLeader, err := p.byLeader(ctx, round)
		if err != nil {
			return err
		}
		var group errgroup.Group
		for _, batches := range byLeader {
			group.Go(func() error { return p.send(ctx, batches, note) })
		}
		// What one leader took already is sent again with the rest: it answers that it has it.
		return group.Wait()
	})
}

func (p *Producer) byLeader(ctx context.Context, round []recordBatch) (map[int][]recordBatch, error) {
	leaders := make(map[string]map[int]int)
	byLeader := make(map[int][]recordBatch)
	for _, b := range round {
		if leaders[b.to.Topic] == nil {
			l, err := p.client.Leaders(ctx, b.to.Topic)
			if err != nil {
				return nil, kafka.Expected(err)
			}
			leaders[b.to.Topic] = l
		}
		leader := leaders[b.to.Topic][b.to.ID]
		byLeader[leader] = append(byLeader[leader], b)
	}
	return byLeader, nil
}

// send notes the offset after each batch that the broker has taken, where it says so.
func (p *Producer) send(ctx context.Context, batches []recordBatch, note func(Partition, int64)) error {
	counts := make(map[Partition]int)
	request := &rawproduce.Request{TransactionalID: p.id, Acks: acksAll, Timeout: int32(produceTimeout.Milliseconds())}
	for _, b := range batches {
		counts[b.to] = b.count
		if n := len(request.Topics); n == 0 || request.Topics[n-1].Topic != b.to.Topic {
			request.Topics = append(request.Topics, rawproduce.RequestTopic{Topic: b.to.Topic})
		}
		topic := &request.Topics[len(request.Topics)-1]
		topic.Partitions = append(topic.Partitions, rawproduce.RequestPartition{
			Partition: int32(b.to.ID), RecordSet: protocol.RawRecordSet{Reader: bytes.NewReader(b.data)},
		})
	}
	response, err := kafka.Do[*produce.Response](ctx, p.client, request)
	if err != nil {
		return err
	}
	var retriable error
	for _, t := range response.Topics {
		for _, r := range t.Partitions {
			err := kafka.Code(r.ErrorCode)
			if err == nil || errors.Is(err, kafkago.DuplicateSequenceNumber) {
				if to := (Partition{t.Topic, int(r.Partition)}); r.BaseOffset >= 0 {
					note(to, r.BaseOffset+int64(counts[to]))
				}
				continue
			}
			err = fmt.Errorf("%s/%d: %w", t.Topic, r.Partition, err)
			if r.ErrorMessage != "" {
				err = fmt.Errorf("%w: %s", err, r.ErrorMessage)
			}
			if !kafka.Transient(err) {
				return err
			}
			retriable = err
		}
	}
	return retriable
}
