package pipeline

import (
	"errors"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/clusterd/clusterd/internal/testutil/check"
	"github.com/clusterd/clusterd/internal/testutil/texts"

	kafkago "github.com/segmentio/kafka-go"
)

// A broker that answers with errors, or not at all, in the middle of transactions: nothing is lost
// and nothing doubled, and the clusters are those of the rule.
func TestRunThroughFaults(t *testing.T) {
	t.Parallel()
	few := func(key kmsg.Key, err *kerr.Error, topLevel bool) kfake.Fault {
		f := kfake.Fault{Keys: []kmsg.Key{key}, Err: err, Count: 3, TopLevel: topLevel}
		if key == kmsg.Produce {
			f.Topic = "article-clusters" // not what the test itself writes
		}
		return f
	}
	for name, fault := range map[string]kfake.Fault{
		// Applied, but the answer is lost.
		"commit times out":            few(kmsg.EndTxn, kerr.RequestTimedOut, true),
		"commit is not coordinated":   few(kmsg.EndTxn, kerr.NotCoordinator, true),
		"commit: unknown error":       few(kmsg.EndTxn, kerr.UnknownServerError, true),
		"commit in a wrong state":     few(kmsg.EndTxn, kerr.InvalidTxnState, true),
		"produce is appended":         few(kmsg.Produce, kerr.NotEnoughReplicasAfterAppend, false),
		"produce fails for good":      few(kmsg.Produce, kerr.InvalidRecord, false),
		"produce: unknown error":      few(kmsg.Produce, kerr.UnknownServerError, false),
		"produce out of order":        few(kmsg.Produce, kerr.OutOfOrderSequenceNumber, false),
		"produce is too large":        few(kmsg.Produce, kerr.MessageTooLarge, false),
		"partitions: concurrent":      few(kmsg.AddPartitionsToTxn, kerr.ConcurrentTransactions, false),
		"offsets: not coordinated":    few(kmsg.TxnOffsetCommit, kerr.NotCoordinator, false),
		"offsets: unknown error":      few(kmsg.TxnOffsetCommit, kerr.UnknownServerError, false),
		"offsets fail for good":       few(kmsg.TxnOffsetCommit, kerr.InvalidCommitOffsetSize, false),
		"listing: unknown error":      few(kmsg.ListOffsets, kerr.UnknownServerError, false),
		"reading: unknown error":      few(kmsg.Fetch, kerr.UnknownServerError, false),
		"offsets are loading":         few(kmsg.OffsetFetch, kerr.CoordinatorLoadInProgress, true),
		"fetch: not leader":           few(kmsg.Fetch, kerr.NotLeaderForPartition, false),
		"fencing: concurrent":         few(kmsg.InitProducerID, kerr.ConcurrentTransactions, true),
		"fenced by a zombie's answer": few(kmsg.EndTxn, kerr.ProducerFenced, true),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, testConfig(), 3).alone()
			values := feed(11, 50)
			handle := b.broker.Fault(fault)
			i := b.start()
			for range 3 {
				b.produce(spread(values)...)
			}
			b.committed()
			b.produce(spread(values)...)
			b.committed()
			i.end()
			b.verify()
			if handle.Hits() == 0 {
				t.Error("the fault never struck")
			}
		})
	}
}

// The connection breaks after the request arrived: whether it was carried out is not known.
func TestRunThroughBrokenConnections(t *testing.T) {
	t.Parallel()
	for name, key := range map[string]kmsg.Key{
		"commit": kmsg.EndTxn, "produce": kmsg.Produce, "partitions": kmsg.AddPartitionsToTxn,
		"offsets": kmsg.TxnOffsetCommit, "fetch": kmsg.Fetch,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, testConfig(), 3)
			values := feed(12, 60)
			b.produce(spread(values)...) // before connections begin to break
			for range 3 {
				b.broker.ControlKey(key.Int16(), func(kmsg.Request) (kmsg.Response, error, bool) {
					return nil, errors.New("the connection breaks"), true
				})
			}
			i := b.start()
			b.committed()
			i.end()
			b.verify()
		})
	}
}

func TestRunEndsWhereWaitingDoesNotHelp(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		fault kfake.Fault
		want  string
	}{
		"fencing is denied": {
			kfake.Fault{
				Keys: []kmsg.Key{kmsg.InitProducerID}, Err: kerr.TransactionalIDAuthorizationFailed, Count: -1,
				TopLevel: true,
			},
			"the broker denies the transactional id",
		},
		"writing is denied": {
			kfake.Fault{
				Keys: []kmsg.Key{kmsg.Produce}, Topic: "article-clusters", Err: kerr.TopicAuthorizationFailed,
				Count: -1,
			},
			"the broker denies access to a topic",
		},
		"reading is denied": {
			kfake.Fault{
				Keys: []kmsg.Key{kmsg.Fetch}, Topic: "articles", Err: kerr.TopicAuthorizationFailed, Count: -1,
			},
			"the broker denies access to a topic",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, testConfig(), 1)
			b.produce(kafkago.Message{
				Value: texts.ArticleJSON("a", "t", texts.Sentence(1, 20)), WriterData: 0,
			})
			b.broker.Fault(tt.fault)
			check.ErrorHas(t, b.failure(), tt.want)
		})
	}
}
