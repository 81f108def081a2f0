package sink

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/segmentio/kafka-go/compress"
	"github.com/segmentio/kafka-go/protocol"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/clusterd/clusterd/internal/kafka"
)

func randomBytes(random *rand.Rand, n int) []byte {
	b := make([]byte, 0, n+8)
	for len(b) < n {
		b = binary.LittleEndian.AppendUint64(b, random.Uint64())
	}
	return b[:n]
}

// randomRecord makes a record that does not compress, of about n bytes.
func randomRecord(random *rand.Rand, n int) kafka.Record {
	r := kafka.Record{Topic: "t", Partition: random.IntN(3), Value: randomBytes(random, random.IntN(n+1))}
	if random.IntN(2) == 0 {
		r.Key = randomBytes(random, random.IntN(40))
	}
	for range random.IntN(4) {
		r.Headers = append(r.Headers, kafka.Header{Key: string(randomBytes(random, random.IntN(20))), Value: randomBytes(random, random.IntN(20))})
	}
	if random.IntN(2) == 0 {
		r.Time = time.UnixMilli(random.Int64N(1 << 42))
	}
	return r
}

func TestCutProperties(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 5))
	for range 500 {
		records := make([]kafka.Record, 1+random.IntN(40))
		for i := range records {
			records[i] = randomRecord(random, 400)
		}
		limit := random.IntN(2000) - 100
		var pointers, got []*kafka.Record
		for i := range records {
			pointers = append(pointers, &records[i])
		}
		parts := cut(pointers, limit)
		for i, part := range parts {
			size := 0
			for _, r := range part {
				size += recordSize(r)
			}
			if len(part) == 0 || len(part) > 1 && size > limit {
				t.Fatalf("a part of %d records with %d bytes, at most %d are allowed", len(part), size, limit)
			}
			if i > 0 {
				before := 0
				for _, r := range parts[i-1] {
					before += recordSize(r)
				}
				if before+recordSize(part[0]) <= limit {
					t.Fatal("a record was cut off though it fitted")
				}
			}
			got = append(got, part...)
		}
		if !slices.Equal(got, pointers) {
			t.Fatal("records were lost, doubled or moved")
		}
	}
}

func newTestProducer() *Producer {
	return &Producer{producerID: 0x0102030405060708, epoch: 0x090a, sequence: map[Partition]int32{}, limits: map[string]int{}, codec: compress.Lz4}
}

// oneBatch is what the records, which are of one partition, become as one record batch.
func oneBatch(t *testing.T, p *Producer, records ...kafka.Record) []byte {
	t.Helper()
	p.limits[records[0].Topic] = 100 << 20
	for i := range records {
		records[i].Partition = records[0].Partition
	}
	rounds := p.divide(records)
	if len(rounds) != 1 || len(rounds[0]) != 1 {
		t.Fatalf("%d rounds, want one of one batch", len(rounds))
	}
	data, err := p.encodeBatch(&rounds[0][0], time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// Size and the cut are upper bounds of what a batch takes, also of bytes that do not compress.
func TestSizeIsAnUpperBound(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 6))
	for i := range 136 {
		n := 1 << (i % 17)
		if i == 99 {
			n = 1 << 21
		}
		r := randomRecord(random, n)
		data := oneBatch(t, newTestProducer(), r)
		if got := Size(r); got < len(data)-4 {
			t.Errorf("Size = %d, but %d bytes with a value of %d and %d headers", got, len(data)-4, len(r.Value), len(r.Headers))
		}
	}
	headers := kafka.Record{Time: time.UnixMilli(1)}
	for range 10_000 {
		headers.Headers = append(headers.Headers, kafka.Header{Key: string(randomBytes(random, 200)), Value: randomBytes(random, 70)})
	}
	if data := oneBatch(t, newTestProducer(), headers); Size(headers) < len(data)-4 {
		t.Errorf("many headers: Size = %d, but %d bytes", Size(headers), len(data)-4)
	}
}

func TestBatchesHoldTheLimitOfTheirTopic(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 7))
	for _, limit := range []int{2048, 10_000, 100_000, 1_048_588, 10 << 20} {
		p := newTestProducer()
		p.limits["t"] = limit
		var records []kafka.Record
		for size := 0; size < 3*min(limit, batchBytes); {
			r := randomRecord(random, min(limit, 50_000)/3)
			if Size(r) > limit {
				continue
			}
			size += len(r.Value)
			records = append(records, r)
		}
		rounds, err := p.encode(records)
		if err != nil {
			t.Fatal(err)
		}
		for _, round := range rounds {
			seen := make(map[Partition]bool)
			for _, b := range round {
				if seen[b.to] {
					t.Fatalf("two batches of %v in one round", b.to)
				}
				seen[b.to] = true
				if len(b.data)-4 > min(limit, 1<<20) {
					t.Errorf("limit %d: a batch of %d bytes", limit, len(b.data)-4)
				}
			}
		}
		if len(rounds) < 2 {
			t.Errorf("limit %d: one round, the test wants several", limit)
		}
	}
}

