package replica

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/message/checkpoint"
	"github.com/clusterd/clusterd/internal/testutil/check"
)

func TestCheckpoints(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*checkpoint.Record)
		record func(*kafka.Record)
		want   string // empty: it is taken
	}{
		"as it is": {nil, nil, ""},
		"another group": {
			func(c *checkpoint.Record) { c.Group = "other" }, nil,
			`its clusters are those of group "other", and this is group clusterd`,
		},
		"another distance": {
			func(c *checkpoint.Record) { c.Threshold = "similarity=0.9" }, nil,
			"cluster.similarity was 0.9 and is 0.77",
		},
		"another window": {
			func(c *checkpoint.Record) { c.Window = "0s" }, nil, `cluster.window was "0s" and is 1h0m0s`,
		},
		"another pipeline": {func(c *checkpoint.Record) {
			c.Pipeline = strings.ReplaceAll(c.Pipeline,
				"minhash", "exact")
		}, nil, "method was exact and is minhash"},
		"another input": {
			func(c *checkpoint.Record) { c.Input = "comments" }, nil,
			`input.topic was "comments" and is articles`,
		},
		"another scope": {func(c *checkpoint.Record) {
			c.Scope, c.Space, c.Offsets = "partition", "0", map[int]int64{0: 5}
		}, nil, `cluster.scope was "partition" and is topic`},
		"a scope that is none": {
			func(c *checkpoint.Record) { c.Scope = "galaxy" }, nil, `space "all" with scope "galaxy"`,
		},
		"a space that is none": {
			func(c *checkpoint.Record) { c.Scope, c.Space = "partition", "-1" }, nil, `space "-1"`,
		},
		"a position too high": {
			func(c *checkpoint.Record) { c.NextPosition = math.MaxUint64 }, nil,
			"next_position 18446744073709551615",
		},
		"a time to come": {
			func(c *checkpoint.Record) { c.StreamTime = math.MaxInt64 }, nil, "is in the future",
		},
		"a time before": {
			func(c *checkpoint.Record) { c.StreamTime = math.MinInt64 }, nil, "stream_time",
		},
		"an offset too low": {
			func(c *checkpoint.Record) { c.Offsets[1] = -1 }, nil, "offset -1 of partition 1",
		},
		"an offset too high": {
			func(c *checkpoint.Record) { c.Offsets[1] = math.MaxInt64 }, nil,
			"offset 9223372036854775807 of partition 1",
		},
		"no offsets": {
			func(c *checkpoint.Record) { c.Offsets = nil }, nil, "offsets are missing",
		},
		"it goes back": {
			func(c *checkpoint.Record) { c.Offsets[0] = 4 }, nil,
			"the input goes back, from offset 5 of partition 0 to 4",
		},
		"a partition is gone": {
			func(c *checkpoint.Record) { delete(c.Offsets, 1) }, nil,
			"the input goes back, from offset 9 of partition 1 to 0",
		},
		"a later version": {nil, func(r *kafka.Record) {
			r.Value = bytes.Replace(r.Value, []byte(`"version":1`), []byte(`"version":3`), 1)
		}, "version 3, and this one reads 1 and 2"},
		"another partition": {
			nil, func(r *kafka.Record) { r.Partition = 1 }, "belongs into partition 0",
		},
		"another key": {
			nil, func(r *kafka.Record) { r.Key = []byte("checkpoint:clusterd/7") },
			"its key is that of another",
		},
		"no JSON": {
			nil, func(r *kafka.Record) { r.Value = []byte("{") }, "not a checkpoint",
		},
		"an empty value": {nil, func(r *kafka.Record) { r.Value = []byte{} }, "not a checkpoint"},
		"offsets of no numbers": {
			nil, func(r *kafka.Record) {
				r.Value = bytes.Replace(r.Value, []byte(`{"0":`), []byte(`{"x":`),
					1)
			}, "not a checkpoint",
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := minhashReplica(t)
			before := checkpointOf(r, map[int]int64{0: 5, 1: 9})
			c := checkpointOf(r, map[int]int64{0: 7, 1: 9, 2: 1})
			if tt.change != nil {
				tt.change(&c)
			}
			record := checkpointRecord(c, 12)
			if tt.record != nil {
				tt.record(&record)
			}
			err := applyAll(t, r, checkpointRecord(before, 11), record)
			m := r.space.Meta()
			if tt.want == "" {
				if err != nil || m.Checkpoint == nil || m.Checkpoint.Offsets[0] != 7 || m.Next != 20 ||
					m.StreamTime != wallClock.UnixMilli() {
					t.Errorf("%v; meta %+v", err, m)
				}
				return
			}
			check.ErrorHas(t, err, tt.want, "/12, with the key", "a tombstone to its key")
			if m.Checkpoint.Offsets[0] != 5 {
				t.Errorf("taken: %+v", m.Checkpoint)
			}
		})
	}
}

