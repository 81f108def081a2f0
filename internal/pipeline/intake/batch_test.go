package intake

import (
	"context"
	"errors"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/monitor"
	"github.com/clusterd/clusterd/internal/sink"
	"github.com/clusterd/clusterd/internal/space/fingerprint"
)

func sized(partition int, offset int64, bytes int) Item {
	return Item{Article: fingerprint.Article{Source: article.Address{
		Partition: partition, Offset: offset,
	}}, Next: offset + 1, Bytes: bytes}
}

func TestBacklogHead(t *testing.T) {
	b := backlog{maxRecords: 3, maxBytes: 100, next: make(map[int]int64)}
	b.add([]Item{sized(0, 5, 60), sized(0, 8, 60)}, 0, 12)
	b.add([]Item{sized(1, 2, 300)}, 1, 3)
	b.add([]Item{sized(0, 12, 1), sized(0, 13, 1)}, 0, 20)
	for i, want := range []struct {
		offsets []int64
		next    map[int]int64
	}{
		{[]int64{5}, map[int]int64{0: 6}},             // the second would be too many bytes
		{[]int64{8}, map[int]int64{0: 9}},             // the third too
		{[]int64{2}, map[int]int64{1: 3}},             // too large by itself, but alone
		{[]int64{12, 13}, map[int]int64{0: 20, 1: 3}}, // all: up to where the chunks reach
		{nil, map[int]int64{}},                        // empty
	} {
		head := b.head()
		var offsets []int64
		for _, r := range head.Items {
			offsets = append(offsets, r.Source.Offset)
		}
		if !slices.Equal(offsets, want.offsets) || !maps.Equal(head.Next, want.next) {
			t.Errorf("head %d = %v, next %v; want %v, next %v", i, offsets, head.Next, want.offsets,
				want.next)
		}
		b.drop(head)
	}
	if b.bytes != 0 || b.full() {
		t.Errorf("an empty backlog has %d bytes", b.bytes)
	}
}

func TestBacklogLosesNothing(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 4))
		b := backlog{maxRecords: 1 + r.IntN(10), maxBytes: 1 + r.IntN(200), next: make(map[int]int64)}
		end := map[int]int64{} // what was added, by partition
		var added, taken []Item
		committed := map[int]int64{}
		for range 100 {
			if !b.full() && r.IntN(2) == 0 {
				p := r.IntN(3)
				var chunk []Item
				for range 1 + r.IntN(8) {
					end[p] += 1 + int64(r.IntN(3)) // compaction and control records leave gaps
					chunk = append(chunk, sized(p, end[p]-1, r.IntN(60)))
				}
				added = append(added, chunk...)
				b.add(chunk, p, end[p])
				continue
			}
			taken = append(taken, checkedHead(t, &b, committed)...)
		}
		for len(b.items) > 0 {
			taken = append(taken, checkedHead(t, &b, committed)...)
		}
		same := func(x, y Item) bool {
			return x.Source == y.Source
		}
		if !slices.EqualFunc(added, taken, same) {
			t.Fatalf("seed %d: %d records went in and %d came out, or in another order", seed, len(added),
				len(taken))
		}
		if !maps.Equal(committed, end) {
			t.Fatalf("seed %d: committed %v, want %v", seed, committed, end)
		}
	}
}

// checkedHead takes a head, and holds it to the limits and to offsets that only move on, and never
// over a record that is still to come.
func checkedHead(t *testing.T, b *backlog, committed map[int]int64) []Item {
	t.Helper()
	head := b.head()
	if len(b.items) > 0 && len(head.Items) == 0 {
		t.Fatal("nothing was taken of what waits")
	}
	bytes := 0
	for _, r := range head.Items {
		bytes += r.Bytes
	}
	if len(head.Items) > b.maxRecords || len(head.Items) > 1 && bytes > b.maxBytes {
		t.Fatalf("%d records of %d bytes; allowed are %d of %d", len(head.Items), bytes, b.maxRecords,
			b.maxBytes)
	}
	b.drop(head)
	for p, next := range head.Next {
		if next < committed[p] {
			t.Fatalf("partition %d goes back from %d to %d", p, committed[p], next)
		}
		committed[p] = next
	}
	for _, r := range b.items {
		if r.Source.Offset < committed[r.Source.Partition] {
			t.Fatalf("offset %d of partition %d would be committed with %d still waiting",
				committed[r.Source.Partition], r.Source.Partition, r.Source.Offset)
		}
	}
	return head.Items
}

func TestBatchOffsets(t *testing.T) {
	got := Batch{Next: map[int]int64{0: 5, 2: 7}}.Offsets("articles")
	slices.SortFunc(got, func(a, b sink.Offset) int { return a.Partition - b.Partition })
	want := []sink.Offset{
		{Topic: "articles", Partition: 0, Offset: 5}, {Topic: "articles", Partition: 2, Offset: 7},
	}
	if !slices.Equal(got, want) {
		t.Errorf("offsets = %v, want %v", got, want)
	}
}