// decode reads a batch as kafka-go does.
func decode(t *testing.T, data []byte) (*protocol.RecordBatch, []protocol.Record) {
	t.Helper()
	var set protocol.RecordSet
	if _, err := set.ReadFrom(bytes.NewBuffer(bytes.Clone(data))); err != nil {
		t.Fatal(err)
	}
	stream := set.Records.(*protocol.RecordStream)
	if len(stream.Records) != 1 {
		t.Fatalf("%d batches, want 1", len(stream.Records))
	}
	batch := stream.Records[0].(*protocol.RecordBatch)
	var records []protocol.Record
	for {
		r, err := batch.ReadRecord()
		if errors.Is(err, io.EOF) {
			return batch, records
		}
		if err != nil {
			t.Fatal(err)
		}
		records = append(records, *r)
	}
}

func readBytes(t *testing.T, b protocol.Bytes) []byte {
	t.Helper()
	if b == nil {
		return nil
	}
	data, err := io.ReadAll(b)
	if err != nil {
		t.Fatal(err)
	}
	return append([]byte{}, data...)
}

func TestEncodeBatchIsWhatOthersRead(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 8))
	p, next := newTestProducer(), make(map[int]int32)
	for range 50 {
		records := make([]kafka.Record, 1+random.IntN(20))
		for i := range records {
			records[i] = randomRecord(random, 300)
			records[i].Time = time.UnixMilli(1714564800000 + random.Int64N(1e6))
		}
		records[0].Value = nil // a tombstone
		data := oneBatch(t, p, records...)
		partition := records[0].Partition
		if size := binary.BigEndian.Uint32(data); int(size) != len(data)-4 {
			t.Fatalf("size prefix %d of %d bytes", size, len(data)-4)
		}

		var raw kmsg.RecordBatch
		if err := raw.ReadFrom(data[4:]); err != nil {
			t.Fatal(err)
		}
		want := kmsg.RecordBatch{
			FirstOffset: 0, Length: int32(len(data) - 4 - 12), PartitionLeaderEpoch: -1, Magic: 2,
			CRC:        int32(crc32.Checksum(data[4+21:], crc32.MakeTable(crc32.Castagnoli))),
			Attributes: 1<<4 | 3, LastOffsetDelta: int32(len(records) - 1), FirstTimestamp: records[0].Time.UnixMilli(),
			MaxTimestamp: slices.MaxFunc(records, func(a, b kafka.Record) int { return a.Time.Compare(b.Time) }).Time.UnixMilli(),
			ProducerID:   p.producerID, ProducerEpoch: p.epoch, FirstSequence: next[partition], NumRecords: int32(len(records)),
		}
		raw.Records = nil
		if fmt.Sprint(raw) != fmt.Sprint(want) {
			t.Fatalf("head of the batch: got  %+v\nwant %+v", raw, want)
		}
		next[partition] += int32(len(records))

		batch, got := decode(t, data)
		if batch.ProducerID != p.producerID || batch.ProducerEpoch != p.epoch || !batch.Attributes.Transactional() || batch.Attributes.Control() {
			t.Errorf("kafka-go reads producer %d, epoch %d, %v", batch.ProducerID, batch.ProducerEpoch, batch.Attributes)
		}
		if len(got) != len(records) {
			t.Fatalf("%d records, want %d", len(got), len(records))
		}
		for i, r := range got {
			want := records[i]
			key, value := readBytes(t, r.Key), readBytes(t, r.Value)
			if !bytes.Equal(key, want.Key) || (key == nil) != (want.Key == nil) || !bytes.Equal(value, want.Value) || (value == nil) != (want.Value == nil) ||
				!r.Time.Equal(want.Time) || r.Offset != int64(i) || !slices.EqualFunc(r.Headers, want.Headers, func(a, b kafka.Header) bool {
				return a.Key == b.Key && bytes.Equal(a.Value, b.Value)
			}) {
				t.Errorf("record %d: got %+v, want %+v", i, r, want)
			}
		}
	}
}

