package sink

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/clusterd/clusterd/internal/kafka"
)

// lossy is a broker's listener that lets the first request of a key be done, and hangs up instead
// of passing on the reply.
type lossy struct {
	net.Listener
	key  kmsg.Key
	lost atomic.Int64
	each int64 // not 0: of so many replies one is lost, and all are counted
}

func (l *lossy) loses() bool {
	if l.each == 0 {
		return l.lost.CompareAndSwap(0, 1)
	}
	return l.lost.Add(1)%l.each == 0
}

type lossyConn struct {
	net.Conn
	proxy  *lossy
	inBody bool         // the next read begins with the key of a request
	key    atomic.Int64 // of the request that was read last
}

func (l *lossy) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &lossyConn{Conn: conn, proxy: l}, nil
}

// Read follows the broker, which reads a request's size of four bytes, then the request.
func (c *lossyConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if c.inBody && n >= 2 {
		c.key.Store(int64(binary.BigEndian.Uint16(b)))
	}
	c.inBody = len(b) == 4 && n == 4
	return n, err
}

func (c *lossyConn) Write(b []byte) (int, error) {
	if c.key.Load() == int64(c.proxy.key) && c.proxy.loses() {
		return 0, errors.Join(net.ErrClosed, c.Conn.Close())
	}
	return c.Conn.Write(b)
}

// A reply that is lost leaves the request done. It is asked again, and counts once.
func TestLostRepliesAreNoDuplicates(t *testing.T) {
	for _, key := range []kmsg.Key{
		kmsg.AddPartitionsToTxn, kmsg.Produce, kmsg.AddOffsetsToTxn,
		kmsg.TxnOffsetCommit, kmsg.EndTxn,
	} {
		t.Run(key.Name(), func(t *testing.T) {
			t.Parallel()
			proxy := &lossy{key: key}
			cluster, client := startBrokers(t, 1,
				kfake.ListenFn(func(network, _ string) (net.Listener, error) {
					listener, err := net.Listen(network, "127.0.0.1:0")
					proxy.Listener = listener
					return proxy, err
				}))
			p := fencedProducer(t, client)
			first, second := batchOf("first", 1), batchOf("second", 2)
			var asked atomic.Int64
			cluster.ControlKey(int16(key), func(kmsg.Request) (kmsg.Response, error, bool) {
				asked.Add(1)
				return nil, nil, false
			})
			for _, b := range []Batch{first, second} {
				if _, err := p.Commit(t.Context(), b); err != nil {
					t.Fatal(err)
				}
			}
			if proxy.lost.Load() != 1 || asked.Load() != 3 {
				t.Errorf("%d replies were lost and %d requests came, want 1 and 3", proxy.lost.Load(),
					asked.Load())
			}
			wantCommitted(t, client, first, second)
			wantOffsets(t, client, 2, 4)
		})
	}
}

// Errors that pass are waited for, each in the form in which its response has it.
func TestRetriableErrors(t *testing.T) {
	for name, answer := range map[string]func(kmsg.Request) kmsg.Response{
		"AddPartitionsToTxn 51": func(request kmsg.Request) kmsg.Response {
			return added(request.(*kmsg.AddPartitionsToTxnRequest), func(_ string, i int) int16 {
				return []int16{51, 55}[i%2] // of some it says that it did not try
			})
		},
		"Produce 19": func(request kmsg.Request) kmsg.Response {
			response := produced(request.(*kmsg.ProduceRequest), func(string, int32) int16 { return 19 })
			response.Topics[0].Partitions[0].ErrorMessage = kmsg.StringPtr(
				"Unable to verify the partition has been added")
			return response
		},
		"AddOffsetsToTxn 15": func(request kmsg.Request) kmsg.Response {
			response := request.ResponseKind().(*kmsg.AddOffsetsToTxnResponse)
			response.ErrorCode = 15
			return response
		},
		"TxnOffsetCommit 14": func(request kmsg.Request) kmsg.Response {
			response := request.ResponseKind().(*kmsg.TxnOffsetCommitResponse)
			for _, asked := range request.(*kmsg.TxnOffsetCommitRequest).Topics {
				topic := kmsg.NewTxnOffsetCommitResponseTopic()
				topic.Topic = asked.Topic
				for _, partition := range asked.Partitions {
					p := kmsg.NewTxnOffsetCommitResponseTopicPartition()
					p.Partition, p.ErrorCode = partition.Partition, 14
					topic.Partitions = append(topic.Partitions, p)
				}
				response.Topics = append(response.Topics, topic)
			}
			return response
		},
		"EndTxn 51": func(request kmsg.Request) kmsg.Response {
			response := request.ResponseKind().(*kmsg.EndTxnResponse)
			response.ErrorCode = 51
			return response
		},
		"InitProducerID 16": func(request kmsg.Request) kmsg.Response {
			response := request.ResponseKind().(*kmsg.InitProducerIDResponse)
			response.ErrorCode = 16
			return response
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cluster, client := startBrokers(t, 1)
			key := kmsg.Key(0)
			for k := range kmsg.MaxKey + 1 {
				if r := kmsg.RequestForKey(int16(k)); r != nil &&
					kmsg.NameForKey(int16(k)) == strings.Fields(name)[0] {
					key = kmsg.Key(k)
				}
			}
			var refused atomic.Int64
			cluster.ControlKey(int16(key), func(request kmsg.Request) (kmsg.Response, error, bool) {
				if cluster.KeepControl(); refused.Add(1) == 3 {
					cluster.DropControl()
				}
				return answer(request), nil, true
			})
			b := batchOf("b", 7)
			p := fencedProducer(t, client)
			if _, err := p.Commit(t.Context(), b); err != nil {
				t.Fatal(err)
			}
			if refused.Load() != 3 {
				t.Errorf("refused %d times, want 3", refused.Load())
			}
			wantCommitted(t, client, b)
			wantOffsets(t, client, 7, 14)
		})
	}
}

