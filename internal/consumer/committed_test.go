package consumer

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/segmentio/kafka-go/compress"
	"github.com/segmentio/kafka-go/protocol"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/kafka/recordbatch"
	"github.com/clusterd/clusterd/internal/testutil/check"
)

// entry is a record batch of a hand-made log, or the control record that ends a transaction.
type entry struct {
	first, last   int64 // offsets
	producer      int64 // -1: none
	transactional bool
	control       bool
	aborted       bool    // it belongs to a transaction that is aborted
	kept          []int64 // the offsets whose records compaction left
}

// bytes returns the record batch as a broker keeps it.
func (e entry) bytes() []byte {
	b := kmsg.RecordBatch{
		FirstOffset: e.first, LastOffsetDelta: int32(e.last - e.first), FirstTimestamp: e.first,
		MaxTimestamp: e.last, ProducerID: e.producer,
	}
	if e.transactional {
		b.Attributes |= int16(protocol.Transactional)
	}
	if e.control {
		b.Attributes |= int16(protocol.Control)
	}
	var records []kmsg.Record
	for _, offset := range e.kept {
		records = append(records, kmsg.Record{
			OffsetDelta: int32(offset - e.first), TimestampDelta64: offset - e.first, Key: []byte("k"),
			Value:   fmt.Append(nil, offset),
			Headers: []kmsg.Header{{Key: "h", Value: []byte("v")}},
		})
	}
	return encode(b, records...)
}

// encode completes a batch: its records, its length, its checksum.
func encode(b kmsg.RecordBatch, records ...kmsg.Record) []byte {
	for _, r := range records {
		r.Length = int32(len(r.AppendTo(nil)) - 1) // of all but the length itself, which is 0 here
		b.Records = r.AppendTo(b.Records)
	}
	b.NumRecords = int32(len(records))
	return seal(b)
}

func seal(b kmsg.RecordBatch) []byte {
	b.Magic, b.Length = 2, int32(len(b.AppendTo(nil))-12)
	data := b.AppendTo(nil)
	binary.BigEndian.PutUint32(data[17:], crc32.Checksum(data[21:], crc32.MakeTable(crc32.Castagnoli)))
	return data
}

func data(producer, first, last int64) entry {
	e := entry{first: first, last: last, producer: producer, transactional: producer >= 0}
	for o := first; o <= last; o++ {
		e.kept = append(e.kept, o)
	}
	return e
}

func marker(producer, at int64) entry {
	return entry{
		first: at, last: at, producer: producer, control: true, transactional: true, kept: []int64{at},
	}
}

func compacted(e entry, kept ...int64) entry {
	e.kept = kept
	return e
}

func stream(entries ...entry) []byte {
	var set []byte
	for _, e := range entries {
		set = append(set, e.bytes()...)
	}
	return set
}

// aborted is a transaction that a broker lists.
type aborted = kmsg.FetchResponseTopicPartitionAbortedTransaction

// readers are read with again and again, as the log does: each has large buffers.
var readers = sync.Pool{New: func() any { return recordbatch.NewReader(1 << 20) }}

// committed puts the chunks of a fetched set together.
func committed(next int64, set []byte, transactions []aborted, maxBytes int) (Chunk, error) {
	reader := readers.Get().(*recordbatch.Reader)
	all := Chunk{Partition: 3, Next: next}
	c := newCutter("articles", 3, next, maxBytes, reader)
	c.send = func(chunk Chunk) error {
		if chunk.Next <= all.Next || chunk.Partition != 3 {
			return fmt.Errorf("a chunk of partition %d from %d to %d", chunk.Partition, all.Next, chunk.Next)
		}
		all.Records, all.Next = append(all.Records, chunk.Records...), chunk.Next
		return nil
	}
	err := c.committed(set, transactions)
	if err == nil { // after an error the log takes another one, too
		readers.Put(reader)
	}
	return all, err
}

