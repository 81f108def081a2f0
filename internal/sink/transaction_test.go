package sink

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/compress"
	"github.com/segmentio/kafka-go/protocol/offsetfetch"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/testutil/kafkatest"
	"github.com/clusterd/clusterd/internal/testutil/wait"
)

const group = "clusterd"

func startBrokers(t *testing.T, n int, options ...kfake.Opt) (*kfake.Cluster, *kafka.Client) {
	t.Helper()
	cluster := kafkatest.Start(t, n, append([]kfake.Opt{
		kfake.SeedTopics(4, "results"), kfake.SeedTopics(2, "clusters"), kfake.SeedTopics(2, "articles"),
	}, options...)...)
	return cluster, kafkatest.Connect(t, config.Kafka{Brokers: cluster.ListenAddrs()})
}

func newProducer(t *testing.T, client *kafka.Client) *Producer {
	t.Helper()
	limits := map[string]int{"results": 1_048_588, "clusters": 1_048_588}
	return NewProducer(client, slog.New(slog.DiscardHandler), "clusterd-0", group, limits, compress.Lz4)
}

func fencedProducer(t *testing.T, client *kafka.Client) *Producer {
	t.Helper()
	p := newProducer(t, client)
	if err := p.Fence(t.Context()); err != nil {
		t.Fatal(err)
	}
	return p
}

// batchOf makes records for both topics and all partitions, told apart by name.
func batchOf(name string, offset int64) Batch {
	b := Batch{Offsets: []Offset{{"articles", 0, offset}, {"articles", 1, 2 * offset}}}
	for i := range 8 {
		b.Records = append(b.Records,
			kafka.Record{Topic: "results", Partition: i % 4, Key: []byte("k"), Value: fmt.Appendf(nil, "%s-r%d", name, i), Headers: []kafka.Header{{Key: "h", Value: []byte("v")}}},
			kafka.Record{Topic: "clusters", Partition: i % 2, Key: []byte("k"), Value: fmt.Appendf(nil, "%s-c%d", name, i)})
	}
	return b
}

func valuesOf(batches ...Batch) []string {
	var values []string
	for _, b := range batches {
		for _, r := range b.Records {
			values = append(values, string(r.Value))
		}
	}
	return slices.Sorted(slices.Values(values))
}

// committed reads both topics with a foreign client, as far as there is anything committed.
func committed(t *testing.T, client *kafka.Client) []*kgo.Record {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), wait.Patience)
	defer cancel()
	reader, err := kgo.NewClient(kgo.SeedBrokers(client.Brokers...), kgo.FetchIsolationLevel(kgo.ReadCommitted()),
		kgo.ConsumeTopics("results", "clusters"), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.FetchMaxWait(50*time.Millisecond), kgo.KeepControlRecords())
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	want := int64(0)
	for topic, partitions := range map[string][]int{"results": {0, 1, 2, 3}, "clusters": {0, 1}} {
		ends, err := client.Offsets(ctx, topic, partitions, kafka.Last)
		if err != nil {
			t.Fatal(err)
		}
		for _, end := range ends {
			want += end
		}
	}
	// Every offset is a record, a control record, or of an aborted transaction, which only has its
	// control record come here: count up to the end of each partition.
	at := make(map[string]int64)
	var records []*kgo.Record
	for seen := int64(0); seen < want; {
		fetches := reader.PollFetches(ctx)
		if err := fetches.Err(); err != nil {
			t.Fatalf("after %d of %d offsets: %v", seen, want, err)
		}
		fetches.EachRecord(func(r *kgo.Record) {
			where := fmt.Sprint(r.Topic, r.Partition)
			seen += r.Offset + 1 - at[where]
			at[where] = r.Offset + 1
			if !r.Attrs.IsControl() {
				records = append(records, r)
			}
		})
	}
	return records
}

