package consumer

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/segmentio/kafka-go/protocol"
	"github.com/segmentio/kafka-go/protocol/fetch"
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

func (e entry) reader() protocol.RecordReader {
	var records []protocol.Record
	for _, offset := range e.kept {
		records = append(records, protocol.Record{
			Offset: offset, Time: time.UnixMilli(offset).UTC(), Key: protocol.NewBytes([]byte("k")),
			Value:   protocol.NewBytes(fmt.Append(nil, offset)),
			Headers: []protocol.Header{{Key: "h", Value: []byte("v")}},
		})
	}
	set := protocol.NewRecordReader(records...)
	if e.control {
		return &protocol.ControlBatch{Attributes: protocol.Control | protocol.Transactional, BaseOffset: e.first, ProducerID: e.producer, Records: set}
	}
	b := &protocol.RecordBatch{BaseOffset: e.first, ProducerID: e.producer, Records: set}
	if e.transactional {
		b.Attributes = protocol.Transactional
	}
	return b
}

func data(producer, first, last int64) entry {
	e := entry{first: first, last: last, producer: producer, transactional: producer >= 0}
	for o := first; o <= last; o++ {
		e.kept = append(e.kept, o)
	}
	return e
}

func marker(producer, at int64) entry {
	return entry{first: at, last: at, producer: producer, control: true, transactional: true, kept: []int64{at}}
}

func compacted(e entry, kept ...int64) entry {
	e.kept = kept
	return e
}

func stream(entries ...entry) protocol.RecordReader {
	s := &protocol.RecordStream{}
	for _, e := range entries {
		s.Records = append(s.Records, e.reader())
	}
	return s
}

func offsetsOf(c Chunk) []int64 {
	var offsets []int64
	for _, r := range c.Records {
		offsets = append(offsets, r.Offset)
	}
	return offsets
}

func TestCommitted(t *testing.T) {
	type aborted = fetch.ResponseTransaction
	for name, tt := range map[string]struct {
		next    int64
		set     protocol.RecordReader
		aborted []aborted
		want    []int64
		then    int64
	}{
		"nothing fetched":                  {5, nil, nil, nil, 5},
		"no batches":                       {5, &protocol.RecordStream{}, nil, nil, 5},
		"plain":                            {0, stream(data(-1, 0, 2)), nil, []int64{0, 1, 2}, 3},
		"one batch that is no stream":      {0, data(-1, 0, 2).reader(), nil, []int64{0, 1, 2}, 3},
		"from the middle of a batch":       {1, stream(data(-1, 0, 2)), nil, []int64{1, 2}, 3},
		"committed":                        {0, stream(data(1, 0, 1), marker(1, 2)), nil, []int64{0, 1}, 3},
		"aborted":                          {0, stream(data(1, 0, 1), marker(1, 2)), []aborted{{ProducerID: 1, FirstOffset: 0}}, nil, 3},
		"aborted, then committed":          {0, stream(data(1, 0, 0), marker(1, 1), data(1, 2, 2), marker(1, 3)), []aborted{{ProducerID: 1, FirstOffset: 0}}, []int64{2}, 4},
		"committed, then aborted":          {0, stream(data(1, 0, 0), marker(1, 1), data(1, 2, 2), marker(1, 3)), []aborted{{ProducerID: 1, FirstOffset: 2}}, []int64{0}, 4},
		"aborted twice":                    {0, stream(data(1, 0, 0), marker(1, 1), data(1, 2, 2), marker(1, 3), data(1, 4, 4)), []aborted{{ProducerID: 1, FirstOffset: 2}, {ProducerID: 1, FirstOffset: 0}}, []int64{4}, 5},
		"another's records in between":     {0, stream(data(1, 0, 0), data(2, 1, 1), data(-1, 2, 2), data(1, 3, 3), marker(1, 4), marker(2, 5)), []aborted{{ProducerID: 1, FirstOffset: 0}}, []int64{1, 2}, 6},
		"begun before the fetch":           {5, stream(data(1, 4, 6), marker(1, 7), data(1, 8, 8)), []aborted{{ProducerID: 1, FirstOffset: 2}}, []int64{8}, 9},
		"ended where the fetch begins":     {7, stream(marker(1, 7), data(1, 8, 8), marker(1, 9)), []aborted{{ProducerID: 1, FirstOffset: 2}}, []int64{8}, 10},
		"all its records compacted away":   {0, stream(data(2, 0, 0), marker(1, 7), data(1, 8, 8), marker(1, 9)), []aborted{{ProducerID: 1, FirstOffset: 2}}, []int64{0, 8}, 10},
		"same producer, not transactional": {0, stream(data(1, 0, 0), entry{first: 1, last: 1, producer: 1, kept: []int64{1}}), []aborted{{ProducerID: 1, FirstOffset: 0}}, []int64{1}, 2},
		"a gap":                            {0, stream(compacted(data(-1, 0, 5), 0, 4), compacted(data(-1, 6, 9), 8)), nil, []int64{0, 4, 8}, 9},
		"a tail that was compacted away":   {4, stream(compacted(data(-1, 0, 5), 0, 3)), nil, nil, 5},
		"a batch without records":          {3, stream(compacted(data(-1, 3, 5))), nil, nil, 4},
		"a compacted tail, then records":   {4, stream(compacted(data(-1, 0, 5), 0), data(-1, 6, 6)), nil, []int64{6}, 7},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := committed("articles", 3, tt.next, tt.set, tt.aborted)
			if err != nil {
				t.Fatal(err)
			}
			if offsets := offsetsOf(got); !slices.Equal(offsets, tt.want) || got.Next != tt.then || got.Partition != 3 {
				t.Errorf("got %v, then %d of partition %d; want %v, then %d of 3", offsets, got.Next, got.Partition, tt.want, tt.then)
			}
		})
	}
}

