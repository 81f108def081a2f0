package embedded

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// recoverDir repairs the folder of a broker that has crashed. It commits or aborts transactions in
// all partitions, cuts off incomplete writes, and makes kfake's other files agree with the records.
// If a crash interrupts it, the next start repeats it.
func recoverDir(dir string, log *slog.Logger) error {
	closed, err := wasClosed(dir)
	if err != nil || closed {
		return err
	}
	began := time.Now()
	if _, err := mendStateLog(filepath.Join(dir, groupsLog)); err != nil {
		return err
	}
	pids, err := mendStateLog(filepath.Join(dir, pidsLog))
	if err != nil {
		return err
	}
	latest, err := latestCommit(dir, pids)
	if err != nil {
		return err
	}
	folders, err := partitionFolders(dir)
	if err != nil {
		return err
	}
	fenced := make(map[int64]bool)
	for _, folder := range folders {
		p, err := openPartition(folder)
		if err != nil {
			return err
		}
		aborted, err := p.mend(latest)
		if err != nil {
			return fmt.Errorf("mending %s: %w", folder, err)
		}
		for _, producer := range aborted {
			fenced[producer] = true
		}
	}
	if err := mendState(dir, pids, latest, fenced); err != nil {
		return err
	}
	log.Info("the embedded broker was not stopped in good order: its records are recovered",
		"partitions", len(folders), "aborted_transactions", len(fenced),
		"took", time.Since(began).Round(time.Millisecond))
	return nil
}

