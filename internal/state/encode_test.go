package state

import (
	"bytes"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/clusterd/clusterd/internal/article"
)

// extremes are clusters at the limits of what is possible.
func extremes() []Cluster {
	return []Cluster{
		{Founder: article.Address{Topic: "articles"}, Size: 1},
		{
			Seq: 7, Fingerprint: 0x0123456789abcdef, Founder: article.Address{Topic: "articles", Partition: 3, Offset: 17}, Size: 9,
			FirstSeen: 1777636800000, LastSeen: 1777640400000, Position: 41, entry: 1777638000000, Sketch: "\x00sketch\xff",
			Representative: article.Representative{ID: "articles/3/17", Title: "新华社\xff"},
		},
		{
			Seq: 1, Fingerprint: math.MaxUint64, Founder: article.Address{Topic: "articles", Partition: math.MaxInt32, Offset: maxOffset},
			Size: maxPosition, LastSeen: maxTime, Position: maxPosition, entry: -1,
			Representative: article.Representative{ID: strings.Repeat("i", article.MaxIDBytes), Title: strings.Repeat("t", maxTitle)},
		},
	}
}

// impossible are clusters that nothing can have made.
func impossible() map[string]Cluster {
	all := make(map[string]Cluster)
	for name, change := range map[string]func(*Cluster){
		"no members":                         func(c *Cluster) { c.Size = 0 },
		"fewer than no members":              func(c *Cluster) { c.Size = -1 },
		"the most members that an int holds": func(c *Cluster) { c.Size = math.MaxInt },
		"more members than positions":        func(c *Cluster) { c.Size = 36 },
		"one member, and another last":       func(c *Cluster) { c.Size = 1 },
		"many members at one position":       func(c *Cluster) { c.Position = c.Seq },
		"last before first":                  func(c *Cluster) { c.Position = c.Seq - 1 },
		"seq at the end":                     func(c *Cluster) { c.Seq = math.MaxUint64 },
		"position at the end":                func(c *Cluster) { c.Position = math.MaxUint64 },
		"position one before":                func(c *Cluster) { c.Position = math.MaxUint64 - 1 },
		"position beyond JSON":               func(c *Cluster) { c.Position = maxPosition + 1 },
		"before 1970":                        func(c *Cluster) { c.FirstSeen = -1 },
		"the beginning of time":              func(c *Cluster) { c.FirstSeen = math.MinInt64 },
		"seen last before first":             func(c *Cluster) { c.LastSeen = c.FirstSeen - 1 },
		"the year 10000":                     func(c *Cluster) { c.LastSeen = maxTime + 1 },
		"the end of time":                    func(c *Cluster) { c.LastSeen = math.MaxInt64 },
		"a founder at the last offset":       func(c *Cluster) { c.Founder.Offset = math.MaxInt64 },
		"a founder before the first":         func(c *Cluster) { c.Founder.Offset = -1 },
		"a founder in no partition":          func(c *Cluster) { c.Founder.Partition = -1 },
		"a founder of no topic":              func(c *Cluster) { c.Founder.Topic = "" },
		"a long id":                          func(c *Cluster) { c.Representative.ID = strings.Repeat("i", article.MaxIDBytes+1) },
		"a long title":                       func(c *Cluster) { c.Representative.Title = strings.Repeat("t", maxTitle+1) },
	} {
		c := extremes()[1]
		change(&c)
		all[name] = c
	}
	return all
}

func TestValidate(t *testing.T) {
	for _, c := range extremes() {
		if err := c.Validate(); err != nil {
			t.Errorf("%+v: %v", c, err)
		}
	}
	for name, c := range impossible() {
		if c.Validate() == nil {
			t.Errorf("%s: taken", name)
		}
		// Nor is it taken back from disk, if it got there.
		if got, err := decodeCluster(encodeCluster(c), c.Seq, c.Founder.Topic); !errors.Is(err, ErrDamaged) || got != (Cluster{}) {
			t.Errorf("%s: read back as %+v, %v", name, got, err)
		}
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