// Whatever the codec, others read the same; without one the batch is byte for byte kafka-go's.
func TestEncodeBatchWithEachCodec(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 9))
	records := make([]kafka.Record, 40)
	for i := range records {
		records[i] = randomRecord(random, 2000)
		records[i].Time = time.UnixMilli(1714564800000 + random.Int64N(1e6))
		records[i].Partition = 0
	}
	for codec := compress.None; codec <= compress.Zstd; codec++ {
		t.Run(codec.String(), func(t *testing.T) {
			p := newTestProducer()
			p.codec = codec
			data := oneBatch(t, p, records...)
			batch, got := decode(t, data)
			if batch.Attributes.Compression() != codec || len(got) != len(records) {
				t.Fatalf("%d records by %v, want %d", len(got), batch.Attributes.Compression(), len(records))
			}
			for i, r := range got {
				if !bytes.Equal(readBytes(t, r.Value), records[i].Value) {
					t.Errorf("record %d: the value is another", i)
				}
			}
			if codec != compress.None {
				return
			}
			theirs := make([]protocol.Record, len(records))
			for i, r := range records {
				theirs[i] = protocol.Record{Time: r.Time, Key: protocol.NewBytes(r.Key), Value: protocol.NewBytes(r.Value), Headers: r.Headers}
			}
			set := protocol.RecordSet{Version: 2, Attributes: protocol.Transactional, Records: protocol.NewRecordReader(theirs...)}
			var want bytes.Buffer
			if _, err := set.WriteTo(&want); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(data[4+recordsAt:], want.Bytes()[4+recordsAt:]) {
				t.Error("the records are encoded in another way than kafka-go's")
			}
		})
	}
}

// A record without a time is written now.
func TestRecordsWithoutATime(t *testing.T) {
	before := time.Now().Truncate(time.Millisecond)
	_, got := decode(t, oneBatch(t, newTestProducer(), kafka.Record{Topic: "t"}, kafka.Record{Topic: "t", Time: time.UnixMilli(5)}))
	if at := got[0].Time; at.Before(before) || at.After(time.Now()) {
		t.Errorf("written at %s, want now", at)
	}
	if at := got[1].Time; at.UnixMilli() != 5 {
		t.Errorf("written at %s, want the record's own time", at)
	}
}

func TestSequenceGoesRoundAt31Bits(t *testing.T) {
	p, to := newTestProducer(), Partition{"t", 0}
	records := []kafka.Record{{Topic: "t"}, {Topic: "t"}, {Topic: "t"}}
	for _, tt := range []struct{ from, then int32 }{
		{0, 3}, {math.MaxInt32 - 3, math.MaxInt32}, {math.MaxInt32 - 2, 0}, {math.MaxInt32 - 1, 1}, {math.MaxInt32, 2},
	} {
		p.sequence[to] = tt.from
		if batch, _ := decode(t, oneBatch(t, p, records...)); batch.BaseSequence != tt.from || p.sequence[to] != tt.then {
			t.Errorf("sequence %d, then %d; want %d, then %d", batch.BaseSequence, p.sequence[to], tt.from, tt.then)
		}
	}
	if p.sequence[Partition{"t", 1}] != 0 {
		t.Error("the sequence of another partition moved")
	}
}

func TestEncodeKeepsTheOrderOfAPartition(t *testing.T) {
	p := newTestProducer()
	p.limits["a"], p.limits["b"] = 4096, 1<<20
	var records []kafka.Record
	for i := range 300 {
		records = append(records, kafka.Record{
			Topic: []string{"a", "b"}[i%2], Partition: i / 2 % 2, Key: fmt.Append(nil, i), Value: bytes.Repeat([]byte{byte(i)}, 100), Time: time.UnixMilli(1),
		})
	}
	rounds, err := p.encode(records)
	if err != nil {
		t.Fatal(err)
	}
	got := make(map[Partition][]string)
	next := make(map[Partition]int32)
	for _, round := range rounds {
		for _, b := range round {
			batch, decoded := decode(t, b.data)
			if batch.BaseSequence != next[b.to] {
				t.Errorf("%v: sequence %d, want %d", b.to, batch.BaseSequence, next[b.to])
			}
			next[b.to] += int32(len(decoded))
			for _, r := range decoded {
				got[b.to] = append(got[b.to], string(readBytes(t, r.Key)))
			}
		}
	}
	want := make(map[Partition][]string)
	for _, r := range records {
		to := Partition{r.Topic, r.Partition}
		want[to] = append(want[to], string(r.Key))
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %v\nwant %v", got, want)
	}
	if rounds, err := p.encode(nil); err != nil || len(rounds) != 0 {
		t.Errorf("of no records: %v, %v", rounds, err)
	}
}

func BenchmarkEncode(b *testing.B) {
	p := newTestProducer()
	p.limits["results"] = 1_048_588
	value := []byte(`{"article_id":"20240501-000123","cluster_id":"articles/0/7","status":"joined","distance":3,"size":2,"representative":{"id":"a0","title":"标题"},"fingerprint":"00abcdef01234567","source":{"topic":"articles","partition":3,"offset":17},"pipeline":"simhash64/sdbm/log/1"}`)
	records := make([]kafka.Record, 1000)
	for i := range records {
		records[i] = kafka.Record{Topic: "results", Partition: i % 4, Key: []byte("articles/0/7"), Value: value}
	}
	b.SetBytes(int64(len(records) * len(value)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := p.encode(records); err != nil {
			b.Fatal(err)
		}
	}
}
