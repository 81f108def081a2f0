package members

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/clusterd/clusterd/internal/consumer"
	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/space/disk"
)

const (
	// lookInterval is how often the topic is asked for its number of partitions.
	lookInterval = 30 * time.Second
	// manyBehind is from how many records of lag on the view rests between two chunks, restShare times
	// as long as it has worked: it has much to read, and others have work that is more urgent.
	manyBehind  = 10_000
	restShare   = 3
	longestRest = time.Second
)

// Run keeps the view up to date until ctx ends. What fails is tried again: no question and nobody
// who assigns articles waits for it.
func (v *View) Run(ctx context.Context) {
	v.cache = disk.NewCache(cacheBytes)
	defer v.cache.Release()
	var answering sync.WaitGroup
	defer answering.Wait()
	answering.Go(func() {
		v.whenever(ctx, v.asked, "looking for the members of labelled clusters", v.find)
	})
	answering.Go(func() {
		v.whenever(ctx, v.leftOut, "reading members from the results topic", v.recollect)
	})
	retries := kafka.NewRetryLogger(v.Log, "keeping the members on disk")
	for {
		err := v.session(ctx, retries)
		err = errors.Join(err, v.close())
		if ctx.Err() != nil {
			return
		}
		if errors.Is(err, errDamaged) || errors.Is(err, errForeign) {
			v.Log.Warn("the members on disk are read anew from the results", "dir", v.Dir, "reason", err)
			err = v.remove()
		}
		if retries.Wait(ctx, err) != nil {
			return
		}
	}
}

// session opens the view and follows the topic until something fails.
func (v *View) session(ctx context.Context, retries *kafka.RetryLogger) error {
	want := identity{Version: version, Topic: v.Topic, Input: v.Input}
	var err error
	if want.Kafka, err = v.Client.ClusterID(ctx); err != nil {
		return err
	}
	partitions, err := v.Client.Partitions(ctx, v.Topic)
	if err != nil {
		return err
	}
	want.Partitions = len(partitions)
	first, err := v.Client.Offsets(ctx, v.Topic, partitions, kafka.First)
	if err != nil {
		return err
	}
	last, err := v.Client.Offsets(ctx, v.Topic, partitions, kafka.Last)
	if err != nil {
		return err
	}
	generations, err := v.open(want)
	if err != nil {
		return err
	}
	newest := generations[len(generations)-1]
	if newest.meta.Version == 0 {
		want.Seed = rand.Uint64()
		newest.meta = meta{identity: want}
	}
	from, err := newest.meta.from(first, last)
	if err != nil {
		return errors.Join(err, closeAll(generations))
	}
	newest.seed = newest.meta.Seed
	v.mutex.Lock()
	v.reads.next, v.reads.ends, v.reads.caughtUp = maps.Clone(newest.meta.Next), last, false
	v.mutex.Unlock()
	v.replace(generations)
	v.mutex.Lock()
	v.reads.progress()
	v.mutex.Unlock()
	return v.follow(ctx, partitions, from, retries.Succeeded)
}

// from returns where to read on: at the last result that was read, to see that the topic is still
// the one that it came from. It sets where the view stands.
func (m *meta) from(first, last map[int]int64) (map[int]int64, error) {
	from, next := make(map[int]int64), make(map[int]int64)
	for p, end := range last {
		at, known := m.Next[p]
		switch {
		case known && at > end:
			return nil, fmt.Errorf("%w: partition %d ends at offset %d, and %d were read: it was made anew",
				errForeign, p, end, at)
		case known && at < first[p]:
			m.Evicted = true // those between were deleted before they were read
		}
		next[p] = max(at, first[p])
		from[p] = next[p]
		if r, ok := m.Last[p]; ok && r.Offset >= first[p] {
			from[p] = min(from[p], r.Offset)
		}
	}
	m.Next = next
	return from, nil
}

// follow reads the topic from these offsets on, and calls worked with each chunk.
func (v *View) follow(
	ctx context.Context, partitions []int, from map[int]int64, worked func(),
) error {
	log := consumer.NewLog(v.Client, v.Log, v.Topic, from, v.FetchBytes)
	log.MaxValue = maxResult
	log.OnPoll = v.polled
	reading := log.Start(ctx)
	defer reading.Stop()
	look := time.NewTicker(lookInterval)
	defer look.Stop()
	for {
		select {
		case chunk := <-reading.Chunks:
			if err := v.apply(ctx, chunk); err != nil {
				return err
			}
			worked()
		case err := <-reading.Failed:
			return err
		case <-v.broken:
			return fmt.Errorf("%w: a question met it", errDamaged)
		case <-look.C:
			now, err := v.Client.Partitions(ctx, v.Topic)
			if err == nil && !slices.Equal(now, partitions) {
				return fmt.Errorf("%w: it has %d partitions, and had %d", errForeign, len(now), len(partitions))
			}
		}
	}
}