// A checkpoint on disk is held to the settings too, since the topic is not read again.
func TestCheckpointOnDisk(t *testing.T) {
	r := minhashReplica(t)
	c := checkpointOf(r, map[int]int64{0: 5})
	if err := applyAll(t, r, checkpointRecord(c, 11)); err != nil {
		t.Fatal(err)
	}
	r.Options.Space.Window = "3h0m0s"
	check.ErrorHas(t, r.sameSettings(r.space.Meta().Checkpoint),
		`cluster.window was "1h0m0s" and is 3h0m0s`)
	// A tombstone takes it away.
	gone := checkpointRecord(c, 12)
	gone.Value = nil
	if err := applyAll(t, r, gone); err != nil || r.space.Meta().Checkpoint != nil {
		t.Errorf("after a tombstone: %v, %+v", err, r.space.Meta().Checkpoint)
	}
}

// Partitions whose clusters topic partition is shared are spaces of one group; each has its own
// checkpoint.
func TestCheckpointOfAnotherSpace(t *testing.T) {
	r := minhashReplica(t)
	r.Options.Space.Scope, r.Options.Space.Space, r.Inputs = "partition", "1", []int{1}
	own, other := checkpointOf(r, map[int]int64{1: 5}), checkpointOf(r, map[int]int64{4: 9})
	other.Space = "4"
	a, b := checkpointRecord(own, 11), checkpointRecord(other, 12)
	a.Partition, b.Partition = 1, 1
	if err := applyAll(t, r, a, b); err != nil {
		t.Fatal(err)
	}
	if c := r.space.Meta().Checkpoint; c == nil || c.Space != "1" || len(c.Offsets) != 1 ||
		c.Offsets[1] != 5 {
		t.Errorf("checkpoint %+v", c)
	}
	other.Threshold = "similarity=0.1"
	b = checkpointRecord(other, 13)
	b.Partition = 1
	check.ErrorHas(t, applyAll(t, r, b), "cluster.similarity was 0.1 and is 0.77")
}

func TestCheckOffsets(t *testing.T) {
	r := minhashReplica(t)
	last := map[int]int64{0: 20, 1: 7}
	for name, tt := range map[string]struct {
		committed map[int]int64
		want      []string // empty: it may go on
	}{
		"the same":         {map[int]int64{0: 20, 1: 7}, nil},
		"a partition more": {map[int]int64{0: 20, 1: 7, 2: 3}, nil},
		"set forward":      {map[int]int64{0: 25, 1: 7}, nil},
		"set back": {
			map[int]int64{0: 15, 1: 7},
			[]string{
				"is at offset 15 of articles/0, of which it has made clusters up to offset 20",
				"--group clusterd --topic articles:0 --reset-offsets --to-offset 20 --execute",
			},
		},
		"set back by one": {
			map[int]int64{0: 20, 1: 6}, []string{"articles:1 --reset-offsets --to-offset 7"},
		},
		"to the beginning": {map[int]int64{0: 0, 1: 0}, []string{"articles:0 ", "articles:1 "}},
		"gone": {nil, []string{
			"has no offset of articles/0", "has no offset of articles/1",
		}},
		"one gone, one ahead": {map[int]int64{0: 99}, []string{"has no offset of articles/1"}},
	} {
		t.Run(name, func(t *testing.T) {
			err := r.CheckOffsets("articles", "clusterd", last, tt.committed)
			if tt.want == nil {
				if err != nil {
					t.Error(err)
				}
				return
			}
			check.ErrorHas(t, err, append(tt.want, "nothing was read", "start anew")...)
		})
	}
}