// A broker that has a batch from an earlier try, and no more knows where, leaves its partition out.
func TestCommitThatDoesNotKnowWhereRecordsWent(t *testing.T) {
	cluster, client := startBrokers(t, 1)
	var asked atomic.Int64
	cluster.ControlKey(int16(kmsg.Produce), func(request kmsg.Request) (kmsg.Response, error, bool) {
		asked.Add(1)
		response := produced(request.(*kmsg.ProduceRequest), func(_ string, partition int32) int16 {
			if partition == 0 {
				return int16(kafkago.DuplicateSequenceNumber)
			}
			return 0
		})
		for _, topic := range response.Topics {
			for i := range topic.Partitions {
				if p := &topic.Partitions[i]; p.Partition == 0 {
					p.BaseOffset = -1
				} else {
					p.BaseOffset = 41
				}
			}
		}
		return response, nil, true
	})
	written, err := fencedProducer(t, client).Commit(t.Context(), batchOf("b", 1))
	want := Written{{"results", 1}: 43, {"results", 2}: 43, {"results", 3}: 43, {"clusters", 1}: 45}
	if err != nil || !maps.Equal(written, want) || asked.Load() != 1 {
		t.Errorf("written %v, %v; want %v", written, err, want)
	}
}

// A topic that was deleted may come back: until then nothing is committed, and nothing is lost.
func TestCommitWaitsForATopicThatIsMissing(t *testing.T) {
	t.Parallel()
	_, client := startBrokers(t, 1)
	admin := kadm.NewClient(newAdmin(t, client))
	p := fencedProducer(t, client)
	if _, err := p.Commit(t.Context(), batchOf("before", 1)); err != nil {
		t.Fatal(err)
	}
	if _, err := admin.DeleteTopics(t.Context(), "results"); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	_, err := p.Commit(ctx, batchOf("missing", 8))
	if !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, ErrFenced) {
		t.Errorf("error = %v, want that time was up", err)
	}
	for _, want := range []string{"results/", "if it was deleted, create it again"} {
		if !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("error = %v, want %q in it", err, want)
		}
	}
	wantOffsets(t, client, 1, 2)

	if err := p.Fence(t.Context()); err != nil {
		t.Fatal(err)
	}
	after := batchOf("after", 9)
	done := make(chan error, 1)
	go func() { _, err := p.Commit(t.Context(), after); done <- err }()
	if _, err := admin.CreateTopic(t.Context(), 4, 1, nil, "results"); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	wantOffsets(t, client, 9, 18)
}

// A topic can vanish between the steps of a transaction too.
func TestProduceWaitsForATopicThatIsMissing(t *testing.T) {
	t.Parallel()
	_, client := startBrokers(t, 1)
	p := newProducer(t, client)
	p.SetLimit("nothing", 1<<20)
	rounds, err := p.encode([]kafka.Record{{Topic: "nothing"}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	if _, err := p.produce(ctx, rounds); !errors.Is(err, context.DeadlineExceeded) ||
		!strings.Contains(err.Error(), "topic nothing: it does not exist") {
		t.Errorf("error = %v, want that time was up, and why", err)
	}
}
