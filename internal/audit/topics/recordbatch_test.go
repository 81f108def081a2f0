package topics

import (
	"encoding/binary"
	"slices"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/clusterd/clusterd/internal/audit/wire"
)

func varint(n int) []byte { return binary.AppendVarint(nil, int64(n)) }

// encoded returns a record that claims headers, and has these bytes of them.
func encoded(delta, claimed int, headers []byte) []byte {
	value := []byte("a value")
	body := slices.Concat([]byte{0, 0}, varint(delta), varint(-1), varint(len(value)), value,
		varint(claimed), headers)
	return append(varint(len(body)), body...)
}

// read returns the records of a batch, and how many of its offsets cannot be read.
func read(t *testing.T, most int, records ...[]byte) (all []*kgo.Record, unreadable int64) {
	t.Helper()
	r := &batchReader{topic: "articles", handle: BatchHandler{
		MaxHeaders: most,
		Records: func(some []*kgo.Record) error {
			all = append(all, some...)
			return nil
		},
		Unreadable: func(_ int32, first, last int64, _ bool) error {
			unreadable += last - first + 1
			return nil
		},
	}}
	err := r.batch(&kmsg.RecordBatch{
		NumRecords: int32(len(records)), LastOffsetDelta: int32(len(records) - 1),
		Records: slices.Concat(records...),
	}, 0, 0, 1000)
	if err != nil {
		t.Fatal(err)
	}
	return all, unreadable
}

// Of a record with very many headers the first are read, until they exceed what they may be. What
// follows is read as if nothing were.
func TestHeadersAreBounded(t *testing.T) {
	const most, many = 6400, 1_000_000
	after := encoded(1, 1, []byte{2, 'k', 2, 'v'})
	for _, test := range []struct {
		name       string
		claimed    int
		headers    []byte
		kept       int
		unreadable int64
	}{
		{"none", 0, nil, 0, 0},
		{"as many as may be", 100, make([]byte, 200), 100, 0},
		{"one too many", 101, make([]byte, 202), 101, 0},
		{"two too many", 102, make([]byte, 204), 101, 0},
		{"very many", many, make([]byte, 2*many), 101, 0},
		{
			"a long one in the middle", 3,
			slices.Concat([]byte{0, 0, 0}, varint(most), make([]byte, most), []byte{0, 0}), 2, 0,
		},
		{"fewer than it claims", many, make([]byte, 100), 0, 2},
		{
			"fewer than it claims, of which one has no end", many,
			slices.Concat([]byte{0}, varint(4*many), make([]byte, many)), 0, 2,
		},
		{"fewer than none", -1, nil, 0, 2},
	} {
		t.Run(test.name, func(t *testing.T) {
			all, unreadable := read(t, most, encoded(0, test.claimed, test.headers), after)
			if unreadable != test.unreadable || int64(len(all)) != 2-unreadable {
				t.Fatalf("%d records, %d cannot be read; want %d", len(all), unreadable, test.unreadable)
			}
			if unreadable > 0 {
				return
			}
			if n := len(all[0].Headers); n != test.kept || string(all[0].Value) != "a value" {
				t.Errorf("%d headers are kept, want %d; value %q", n, test.kept, all[0].Value)
			}
			if h := all[1].Headers; len(h) != 1 || h[0].Key != "k" {
				t.Errorf("the next record has headers %v", h)
			}
			cut := test.kept == 101 || test.kept == 2
			if long := wire.HeadersSize(all[0].Headers) > most; long != cut {
				t.Errorf("more than may be: %t", long)
			}
		})
	}
}

// Records of a batch are handed on before their headers take much memory together.
func TestRecordsAreHandedOnInParts(t *testing.T) {
	const n, each = 2000, 100
	var records [][]byte
	for i := range n {
		records = append(records, encoded(i, each, make([]byte, 2*each)))
	}
	calls, all, largest := 0, 0, 0
	r := &batchReader{topic: "articles", handle: BatchHandler{
		MaxHeaders: fetchBytes,
		Records: func(some []*kgo.Record) error {
			calls, all, largest = calls+1, all+len(some), max(largest, len(some))
			return nil
		},
		Unreadable: func(_ int32, first, last int64, _ bool) error {
			t.Errorf("offsets %d to %d cannot be read", first, last)
			return nil
		},
	}}
	b := &kmsg.RecordBatch{NumRecords: n, LastOffsetDelta: n - 1, Records: slices.Concat(records...)}
	if err := r.batch(b, 0, 0, n); err != nil {
		t.Fatal(err)
	}
	if most := fetchBytes/wire.HeaderSize(0)/each + 1; calls != 2 || all != n || largest > most {
		t.Errorf("%d records in %d parts of up to %d, want 2 of up to %d", all, calls, largest, most)
	}
}
