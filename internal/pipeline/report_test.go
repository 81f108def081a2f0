package pipeline

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/clusterd/clusterd/internal/space"
)

// While there is work, or work that waits, the log says how much is left and how long that takes.
func TestProgressLine(t *testing.T) {
	for _, tt := range []struct {
		name string
		done []totals
		lag  int64
		want string
	}{
		{"nothing to do", nil, 0, ""},
		{
			"some done, none left",
			[]totals{{
				records: 20, Counts: space.Counts{New: 5, Joined: 12, Unclustered: 1}, deadLetters: 2,
			}},
			0, "records=20 per_second=2 new=5 joined=12 unclustered=1 dead_letters=2 clusters=7 lag=0 " +
				"eta=0s",
		},
		{"some done, much left", []totals{
			{records: 1000, Counts: space.Counts{New: 1000}},
			{records: 1000, Counts: space.Counts{Joined: 1000}},
		}, 100_000, "records=2000 per_second=200 new=1000 joined=1000 unclustered=0 dead_letters=0 " +
			"clusters=7 lag=100000 eta=8m20s"},
		{
			"little done, more left than anybody will see",
			[]totals{{records: 1, Counts: space.Counts{New: 1}}},
			1 << 62,
			"records=1 per_second=0 new=1 joined=0 unclustered=0 dead_letters=0 clusters=7 " +
				"lag=4611686018427387904 eta=277777h46m40s",
		},
		{
			"nothing done, some left", nil, 1600,
			"records=0 per_second=0 new=0 joined=0 unclustered=0 dead_letters=0 clusters=7 lag=1600",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var log bytes.Buffer
				p := progress{logger: slog.New(slog.NewTextHandler(&log, nil)), since: time.Now()}
				for _, totals := range tt.done {
					p.done.add(totals)
				}
				time.Sleep(progressInterval)
				p.log(tt.lag, p.done.counts(7)...)
				_, got, _ := strings.Cut(strings.TrimSpace(log.String()), "msg=progress ")
				if got != tt.want {
					t.Errorf("got  %s\nwant %s", got, tt.want)
				}
				if p.done.records != 0 || time.Since(p.since) != 0 {
					t.Errorf("it goes on from %d records of %v ago, want a new beginning", p.done.records,
						time.Since(p.since))
				}
			})
		})
	}
}
