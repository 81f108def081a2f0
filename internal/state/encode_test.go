package state

import (
	"bytes"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/clusterd/clusterd/internal/article"
)

// extremes are clusters at the limits of what can be written.
func extremes() []Cluster {
	return []Cluster{
		{Founder: article.Address{Topic: "articles"}},
		{
			Seq: 7, Fingerprint: 0x0123456789abcdef, Founder: article.Address{Topic: "articles", Partition: 3, Offset: 17}, Size: 9,
			FirstSeen: 1777636800000, LastSeen: 1777640400000, Position: 41, entry: 1777638000000, Sketch: "\x00sketch\xff",
			Representative: article.Representative{ID: "articles/3/17", Title: "新华社\xff"},
		},
		{
			Seq: math.MaxUint64, Fingerprint: math.MaxUint64, Founder: article.Address{Topic: "articles", Partition: math.MaxInt32, Offset: math.MaxInt64},
			Size: math.MaxInt, FirstSeen: math.MinInt64, LastSeen: math.MaxInt64, Position: math.MaxUint64, entry: -1,
		},
		{Founder: article.Address{Topic: "articles"}, FirstSeen: math.MaxInt64, LastSeen: math.MinInt64, entry: math.MinInt64},
	}
}

func TestDecodeCluster(t *testing.T) {
	for _, want := range extremes() {
		value := encodeCluster(want)
		got, err := decodeCluster(value, want.Seq, "articles")
		if err != nil || got != want {
			t.Errorf("got %+v, %v, want %+v", got, err, want)
		}
		fixed := len(value) - len(want.Representative.Title)
		for n := range fixed {
			if _, err := decodeCluster(value[:n], want.Seq, "articles"); !errors.Is(err, ErrDamaged) {
				t.Errorf("cut to %d bytes of %d: error = %v", n, fixed, err)
			}
		}
	}
}

func TestDecodeClusterRefuses(t *testing.T) {
	tooLarge := bytes.Repeat([]byte{0xff}, 9)
	for name, value := range map[string][]byte{
		"sketch":    slices.Concat(make([]byte, 8), []byte{30}, make([]byte, 20)),
		"partition": slices.Concat(make([]byte, 9), tooLarge[:5], []byte{0x0f}, make([]byte, 20)),
		"offset":    slices.Concat(make([]byte, 10), tooLarge, []byte{0x01}, make([]byte, 20)),
		"size":      slices.Concat(make([]byte, 11), tooLarge, []byte{0x01}, make([]byte, 20)),
		"position":  slices.Concat(make([]byte, 12), tooLarge, []byte{0x02}, make([]byte, 20)),
		"time":      slices.Concat(make([]byte, 13), tooLarge, []byte{0x02}, make([]byte, 20)),
		"id":        slices.Concat(make([]byte, 16), []byte{5}, []byte("four")),
	} {
		if _, err := decodeCluster(value, 1, "articles"); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: error = %v, want it to be damaged", name, err)
		}
	}
}

// Any bytes are damaged or a cluster, which is the same once it is written again.
func FuzzDecodeCluster(f *testing.F) {
	for _, c := range extremes() {
		f.Add(encodeCluster(c))
	}
	f.Fuzz(func(t *testing.T, value []byte) {
		c, err := decodeCluster(value, 7, "articles")
		if err != nil {
			if !errors.Is(err, ErrDamaged) || c != (Cluster{}) {
				t.Fatalf("%+v, %v", c, err)
			}
			return
		}
		again, err := decodeCluster(encodeCluster(c), 7, "articles")
		if err != nil || again != c {
			t.Errorf("%+v was read as %+v, %v", c, again, err)
		}
	})
}

// Keys are in the order of what they are made of.
func TestKeysAreInOrder(t *testing.T) {
	times := []int64{math.MinInt64, -1, 0, 1, 255, 256, math.MaxInt64}
	var keys [][]byte
	for _, at := range times {
		for _, seq := range []uint64{0, 1, 255, 256, math.MaxUint64} {
			key := keyOfExpiry(at, seq)
			keys = append(keys, key)
			if gotAt, gotSeq, err := decodeExpiryKey(key); err != nil || gotAt != at || gotSeq != seq {
				t.Errorf("the key of %d, %d is read as %d, %d, %v", at, seq, gotAt, gotSeq, err)
			}
		}
		if bytes.Compare(beforeExpiry(at), keyOfExpiry(at, 0)) > 0 || bytes.Compare(keyOfExpiry(at, math.MaxUint64), endOfExpiry()) >= 0 {
			t.Errorf("keys of time %d are out of bounds", at)
		}
	}
	if !slices.IsSortedFunc(keys, bytes.Compare) {
		t.Errorf("keys are not in the order of time and seq: %x", keys)
	}
}
