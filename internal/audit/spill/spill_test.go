package spill

import (
	"errors"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
)

func newDir(t *testing.T) *Dir {
	t.Helper()
	d, err := NewDir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() }) // a test may have closed it
	return d
}

type row struct {
	Number int64
	Kind   uint8
	Nested struct{ A, B int32 }
}

func newRow(n int64) row {
	r := row{Number: n, Kind: uint8(n)}
	r.Nested.A, r.Nested.B = int32(n), -int32(n)
	return r
}

// A table is a map from numbers to rows, of which the first of each number counts.
func TestTable(t *testing.T) {
	table, err := NewTable[row](newDir(t))
	if err != nil {
		t.Fatal(err)
	}
	want, r := make(map[int64]row), rand.New(rand.NewPCG(1, 1))
	for range 300 {
		n := r.Int64N(500)
		_, taken := want[n]
		value := newRow(n + 1000*int64(len(want)))
		if fresh, err := table.Put(n, value); err != nil || fresh == taken {
			t.Fatalf("put %d: fresh %v, %v; is there already: %v", n, fresh, err, taken)
		}
		if !taken {
			want[n] = value
		}
	}
	if end := slices.Max(slices.Collect(maps.Keys(want))) + 1; table.End() != end {
		t.Errorf("end %d, want %d", table.End(), end)
	}
	rows := table.Reader()
	for n := range int64(510) {
		value, exists := want[n]
		if got, ok, err := table.Get(n); err != nil || ok != exists || got != value {
			t.Errorf("get %d: %+v, %v, %v; want %+v, %v", n, got, ok, err, value, exists)
		}
		if got, ok, err := rows.Next(); err != nil || ok != exists || got != value {
			t.Errorf("row %d in order: %+v, %v, %v; want %+v, %v", n, got, ok, err, value, exists)
		}
	}
}

// Of each partition only the offsets that it has are kept.
func TestPartitions(t *testing.T) {
	p := NewPartitions[row](newDir(t), map[int32]int64{1: 10}, map[int32]int64{0: 5, 1: 20})
	for _, test := range []struct {
		partition int32
		offset    int64
		fresh     bool
	}{
		{1, 19, true},
		{1, 10, true},
		{1, 10, false}, // there already
		{1, 9, false},  // before the first
		{1, 20, false}, // behind the last
		{1, 1 << 62, false},
		{0, 4, true},
		{2, 0, false}, // no such partition
	} {
		fresh, err := p.Put(test.partition, test.offset, newRow(test.offset))
		if err != nil || fresh != test.fresh {
			t.Errorf("put %d/%d: %v, %v; want %v", test.partition, test.offset, fresh, err, test.fresh)
		}
	}
	for _, missing := range []int64{9, 11, 20} {
		if _, ok, err := p.Get(1, missing); ok || err != nil {
			t.Errorf("get 1/%d: %v, %v", missing, ok, err)
		}
	}
	if got, ok, err := p.Get(1, 19); !ok || err != nil || got != newRow(19) {
		t.Errorf("get 1/19: %+v, %v, %v", got, ok, err)
	}
	if got := p.All(); !slices.Equal(got, []int32{0, 1}) {
		t.Errorf("partitions %v, want 0 and 1", got)
	}
	want := []int64{10, 19}
	if got := slices.Collect(p.Offsets(1)); !slices.Equal(got, want) {
		t.Errorf("offsets %v, want %v", got, want)
	}
	var got []int64
	err := p.Each(1, func(r row) { got = append(got, r.Number) })
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("rows %v, %v; want %v", got, err, want)
	}
}

func TestBlobs(t *testing.T) {
	blobs, err := NewBlobs(newDir(t))
	if err != nil {
		t.Fatal(err)
	}
	texts := []string{"one", "", strings.Repeat("long", 1<<17), "last"}
	refs := make([]Ref, len(texts))
	for i, text := range texts {
		if refs[i], err = blobs.Put(text); err != nil {
			t.Fatal(err)
		}
	}
	if err := blobs.Flush(); err != nil {
		t.Fatal(err)
	}
	for i := range texts {
		if got, err := blobs.Get(refs[i]); err != nil || got != texts[i] {
			t.Errorf("blob %d: %d bytes, %v; want %d", i, len(got), err, len(texts[i]))
		}
	}
}

func TestBitmap(t *testing.T) {
	b, want := make(Bitmap), []int64{0, 1, 63, 64, pageBits - 1, pageBits, 1 << 60}
	for _, n := range []int64{64, 1 << 60, 0, pageBits, 63, 1, pageBits - 1} {
		if b.Has(n) || !b.Add(n) || b.Add(n) || !b.Has(n) {
			t.Errorf("%d is not added once", n)
		}
	}
	if got := slices.Collect(b.All()); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	for n := range b.All() {
		if n > 0 {
			t.Errorf("%d after the loop was left", n)
		}
		break
	}
	if Bitmap(nil).Has(0) {
		t.Error("an empty set has 0")
	}
}

func TestClose(t *testing.T) {
	d := newDir(t)
	table, err := NewTable[row](d)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(d.path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the directory is still there: %v", err)
	}
	if _, err := table.Put(0, row{}); !errors.Is(err, os.ErrClosed) {
		t.Errorf("put after close: %v", err)
	}
}
