// Package signals counts, for one cluster, who published its articles and how many of them are
// recent. Articles go in one after the other, each with the stream time, its event time and its
// publisher; out comes a [State], a short text of bytes that a cluster keeps, and what it says.
//
// The rule: publishers are told apart exactly as far as [MaxPublishers], and then they are only
// known to be more. Recent are the articles whose event time is in the bucket of stream time or in
// one of the eleven before it. A bucket is a twelfth of the window, in whole milliseconds; buckets
// begin at 1970. So between eleven twelfths of the window and all of it count.
package signals

import (
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/zeebo/xxh3"
)

const (
	// MaxPublishers is how many publishers are told apart.
	MaxPublishers = 64
	// MaxBytes is how long a [State] may be.
	MaxBytes = (2+buckets)*binary.MaxVarintLen64 + 2 + MaxPublishers*hashBytes

	buckets   = 12
	hashBytes = 8
)

// A Rule is a window. The zero Rule counts nothing.
type Rule struct{ width uint64 } // of a bucket, in milliseconds

// NewRule returns the rule by which articles within the window, of at least twelve milliseconds,
// are recent.
func NewRule(window time.Duration) Rule { return Rule{uint64(window.Milliseconds()) / buckets} }

// A State is what is known of the articles of a cluster; empty is nothing. It can be compared: the
// same articles in the same order give the same State.
//
// Its bytes are the width of a bucket and the number of the newest bucket since 1970, how many
// counts there are, the counts from the newest bucket on, how many publishers there are, and the
// XXH3 hash of each in ascending order, big-endian. Numbers are varints. Of more than
// [MaxPublishers] there are no hashes.
type State string

// Add returns what is known with one article more, which has this event time and this publisher,
// where empty is nobody. Times are in Unix milliseconds. The stream time is that after the article:
// it is no less than its event time, and never goes back. Where the window is another than before,
// recent articles are counted anew. By the zero Rule the State becomes empty.
func (r Rule) Add(s State, streamTime, at int64, publisher string) State {
	if r.width == 0 {
		return ""
	}
	c, err := s.counts()
	if err != nil || c.width != r.width {
		c.width, c.newest, c.recent = r.width, 0, [buckets]uint64{}
	}
	now := uint64(max(0, streamTime)) / r.width
	c.moveTo(now)
	if age := now - uint64(max(0, at))/r.width; age < buckets {
		c.recent[age]++
	}
	var memory [MaxBytes + hashBytes]byte
	return State(c.append(memory[:0], publisher))
}

// Publishers returns how many publishers there are, where MaxPublishers+1 is more than
// [MaxPublishers].
func (s State) Publishers() int {
	c, _ := s.counts()
	return c.publishers
}

// Recent returns how many articles were recent at the stream time of the last one.
func (s State) Recent() int {
	c, _ := s.counts()
	return c.sum()
}

// RecentAt returns how many articles are recent at a stream time, in Unix milliseconds, that is no
// earlier than that of the last one.
func (s State) RecentAt(streamTime int64) int {
	c, err := s.counts()
	if err != nil || s == "" {
		return 0
	}
	c.moveTo(uint64(max(0, streamTime)) / c.width)
	return c.sum()
}

// At returns the State as of a stream time, in Unix milliseconds, that is no earlier than that of
// the last article: of fewer recent articles.
func (s State) At(streamTime int64) State {
	c, err := s.counts()
	if err != nil || s == "" {
		return s
	}
	c.moveTo(uint64(max(0, streamTime)) / c.width)
	var memory [MaxBytes]byte
	return State(c.append(memory[:0], ""))
}

// Check returns an error for what is no State of a cluster of this size, whose articles came up to
// this stream time in Unix milliseconds.
func (s State) Check(size int, latest int64) error {
	if s == "" {
		return nil
	}
	c, err := s.counts()
	if err != nil {
		return err
	}
	// What is written in another way than here was not written here.
	var memory [MaxBytes]byte
	if string(c.append(memory[:0], "")) != string(s) || !c.ascending() {
		return errors.New("signals are in another form than they are written in")
	}
	most := uint64(max(0, size))
	if c.newest > uint64(max(0, latest))/c.width {
		return fmt.Errorf("signals are of the bucket %d of %d ms", c.newest, c.width)
	}
	sum := uint64(0)
	for _, n := range c.recent {
		if n > most-sum {
			return fmt.Errorf("signals count more recent articles than the cluster has, %d", size)
		}
		sum += n
	}
	if uint64(c.publishers) > most {
		return fmt.Errorf("signals have %d publishers of %d articles", c.publishers, size)
	}
	return nil
}

// counts are what a State says.
type counts struct {
	width, newest uint64
	recent        [buckets]uint64 // the newest first
	publishers    int             // MaxPublishers+1 is more
	hashes        State           // of the publishers, in ascending order
}

