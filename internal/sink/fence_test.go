package sink

import (
	"errors"
	"strings"
	"testing"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/twmb/franz-go/pkg/kmsg"
)

func TestCommitWithoutFenceFails(t *testing.T) {
	_, client := startBrokers(t, 1)
	if _, err := newProducer(t, client).Commit(t.Context(), batchOf("x", 1)); err == nil {
		t.Error("no error")
	}
	wantCommitted(t, client)
}

func TestSecondProducerFencesTheFirst(t *testing.T) {
	_, client := startBrokers(t, 1)
	first := fencedProducer(t, client)
	before, after := batchOf("before", 1), batchOf("after", 2)
	if _, err := first.Commit(t.Context(), before); err != nil {
		t.Fatal(err)
	}
	second := fencedProducer(t, client)
	if _, err := first.Commit(t.Context(), batchOf("zombie", 9)); !errors.Is(err, ErrFenced) {
		t.Errorf("the first: %v, want ErrFenced", err)
	}
	if _, err := second.Commit(t.Context(), after); err != nil {
		t.Errorf("the second: %v", err)
	}
	wantCommitted(t, client, before, after)
	wantOffsets(t, client, 2, 4)
}

// Whatever step of a transaction a producer stands at when another takes over, it is fenced and
// nothing of the transaction is seen.
func TestFencedAtEveryStep(t *testing.T) {
	for _, key := range []kmsg.Key{
		kmsg.AddPartitionsToTxn, kmsg.Produce, kmsg.AddOffsetsToTxn,
		kmsg.TxnOffsetCommit, kmsg.EndTxn,
	} {
		t.Run(key.Name(), func(t *testing.T) {
			cluster, client := startBrokers(t, 1)
			first, second := fencedProducer(t, client), newProducer(t, client)
			cluster.ControlKey(int16(key), func(kmsg.Request) (kmsg.Response, error, bool) {
				cluster.DropControl()
				cluster.SleepControl(func() {
					if err := second.Fence(t.Context()); err != nil {
						t.Error(err)
					}
				})
				return nil, nil, false
			})
			// At a produce request a broker may rather say that there is no such transaction: then
			// the next Fence fails with ErrFenced.
			_, err := first.Commit(t.Context(), batchOf("zombie", 9))
			if !errors.Is(err, ErrFenced) && (key != kmsg.Produce ||
				!errors.Is(err, kafkago.InvalidTransactionState)) {
				t.Errorf("error = %v, want ErrFenced", err)
			}
			b := batchOf("second", 1)
			if _, err := second.Commit(t.Context(), b); err != nil {
				t.Fatal(err)
			}
			wantCommitted(t, client, b)
			wantOffsets(t, client, 1, 2)
		})
	}
}

func TestFenceOfAFencedProducer(t *testing.T) {
	for _, code := range []kafkago.Error{kafkago.ProducerFenced, kafkago.InvalidProducerEpoch} {
		cluster, client := startBrokers(t, 1)
		first := fencedProducer(t, client)
		fencedProducer(t, client)
		id, epoch := first.producerID, first.epoch
		// As Apache Kafka does. kfake lets an old epoch come back.
		cluster.ControlKey(int16(kmsg.InitProducerID),
			func(request kmsg.Request) (kmsg.Response, error, bool) {
				r := request.(*kmsg.InitProducerIDRequest)
				if r.ProducerID != id || r.ProducerEpoch != epoch {
					t.Errorf("asked as producer %d, epoch %d; want %d, %d", r.ProducerID, r.ProducerEpoch, id,
						epoch)
				}
				response := request.ResponseKind().(*kmsg.InitProducerIDResponse)
				response.ErrorCode = int16(code)
				return response, nil, true
			})
		if err := first.Fence(t.Context()); !errors.Is(err, ErrFenced) ||
			!strings.Contains(err.Error(), "fencing transactional id clusterd-0") {
			t.Errorf("%v: error = %v, want ErrFenced", code, err)
		}
	}
}

func TestFenceAbortsAnOpenTransaction(t *testing.T) {
	cluster, client := startBrokers(t, 1)
	p := fencedProducer(t, client)
	cluster.ControlKey(int16(kmsg.EndTxn), func(request kmsg.Request) (kmsg.Response, error, bool) {
		response := request.ResponseKind().(*kmsg.EndTxnResponse)
		response.ErrorCode = int16(kafkago.TransactionalIDAuthorizationFailed)
		return response, nil, true
	})
	_, err := p.Commit(t.Context(), batchOf("aborted", 9))
	if !errors.Is(err, kafkago.TransactionalIDAuthorizationFailed) || errors.Is(err, ErrFenced) ||
		!strings.HasPrefix(err.Error(), "ending the transaction: ") {
		t.Fatalf("error = %v", err)
	}
	epoch := p.epoch
	if err := p.Fence(t.Context()); err != nil {
		t.Fatal(err)
	}
	if p.epoch <= epoch {
		t.Errorf("epoch %d after %d", p.epoch, epoch)
	}
	b := batchOf("again", 1)
	if _, err := p.Commit(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	wantCommitted(t, client, b)
	wantOffsets(t, client, 1, 2)
}

func TestFenceOfAForgottenProducerBeginsAnew(t *testing.T) {
	cluster, client := startBrokers(t, 1)
	p := fencedProducer(t, client)
	var ids []int64
	cluster.ControlKey(int16(kmsg.InitProducerID),
		func(request kmsg.Request) (kmsg.Response, error, bool) {
			cluster.KeepControl()
			ids = append(ids, request.(*kmsg.InitProducerIDRequest).ProducerID)
			if len(ids) > 1 {
				return nil, nil, false
			}
			response := request.ResponseKind().(*kmsg.InitProducerIDResponse)
			response.ErrorCode = int16(kafkago.InvalidProducerIDMapping)
			return response, nil, true
		})
	if err := p.Fence(t.Context()); err != nil {
		t.Fatal(err)
	}
	b := batchOf("b", 1)
	if _, err := p.Commit(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	if len(ids) != 2 || ids[0] < 0 || ids[1] != -1 {
		t.Errorf("asked as producers %v, want its own, then none", ids)
	}
	wantCommitted(t, client, b)
}
