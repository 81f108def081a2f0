package consumer

import (
	"fmt"
	"log/slog"
	"math/rand/v2"
	"testing"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
)

// Whatever places are asked for, in whichever order, each has its record, or what happened to it.
func TestLookup(t *testing.T) {
	t.Parallel()
	_, client := startBrokers(t, 2, kfake.SeedTopics(3, "articles"))
	writer := newWriter(t, client)
	random := rand.New(rand.NewPCG(1, 1))
	want := make(map[Place]string)
	var next [3]int64
	for batch := range 60 {
		p := random.IntN(3)
		var values []string
		for i := range 1 + random.IntN(50) {
			value := fmt.Sprintf("k@%d-%d", batch, i)
			values = append(values, value)
			want[Place{p, next[p]}] = value
			next[p]++
		}
		write(t, writer, p, values...)
	}
	const deleted = 40
	admin := kadm.NewClient(writer)
	if _, err := admin.DeleteRecords(t.Context(), kadm.Offsets{
		"articles": {1: {Topic: "articles", Partition: 1, At: deleted}},
	}); err != nil {
		t.Fatal(err)
	}
	for range 20 {
		var places []Place
		for range random.IntN(30) {
			p := random.IntN(3)
			places = append(places, Place{p, random.Int64N(next[p] + 20)})
		}
		found, err := Lookup(t.Context(), client, slog.New(slog.DiscardHandler), "articles", places, 1000)
		if err != nil {
			t.Fatal(err)
		}
		for _, place := range places {
			got, ok := found[place]
			value, gone := want[place], Gone("")
			if value == "" || place.Partition == 1 && place.Offset < deleted {
				value, gone = "", ByRetention
			}
			if !ok || string(got.Record.Value) != value || got.Gone != gone ||
				gone == "" && (got.Record.Offset != place.Offset || got.Record.Partition != place.Partition) {
				t.Errorf("%+v is %+v, want %q, gone %q", place, got, value, gone)
			}
		}
	}
}

// What compaction has taken, and the marks of transactions, are no records.
func TestLookupOfWhatIsNoRecord(t *testing.T) {
	t.Parallel()
	_, client := startBrokers(t, 1, kfake.SeedTopics(1, "articles"))
	writer := newWriter(t, client, kgo.TransactionalID("one"))
	for range 2 {
		begin(t, writer)
		write(t, writer, 0, "k@1", "k@2")
		end(t, writer, kgo.TryCommit)
	}
	found, err := Lookup(t.Context(), client, slog.New(slog.DiscardHandler), "articles",
		[]Place{{0, 1}, {0, 2}, {0, 3}, {0, 5}}, 1000)
	if err != nil {
		t.Fatal(err)
	}
	for offset, want := range map[int64]string{1: "k@2", 2: "", 3: "k@1", 5: ""} {
		got := found[Place{0, offset}]
		if string(got.Record.Value) != want || (got.Gone == "") != (want != "") {
			t.Errorf("offset %d is %+v, want %q", offset, got, want)
		}
	}
}
