package doctor

import (
	"context"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

// tail is how many of the last records of a partition are looked at: each transaction of clusterd
// writes a checkpoint.
const tail = 2000

// readTail calls see with the last records of each partition of a topic, in order. The records that
// end transactions are left out. It reports whether it has read the whole topic.
func (e *examination) readTail(
	ctx context.Context, topic string, begins, ends kadm.ListedOffsets, see func(*kgo.Record),
) (whole bool) {
	from, left := make(map[int32]kgo.Offset), make(map[int32]int64)
	whole = true
	ends.Each(func(end kadm.ListedOffset) {
		first, _ := begins.Lookup(topic, end.Partition)
		at := max(first.Offset, end.Offset-tail)
		whole = whole && at == first.Offset
		if at < end.Offset {
			from[end.Partition], left[end.Partition] = kgo.NewOffset().At(at), end.Offset
		}
	})
	if len(from) == 0 {
		return whole
	}
	e.client.AddConsumePartitions(map[string]map[int32]kgo.Offset{topic: from})
	defer e.client.PurgeTopicsFromConsuming(topic)
	for len(left) > 0 {
		fetches := e.client.PollFetches(ctx)
		if fetches.Err() != nil {
			return false
		}
		fetches.EachRecord(func(r *kgo.Record) {
			if !r.Attrs.IsControl() {
				see(r)
			}
			if r.Offset+1 >= left[r.Partition] {
				delete(left, r.Partition)
			}
		})
	}
	return whole
}