// maxResult is how large a result may be, in bytes: more than the fields of an article that it
// repeats may have.
const maxResult = 1 << 20

// polled notes where the topic ends.
func (v *View) polled(positions []kafka.Position) {
	v.mutex.Lock()
	for _, p := range positions {
		v.reads.ends[p.Partition] = max(p.End, v.reads.ends[p.Partition])
	}
	v.reads.caughtUp = v.reads.caughtUp || v.reads.lag() == 0
	v.mutex.Unlock()
	if v.OnPoll != nil {
		v.OnPoll(v.Stats())
	}
}

// apply writes the members of a chunk, and how far the topic is read with it, all or nothing. Where
// there is much to read it rests a while.
func (v *View) apply(ctx context.Context, chunk consumer.Chunk) error {
	began, g := time.Now(), v.newest()
	m := g.meta
	m.Next, m.Last = maps.Clone(m.Next), maps.Clone(m.Last)
	if m.Last == nil {
		m.Last = make(map[int]result)
	}
	batch := g.Batch()
	defer func() { _ = batch.Close() }() // it only gives memory back
	if err := v.put(batch, &m, chunk); err != nil {
		return err
	}
	if err := m.put(batch); err != nil {
		return err
	}
	written := batch.Len()
	if err := errors.Join(g.Commit(batch), g.FlushIfDue()); err != nil {
		return err
	}
	size := g.size
	if g.asked += written; g.asked > memTable(v.Bytes)/4 {
		size, g.asked = g.Size(), 0
	}
	v.mutex.Lock()
	g.meta, g.size = m, size
	v.mutex.Unlock()
	// Whoever sees how far the topic is read sees what that left out, too.
	if size >= generationBytes(v.Bytes) {
		if err := v.turn(); err != nil {
			return err
		}
	}
	v.mutex.Lock()
	v.reads.next = m.Next
	v.reads.progress()
	lag := v.reads.lag()
	v.mutex.Unlock()
	if lag > manyBehind {
		rest(ctx, min(restShare*time.Since(began), longestRest))
	}
	return nil
}

// put adds to a batch what a chunk says, and to the meta how far it goes.
func (v *View) put(batch *disk.Batch, m *meta, chunk consumer.Chunk) error {
	p := chunk.Partition
	var value []byte
	for i := range chunk.Records {
		r := &chunk.Records[i]
		written := r.Time.UnixMilli()
		if r.Offset < m.Next[p] {
			if last := m.Last[p]; last.Offset == r.Offset && last.Written != written {
				return fmt.Errorf("%w: %s/%d has another record at offset %d than was read: it was made anew",
					errForeign, v.Topic, p, r.Offset)
			}
			continue
		}
		m.Last[p] = result{r.Offset, written}
		member, ok := v.parse(r)
		if !ok {
			continue
		}
		value = member.encode(value[:0])
		if err := member.put(batch, value, m.Seed); err != nil {
			return err
		}
		m.Results++
		if m.Since == 0 || written < m.Since {
			m.Since = written
		}
	}
	m.Next[p] = max(chunk.Next, m.Next[p])
	return nil
}

// put adds a member, encoded to value, to a batch.
func (m *Member) put(batch *disk.Batch, value []byte, seed uint64) error {
	if m.ClusterID == "" {
		return batch.Set(keyOfArticle(m, nil, seed), value, nil)
	}
	founder, err := article.ParseAddress(m.ClusterID)
	if err != nil {
		return err
	}
	position := m.Position
	if m.Status == article.New {
		position = 0
	}
	key := keyOfMember(keysOfCluster(founder), position)
	return errors.Join(batch.Set(key, value, nil), batch.Set(keyOfArticle(m, key, seed), nil, nil))
}

// close ends what is open: until the next session there is nothing to ask.
func (v *View) close() error {
	generations := v.generations
	v.replace(nil)
	select {
	case <-v.broken: // it is about to be made anew
	default:
	}
	return closeAll(generations)
}

// rest waits, or until ctx ends.
func rest(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