func offsetsOf(c Chunk) []int64 {
	var offsets []int64
	for _, r := range c.Records {
		offsets = append(offsets, r.Offset)
	}
	return offsets
}

func TestCommitted(t *testing.T) {
	for name, tt := range map[string]struct {
		next    int64
		set     []byte
		aborted []aborted
		want    []int64
		then    int64
	}{
		"nothing fetched": {5, nil, nil, nil, 5},
		"plain":           {0, stream(data(-1, 0, 2)), nil, []int64{0, 1, 2}, 3},
		"a batch that is cut off": {0, stream(data(-1, 0, 2),
			data(-1, 3, 4))[:len(stream(data(-1, 0, 2)))+70], nil, []int64{0, 1, 2}, 3},
		"one of which hardly anything came": {0, stream(data(-1, 0, 2),
			data(-1, 3, 4))[:len(stream(data(-1, 0, 2)))+16], nil, []int64{0, 1, 2}, 3},
		"from the middle of a batch": {1, stream(data(-1, 0, 2)), nil, []int64{1, 2}, 3},
		"committed": {
			0, stream(data(1, 0, 1), marker(1, 2)), nil, []int64{0, 1}, 3,
		},
		"aborted": {
			0, stream(data(1, 0, 1), marker(1, 2)), []aborted{{ProducerID: 1, FirstOffset: 0}}, nil, 3,
		},
		"aborted, then committed": {0, stream(data(1, 0, 0), marker(1, 1), data(1, 2, 2),
			marker(1, 3)), []aborted{{ProducerID: 1, FirstOffset: 0}}, []int64{2}, 4},
		"committed, then aborted": {0, stream(data(1, 0, 0), marker(1, 1), data(1, 2, 2),
			marker(1, 3)), []aborted{{ProducerID: 1, FirstOffset: 2}}, []int64{0}, 4},
		"aborted twice": {0, stream(data(1, 0, 0), marker(1, 1), data(1, 2, 2),
			marker(1, 3), data(1, 4, 4)), []aborted{
			{ProducerID: 1, FirstOffset: 2}, {ProducerID: 1, FirstOffset: 0},
		}, []int64{4}, 5},
		"another's records in between": {
			0, stream(data(1, 0, 0), data(2, 1, 1), data(-1, 2, 2),
				data(1, 3, 3), marker(1, 4), marker(2, 5)),
			[]aborted{{ProducerID: 1, FirstOffset: 0}},
			[]int64{1, 2},
			6,
		},
		"begun before the fetch": {
			5, stream(data(1, 4, 6), marker(1, 7), data(1, 8, 8)),
			[]aborted{{ProducerID: 1, FirstOffset: 2}},
			[]int64{8},
			9,
		},
		"ended where the fetch begins": {
			7, stream(marker(1, 7), data(1, 8, 8), marker(1, 9)),
			[]aborted{{ProducerID: 1, FirstOffset: 2}},
			[]int64{8},
			10,
		},
		"all its records compacted away": {0, stream(data(2, 0, 0), marker(1, 7), data(1, 8, 8),
			marker(1, 9)), []aborted{{ProducerID: 1, FirstOffset: 2}}, []int64{0, 8}, 10},
		"same producer, not transactional": {
			0, stream(data(1, 0, 0),
				entry{first: 1, last: 1, producer: 1, kept: []int64{1}}),
			[]aborted{{ProducerID: 1, FirstOffset: 0}},
			[]int64{1},
			2,
		},
		"a gap": {0, stream(compacted(data(-1, 0, 5), 0, 4),
			compacted(data(-1, 6, 9), 8)), nil, []int64{0, 4, 8}, 10},
		"a tail that was compacted away":   {4, stream(compacted(data(-1, 0, 5), 0, 3)), nil, nil, 6},
		"a batch without records":          {3, stream(compacted(data(-1, 3, 5))), nil, nil, 6},
		"a batch from before the position": {3, stream(data(-1, 0, 2)), nil, nil, 4},
		"a compacted tail, then records": {
			4, stream(compacted(data(-1, 0, 5), 0), data(-1, 6, 6)), nil, []int64{6}, 7,
		},
	} {
		t.Run(name, func(t *testing.T) {
			for _, maxBytes := range []int{1, 1 << 20} {
				got, err := committed(tt.next, tt.set, tt.aborted, maxBytes)
				if err != nil {
					t.Fatal(err)
				}
				if offsets := offsetsOf(got); !slices.Equal(offsets, tt.want) || got.Next != tt.then {
					t.Errorf("in chunks of %d bytes: got %v, then %d; want %v, then %d", maxBytes, offsets,
						got.Next, tt.want, tt.then)
				}
			}
		})
	}
}