// collecting is a collect at work, on virtual time.
type collecting struct {
	chunks chan chunk
	out    chan Batch
	offset int64
	err    error
}

func collect(t *testing.T, records int, linger time.Duration, test func(*collecting)) {
	synctest.Test(t, func(t *testing.T) {
		r := &Reading{
			Space: "all", Monitor: monitor.New("test"),
			Batch: config.Batch{Records: records, Bytes: 1000, Linger: linger},
		}
		c := &collecting{chunks: make(chan chunk), out: make(chan Batch)}
		ctx, cancel := context.WithCancel(t.Context())
		go func() { c.err = r.collect(ctx, c.chunks, c.out) }()
		test(c)
		cancel()
		synctest.Wait()
		if !errors.Is(c.err, context.Canceled) {
			t.Errorf("collect ended with %v", c.err)
		}
	})
}

func (c *collecting) chunk(n int) chunk {
	var chunk chunk
	for range n {
		chunk.items = append(chunk.items, sized(0, c.offset, 0))
		c.offset++
	}
	chunk.next = c.offset
	return chunk
}

func TestCollectLingers(t *testing.T) {
	collect(t, 100, 50*time.Millisecond, func(c *collecting) {
		for range 3 { // each batch lingers anew
			began := time.Now()
			c.chunks <- c.chunk(1)
			time.Sleep(30 * time.Millisecond)
			c.chunks <- c.chunk(2)
			b := <-c.out
			if len(b.Items) != 3 || time.Since(began) != 50*time.Millisecond {
				t.Errorf("a batch of %d after %v, want 3 after 50ms from the first", len(b.Items),
					time.Since(began))
			}
			time.Sleep(time.Second)
		}
	})
}

func TestCollectWithoutLinger(t *testing.T) {
	collect(t, 100, 0, func(c *collecting) {
		began := time.Now()
		c.chunks <- c.chunk(1)
		if b := <-c.out; len(b.Items) != 1 || time.Since(began) != 0 {
			t.Errorf("a batch of %d after %v, want 1 at once", len(b.Items), time.Since(began))
		}
	})
}

func TestCollectHandsOnAFullBatchAtOnce(t *testing.T) {
	collect(t, 4, time.Hour, func(c *collecting) {
		began := time.Now()
		c.chunks <- c.chunk(5)
		if b := <-c.out; len(b.Items) != 4 || time.Since(began) != 0 {
			t.Errorf("a batch of %d after %v, want 4 at once", len(b.Items), time.Since(began))
		}
		b := <-c.out
		if len(b.Items) != 1 || b.Next[0] != 5 || time.Since(began) > time.Hour {
			t.Errorf("then a batch of %d up to %d after %v, want the rest within the linger", len(b.Items),
				b.Next[0], time.Since(began))
		}
	})
}

func TestCollectGrowsWhileTheReceiverIsBusy(t *testing.T) {
	collect(t, 10, time.Millisecond, func(c *collecting) {
		for range 7 {
			c.chunks <- c.chunk(1)
			time.Sleep(time.Second)
		}
		if b := <-c.out; len(b.Items) != 7 || b.Next[0] != 7 {
			t.Errorf("a batch of %d up to %d, want all 7", len(b.Items), b.Next[0])
		}
	})
}

func TestCollectReadsNothingWhenFull(t *testing.T) {
	collect(t, 2, time.Millisecond, func(c *collecting) {
		c.chunks <- c.chunk(3)
		select {
		case c.chunks <- c.chunk(1):
			t.Error("another chunk was taken on top of a full batch")
		case <-time.After(time.Minute):
		}
		<-c.out
		c.offset = 3
		c.chunks <- c.chunk(1) // one is left: there is room again
		if b := <-c.out; len(b.Items) != 2 || b.Next[0] != 4 {
			t.Errorf("a batch of %d up to %d, want 2 up to 4", len(b.Items), b.Next[0])
		}
	})
}

// Articles that were assigned before are dropped, and dead letters are not.
func TestDropBefore(t *testing.T) {
	item := func(partition int, offset int64, dead bool) Item {
		i := Item{}
		i.Source = article.Address{Topic: "t", Partition: partition, Offset: offset}
		if dead {
			i.DeadLetter = &DeadLetter{}
		}
		return i
	}
	b := Batch{Items: []Item{
		item(0, 3, false), item(1, 0, false), item(0, 5, false), item(0, 2, true), item(0, 5, false),
		item(0, 6, false),
	}}
	next := map[int]int64{0: 5}
	dropped, first := b.DropBefore(next)
	var kept []string
	for _, i := range b.Items {
		kept = append(kept, i.Source.String())
	}
	if dropped != 2 || first.String() != "t/0/3" || next[0] != 5 ||
		!slices.Equal(kept, []string{"t/1/0", "t/0/5", "t/0/2", "t/0/6"}) {
		t.Errorf("dropped %d from %s on, kept %q, next %v", dropped, first, kept, next)
	}
	if dropped, _ = b.DropBefore(map[int]int64{}); dropped != 0 || len(b.Items) != 4 {
		t.Errorf("dropped %d of what is in order", dropped)
	}
}
