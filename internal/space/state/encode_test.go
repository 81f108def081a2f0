package state

import (
	"bytes"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/clusterd/clusterd/internal/message/cluster"
	"github.com/clusterd/clusterd/internal/testutil/clustertest"
)

// A cluster comes back whole, with the time of its expiry entry, and cut off it is damaged.
func TestDecodeCluster(t *testing.T) {
	for _, want := range clustertest.Extremes() {
		for _, entry := range []int64{want.FirstSeen, want.LastSeen, 1777638000000, -1} {
			value := encodeCluster(want, entry)
			got, at, err := decodeCluster(value, want.Seq, "articles")
			if err != nil || got != want || at != entry {
				t.Errorf("got %+v at %d, %v, want %+v at %d", got, at, err, want, entry)
			}
			fixed := len(value) - len(want.Representative.Title)
			for n := range fixed {
				if _, _, err := decodeCluster(value[:n], want.Seq, "articles"); !errors.Is(err, ErrDamaged) {
					t.Errorf("cut to %d bytes of %d: error = %v", n, fixed, err)
				}
			}
		}
	}
}

// What nothing can have made is not taken back from disk, if it got there.
func TestDecodeClusterValidates(t *testing.T) {
	for name, c := range clustertest.Impossible() {
		got, _, err := decodeCluster(encodeCluster(c, c.LastSeen), c.Seq, c.Founder.Topic)
		if !errors.Is(err, ErrDamaged) || got != (cluster.Cluster{}) {
			t.Errorf("%s: read back as %+v, %v", name, got, err)
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
		if _, _, err := decodeCluster(value, 1, "articles"); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: error = %v, want it to be damaged", name, err)
		}
	}
}

// Any bytes are damaged or a cluster, which is the same once it is written again.
func FuzzDecodeCluster(f *testing.F) {
	for _, c := range clustertest.Extremes() {
		f.Add(encodeCluster(c, c.LastSeen))
	}
	f.Fuzz(func(t *testing.T, value []byte) {
		c, entry, err := decodeCluster(value, 7, "articles")
		if err != nil {
			if !errors.Is(err, ErrDamaged) || c != (cluster.Cluster{}) {
				t.Fatalf("%+v, %v", c, err)
			}
			return
		}
		again, at, err := decodeCluster(encodeCluster(c, entry), 7, "articles")
		if err != nil || again != c || at != entry {
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
			keys = append(keys, keyOfExpiry("", at, seq))
			for _, value := range []string{"", "zh", "\x00", strings.Repeat("s", 256)} {
				of, gotAt, gotSeq, err := decodeExpiryKey(keyOfExpiry(value, at, seq))
				if err != nil || of != value || gotAt != at || gotSeq != seq {
					t.Errorf("the key of %q, %d, %d is read as %q, %d, %d, %v", value, at, seq, of, gotAt, gotSeq,
						err)
				}
			}
		}
		if bytes.Compare(beforeExpiry("", at), keyOfExpiry("", at, 0)) > 0 ||
			bytes.Compare(keyOfExpiry("", at, math.MaxUint64), endOfExpiry()) >= 0 {
			t.Errorf("keys of time %d are out of bounds", at)
		}
	}
	if !slices.IsSortedFunc(keys, bytes.Compare) {
		t.Errorf("keys are not in the order of time and seq: %x", keys)
	}
}
