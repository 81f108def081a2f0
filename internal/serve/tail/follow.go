package tail

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/clusterd/clusterd/internal/consumer"
	"github.com/clusterd/clusterd/internal/kafka"
)

const (
	// lookInterval is how often it is asked whether anybody still wants the tail, and whether a topic
	// has more partitions.
	lookInterval = 5 * time.Second
	// fetchBytes is how much is read at once.
	fetchBytes = 1 << 20
	// maxValue is how large a record may be: a larger one is passed over.
	maxValue = 1 << 20
)

// Run follows the topics while anybody wants it, until ctx ends.
func (t *Tail) Run(ctx context.Context) {
	for ctx.Err() == nil {
		select {
		case <-t.wanted:
			// It may have been said by one that has left.
			if ctx.Err() == nil && !t.unused() {
				t.session(ctx)
			}
		case <-ctx.Done():
		}
	}
}

// session follows the topics until nobody has wanted it for a while.
func (t *Tail) session(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	group, ctx := errgroup.WithContext(ctx)
	var begun sync.WaitGroup
	for kind, topic := range t.Topics {
		begun.Add(1)
		f := &follower{Tail: t, kind: kind, topic: topic, begun: sync.OnceFunc(begun.Done)}
		group.Go(func() error { f.run(ctx); return nil })
	}
	group.Go(func() error {
		begun.Wait()
		t.mutex.Lock()
		close(t.ready)
		t.mutex.Unlock()
		look := time.NewTicker(min(lookInterval, t.Linger))
		defer look.Stop()
		for !t.unused() {
			select {
			case <-look.C:
			case <-ctx.Done():
				return nil
			}
		}
		cancel()
		return nil
	})
	_ = group.Wait() // none of them fails
}

// A follower follows one topic.
type follower struct {
	*Tail
	kind  Kind
	topic string
	next  map[int]int64 // by partition: the offset to be read next
	begun func()        // says that it is known
}

// run reads the topic until ctx ends. What fails is tried again.
func (f *follower) run(ctx context.Context) {
	defer f.begun() // so that nobody waits for it when all ends
	retries := kafka.NewRetryLogger(f.Log, "following the end of topic "+f.topic)
	for ctx.Err() == nil {
		err := f.follow(ctx, retries)
		if errors.Is(err, consumer.ErrOffsetOutOfRange) {
			f.next = nil
			f.mutex.Lock()
			f.lose()
			f.mutex.Unlock()
		}
		if !errors.Is(err, errMorePartitions) {
			_ = retries.Wait(ctx, err) // it fails when ctx ends
		}
	}
}

var errMorePartitions = errors.New("the topic has other partitions now")

// follow reads the topic from where it was left, or from its end on.
func (f *follower) follow(ctx context.Context, retries *kafka.RetryLogger) error {
	partitions, err := f.Client.Partitions(ctx, f.topic)
	if err != nil {
		return err
	}
	if err := f.locate(ctx, partitions); err != nil {
		return err
	}
	f.begun()
	retries.Succeeded()
	log := consumer.NewLog(f.Client, f.Log, f.topic, f.next, fetchBytes)
	log.MaxValue = maxValue
	reading := log.Start(ctx)
	defer reading.Stop()
	look := time.NewTicker(lookInterval)
	defer look.Stop()
	for {
		select {
		case chunk := <-reading.Chunks:
			f.take(chunk)
		case err := <-reading.Failed:
			return err
		case <-look.C:
			now, err := f.Client.Partitions(ctx, f.topic)
			if err == nil && len(now) != len(partitions) {
				return fmt.Errorf("%w: %d, and had %d", errMorePartitions, len(now), len(partitions))
			}
		}
	}
}

// locate sets from where on the topic is read: at first from its end, and partitions that are added
// from their beginning.
func (f *follower) locate(ctx context.Context, partitions []int) error {
	if f.next == nil {
		next, err := f.Client.StableOffsets(ctx, f.topic, partitions)
		f.next = next
		return err
	}
	first, err := f.Client.Offsets(ctx, f.topic, partitions, kafka.First)
	if err != nil {
		return err
	}
	before := f.next
	f.next = first
	maps.Copy(f.next, before)
	return nil
}

func (f *follower) take(chunk consumer.Chunk) {
	f.next[chunk.Partition] = chunk.Next
	records := chunk.Records[:0]
	for _, r := range chunk.Records {
		if r.Unreadable == nil && r.Cut == 0 {
			records = append(records, r)
		}
	}
	if len(records) > 0 {
		f.publish(f.kind, records)
	}
}
