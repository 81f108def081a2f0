package doctor

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/clusterd/clusterd/internal/config"
)

// written returns the topic to which most is written, empty where nothing is.
func (e *examination) written() string {
	switch e.config.Role {
	case config.ServeOnly:
		return ""
	case config.FingerprintOnly:
		return e.config.Fingerprints.Topic
	default:
		return e.config.Output.Topic
	}
}

// checkTransaction makes a real transaction with the topic of what is written, and aborts it.
func (e *examination) checkTransaction(ctx context.Context) {
	const name = "transaction"
	output := e.written()
	if t := e.topics[output]; output == "" || len(t.Partitions) == 0 {
		return // nothing is written, or there is nowhere to write to yet
	}
	began := time.Now()
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if err := e.transact(ctx); err != nil {
		do := advice(err)
		if errors.Is(err, kerr.TopicAuthorizationFailed) {
			do = e.grant(kmsg.ACLOperationWrite, output)
		}
		e.fail(name, do, "%v", err)
		return
	}
	e.ok(name, "begun and aborted in %s", time.Since(began).Round(time.Millisecond))
}

// transact begins and aborts a transaction that nobody sees. Brokers remember its id for a week.
func (e *examination) transact(ctx context.Context) error {
	// It begins as clusterd's own do.
	id := e.config.Input.Group + "-" + e.config.Input.Topic + "-doctor"
	begin := kmsg.NewPtrInitProducerIDRequest()
	begin.TransactionalID, begin.TransactionTimeoutMillis = &id, int32(limit.Milliseconds())
	producer, err := begin.RequestWith(ctx, e.client)
	if err == nil {
		err = kerr.ErrorForCode(producer.ErrorCode)
	}
	if err != nil {
		return fmt.Errorf("beginning as %s: %w", id, err)
	}
	output := e.written()
	add := kmsg.NewPtrAddPartitionsToTxnRequest()
	add.TransactionalID, add.ProducerID, add.ProducerEpoch = id, producer.ProducerID,
		producer.ProducerEpoch
	add.Topics = []kmsg.AddPartitionsToTxnRequestTopic{{Topic: output, Partitions: []int32{0}}}
	added, err := add.RequestWith(ctx, e.client)
	if err != nil {
		return fmt.Errorf("adding %s: %w", output, err)
	}
	for _, t := range added.Topics {
		for _, p := range t.Partitions {
			if err := kerr.ErrorForCode(p.ErrorCode); err != nil {
				return fmt.Errorf("adding %s: %w", output, err)
			}
		}
	}
	end := kmsg.NewPtrEndTxnRequest()
	end.TransactionalID, end.ProducerID, end.ProducerEpoch = id, producer.ProducerID,
		producer.ProducerEpoch
	ended, err := end.RequestWith(ctx, e.client)
	if err == nil {
		err = kerr.ErrorForCode(ended.ErrorCode)
	}
	if err != nil {
		return fmt.Errorf("aborting: %w", err)
	}
	return nil
}
