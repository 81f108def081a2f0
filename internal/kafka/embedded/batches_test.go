package embedded_test

import (
	"encoding/binary"
	"hash/crc32"
	"io"
	"math"
	"net"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/kafka/embedded"
)

// produceRequest returns a request for one batch of one record.
func produceRequest(change func(*kmsg.RecordBatch)) *kmsg.ProduceRequest {
	record := kmsg.Record{Value: []byte("odd")}
	record.Length = int32(len(record.AppendTo(nil)) - 1) // which takes a byte itself
	b := kmsg.RecordBatch{
		Magic: 2, NumRecords: 1, ProducerID: -1, ProducerEpoch: -1, FirstSequence: -1,
		FirstTimestamp: 1714564800000, MaxTimestamp: 1714564800000, Records: record.AppendTo(nil),
	}
	change(&b)
	b.Length = int32(len(b.AppendTo(nil)) - 12)
	b.CRC = int32(crc32.Checksum(b.AppendTo(nil)[21:], crc32.MakeTable(crc32.Castagnoli)))
	partition := kmsg.NewProduceRequestTopicPartition()
	partition.Records = b.AppendTo(nil)
	topic := kmsg.NewProduceRequestTopic()
	topic.Topic, topic.Partitions = "articles", []kmsg.ProduceRequestTopicPartition{partition}
	r := kmsg.NewPtrProduceRequest()
	r.Acks, r.Topics = -1, []kmsg.ProduceRequestTopic{topic}
	return r
}

// Whatever the head of a batch says, what was written before and is written after it can be read,
// after a start too.
func TestOddBatchesHarmNothing(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*kmsg.RecordBatch)
		want   error
	}{
		"a usual one": {func(*kmsg.RecordBatch) {}, nil},
		"the time of the log": {
			func(b *kmsg.RecordBatch) { b.Attributes |= 1 << 3 }, kerr.InvalidTimestamp,
		},
		"no records": {
			func(b *kmsg.RecordBatch) { b.NumRecords, b.LastOffsetDelta = 0, -1 }, kerr.InvalidRecord,
		},
		"less than no records": {
			func(b *kmsg.RecordBatch) { b.NumRecords, b.LastOffsetDelta = -5, -6 }, kerr.InvalidRecord,
		},
		"the lowest number of records": {
			func(b *kmsg.RecordBatch) { b.NumRecords, b.LastOffsetDelta = math.MinInt32, math.MaxInt32 },
			kerr.InvalidRecord,
		},
		"times at the ends": {
			func(b *kmsg.RecordBatch) { b.FirstTimestamp, b.MaxTimestamp = math.MaxInt64, math.MinInt64 },
			nil,
		},
		"attributes of later versions": {
			func(b *kmsg.RecordBatch) { b.Attributes |= 0x7f40 }, nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			b := start(t, anyPort, dir)
			if err := newClient(t, b).CreateTopic(t.Context(),
				kafka.TopicSpec{Name: "articles", Partitions: 1}); err != nil {
				t.Fatal(err)
			}
			write(t, b, "articles", "before")
			response := request(t, b, produceRequest(tt.change)).(*kmsg.ProduceResponse)
			code := response.Topics[0].Partitions[0].ErrorCode
			if err := kerr.ErrorForCode(code); err != tt.want {
				t.Fatalf("the answer is %v, want %v", err, tt.want)
			}
			write(t, b, "articles", "after")
			want, n := "before odd after", 3
			if tt.want != nil {
				want, n = "before after", 2
			}
			if got := read(t, b, "articles", n); got != want {
				t.Errorf("read %q, want %q", got, want)
			}
			b.Close()
			b = start(t, anyPort, dir)
			defer b.Close()
			if got := read(t, b, "articles", n); got != want || b.Err() != nil {
				t.Errorf("after a start read %q, want %q: %v", got, want, b.Err())
			}
		})
	}
}