func TestCommittedKeepsRecordsWhole(t *testing.T) {
	at := time.UnixMilli(1714564800125)
	records := []kmsg.Record{
		{Key: []byte("键"), Value: []byte("值"), Headers: []kmsg.Header{
			{Key: "h"}, {Key: "h", Value: []byte{}},
		}},
		{OffsetDelta: 1, TimestampDelta64: -25},
		{OffsetDelta: 2, Key: []byte{}, Value: []byte{}},
	}
	batch := kmsg.RecordBatch{
		FirstOffset: 7, LastOffsetDelta: 2, FirstTimestamp: at.UnixMilli(),
		MaxTimestamp: at.UnixMilli() + 9,
	}
	got, err := committed(7, encode(batch, records...), nil, 1<<20)
	if err != nil || len(got.Records) != 3 {
		t.Fatalf("got %+v, %v", got, err)
	}
	r := got.Records[0]
	if r.Topic != "articles" || r.Partition != 3 || r.Offset != 7 || !r.Time.Equal(at) ||
		string(r.Key) != "键" || string(r.Value) != "值" {
		t.Errorf("got %+v", r)
	}
	if len(r.Headers) != 2 || r.Headers[0].Key != "h" || r.Headers[0].Value != nil ||
		r.Headers[1].Value == nil {
		t.Errorf("headers %+v", r.Headers)
	}
	if r := got.Records[1]; r.Key != nil || r.Value != nil ||
		!r.Time.Equal(at.Add(-25*time.Millisecond)) {
		t.Errorf("a record without key and value: %+v", r)
	}
	if r := got.Records[2]; r.Key == nil || r.Value == nil || len(r.Key)+len(r.Value) != 0 {
		t.Errorf("a record with an empty key and value: %+v", r)
	}
	batch.Attributes |= 1 << 3
	if got, err = committed(7, encode(batch, records...), nil, 1<<20); err != nil ||
		!got.Records[1].Time.Equal(at.Add(9*time.Millisecond)) {
		t.Errorf("where the broker sets the time: %+v, %v", got, err)
	}
}

// model is a log with the transactions that were aborted in it.
type model struct {
	entries []entry
	aborted []struct{ producer, first, last int64 }
}

func randomLog(random *rand.Rand, compact bool) model {
	var m model
	type open struct {
		first   int64
		entries []int
	}
	transactions := make(map[int64]*open)
	next := int64(random.IntN(5))
	end := func(producer int64) {
		m.entries = append(m.entries, marker(producer, next))
		if o := transactions[producer]; random.IntN(2) == 0 {
			for _, i := range o.entries {
				m.entries[i].aborted = true
			}
			m.aborted = append(m.aborted, struct{ producer, first, last int64 }{producer, o.first, next})
		}
		delete(transactions, producer)
		next++
	}
	for range 5 + random.IntN(25) {
		producer := int64(random.IntN(4)) - 1
		o := transactions[producer]
		if o != nil && random.IntN(3) == 0 {
			end(producer)
			continue
		}
		e := data(producer, next, next+int64(random.IntN(4)))
		if compact {
			e.kept = slices.DeleteFunc(e.kept, func(int64) bool { return random.IntN(3) == 0 })
		}
		if producer >= 0 {
			if o == nil {
				o = &open{first: next}
				transactions[producer] = o
			}
			o.entries = append(o.entries, len(m.entries))
		}
		m.entries = append(m.entries, e)
		next = e.last + 1
	}
	for producer := range int64(4) {
		if transactions[producer] != nil {
			end(producer)
		}
	}
	return m
}

