package consumer

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/testutil/wait"
)

// polls are fetches of partition 0: how long after the first, from where on, and what the broker
// says.
type polls []struct {
	after             time.Duration
	next, stable, end int64
}

func TestOpenTransactions(t *testing.T) {
	const s = time.Second
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	open := func(offset int64, since time.Duration, records int64) *kafka.OpenTransaction {
		return &kafka.OpenTransaction{
			Topic: "articles", Offset: offset, Since: start.Add(since), Records: records,
		}
	}
	for _, tt := range []struct {
		name  string
		polls polls
		lag   int64
		want  *kafka.OpenTransaction // after the last
		said  []string               // in the log: offset, for how long, records
	}{
		{"an empty partition", polls{{0, 0, 0, 0}, {90 * s, 0, 0, 0}}, 0, nil, nil},
		{"all is read", polls{{0, 9, 9, 9}, {90 * s, 9, 9, 9}}, 0, nil, nil},
		{"there is more to read", polls{{0, 5, 9, 9}, {90 * s, 5, 9, 9}}, 4, nil, nil},
		{"more to read before the open transaction", polls{{0, 5, 7, 9}, {90 * s, 6, 7, 9}}, 3, nil, nil},
		{"just begun", polls{{0, 7, 7, 9}}, 2, open(7, 0, 2), nil},
		{
			"for a little less than is worth a word",
			polls{{0, 7, 7, 9}, {9 * s, 7, 7, 20}},
			13,
			open(7, 0, 13), nil,
		},
		{
			"for long enough",
			polls{{0, 7, 7, 9}, {10 * s, 7, 7, 1607}},
			1600, open(7, 0, 1600),
			[]string{"7 10s 1600"},
		},
		{
			"said once",
			polls{{0, 7, 7, 9}, {10 * s, 7, 7, 9}, {11 * s, 7, 7, 9}, {69 * s, 7, 7, 9}},
			2,
			open(7, 0, 2),
			[]string{"7 10s 2"},
		},
		{"and each minute", polls{
			{0, 7, 7, 9}, {10 * s, 7, 7, 9}, {70 * s, 7, 7, 19}, {130 * s, 7, 7, 29},
		}, 22, open(7, 0, 22), []string{"7 10s 2", "7 1m10s 12", "7 2m10s 22"}},
		{
			"it ends and all is read",
			polls{{0, 7, 7, 9}, {10 * s, 7, 7, 9}, {20 * s, 9, 9, 9}},
			0, nil,
			[]string{"7 10s 2", "ended 7"},
		},
		{"it ends, unsaid", polls{{0, 7, 7, 9}, {5 * s, 9, 9, 9}}, 0, nil, nil},
		{
			"one after the other",
			polls{{0, 7, 7, 9}, {9 * s, 9, 9, 12}, {18 * s, 12, 12, 14}},
			2,
			open(12, 18*s, 2), nil,
		},
		{
			"another one behind it",
			polls{{0, 7, 7, 9}, {10 * s, 7, 7, 9}, {12 * s, 8, 8, 9}},
			1,
			open(8, 12*s, 1),
			[]string{"7 10s 2", "ended 7"},
		},
		{
			"a position behind the stable offset",
			polls{{0, 8, 7, 9}, {10 * s, 8, 7, 9}},
			1, open(7, 0, 2),
			[]string{"7 10s 2"},
		},
		{"a broker that does not say", polls{{0, 7, -1, 9}, {90 * s, 7, -1, 9}}, 2, nil, nil},
		{"an end behind the position", polls{{0, 9, 7, 7}}, 0, nil, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var log bytes.Buffer
			w := positions{
				log: slog.New(slog.NewTextHandler(&log, nil)), topic: "articles", open: make(map[int]*opened),
			}
			var at kafka.Position
			for _, p := range tt.polls {
				fetched := kmsg.NewFetchResponseTopicPartition()
				fetched.LastStableOffset, fetched.HighWatermark = p.stable, p.end
				at = w.at(start.Add(p.after), &fetched, p.next)
			}
			if at.Lag() != tt.lag {
				t.Errorf("lag %d, want %d", at.Lag(), tt.lag)
			}
			if fmt.Sprint(at.Open) != fmt.Sprint(tt.want) {
				t.Errorf("open: %v\nwant: %v", at.Open, tt.want)
			}
			var want strings.Builder
			for _, said := range tt.said {
				var offset, seconds, records string
				if n, _ := fmt.Sscan(said, &offset, &seconds, &records); n == 2 {
					fmt.Fprintf(&want,
						"level=INFO msg=\"the open transaction has ended\" where=articles/0 offset=%s\n", seconds)
					continue
				}
				fmt.Fprintf(&want,
					"level=WARN msg=\"an open transaction holds a partition back\" where=articles/0 offset=%s "+
						"open_for=%s records=%s what_to_do=%q\n",
					offset, seconds, records, kafka.OpenTransaction{Topic: "articles", Offset: 7}.Advice())
			}
			var got strings.Builder
			for line := range strings.Lines(log.String()) {
				_, line, _ = strings.Cut(line, " ") // without the time
				got.WriteString(line)
			}
			if got.String() != want.String() {
				t.Errorf("log:\n%swant:\n%s", got.String(), want.String())
			}
		})
	}
}

// Whatever a fetch brings, it says where the partitions stand: behind an open transaction too,
// where it brings nothing.
func TestEveryFetchSaysWhereItStands(t *testing.T) {
	t.Parallel()
	_, client := startBrokers(t, 1, kfake.SeedTopics(2, "articles"))
	plain, other := newWriter(t, client), newWriter(t, client, kgo.TransactionalID("other"))
	write(t, plain, 0, "a", "b")
	begin(t, other)
	write(t, other, 0, "open")
	write(t, plain, 0, "c", "d", "e")

	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	log := NewLog(client, slog.New(slog.DiscardHandler), "articles", map[int]int64{0: 0, 1: 0}, 1<<20)
	polled := make(chan []kafka.Position, 1000)
	log.OnPoll = func(p []kafka.Position) { polled <- p }
	chunks, failed := make(chan Chunk, 100), make(chan error, 1)
	go func() { failed <- log.Read(ctx, chunks) }()
	until := func(what string, condition func(byPartition map[int]kafka.Position) bool) {
		t.Helper()
		wait.Until(t, what, func() bool {
			select {
			case positions := <-polled:
				by := make(map[int]kafka.Position)
				for _, p := range positions {
					by[p.Partition] = p
				}
				return condition(by)
			case err := <-failed:
				t.Fatal(err)
				return false
			}
		})
	}
	until("a lag of 4 behind the open transaction", func(by map[int]kafka.Position) bool {
		p, empty := by[0], by[1]
		return p.Lag() == 4 && p.Next == 2 && p.Open != nil && p.Open.Offset == 2 &&
			p.Open.Records == 4 && empty.Lag() == 0 && empty.Open == nil
	})
	write(t, plain, 0, "f")
	until("a lag of 5, though nothing is read",
		func(by map[int]kafka.Position) bool { return by[0].Lag() == 5 })
	end(t, other, kgo.TryAbort)
	until("no lag when it has ended", func(by map[int]kafka.Position) bool {
		return by[0].Lag() == 0 && by[0].Open == nil && by[0].Next == by[0].End
	})
	stop()
	<-failed //nolint:errcheck // it is that of stop
}
