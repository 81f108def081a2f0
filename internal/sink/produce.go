package sink

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
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
	acksAll = -1
	// sizeBytes is how long the size is that a request has before a record batch.
	sizeBytes = 4
	// produceTimeout is how long a leader waits for its followers: less than this side waits for the
	// leader.
	produceTimeout = kafka.RequestTimeout - 2*time.Second
)

// A TooLargeError is the error of a record that its topic refuses, since it is larger than the
// topic takes.
type TooLargeError struct {
	Partition
	Key  []byte
	Size int // in bytes, of a record batch that holds nothing else, as it was sent
	err  error
}

// Error names the record and what is to be changed.
func (e *TooLargeError) Error() string {
	const most = 100 // bytes of a key
	return fmt.Sprintf("topic %[1]s refuses the record of key %[2]q for partition %[3]d, which "+
		"takes %[4]d bytes: its max.message.bytes is less. "+
		"Raise it (kafka-configs.sh --bootstrap-server HOST:PORT --alter --entity-type topics "+
		"--entity-name %[1]s --add-config max.message.bytes=%[5]d)",
		e.Topic, e.Key[:min(len(e.Key), most)], e.ID, e.Size, roomFor(e.Size))
}

func (e *TooLargeError) Unwrap() error { return e.err }

// A batchTooLargeError is the error of a record batch of several records that its topic refuses,
// since it is larger than the topic takes.
type batchTooLargeError struct {
	topic string
	error
}

func (e *batchTooLargeError) Unwrap() error { return e.error }

// roomFor returns a limit for records of a size, and for those that are a little larger.
func roomFor(size int) int {
	const mebi = 1 << 20
	return (size+size/2)/mebi*mebi + mebi
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
	note := func(b recordBatch, first int64) {
		mutex.Lock()
		defer mutex.Unlock()
		written[b.to] = first + int64(b.count)
	}
	for _, b := range round {
		delete(written, b.to) // what a round before wrote is not the last
	}
	return p.sendAll(ctx, round, note)
}

// sendAll sends a round until all leaders have taken it.
func (p *Producer) sendAll(
	ctx context.Context, round []recordBatch, note func(recordBatch, int64),
) error {
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

func (p *Producer) byLeader(
	ctx context.Context, round []recordBatch,
) (map[int][]recordBatch, error) {
	leaders := make(map[string]map[int]int)
	byLeader := make(map[int][]recordBatch)
	for _, b := range round {
		if leaders[b.to.Topic] == nil {
			l, err := p.client.Leaders(ctx, b.to.Topic)
			if err != nil {
				return nil, kafka.MarkRetriable(err)
			}
			leaders[b.to.Topic] = l
		}
		leader := leaders[b.to.Topic][b.to.ID]
		byLeader[leader] = append(byLeader[leader], b)
	}
	return byLeader, nil
}

// send notes the first offset of each batch that the broker has taken, where it reports one.
func (p *Producer) send(
	ctx context.Context, batches []recordBatch, note func(recordBatch, int64),
) error {
	sent, size := make(map[Partition]recordBatch), 0
	request := &rawproduce.Request{
		TransactionalID: p.id, Acks: acksAll, Timeout: int32(produceTimeout.Milliseconds()),
	}
	for _, b := range batches {
		sent[b.to] = b
		size += sizeBytes + len(b.data)
		if n := len(request.Topics); n == 0 || request.Topics[n-1].Topic != b.to.Topic {
			request.Topics = append(request.Topics, rawproduce.RequestTopic{Topic: b.to.Topic})
		}
		topic := &request.Topics[len(request.Topics)-1]
		topic.Partitions = append(topic.Partitions, rawproduce.RequestPartition{
			Partition: int32(b.to.ID), RecordSet: recordSet(b.data),
		})
	}
	response, err := kafka.DoWithin[*produce.Response](ctx, p.client, request, kafka.TimeToSend(size))
	if err != nil {
		return err
	}
	var retriable error
	for _, t := range response.Topics {
		for _, r := range t.Partitions {
			err, to := kafka.Code(r.ErrorCode), Partition{t.Topic, int(r.Partition)}
			if err == nil || errors.Is(err, kafkago.DuplicateSequenceNumber) {
				if r.BaseOffset >= 0 {
					note(sent[to], r.BaseOffset)
				}
				continue
			}
			if err = refusal(to, sent[to], err, r.ErrorMessage); !kafka.Retriable(err) {
				return err
			}
			retriable = err
		}
	}
	return retriable
}

// recordSet returns a record batch as a request has it: after its size.
func recordSet(batch []byte) protocol.RawRecordSet {
	size := binary.BigEndian.AppendUint32(make([]byte, 0, sizeBytes), uint32(len(batch)))
	return protocol.RawRecordSet{Reader: io.MultiReader(bytes.NewReader(size), bytes.NewReader(batch))}
}

// refusal returns the error of a batch that a broker refuses with a code and perhaps with words.
func refusal(to Partition, b recordBatch, code error, words string) error {
	tooLarge := errors.Is(code, kafkago.MessageSizeTooLarge)
	if tooLarge && b.count == 1 {
		return &TooLargeError{Partition: to, Key: b.first, Size: len(b.data), err: code}
	}
	err := fmt.Errorf("%s/%d: %w", to.Topic, to.ID, code)
	if words != "" {
		err = fmt.Errorf("%w: %s", err, words)
	}
	if tooLarge {
		return &batchTooLargeError{to.Topic, err}
	}
	return err
}