func TestCommittedKeepsRecordsWhole(t *testing.T) {
	at := time.UnixMilli(1714564800125).UTC()
	set := protocol.NewRecordReader(
		protocol.Record{Offset: 7, Time: at, Key: protocol.NewBytes([]byte("键")), Value: protocol.NewBytes([]byte("值")), Headers: []protocol.Header{{Key: "h"}, {Key: "h", Value: []byte{}}}},
		protocol.Record{Offset: 8, Key: nil, Value: nil},
		protocol.Record{Offset: 9, Key: protocol.NewBytes([]byte{}), Value: protocol.NewBytes([]byte{})},
	)
	got, err := committed("articles", 3, 7, set, nil)
	if err != nil || len(got.Records) != 3 {
		t.Fatalf("got %+v, %v", got, err)
	}
	r := got.Records[0]
	if r.Topic != "articles" || r.Partition != 3 || r.Offset != 7 || !r.Time.Equal(at) || string(r.Key) != "键" || string(r.Value) != "值" || len(r.Headers) != 2 {
		t.Errorf("got %+v", r)
	}
	if r := got.Records[1]; r.Key != nil || r.Value != nil {
		t.Errorf("a record without key and value: %+v", r)
	}
	if r := got.Records[2]; r.Key == nil || r.Value == nil || len(r.Key)+len(r.Value) != 0 {
		t.Errorf("a record with an empty key and value: %+v", r)
	}
}

type brokenReader struct{}

func (brokenReader) ReadRecord() (*protocol.Record, error) { return nil, fmt.Errorf("bad checksum") }

func TestCommittedPassesOnAnError(t *testing.T) {
	_, err := committed("articles", 0, 0, &protocol.RecordStream{Records: []protocol.RecordReader{data(-1, 0, 1).reader(), brokenReader{}}}, nil)
	if err == nil || !strings.Contains(err.Error(), "bad checksum") {
		t.Errorf("error = %v", err)
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
func (m model) fetch(random *rand.Rand, next int64) (protocol.RecordReader, []fetch.ResponseTransaction) {
	from := slices.IndexFunc(m.entries, func(e entry) bool { return e.last >= next })
	to := from + 1 + random.IntN(min(4, len(m.entries)-from))
	upper := m.entries[to-1].last + 1 + int64(random.IntN(3))
	var aborted []fetch.ResponseTransaction
	for _, a := range m.aborted {
		if a.last >= next && a.first < upper {
			aborted = append(aborted, fetch.ResponseTransaction{ProducerID: a.producer, FirstOffset: a.first})
		}
	}
	random.Shuffle(len(aborted), func(i, j int) { aborted[i], aborted[j] = aborted[j], aborted[i] })
	return stream(m.entries[from:to]...), aborted
}

// Wherever reading begins and however the log is cut into fetches, the records are those of
// committed transactions and of none, in order, once.
func TestCommittedAgainstAModel(t *testing.T) {
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
			chunk, err := committed("articles", 0, next, set, aborted)
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
	records := make([]protocol.Record, 1000)
	for i := range records {
		records[i] = protocol.Record{Offset: int64(i), Value: protocol.NewBytes(bytes.Repeat([]byte("x"), 1024))}
	}
	var encoded bytes.Buffer
	set := protocol.RecordSet{Version: 2, Records: protocol.NewRecordReader(records...)}
	if _, err := set.WriteTo(&encoded); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(encoded.Len()))
	for b.Loop() {
		var fetched protocol.RecordSet
		if _, err := fetched.ReadFrom(bytes.NewReader(encoded.Bytes())); err != nil {
			b.Fatal(err)
		}
		chunk, err := committed("t", 0, 0, fetched.Records, nil)
		if err != nil || len(chunk.Records) != len(records) {
			b.Fatalf("%d records, %v", len(chunk.Records), err)
		}
	}
}
