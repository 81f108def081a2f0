package checkpoint_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterd/clusterd/internal/message/checkpoint"
)

func placed(partition string, from int64) checkpoint.Placement {
	return checkpoint.Placement{Partition: partition, From: map[int]int64{0: from, 2: from + 1}}
}

// A checkpoint says from which records on results are placed otherwise, as long as anybody needs
// to know.
func TestPlacedBy(t *testing.T) {
	at := func(offset int64, before ...checkpoint.Placement) *checkpoint.Record {
		return &checkpoint.Record{Offsets: map[int]int64{0: offset, 2: offset + 1}, Placements: before}
	}
	fresh := checkpoint.Placement{Partition: "source", From: map[int]int64{}}
	many := make([]checkpoint.Placement, checkpoint.MaxPlacements)
	for i := range many {
		many[i] = placed([]string{"source", "key"}[i%2], int64(i))
	}
	type placements = []checkpoint.Placement
	for name, tt := range map[string]struct {
		last *checkpoint.Record
		now  string
		want placements
	}{
		"a new space, by keys":   {nil, "key", nil},
		"a new space, by source": {nil, "source", placements{fresh}},
		"as ever":                {at(5), "key", nil},
		"the first change":       {at(5), "source", placements{placed("source", 5)}},
		"no change": {
			at(9, placed("source", 5)), "source", placements{placed("source", 5)},
		},
		"back": {
			at(9, placed("source", 5)), "key", placements{placed("source", 5), placed("key", 9)},
		},
		"one change more than kept": {at(9, many...), "source", append(many[1:], placed("source", 9))},
	} {
		t.Run(name, func(t *testing.T) {
			got := tt.last.PlacedBy(tt.now)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// Placements come back from a checkpoint, which says nothing of them where there are none.
func TestCheckpointHasPlacements(t *testing.T) {
	want := labelled()
	without := len(want.JSON())
	want.Placements = []checkpoint.Placement{placed("source", 5), placed("key", 9)}
	got, err := checkpoint.Parse([]byte(want.Key()), want.JSON())
	want.Version = got.Version
	if diff := cmp.Diff(want, got); diff != "" || err != nil || len(want.JSON()) <= without {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	for name, wrong := range map[string][]checkpoint.Placement{
		"no setting":         {{From: map[int]int64{}}},
		"an offset before 0": {placed("key", -1)},
		"too many":           make([]checkpoint.Placement, checkpoint.MaxPlacements+1),
	} {
		if name == "too many" {
			for i := range wrong {
				wrong[i] = placed("key", 1)
			}
		}
		c := labelled()
		c.Placements = wrong
		if _, err := checkpoint.Parse([]byte(c.Key()), c.JSON()); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
}
