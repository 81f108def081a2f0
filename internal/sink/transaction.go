// Package sink writes to Kafka: the records of a batch and the offsets of the input that they
// were made of, in one transaction, so that a reader sees all of it or nothing, once; and single
// records outside of transactions, once. Records and offsets go in. It knows nothing of what they
// mean.
//
// kafka-go's Writer is not used: it can be neither idempotent nor transactional.
package sink

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol/addoffsetstotxn"
	"github.com/segmentio/kafka-go/protocol/addpartitionstotxn"
	"github.com/segmentio/kafka-go/protocol/endtxn"
	"github.com/segmentio/kafka-go/protocol/initproducerid"
	"github.com/segmentio/kafka-go/protocol/txnoffsetcommit"

	"golang.org/x/sync/errgroup"

	"github.com/clusterd/clusterd/internal/failpoint"
	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/kafka/recordbatch"
)

const (
	// transactionTimeout is when the broker aborts a transaction whose producer fell silent. It
	// is also how long readers of the output can be held up by one that died.
	transactionTimeout = time.Minute
	// commitTimeout is when this side gives a transaction up: well before the broker does.
	commitTimeout = 40 * time.Second
	// markerWait is how long to wait where the broker still writes the markers of the last
	// transaction, which it does after nine of ten commits, for about this long.
	markerWait = time.Millisecond
	// operationNotAttempted is the code of a partition that was not added because another one
	// failed. kafka-go has another name for its number.
	operationNotAttempted = kafkago.Error(55)
)

// ErrFenced is the error of a producer whose work another instance has taken over. What it did
// last was not committed. Give the work up and join the group anew.
var ErrFenced = errors.New("another instance has taken over")

// An Offset is up to where a partition of the input has been read: one past its last record.
type Offset struct {
	Topic     string
	Partition int
	Offset    int64
}

// A Batch is what one transaction carries.
type Batch struct {
	Records []kafka.Record // with topic and partition set; in each partition, the order is kept
	Offsets []Offset       // none: they stay as they are
	// Metadata is what the group's offsets carry, for whoever reads them.
	Metadata string
}

// A Producer writes transactions under one transactional id. It is not safe for concurrent use, but
// for [Producer.Prepare].
type Producer struct {
	client *kafka.Client
	log    *slog.Logger
	id     string // transactional id
	group  string // whose offsets are committed
	writer *recordbatch.Writer
	mu     sync.Mutex     // of the limits
	limits map[string]int // how large a record batch may be, by topic

	producerID int64
	epoch      int16
	sequence   map[Partition]int32   // the next sequence number, by output partition
	failed     atomic.Pointer[error] // of the request that is tried again
}

// A Partition is a partition of a topic.
type Partition struct {
	Topic string
	ID    int
}

// Written is where the records of a batch went: by partition, the offset after the last of them. A
// partition is left out where the broker, asked a second time, does not say.
type Written map[Partition]int64

// Settings are those of a [Producer].
type Settings struct {
	TransactionalID string
	Group           string // whose offsets are committed
	Compression     string // of record batches: none, gzip, snappy, lz4 or zstd
	// Limits are how large a record batch may be in each topic that is written to, in bytes. A
	// record that does not fit makes [Producer.Commit] fail, so compare [Size] with the limit first.
	Limits map[string]int
}

// NewProducer returns a producer. Nothing is written before [Producer.Fence].
func NewProducer(client *kafka.Client, log *slog.Logger, s Settings) (*Producer, error) {
	writer, err := recordbatch.NewWriter(s.Compression)
	if err != nil {
		return nil, err
	}
	return &Producer{
		client: client, log: log, id: s.TransactionalID, group: s.Group,
		writer: writer, limits: maps.Clone(s.Limits),
		producerID: -1, epoch: -1, sequence: make(map[Partition]int32),
	}, nil
}

// Fence takes the transactional id over: an open transaction of it, this producer's own or
// another's, is aborted, and whoever had it gets [ErrFenced]. It waits until a transaction that
// was being committed is so, and therefore comes before the group's offsets are fetched.
//
// From the second time on it fails with ErrFenced where another producer has fenced this one.
func (p *Producer) Fence(ctx context.Context) error {
	return kafka.Retry(ctx, p.log, "fencing transactional id "+p.id, func() error {
		switch err := p.init(ctx); {
		case errors.Is(err, kafkago.InvalidProducerIDMapping):
			// The broker has forgotten the id, as it does after a week without use.
			p.producerID, p.epoch = -1, -1
			return fmt.Errorf("%w (%w)", kafkago.ConcurrentTransactions, err)
		case err != nil:
			return fmt.Errorf("fencing transactional id %s: %w", p.id, fenced(err))
		}
		return nil
	})
}

