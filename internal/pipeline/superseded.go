package pipeline

import (
	"context"

	"github.com/zeebo/xxh3"

	"github.com/clusterd/clusterd/internal/consumer"
	"github.com/clusterd/clusterd/internal/kafka"
)

// scan is what a look ahead in a partition of the clusters topic has found.
type scan struct {
	end   int64              // up to where it looked
	stays map[int64]struct{} // offsets of records that are not to be believed, and that no later one supersedes
}

// superseded reports whether a later record has the key of one that is not to be believed, so that compaction will take
// that away. It looks at the rest of the partition once for all that are wrong by themselves.
func (r *replica) superseded(ctx context.Context, bad *unexpected) (bool, error) {
	if bad.Key == nil {
		return false, nil
	}
	if s, ok := r.scans[bad.Partition]; ok && bad.Offset < s.end && !bad.contrary {
		_, stays := s.stays[bad.Offset]
		return !stays, nil
	}
	s, err := r.look(ctx, bad)
	if err != nil {
		return false, err
	}
	if !bad.contrary {
		r.scans[bad.Partition] = s
	}
	_, stays := s.stays[bad.Offset]
	if !stays {
		r.log.Warn("passing over a record of the clusters topic: a later one has its key", "error", bad)
	}
	return !stays, nil
}

// look looks at the rest of a partition behind a record.
func (r *replica) look(ctx context.Context, bad *unexpected) (scan, error) {
	s := scan{stays: make(map[int64]struct{})}
	pending := map[xxh3.Uint128]int64{xxh3.Hash128(bad.Key): bad.Offset} // by key: the offset of the last one that is wrong
	var err error
	s.end, err = r.tail(ctx, bad.Partition, bad.Offset+1, func(record kafka.Record) {
		key := xxh3.Hash128(record.Key)
		delete(pending, key)
		if r.wrong(record) {
			pending[key] = record.Offset
		}
	})
	for _, offset := range pending {
		s.stays[offset] = struct{}{}
	}
	return s, err
}

// readTail hands on the records of a partition from an offset on, and says where it ends.
func (r *replica) readTail(ctx context.Context, partition int, from int64, each func(kafka.Record)) (end int64, err error) {
	ends, err := r.ends(ctx)
	if err != nil {
		return 0, err
	}
	if end = ends.last[partition]; from >= end {
		return end, nil
	}
	return end, r.receive(ctx, map[int]int64{partition: from}, func(chunk consumer.Chunk) (done bool, err error) {
		for _, record := range chunk.Records {
			each(record)
		}
		return chunk.Next >= end, nil
	})
}

// wrong reports whether a record is not to be believed, whatever was before it.
func (r *replica) wrong(record kafka.Record) bool {
	if record.Value == nil && record.Cut == 0 {
		return false
	}
	_, err := r.read(record)
	return err != nil
}
