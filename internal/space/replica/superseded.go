package replica

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/zeebo/xxh3"

	"github.com/clusterd/clusterd/internal/consumer"
	"github.com/clusterd/clusterd/internal/kafka"
)

// contradiction says what of a record does not go with one before it.
type contradiction string

func (c contradiction) Error() string { return string(c) }

func contradict(format string, args ...any) error {
	return contradiction(fmt.Sprintf(format, args...))
}

// passOver returns nil where a record that is not to be believed may be passed over, since a later
// one has its key. Otherwise it returns the error, with what to do about it.
func (r *Replica) passOver(ctx context.Context, record kafka.Record, err error) error {
	var bad *unexpected
	var c contradiction
	if errors.As(err, &c) {
		bad = &unexpected{Record: record, reason: err, contradicts: true}
	} else if !errors.As(err, &bad) {
		return err
	}
	superseded, err := r.superseded(ctx, bad)
	if err != nil || superseded {
		return err
	}
	if errors.As(bad.reason, new(misfit)) && !r.isOurs(bad.Partition) {
		return bad
	}
	return fmt.Errorf("%w. %s", bad, r.removal(record))
}

// isOurs reports whether there is a checkpoint by this configuration, before a record or behind it
// in its partition: then the record is a stray one. Else it is the configuration that has changed.
func (r *Replica) isOurs(partition int) bool {
	last := r.space.Meta().Checkpoint
	return last != nil && r.sameSettings(last) == nil || r.scans[partition].ours
}

// scan is what a look ahead in a partition of the clusters topic has found.
type scan struct {
	end int64 // up to where it looked
	// offsets of records that are not to be believed, and that no later one supersedes
	stays map[int64]struct{}
	ours  bool // there is a checkpoint by this configuration
}

// superseded reports whether a later record has the key of one that is not to be believed, so that
// compaction will remove that. It scans the rest of the partition once for all that are wrong by
// themselves.
func (r *Replica) superseded(ctx context.Context, bad *unexpected) (bool, error) {
	if bad.Key == nil {
		return false, nil
	}
	if s, ok := r.scans[bad.Partition]; ok && bad.Offset < s.end && !bad.contradicts {
		_, stays := s.stays[bad.Offset]
		return !stays, nil
	}
	s, err := r.scanBehind(ctx, bad)
	if err != nil {
		return false, err
	}
	if !bad.contradicts {
		r.scans[bad.Partition] = s
	}
	_, stays := s.stays[bad.Offset]
	if !stays {
		r.Log.Warn("passing over a record of the clusters topic: a later one has its key", "error", bad)
	}
	return !stays, nil
}

// scanBehind scans the rest of a partition behind a record.
func (r *Replica) scanBehind(ctx context.Context, bad *unexpected) (scan, error) {
	s := scan{stays: make(map[int64]struct{})}
	// by key: the offset of the last one that is wrong
	pending := map[xxh3.Uint128]int64{xxh3.Hash128(bad.Key): bad.Offset}
	var err error
	s.end, err = r.scanTail(ctx, bad.Partition, bad.Offset+1, func(record kafka.Record) {
		key := xxh3.Hash128(record.Key)
		delete(pending, key)
		said, err := r.decode(record)
		if err != nil {
			pending[key] = record.Offset
		}
		s.ours = s.ours || said.checkpoint != nil && !said.removed
	})
	for _, offset := range pending {
		s.stays[offset] = struct{}{}
	}
	return s, err
}

// readTail hands on the records of a partition from an offset on, and returns where it ends.
func (r *Replica) readTail(
	ctx context.Context, partition int, from int64, each func(kafka.Record),
) (end int64, err error) {
	ends, err := r.ends(ctx)
	if err != nil {
		return 0, err
	}
	if end = ends.last[partition]; from >= end {
		return end, nil
	}
	return end, r.receive(ctx, map[int]int64{partition: from},
		func(chunk consumer.Chunk) (done bool, err error) {
			for _, record := range chunk.Records {
				each(record)
			}
			return chunk.Next >= end, nil
		})
}

// removal says how to remove a record from the clusters topic.
func (r *Replica) removal(record kafka.Record) string {
	const clusterIsGone = "if it is the id of a cluster, that cluster is gone with it"
	if record.Key == nil {
		return "It has no key, so that no tombstone takes it out: " + StartAnew
	}
	// Of an empty line kcat makes no record: the key must be in it.
	command := fmt.Sprintf(`printf '%%s\t\n' %s | kcat -b %s -P -t %s -p %d -K '\t' -Z`,
		shellQuoted(record.Key), strings.Join(r.Brokers, ","), record.Topic, record.Partition)
	// The shell drops a NUL, kcat a line break and a tab.
	if len(record.Key) > maxKeyBytes || bytes.ContainsAny(record.Key, "\x00\n\t") {
		command = "a record with that key, in that partition, without a value"
	}
	return fmt.Sprintf("Where this record alone is wrong, a tombstone to its key takes it out at "+
		"the next start (%s): %s", clusterIsGone, command)
}

// shellQuoted returns a key as an argument of a command.
func shellQuoted(key []byte) string {
	plain := utf8.Valid(key) && !strings.ContainsFunc(string(key),
		func(c rune) bool { return !strconv.IsPrint(c) || c == '\'' })
	if plain {
		return "'" + string(key) + "'"
	}
	var b strings.Builder
	b.WriteString(`"$(printf '`)
	for _, c := range key {
		fmt.Fprintf(&b, `\%03o`, c)
	}
	return b.String() + `')"`
}