// init asks for a producer id, or for the next epoch of the one that p has, and begins to count.
func (p *Producer) init(ctx context.Context) error {
	response, err := kafka.Do[*initproducerid.Response](ctx, p.client, &initproducerid.Request{
		TransactionalID: p.id, TransactionTimeoutMs: int32(transactionTimeout.Milliseconds()),
		ProducerID: p.producerID, ProducerEpoch: p.epoch,
	})
	if err == nil {
		err = kafka.Code(response.ErrorCode)
	}
	if err == nil {
		p.producerID, p.epoch = response.ProducerID, response.ProducerEpoch
		p.sequence = make(map[Partition]int32)
	}
	return err
}

// A Prepared is a batch whose records are encoded and compressed. The records themselves, which are
// many times as large, it does not hold.
type Prepared struct {
	offsets  []Offset
	metadata string
	rounds   [][]recordBatch
}

// Prepare does what takes processors and no broker. It may be called while the batch before is
// being committed.
func (p *Producer) Prepare(batch Batch) (*Prepared, error) {
	rounds, err := p.encode(batch.Records)
	for _, round := range rounds {
		for i := range round {
			round[i].records = nil
		}
	}
	return &Prepared{batch.Offsets, batch.Metadata, rounds}, err
}

// Commit prepares and writes a batch; see [Producer.CommitPrepared].
func (p *Producer) Commit(ctx context.Context, batch Batch) (Written, error) {
	prepared, err := p.Prepare(batch)
	if err != nil {
		return nil, err
	}
	return p.CommitPrepared(ctx, prepared)
}

// CommitPrepared writes the batch in one transaction. Without an error it is committed. After
// ErrFenced another instance owns the work. After any other error it may or may not be committed:
// throw away what was derived from it, fence, and read offsets and state again. What passes is
// waited for: a broker that is away, a topic that was deleted, for 40 s. Where a topic refuses a
// record batch of several records, the next ones for it are smaller.
func (p *Producer) CommitPrepared(ctx context.Context, batch *Prepared) (Written, error) {
	ctx, cancel := context.WithTimeout(ctx, commitTimeout)
	defer cancel()
	p.stamp(batch.rounds)
	var written Written
	for _, step := range []struct {
		failpoint, name string
		do              func() error
	}{
		{
			"", "adding partitions to the transaction",
			func() error { return p.addPartitions(ctx, batch.rounds) },
		},
		{
			failpoint.BeforeProduce, "producing",
			func() (err error) { written, err = p.produceWithOffsets(ctx, batch); return err },
		},
		{
			failpoint.AfterProduce, "committing offsets",
			func() error { return p.commitOffsets(ctx, batch) },
		},
		{failpoint.AfterOffsets, "ending the transaction", func() error { return p.end(ctx) }},
	} {
		if err := failpoint.Hit(step.failpoint); err != nil {
			return nil, err
		}
		if err := step.do(); err != nil {
			var refused *batchTooLargeError
			if errors.As(err, &refused) {
				p.shrink(refused.topic)
			}
			return nil, fmt.Errorf("%s: %w", step.name, fenced(err))
		}
	}
	return written, failpoint.Hit(failpoint.AfterEnd)
}

// fenced marks the errors that say that another instance has taken over.
func fenced(err error) error {
	for _, code := range []kafkago.Error{
		kafkago.ProducerFenced, kafkago.InvalidProducerEpoch, kafkago.IllegalGeneration,
		kafkago.UnknownMemberId, kafkago.FencedInstanceID,
	} {
		if errors.Is(err, code) {
			return fmt.Errorf("%w (%w)", ErrFenced, err)
		}
	}
	return err
}

// retry repeats a request of the transaction, which the broker takes as the same one.
func (p *Producer) retry(ctx context.Context, what string, do func() error) error {
	return kafka.Retry(ctx, p.log, what, func() error {
		for {
			err := do()
			if !errors.Is(err, kafkago.ConcurrentTransactions) || ctx.Err() != nil {
				p.note(ctx, err)
				return err
			}
			timer := time.NewTimer(markerWait)
			select {
			case <-timer.C:
			case <-ctx.Done():
				timer.Stop()
			}
		}
	})
}

// note keeps why a request fails, for those who wait for it.
func (p *Producer) note(ctx context.Context, err error) {
	switch {
	case err == nil:
		p.failed.Store(nil)
	case ctx.Err() == nil:
		p.failed.Store(&err)
	}
}

