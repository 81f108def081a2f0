package recordbatch

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/segmentio/kafka-go/compress"
	"github.com/segmentio/kafka-go/protocol"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/testutil/kafkatest"
)

// producer is the origin of the batches of these tests.
var producer = Origin{ProducerID: 0x0102030405060708, Epoch: 0x090a, Sequence: 7}

// encoded returns a batch of the records.
func encoded(t *testing.T, codec string, records ...kafka.Record) []byte {
	t.Helper()
	w, err := NewWriter(codec)
	if err != nil {
		t.Fatal(err)
	}
	var pointers []*kafka.Record
	for i := range records {
		pointers = append(pointers, &records[i])
	}
	data, err := w.Encode(pointers, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	Stamp(data, producer)
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
		r := kafkatest.RandomRecord(random, n)
		data := encoded(t, "lz4", r)
		if got := Size(&r); got < len(data) {
			t.Errorf("Size = %d, but %d bytes with a value of %d and %d headers", got, len(data),
				len(r.Value), len(r.Headers))
		}
	}
	headers := kafka.Record{Time: time.UnixMilli(1)}
	for range 10_000 {
		headers.Headers = append(headers.Headers,
			kafka.Header{
				Key: string(kafkatest.RandomBytes(random, 200)), Value: kafkatest.RandomBytes(random, 70),
			})
	}
	if data := encoded(t, "lz4", headers); Size(&headers) < len(data) {
		t.Errorf("many headers: Size = %d, but %d bytes", Size(&headers), len(data))
	}
}