var errCut = errors.New("signals are cut off, or a number in them is too large")

// counts reads a State. The empty one has no width.
func (s State) counts() (c counts, err error) {
	if s == "" {
		return c, nil
	}
	var numbers [(4 + buckets) * binary.MaxVarintLen64]byte
	at, end := 0, copy(numbers[:], s)
	number := func() uint64 {
		v, size := binary.Uvarint(numbers[at:end])
		if size <= 0 {
			err, end = errCut, at
			return 0
		}
		at += size
		return v
	}
	c.width, c.newest = number(), number()
	known := number()
	if known > buckets || c.width == 0 {
		return counts{}, errCut
	}
	for i := range known {
		c.recent[i] = number()
	}
	publishers := number()
	if publishers > MaxPublishers+1 {
		return counts{}, errCut
	}
	c.publishers, c.hashes = int(publishers), s[at:]
	if c.publishers <= MaxPublishers && len(c.hashes) != c.publishers*hashBytes ||
		c.publishers > MaxPublishers && c.hashes != "" {
		err = errCut
	}
	if err != nil {
		return counts{}, err
	}
	return c, nil
}

// moveTo makes a bucket the newest one. What falls out of the window is forgotten.
func (c *counts) moveTo(now uint64) {
	if now <= c.newest {
		return
	}
	var moved [buckets]uint64
	if by := now - c.newest; by < buckets {
		copy(moved[by:], c.recent[:])
	}
	c.newest, c.recent = now, moved
}

func (c *counts) sum() int {
	sum := uint64(0)
	for _, n := range c.recent {
		sum += n
	}
	return int(sum)
}

// append appends the State with one publisher more, unless that is empty or there already.
func (c *counts) append(dst []byte, publisher string) []byte {
	dst = binary.AppendUvarint(binary.AppendUvarint(dst, c.width), c.newest)
	known := buckets
	for known > 0 && c.recent[known-1] == 0 {
		known--
	}
	dst = append(dst, byte(known))
	for _, n := range c.recent[:known] {
		dst = binary.AppendUvarint(dst, n)
	}
	if publisher == "" || c.publishers > MaxPublishers {
		return append(append(dst, byte(c.publishers)), c.hashes...)
	}
	hash := binary.BigEndian.AppendUint64(nil, xxh3.HashString(publisher))
	at := 0
	for at < len(c.hashes) && string(c.hashes[at:at+hashBytes]) < string(hash) {
		at += hashBytes
	}
	switch {
	case at < len(c.hashes) && string(c.hashes[at:at+hashBytes]) == string(hash):
		return append(append(dst, byte(c.publishers)), c.hashes...)
	case c.publishers == MaxPublishers:
		return append(dst, MaxPublishers+1)
	}
	dst = append(append(dst, byte(c.publishers+1)), c.hashes[:at]...)
	return append(append(dst, hash...), c.hashes[at:]...)
}

// ascending reports whether the publishers' hashes are in order, and none is there twice.
func (c *counts) ascending() bool {
	for at := hashBytes; at < len(c.hashes); at += hashBytes {
		if c.hashes[at-hashBytes:at] >= c.hashes[at:at+hashBytes] {
			return false
		}
	}
	return true
}

// Merge returns what is known of the articles of two clusters together. A State that counts by
// another window than the rule's has no recent articles for it.
func (r Rule) Merge(a, b State) State {
	if r.width == 0 {
		return ""
	}
	sum, err := a.counts()
	if err != nil || sum.width != r.width {
		sum = counts{width: r.width, publishers: sum.publishers, hashes: sum.hashes}
	}
	more, err := b.counts()
	if err != nil || more.width != r.width {
		more = counts{publishers: more.publishers, hashes: more.hashes}
	}
	newest := max(sum.newest, more.newest)
	sum.moveTo(newest)
	more.moveTo(newest)
	for i := range sum.recent {
		sum.recent[i] += more.recent[i]
	}
	sum.publishers, sum.hashes = union(&sum, &more)
	var memory [MaxBytes]byte
	return State(sum.append(memory[:0], ""))
}

// union returns the publishers of both.
func union(a, b *counts) (publishers int, hashes State) {
	if a.publishers > MaxPublishers || b.publishers > MaxPublishers {
		return MaxPublishers + 1, ""
	}
	all := make(map[State]struct{}, a.publishers+b.publishers)
	for _, side := range []State{a.hashes, b.hashes} {
		for ; side != ""; side = side[hashBytes:] {
			all[side[:hashBytes]] = struct{}{}
		}
	}
	if len(all) > MaxPublishers {
		return MaxPublishers + 1, ""
	}
	for _, hash := range slices.Sorted(maps.Keys(all)) {
		hashes += hash
	}
	return len(all), hashes
}