func (p *Producer) addPartitions(ctx context.Context, rounds [][]recordBatch) error {
	request := &addpartitionstotxn.Request{
		TransactionalID: p.id, ProducerID: p.producerID, ProducerEpoch: p.epoch,
	}
	if len(rounds) == 0 {
		return nil
	}
	// The first round has a batch of each partition, and those of a topic stand together.
	for _, b := range rounds[0] {
		n := len(request.Topics)
		if n == 0 || request.Topics[n-1].Name != b.to.Topic {
			request.Topics = append(request.Topics, addpartitionstotxn.RequestTopic{Name: b.to.Topic})
			n++
		}
		to := &request.Topics[n-1]
		to.Partitions = append(to.Partitions, int32(b.to.ID))
	}
	return p.retry(ctx, "adding partitions to a transaction", func() error {
		response, err := kafka.Do[*addpartitionstotxn.Response](ctx, p.client, request)
		if err != nil {
			return err
		}
		// Each partition has an error of its own. One that says that nothing helps counts most.
		var retriable error
		for _, t := range response.Results {
			for _, r := range t.Results {
				err := kafka.Code(r.ErrorCode)
				if err == nil {
					continue
				}
				err = fmt.Errorf("%s/%d: %w", t.Name, r.PartitionIndex, err)
				switch {
				case kafka.Retriable(err):
					retriable = err
				case !errors.Is(err, operationNotAttempted):
					return err
				}
			}
		}
		return retriable
	})
}

// produceWithOffsets produces while the coordinator adds the offsets to the transaction. They are
// committed behind that: beside it, the broker's checks of the transaction would displace one
// another.
func (p *Producer) produceWithOffsets(
	ctx context.Context, batch *Prepared,
) (written Written, err error) {
	var group errgroup.Group
	group.Go(func() error {
		if err := p.addOffsets(ctx, batch.offsets); err != nil {
			return fmt.Errorf("adding offsets to the transaction: %w", err)
		}
		return nil
	})
	written, err = p.produce(ctx, batch.rounds)
	// Of a producer that was fenced in between, the coordinator says so. The partition may say
	// instead that there is no transaction.
	if added := group.Wait(); err == nil || errors.Is(fenced(added), ErrFenced) {
		err = added
	}
	return written, err
}

func (p *Producer) addOffsets(ctx context.Context, offsets []Offset) error {
	if len(offsets) == 0 {
		return nil
	}
	return p.retry(ctx, "adding offsets to a transaction", func() error {
		response, err := kafka.Do[*addoffsetstotxn.Response](ctx, p.client, &addoffsetstotxn.Request{
			TransactionalID: p.id, ProducerID: p.producerID, ProducerEpoch: p.epoch, GroupID: p.group,
		})
		if err != nil {
			return err
		}
		return kafka.Code(response.ErrorCode)
	})
}

// commitOffsets names no generation and no member of the group. Ownership is fenced by the
// transactional id, one for each unit of work; with a generation, every rebalance would fail the
// batches of members that keep their partitions.
func (p *Producer) commitOffsets(ctx context.Context, batch *Prepared) error {
	if len(batch.offsets) == 0 {
		return nil
	}
	request := &txnoffsetcommit.Request{
		TransactionalID: p.id, GroupID: p.group, ProducerID: p.producerID, ProducerEpoch: p.epoch,
		GenerationID: -1,
	}
	topics := make(map[string]int)
	for _, o := range batch.offsets {
		i, ok := topics[o.Topic]
		if !ok {
			i = len(request.Topics)
			topics[o.Topic] = i
			request.Topics = append(request.Topics, txnoffsetcommit.RequestTopic{Name: o.Topic})
		}
		request.Topics[i].Partitions = append(request.Topics[i].Partitions,
			txnoffsetcommit.RequestPartition{
				Partition: int32(o.Partition), CommittedOffset: o.Offset, CommittedLeaderEpoch: -1,
				CommittedMetadata: batch.metadata,
			})
	}
	return p.retry(ctx, "committing offsets", func() error {
		response, err := kafka.Do[*txnoffsetcommit.Response](ctx, p.client, request)
		if err != nil {
			return err
		}
		for _, t := range response.Topics {
			for _, r := range t.Partitions {
				if err := kafka.Code(r.ErrorCode); err != nil {
					return fmt.Errorf("%s/%d: %w", t.Name, r.Partition, err)
				}
			}
		}
		return nil
	})
}

// end commits. To ask again is safe: a transaction that is committed already answers so.
func (p *Producer) end(ctx context.Context) error {
	if err := failpoint.Hit(failpoint.BeforeEnd); err != nil {
		return err
	}
	return p.retry(ctx, "committing a transaction", func() error {
		response, err := kafka.Do[*endtxn.Response](ctx, p.client, &endtxn.Request{
			TransactionalID: p.id, ProducerID: p.producerID, ProducerEpoch: p.epoch, Committed: true,
		})
		if err != nil {
			return err
		}
		return kafka.Code(response.ErrorCode)
	})
}