// fetch answers as a broker does: from the batch that holds next on, a few batches, and the aborted
// transactions that reach into them, in no special order.
func (m model) fetch(random *rand.Rand, next int64) ([]byte, []aborted) {
	from := slices.IndexFunc(m.entries, func(e entry) bool { return e.last >= next })
	to := from + 1 + random.IntN(min(4, len(m.entries)-from))
	upper := m.entries[to-1].last + 1 + int64(random.IntN(3))
	var listed []aborted
	for _, a := range m.aborted {
		if a.last >= next && a.first < upper {
			listed = append(listed, aborted{ProducerID: a.producer, FirstOffset: a.first})
		}
	}
	random.Shuffle(len(listed), func(i, j int) { listed[i], listed[j] = listed[j], listed[i] })
	return stream(m.entries[from:to]...), listed
}

// Wherever reading begins and however the log is cut into fetches, the records are those of
// committed transactions and of none, in order, once.
func TestCommittedAgainstAModel(t *testing.T) {
	check.OneGoroutine(t)
	random := rand.New(rand.NewPCG(1, 4))
	for i := range 3000 {
		m := randomLog(random, i%2 == 0)
		first, last := m.entries[0].first, m.entries[len(m.entries)-1].last
		start := first + random.Int64N(last-first+1)
		var want []int64
		for _, e := range m.entries {
			for _, offset := range e.kept {
				if offset >= start && !e.control && !e.aborted {
					want = append(want, offset)
				}
			}
		}
		var got []int64
		for next := start; next <= last; {
			set, aborted := m.fetch(random, next)
			chunk, err := committed(next, set, aborted, 1+random.IntN(4*(&kafka.Record{}).Memory()))
			if err != nil {
				t.Fatal(err)
			}
			if chunk.Next <= next || chunk.Next > last+1 {
				t.Fatalf("log %d: from %d to %d, the log ends at %d", i, next, chunk.Next, last)
			}
			got = append(got, offsetsOf(chunk)...)
			next = chunk.Next
		}
		if !slices.Equal(got, want) {
			t.Fatalf("log %d from %d: got %v\nwant %v\nof %+v", i, start, got, want, m)
		}
	}
}

// BenchmarkCommitted walks a fetched set of 1,000 records of 1 KB, as it comes from the network.
func BenchmarkCommitted(b *testing.B) {
	for _, codec := range []compress.Compression{
		compress.None, compress.Snappy, compress.Lz4,
		compress.Zstd,
	} {
		b.Run(codec.String(), func(b *testing.B) {
			records := make([]protocol.Record, 1000)
			random := rand.New(rand.NewPCG(1, 5))
			for i := range records {
				value := make([]byte, 1024)
				for j := range value {
					value[j] = byte('a' + random.IntN(16))
				}
				records[i] = protocol.Record{Offset: int64(i), Value: protocol.NewBytes(value)}
			}
			var encoded bytes.Buffer
			set := protocol.RecordSet{
				Version: 2, Attributes: protocol.Attributes(codec),
				Records: protocol.NewRecordReader(records...),
			}
			if _, err := set.WriteTo(&encoded); err != nil {
				b.Fatal(err)
			}
			reader := recordbatch.NewReader(1 << 20)
			defer reader.Close()
			b.SetBytes(1000 * 1024)
			for b.Loop() {
				n := 0
				c := newCutter("articles", 0, 0, 8<<20, reader)
				c.send = func(chunk Chunk) error { n += len(chunk.Records); return nil }
				if err := c.committed(encoded.Bytes()[4:], nil); err != nil || n != len(records) {
					b.Fatalf("%d records, %v", n, err)
				}
			}
		})
	}
}