func wantCommitted(t *testing.T, client *kafka.Client, batches ...Batch) {
	t.Helper()
	var got []string
	for _, r := range committed(t, client) {
		got = append(got, string(r.Value))
	}
	if slices.Sort(got); !slices.Equal(got, valuesOf(batches...)) {
		t.Errorf("committed: %v\nwant %v", got, valuesOf(batches...))
	}
}

func wantOffsets(t *testing.T, client *kafka.Client, want ...int64) {
	t.Helper()
	response, err := kafka.Do[*offsetfetch.Response](t.Context(), client, &offsetfetch.Request{
		GroupID: group, Topics: []offsetfetch.RequestTopic{{Name: "articles", PartitionIndexes: []int32{0, 1}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	var got []int64
	for _, topic := range response.Topics {
		for _, p := range topic.Partitions {
			got = append(got, p.CommittedOffset)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("offsets of the group: %v, want %v", got, want)
	}
}

func TestCommit(t *testing.T) {
	for name, brokers := range map[string]int{"one broker": 1, "several leaders": 3} {
		t.Run(name, func(t *testing.T) {
			_, client := startBrokers(t, brokers)
			p := fencedProducer(t, client)
			first, second, third := batchOf("first", 10), batchOf("second", 20), batchOf("third", 30)
			for i, b := range []Batch{first, second, {Offsets: []Offset{{"articles", 0, 25}}}, third, {}} {
				if _, err := p.Commit(t.Context(), b); err != nil {
					t.Fatalf("transaction %d: %v", i, err)
				}
			}
			wantCommitted(t, client, first, second, third)
			wantOffsets(t, client, 30, 60)
			next := make(map[string]string)
			for _, r := range committed(t, client) {
				where := fmt.Sprint(r.Topic, r.Partition)
				value := string(r.Value)
				if order := map[byte]string{'f': "0", 's': "1", 't': "2"}[value[0]] + value; order <= next[where] {
					t.Errorf("%s: %s out of order", where, value)
				} else {
					next[where] = order
				}
				if string(r.Key) != "k" || r.Topic == "results" && (len(r.Headers) != 1 || r.Headers[0].Key != "h" || string(r.Headers[0].Value) != "v") {
					t.Errorf("record %+v", r)
				}
				if r.Timestamp.IsZero() || time.Since(r.Timestamp).Abs() > time.Hour {
					t.Errorf("a record without a time has %v, want now", r.Timestamp)
				}
			}
		})
	}
}

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
	for _, key := range []kmsg.Key{kmsg.AddPartitionsToTxn, kmsg.Produce, kmsg.AddOffsetsToTxn, kmsg.TxnOffsetCommit, kmsg.EndTxn} {
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
			if !errors.Is(err, ErrFenced) && (key != kmsg.Produce || !errors.Is(err, kafkago.InvalidTransactionState)) {
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
		cluster.ControlKey(int16(kmsg.InitProducerID), func(request kmsg.Request) (kmsg.Response, error, bool) {
			r := request.(*kmsg.InitProducerIDRequest)
			if r.ProducerID != id || r.ProducerEpoch != epoch {
				t.Errorf("asked as producer %d, epoch %d; want %d, %d", r.ProducerID, r.ProducerEpoch, id, epoch)
			}
			response := request.ResponseKind().(*kmsg.InitProducerIDResponse)
			response.ErrorCode = int16(code)
			return response, nil, true
		})
		if err := first.Fence(t.Context()); !errors.Is(err, ErrFenced) || !strings.Contains(err.Error(), "fencing transactional id clusterd-0") {
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
	if !errors.Is(err, kafkago.TransactionalIDAuthorizationFailed) || errors.Is(err, ErrFenced) || !strings.HasPrefix(err.Error(), "ending the transaction: ") {
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
	cluster.ControlKey(int16(kmsg.InitProducerID), func(request kmsg.Request) (kmsg.Response, error, bool) {
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

// lossy is a broker's listener that lets the first request of a key be done, and hangs up instead
// of passing on the reply.
type lossy struct {
	net.Listener
	key  kmsg.Key
	lost atomic.Int64
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
	if c.key.Load() == int64(c.proxy.key) && c.proxy.lost.CompareAndSwap(0, 1) {
		return 0, errors.Join(net.ErrClosed, c.Conn.Close())
	}
	return c.Conn.Write(b)
}

// A reply that is lost leaves the request done. It is asked again, and counts once.
func TestLostRepliesAreNoDuplicates(t *testing.T) {
	for _, key := range []kmsg.Key{kmsg.AddPartitionsToTxn, kmsg.Produce, kmsg.AddOffsetsToTxn, kmsg.TxnOffsetCommit, kmsg.EndTxn} {
		t.Run(key.Name(), func(t *testing.T) {
			t.Parallel()
			proxy := &lossy{key: key}
			cluster, client := startBrokers(t, 1, kfake.ListenFn(func(network, _ string) (net.Listener, error) {
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
				t.Errorf("%d replies were lost and %d requests came, want 1 and 3", proxy.lost.Load(), asked.Load())
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
			response := request.ResponseKind().(*kmsg.AddPartitionsToTxnResponse)
			for _, asked := range request.(*kmsg.AddPartitionsToTxnRequest).Topics {
				topic := kmsg.NewAddPartitionsToTxnResponseTopic()
				topic.Topic = asked.Topic
				for i, id := range asked.Partitions {
					p := kmsg.NewAddPartitionsToTxnResponseTopicPartition()
					p.Partition, p.ErrorCode = id, []int16{51, 55}[i%2] // of some it says that it did not try
					topic.Partitions = append(topic.Partitions, p)
				}
				response.Topics = append(response.Topics, topic)
			}
			return response
		},
		"Produce 19": func(request kmsg.Request) kmsg.Response {
			response := request.ResponseKind().(*kmsg.ProduceResponse)
			for _, asked := range request.(*kmsg.ProduceRequest).Topics {
				topic := kmsg.NewProduceResponseTopic()
				topic.Topic = asked.Topic
				for _, partition := range asked.Partitions {
					p := kmsg.NewProduceResponseTopicPartition()
					p.Partition, p.ErrorCode = partition.Partition, 19
					p.ErrorMessage = kmsg.StringPtr("Unable to verify the partition has been added")
					topic.Partitions = append(topic.Partitions, p)
				}
				response.Topics = append(response.Topics, topic)
			}
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
				if r := kmsg.RequestForKey(int16(k)); r != nil && kmsg.NameForKey(int16(k)) == strings.Fields(name)[0] {
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

func TestCommitOfSeveralRecordBatches(t *testing.T) {
	_, client := startBrokers(t, 1)
	p := fencedProducer(t, client)
	random := rand.New(rand.NewPCG(1, 9))
	var b Batch
	for i := range 60 {
		value := randomBytes(random, 100_000)
		b.Records = append(b.Records, kafka.Record{Topic: "results", Partition: i % 2, Key: fmt.Append(nil, i/2), Value: value})
	}
	rounds, err := (&Producer{limits: p.limits, sequence: map[Partition]int32{}}).encode(b.Records)
	if err != nil || len(rounds) < 3 {
		t.Fatalf("%d rounds, %v; the test wants several", len(rounds), err)
	}
	if _, err := p.Commit(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	wantCommitted(t, client, b)
	next := make(map[int32]int)
	for _, r := range committed(t, client) {
		if want := fmt.Sprint(next[r.Partition]); string(r.Key) != want {
			t.Fatalf("partition %d: key %s, want %s", r.Partition, r.Key, want)
		}
		next[r.Partition]++
	}
}

func TestRecordThatIsTooLarge(t *testing.T) {
	_, client := startBrokers(t, 1)
	p := fencedProducer(t, client)
	large := kafka.Record{Topic: "results", Key: []byte("articles/0/7"), Value: randomBytes(rand.New(rand.NewPCG(1, 10)), 2<<20)}
	if Size(large) <= p.limits["results"] {
		t.Fatalf("Size = %d says that it fits", Size(large))
	}
	_, err := p.Commit(t.Context(), Batch{Records: []kafka.Record{{Topic: "results", Partition: 1, Value: []byte("fits")}, large}})
	var refused *TooLargeError
	if !errors.As(err, &refused) || !errors.Is(err, kafkago.MessageSizeTooLarge) || errors.Is(err, ErrFenced) {
		t.Fatalf("error = %v, want a TooLargeError", err)
	}
	if refused.Partition != (Partition{"results", 0}) || refused.Size < 2<<20 || refused.Size > Size(large) {
		t.Errorf("it is of %v and of %d bytes, want results/0 and 2 MiB", refused.Partition, refused.Size)
	}
	for _, want := range []string{
		`topic results refuses the record of key "articles/0/7" for partition 0, which takes ` + fmt.Sprint(refused.Size) + " bytes",
		"--entity-name results --add-config max.message.bytes=4194304",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error = %q, want %q in it", err, want)
		}
	}
	if err := p.Fence(t.Context()); err != nil {
		t.Fatal(err)
	}
	b := batchOf("after", 1)
	if _, err := p.Commit(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	wantCommitted(t, client, b)
}

func TestCommitEndsWithTheContext(t *testing.T) {
	cluster, client := startBrokers(t, 1)
	p := fencedProducer(t, client)
	ctx, cancel := context.WithCancel(t.Context())
	cluster.ControlKey(int16(kmsg.EndTxn), func(request kmsg.Request) (kmsg.Response, error, bool) {
		cluster.KeepControl()
		cancel()
		response := request.ResponseKind().(*kmsg.EndTxnResponse)
		response.ErrorCode = int16(kafkago.ConcurrentTransactions)
		return response, nil, true
	})
	if _, err := p.Commit(ctx, batchOf("x", 1)); !errors.Is(err, context.Canceled) {
		t.Errorf("error = %v, want the end of the context", err)
	}
}

// Written is where the next record will go, as a foreign reader sees it.
func TestCommitSaysWhereRecordsWent(t *testing.T) {
	_, client := startBrokers(t, 2)
	p := fencedProducer(t, client)
	random := rand.New(rand.NewPCG(1, 10))
	large := Batch{Offsets: []Offset{{"articles", 0, 3}}}
	for range 40 { // several rounds
		large.Records = append(large.Records, kafka.Record{Topic: "results", Partition: 1, Value: randomBytes(random, 100_000)})
	}
	large.Records = append(large.Records, kafka.Record{Topic: "results", Partition: 2})
	for _, b := range []Batch{batchOf("first", 1), batchOf("second", 2), large, {}} {
		written, err := p.Commit(t.Context(), b)
		if err != nil {
			t.Fatal(err)
		}
		want := make(Written)
		for _, r := range committed(t, client) {
			want[Partition{r.Topic, int(r.Partition)}] = r.Offset + 1
		}
		maps.DeleteFunc(want, func(to Partition, _ int64) bool {
			return !slices.ContainsFunc(b.Records, func(r kafka.Record) bool { return to == Partition{r.Topic, r.Partition} })
		})
		if !maps.Equal(written, want) {
			t.Errorf("written %v, want %v", written, want)
		}
	}
}

// A broker that has a batch from an earlier try, and no more knows where, leaves its partition out.
func TestCommitThatDoesNotKnowWhereRecordsWent(t *testing.T) {
	cluster, client := startBrokers(t, 1)
	var asked atomic.Int64
	cluster.ControlKey(int16(kmsg.Produce), func(request kmsg.Request) (kmsg.Response, error, bool) {
		asked.Add(1)
		response := request.ResponseKind().(*kmsg.ProduceResponse)
		for _, t := range request.(*kmsg.ProduceRequest).Topics {
			topic := kmsg.NewProduceResponseTopic()
			topic.Topic = t.Topic
			for _, partition := range t.Partitions {
				p := kmsg.NewProduceResponseTopicPartition()
				if p.Partition, p.BaseOffset = partition.Partition, 41; p.Partition == 0 {
					p.ErrorCode, p.BaseOffset = int16(kafkago.DuplicateSequenceNumber), -1
				}
				topic.Partitions = append(topic.Partitions, p)
			}
			response.Topics = append(response.Topics, topic)
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

// A right that was withdrawn does not come back by waiting.
func TestCommitWithoutTheRightToWrite(t *testing.T) {
	cluster, client := startBrokers(t, 1)
	p := fencedProducer(t, client)
	for key, answer := range map[kmsg.Key]func(kmsg.Request) kmsg.Response{
		kmsg.AddPartitionsToTxn: func(request kmsg.Request) kmsg.Response {
			response := request.ResponseKind().(*kmsg.AddPartitionsToTxnResponse)
			for _, asked := range request.(*kmsg.AddPartitionsToTxnRequest).Topics {
				topic := kmsg.NewAddPartitionsToTxnResponseTopic()
				topic.Topic = asked.Topic
				for _, id := range asked.Partitions {
					p := kmsg.NewAddPartitionsToTxnResponseTopicPartition()
					if p.Partition, p.ErrorCode = id, int16(operationNotAttempted); asked.Topic == "results" {
						p.ErrorCode = int16(kafkago.TopicAuthorizationFailed)
					}
					topic.Partitions = append(topic.Partitions, p)
				}
				response.Topics = append(response.Topics, topic)
			}
			return response
		},
		kmsg.Produce: func(request kmsg.Request) kmsg.Response {
			response := request.ResponseKind().(*kmsg.ProduceResponse)
			for _, asked := range request.(*kmsg.ProduceRequest).Topics {
				topic := kmsg.NewProduceResponseTopic()
				topic.Topic = asked.Topic
				for _, partition := range asked.Partitions {
					p := kmsg.NewProduceResponseTopicPartition()
					if p.Partition = partition.Partition; asked.Topic == "results" {
						p.ErrorCode = int16(kafkago.TopicAuthorizationFailed)
					}
					topic.Partitions = append(topic.Partitions, p)
				}
				response.Topics = append(response.Topics, topic)
			}
			return response
		},
	} {
		t.Run(key.Name(), func(t *testing.T) {
			cluster.ControlKey(int16(key), func(request kmsg.Request) (kmsg.Response, error, bool) {
				return answer(request), nil, true
			})
			_, err := p.Commit(t.Context(), batchOf("denied", 1))
			if !kafka.Hopeless(err) {
				t.Errorf("error = %v, want one that waiting does not mend", err)
			}
			for _, want := range []string{"results/", "grant read and describe on the input topic, read and write on the output topics"} {
				if !strings.Contains(fmt.Sprint(err), want) {
					t.Errorf("error = %v, want %q in it", err, want)
				}
			}
			if err := p.Fence(t.Context()); err != nil {
				t.Fatal(err)
			}
			wantCommitted(t, client)
		})
	}
}

func newAdmin(t *testing.T, client *kafka.Client) *kgo.Client {
	t.Helper()
	admin, err := kgo.NewClient(kgo.SeedBrokers(client.Brokers...))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(admin.Close)
	return admin
}

// A topic can vanish between the steps of a transaction too.
func TestProduceWaitsForATopicThatIsMissing(t *testing.T) {
	_, client := startBrokers(t, 1)
	p := newProducer(t, client)
	p.limits["nothing"] = 1 << 20
	rounds, err := p.encode([]kafka.Record{{Topic: "nothing"}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	if _, err := p.produce(ctx, rounds); !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "topic nothing: it does not exist") {
		t.Errorf("error = %v, want that time was up, and why", err)
	}
}