// mendState does a commit in kfake's logs, and fences producers whose transactions were aborted.
// Without that, a producer that has outlived the broker would take its transaction for committed.
func mendState(dir string, pids []stateEntry, c *commit, fenced map[int64]bool) error {
	epochs := make(map[int64]int16)
	for _, e := range pids {
		epochs[e.PID] = e.Epoch
	}
	var offsets, states []any
	if c != nil {
		for _, o := range c.Offsets {
			offsets = append(offsets, o)
		}
		if yes := true; epochs[c.PID] == c.Epoch { // it has not gone on
			states = append(states, stateEntry{Type: "endtx", PID: c.PID, Epoch: c.Epoch, Commit: &yes})
		}
	}
	for _, producer := range slices.Sorted(maps.Keys(fenced)) {
		if epoch, ok := epochs[producer]; ok && epoch < math.MaxInt16-1 {
			states = append(states, stateEntry{Type: "timeout", PID: producer, Epoch: epoch + 1})
		}
	}
	// These say how far producers had counted when the broker was last closed.
	err := os.Remove(filepath.Join(dir, "seq_windows.json"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := appendState(filepath.Join(dir, groupsLog), offsets...); err != nil {
		return err
	}
	if err := appendState(filepath.Join(dir, pidsLog), states...); err != nil {
		return err
	}
	return syncDir(dir)
}

// covers reports whether a commit has a transaction of a partition in it.
func (c *commit) covers(p *partition, producer int64, t *pending) bool {
	return c != nil && c.PID == producer && c.Epoch == t.epoch &&
		t.first < c.Partitions[p.topic][p.id]
}

// mend ends the open transactions: the latest commit commits its own, and all others are aborted.
// Then it writes the index and the snapshot. It returns the producers of aborted transactions.
func (p *partition) mend(c *commit) (aborted []int64, err error) {
	for _, s := range p.segments {
		if err := p.cut(s); err != nil {
			return nil, err
		}
	}
	for _, producer := range slices.Sorted(maps.Keys(p.open)) {
		t := p.open[producer]
		commits := c.covers(p, producer, t)
		if !commits {
			aborted = append(aborted, producer)
		}
		if err := p.mark(producer, t.epoch, commits); err != nil {
			return nil, err
		}
	}
	for _, s := range p.segments {
		name := p.file(s, ".idx")
		if was, err := os.ReadFile(name); err == nil && bytes.Equal(was, s.index) {
			continue
		}
		if err := replace(name, s.index); err != nil {
			return nil, err
		}
	}
	if len(p.segments) == 0 {
		return aborted, nil
	}
	if err := p.writeSnapshot(); err != nil {
		return nil, err
	}
	return aborted, syncDir(p.dir)
}

// cut cuts off what was not written whole.
func (p *partition) cut(s *segment) error {
	name := p.file(s, ".dat")
	info, err := os.Stat(name)
	if err != nil || info.Size() == s.size {
		return err
	}
	return truncate(name, s.size)
}

// mark ends a transaction, as kfake does.
func (p *partition) mark(producer int64, epoch int16, commits bool) error {
	b := marker(p.next, p.epoch, producer, epoch, commits)
	last := p.segments[len(p.segments)-1]
	if err := appendTo(p.file(last, ".dat"), b); err != nil {
		return err
	}
	h, _ := parseBatch(b)
	return p.take(last, h, b)
}

// marker returns the batch that ends a transaction.
func marker(offset int64, leaderEpoch int32, producer int64, epoch int16, commits bool) []byte {
	key := kmsg.ControlRecordKey{Type: kmsg.ControlRecordKeyTypeAbort}
	if commits {
		key.Type = kmsg.ControlRecordKeyTypeCommit
	}
	value := kmsg.EndTxnMarker{}
	record := kmsg.Record{Key: key.AppendTo(nil), Value: value.AppendTo(nil)}
	record.Length = int32(len(record.AppendTo(nil)) - 1) // which takes a byte itself
	now := time.Now().UnixMilli()
	b := kmsg.RecordBatch{
		FirstOffset: offset, PartitionLeaderEpoch: leaderEpoch, Magic: 2,
		Attributes: transactional | control, FirstTimestamp: now, MaxTimestamp: now,
		ProducerID: producer, ProducerEpoch: epoch, FirstSequence: -1, NumRecords: 1,
		Records: record.AppendTo(nil),
	}
	b.Length = int32(len(b.AppendTo(nil)) - lengthBytes)
	b.CRC = int32(checksum(b.AppendTo(nil)[21:]))
	return b.AppendTo(nil)
}

// A snapshot is what kfake would have written of a partition if it had been closed. Without it, it
// reads all records into memory.
type snapshot struct {
	Version          int                  `json:"version"`
	HighWatermark    int64                `json:"high_watermark"`
	LastStableOffset int64                `json:"last_stable_offset"`
	LogStartOffset   int64                `json:"log_start_offset"`
	Epoch            int32                `json:"epoch"`
	MaxTimestamp     int64                `json:"max_timestamp"`
	CreatedAt        time.Time            `json:"created_at"`
	AbortedTxns      []abortedTransaction `json:"aborted_txns,omitempty"`
	Segments         []snapshotSegment    `json:"segments"`
}

type abortedTransaction struct {
	Producer    int64 `json:"producer_id"`
	FirstOffset int64 `json:"first_offset"`
	LastOffset  int64 `json:"last_offset"`
}

type snapshotSegment struct {
	BaseOffset int64 `json:"base_offset"`
	Size       int64 `json:"size"`
}

func (p *partition) writeSnapshot() error {
	name := filepath.Join(p.dir, "snapshot.json")
	s := snapshot{CreatedAt: time.Now()}
	if raw, err := os.ReadFile(name); err == nil {
		_ = json.Unmarshal(raw, &s) // one that cannot be read is written anew
	}
	slices.SortFunc(p.aborted,
		func(a, b abortedTransaction) int { return cmp.Compare(a.LastOffset, b.LastOffset) })
	s = snapshot{
		Version: frameVersion, HighWatermark: p.next, LastStableOffset: p.next,
		// Records that were deleted in the middle of a batch stay so.
		LogStartOffset: min(max(p.first, s.LogStartOffset), p.next),
		Epoch:          p.epoch, MaxTimestamp: p.latest, CreatedAt: s.CreatedAt, AbortedTxns: p.aborted,
	}
	for _, segment := range p.segments {
		s.Segments = append(s.Segments, snapshotSegment{segment.base, segment.size})
	}
	raw, err := json.Marshal(s)
	if err != nil {
		return err
	}
	return replace(name, raw)
}