// decode reads a batch as kafka-go does.
func decode(t *testing.T, data []byte) (*protocol.RecordBatch, []protocol.Record) {
	t.Helper()
	var set protocol.RecordSet
	if _, err := set.ReadFrom(bytes.NewBuffer(append(binary.BigEndian.AppendUint32(nil,
		uint32(len(data))), data...))); err != nil {
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

func TestEncodedBatchesAreWhatOthersRead(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 8))
	for range 50 {
		records := make([]kafka.Record, 1+random.IntN(20))
		for i := range records {
			records[i] = kafkatest.RandomRecord(random, 300)
			records[i].Time = time.UnixMilli(1714564800000 + random.Int64N(1e6))
		}
		records[0].Value = nil // a tombstone
		data := encoded(t, "lz4", records...)

		var raw kmsg.RecordBatch
		if err := raw.ReadFrom(data); err != nil {
			t.Fatal(err)
		}
		want := kmsg.RecordBatch{
			FirstOffset: 0, Length: int32(len(data) - 12), PartitionLeaderEpoch: -1, Magic: 2,
			CRC:        int32(crc32.Checksum(data[21:], crc32.MakeTable(crc32.Castagnoli))),
			Attributes: 1<<4 | 3, LastOffsetDelta: int32(len(records) - 1),
			FirstTimestamp: records[0].Time.UnixMilli(),
			MaxTimestamp: slices.MaxFunc(records, func(a,
				b kafka.Record,
			) int {
				return a.Time.Compare(b.Time)
			}).Time.UnixMilli(),
			ProducerID: producer.ProducerID, ProducerEpoch: producer.Epoch,
			FirstSequence: producer.Sequence, NumRecords: int32(len(records)),
		}
		raw.Records = nil
		if fmt.Sprint(raw) != fmt.Sprint(want) {
			t.Fatalf("head of the batch: got  %+v\nwant %+v", raw, want)
		}

		batch, got := decode(t, data)
		if batch.ProducerID != producer.ProducerID || batch.ProducerEpoch != producer.Epoch ||
			!batch.Attributes.Transactional() || batch.Attributes.Control() {
			t.Errorf("kafka-go reads producer %d, epoch %d, %v", batch.ProducerID, batch.ProducerEpoch,
				batch.Attributes)
		}
		if len(got) != len(records) {
			t.Fatalf("%d records, want %d", len(got), len(records))
		}
		for i, r := range got {
			want := records[i]
			key, value := readBytes(t, r.Key), readBytes(t, r.Value)
			if !bytes.Equal(key, want.Key) || (key == nil) != (want.Key == nil) ||
				!bytes.Equal(value, want.Value) || (value == nil) != (want.Value == nil) ||
				!r.Time.Equal(want.Time) || r.Offset != int64(i) ||
				!slices.EqualFunc(r.Headers, want.Headers, func(a protocol.Header, b kafka.Header) bool {
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
		records[i] = kafkatest.RandomRecord(random, 2000)
		records[i].Time = time.UnixMilli(1714564800000 + random.Int64N(1e6))
		records[i].Partition = 0
	}
	for codec := compress.None; codec <= compress.Zstd; codec++ {
		t.Run(codec.String(), func(t *testing.T) {
			name := codec.String()
			if codec == compress.None {
				name = "none"
			}
			data := encoded(t, name, records...)
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
				theirs[i] = protocol.Record{
					Time: r.Time, Key: protocol.NewBytes(r.Key), Value: protocol.NewBytes(r.Value),
				}
				for _, h := range r.Headers {
					theirs[i].Headers = append(theirs[i].Headers, protocol.Header(h))
				}
			}
			set := protocol.RecordSet{
				Version: 2, Attributes: protocol.Transactional, Records: protocol.NewRecordReader(theirs...),
			}
			var want bytes.Buffer
			if _, err := set.WriteTo(&want); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(data[recordsAt:], want.Bytes()[4+recordsAt:]) {
				t.Error("the records are encoded in another way than kafka-go's")
			}
		})
	}
}

// A record without a time is written now.
func TestRecordsWithoutATime(t *testing.T) {
	before := time.Now().Truncate(time.Millisecond)
	_, got := decode(t, encoded(t, "lz4", kafka.Record{Topic: "t"},
		kafka.Record{Topic: "t", Time: time.UnixMilli(5)}))
	if at := got[0].Time; at.Before(before) || at.After(time.Now()) {
		t.Errorf("written at %s, want now", at)
	}
	if at := got[1].Time; at.UnixMilli() != 5 {
		t.Errorf("written at %s, want the record's own time", at)
	}
}

// What the writer encodes the reader reads, by each codec.
func TestReaderReadsWhatTheWriterWrites(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 10))
	for _, codec := range []string{"none", "gzip", "snappy", "lz4", "zstd"} {
		t.Run(codec, func(t *testing.T) {
			records := make([]kafka.Record, 40)
			for i := range records {
				records[i] = kafkatest.RandomRecord(random, 2000)
				records[i].Time = time.UnixMilli(1714564800000 + random.Int64N(1e6))
			}
			records[7].Value = nil // a tombstone
			first, second := encoded(t, codec, records...), encoded(t, codec, records[3])
			batch, rest, err := Next(append(first, second...))
			if err != nil || batch == nil || !bytes.Equal(rest, second) {
				t.Fatalf("batch %v and %d bytes, %v; want the first one, and the second left", batch, len(rest),
					err)
			}
			if batch.First() != 0 || batch.Last() != 39 || batch.ProducerID() != producer.ProducerID ||
				!batch.Transactional() || batch.Control() {
				t.Errorf("the batch is %+v", batch.head)
			}
			reader := NewReader(1 << 20)
			defer reader.Close()
			at := 0
			if err := reader.Each(batch, func(got kafka.Record) error {
				want := records[at]
				want.Topic, want.Partition, want.Offset = "", 0, int64(at)
				if fmt.Sprintf("%#v", got) != fmt.Sprintf("%#v", want) {
					t.Errorf("record %d: got %#v, want %#v", at, got, want)
				}
				at++
				return nil
			}); err != nil || at != len(records) {
				t.Errorf("%d records, %v", at, err)
			}
		})
	}
}

func TestAnUnknownCodecIsAnError(t *testing.T) {
	if _, err := NewWriter("brotli"); err == nil {
		t.Error("no error")
	}
}
