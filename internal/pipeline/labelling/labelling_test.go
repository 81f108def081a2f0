package labelling

import (
	"fmt"
	"log/slog"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterd/clusterd/internal/consumer"
	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/space"
)

// A transaction applies the label records of each partition after those of the partitions before
// it, whichever was read first, and the rest comes with the next one.
func TestTakeSortsByPartition(t *testing.T) {
	w := New(Options{
		Topic: "labels", Input: "articles", Partitions: 1, Log: slog.New(slog.DiscardHandler),
	}, nil)
	for _, at := range [][2]int{{1, 0}, {1, 1}, {0, 0}, {2, 0}, {0, 1}, {1, 2}} {
		w.Add(consumer.Chunk{Records: []kafka.Record{{
			Topic: "labels", Partition: at[0], Offset: int64(at[1]),
			Value: []byte(`{"cluster_id":"articles/0/0","label":"spam"}`),
		}}})
	}
	var got []string
	for _, n := range []int{4, 2} {
		s := w.Take(t.Context())
		s.Cut(n)
		for _, r := range s.Records[:n] {
			got = append(got, r.Record)
		}
		s.progress = w.Progress(&s, &space.Batch{})
		w.Committed(&s)
		got = append(got, fmt.Sprint(w.Next()))
	}
	want := []string{
		"labels/0/0", "labels/0/1", "labels/1/0", "labels/1/1", "map[0:2 1:2]",
		"labels/1/2", "labels/2/0", "map[0:2 1:3 2:1]",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("applied (-want +got):\n%s", diff)
	}
}