// request sends a request as it is, and returns the answer.
func request(t *testing.T, b *embedded.Broker, r kmsg.Request) kmsg.Response {
	t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(b.Address()))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	response, err := client.Request(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	return response
}

// Nobody makes the broker take up all memory by a topic.
func TestTopicsAreBounded(t *testing.T) {
	b := start(t, anyPort, "")
	defer b.Close()
	topic := kmsg.NewCreateTopicsRequestTopic()
	topic.Topic, topic.NumPartitions, topic.ReplicationFactor = "many", math.MaxInt32, 1
	create := kmsg.NewPtrCreateTopicsRequest()
	create.Topics = []kmsg.CreateTopicsRequestTopic{topic}
	response := request(t, b, create).(*kmsg.CreateTopicsResponse)
	if got := response.Topics[0]; got.Topic != "many" || got.ErrorCode != kerr.InvalidPartitions.Code {
		t.Errorf("the answer is %+v", got)
	}
	more := kmsg.NewCreatePartitionsRequestTopic()
	more.Topic, more.Count = "many", math.MaxInt32
	add := kmsg.NewPtrCreatePartitionsRequest()
	add.Topics = []kmsg.CreatePartitionsRequestTopic{more}
	added := request(t, b, add).(*kmsg.CreatePartitionsResponse)
	if got := added.Topics[0]; got.Topic != "many" || got.ErrorCode != kerr.InvalidPartitions.Code {
		t.Errorf("the answer is %+v", got)
	}
}

// What is no request of Kafka ends its connection, and nothing else.
func TestOddRequestsEndTheirConnection(t *testing.T) {
	b := start(t, anyPort, t.TempDir())
	defer b.Close()
	if err := newClient(t, b).CreateTopic(t.Context(),
		kafka.TopicSpec{Name: "articles", Partitions: 1}); err != nil {
		t.Fatal(err)
	}
	frame := func(size int32, rest ...byte) string {
		return string(append(binary.BigEndian.AppendUint32(nil, uint32(size)), rest...))
	}
	for name, bytes := range map[string]string{
		"HTTP":                     "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
		"TLS":                      "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
		"an unknown kind":          frame(10, 0x7f, 0xff, 0, 0, 0, 0, 0, 1, 0xff, 0xff),
		"a kind below zero":        frame(10, 0xff, 0xff, 0, 0, 0, 0, 0, 1, 0xff, 0xff),
		"a size below zero":        frame(-1, 0, 3, 0, 9, 0, 0, 0, 1, 0xff, 0xff),
		"the largest size":         frame(math.MaxInt32, 0, 3, 0, 9, 0, 0, 0, 1, 0xff, 0xff),
		"no size":                  frame(0, 0, 3, 0, 9, 0, 0),
		"a size without a request": frame(2, 0, 3, 0, 9, 0, 0, 0, 1),
		"an unknown version":       frame(10, 0, 3, 0x7f, 0xff, 0, 0, 0, 1, 0xff, 0xff),
		"a version below zero":     frame(10, 0, 3, 0xff, 0xff, 0, 0, 0, 1, 0xff, 0xff),
		"nothing behind the head":  frame(8, 0, 3, 0, 9, 0, 0, 0, 1),
		"bytes that are none of it": frame(20, 0, 0, 0, 9, 0, 0, 0, 1, 0xff, 0xff, 1, 2, 3, 4, 5, 6, 7, 8,
			9, 10),
	} {
		conn, err := net.Dial("tcp", b.Address())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(conn, bytes); err != nil {
			t.Fatal(err)
		}
		_ = conn.SetReadDeadline(time.Now().Add(5 * time.Second))
		if answer, err := io.ReadAll(conn); err != nil && len(answer) == 0 &&
			err.(net.Error).Timeout() {
			t.Errorf("%s: the connection stays open", name)
		}
		_ = conn.Close()
	}
	write(t, b, "articles", "after")
	if got := read(t, b, "articles", 1); got != "after" {
		t.Errorf("read %q", got)
	}
}
