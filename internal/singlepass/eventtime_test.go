package singlepass_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/clusterd/clusterd/internal/singlepass"
)

func TestEventTime(t *testing.T) {
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	at := func(d time.Duration) time.Time { return now.Add(d) }
	const day, ms = 24 * time.Hour, time.Millisecond
	var (
		none    time.Time
		epoch   = time.UnixMilli(0)
		y1900   = time.Date(1900, 1, 1, 0, 0, 0, 0, time.UTC)
		y1971   = time.Date(1971, 1, 1, 0, 0, 0, 0, time.UTC)
		y2262   = time.Date(2262, 1, 1, 0, 0, 0, 0, time.UTC)
		y9999   = time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)
		forever = time.UnixMilli(math.MaxInt64)
	)
	for name, tt := range map[string]struct {
		window time.Duration
		published, recorded, latest/*seen*/ time.Time
		want     time.Time
		adjusted singlepass.Adjustment
	}{
		"what the article says": {
			0, at(-2 * time.Hour), at(-time.Hour), at(-3 * time.Hour), at(-2 * time.Hour), "",
		},
		"else the record's time": {
			0, none, at(-time.Hour), at(-3 * time.Hour), at(-time.Hour), "",
		},
		"else stream time": {0, none, none, at(-3 * time.Hour), at(-3 * time.Hour), ""},
		"a record without time": {
			0, none, time.UnixMilli(-1), at(-3 * time.Hour), at(-3 * time.Hour), "",
		},
		"nothing is known":       {0, none, none, time.UnixMilli(math.MinInt64), epoch, ""},
		"a day ahead":            {0, at(day), at(-time.Hour), now, at(day), ""},
		"more than a day ahead":  {0, at(day + ms), none, now, at(day), "ahead"},
		"the year 2262":          {0, y2262, now, now, at(day), "ahead"},
		"the record far ahead":   {0, none, at(2 * day), now, at(day), "ahead"},
		"before 1970":            {0, y1900, now, now, epoch, "old"},
		"1970 itself":            {0, epoch, now, now, epoch, ""},
		"1971, without a window": {0, y1971, now, now, y1971, ""},
		"window: a quarter ahead": {
			time.Hour, at(5 * time.Minute), at(-10 * time.Minute), now, at(5 * time.Minute), "",
		},
		"window: more than a quarter": {
			time.Hour, at(5*time.Minute + ms), at(-10 * time.Minute), now, at(5 * time.Minute), "ahead",
		},
		"window: a day ahead":      {time.Hour, at(day), now, now, at(15 * time.Minute), "ahead"},
		"long window: a day ahead": {30 * day, at(day), now, now, at(day), ""},
		"long window: more":        {30 * day, at(day + ms), now, now, at(day), "ahead"},
		"window: 9999": {
			3 * day, y9999, at(-day), now, at(-day + 18*time.Hour), "ahead",
		},
		"window: record ahead": {
			time.Hour, none, at(16 * time.Minute), now, at(15 * time.Minute), "ahead",
		},
		"window: record at the end": {
			time.Hour, at(-time.Minute), forever, now, at(-time.Minute + 0), "",
		},
		"window: both ahead": {
			time.Hour, at(day), at(day), now, at(30 * time.Minute), "ahead",
		},
		"window: as old as it": {
			time.Hour, at(-2 * time.Hour), at(-time.Hour), now, at(-2 * time.Hour), "",
		},
		"window: older": {
			time.Hour, at(-2*time.Hour - ms), at(-time.Hour), now, at(-time.Hour), "old",
		},
		"window: 1971": {3 * day, y1971, now, now, now, "old"},
		"window: 1900": {3 * day, y1900, now, now, now, "old"},
		"window: 1900 in a record of 1970": {
			100 * 365 * day, y1900, time.UnixMilli(1), now, epoch, "old",
		},
		"window: an old record": {time.Hour, y1971, y1971, now, y1971, ""},
		"window, a file: older": {
			time.Hour, at(-2 * time.Hour), none, at(-time.Hour + ms), at(-time.Hour + ms), "old",
		},
		"window, a file: the first": {
			time.Hour, y1971, none, time.UnixMilli(math.MinInt64), y1971, "",
		},
		"window, a file: ahead of others": {
			time.Hour, at(-2 * time.Hour), none, y1971, at(-2 * time.Hour), "",
		},
		"window, a file: ahead of now": {
			time.Hour, at(day), none, y1971, at(15 * time.Minute), "ahead",
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := singlepass.Dates{
				Published: tt.published, Recorded: tt.recorded, StreamTime: tt.latest.UnixMilli(), Now: now,
				Window: tt.window,
			}
			got, adjusted := d.EventTime()
			if got != tt.want.UnixMilli() || adjusted != tt.adjusted {
				t.Errorf("%v, %q; want %v, %q", time.UnixMilli(got).UTC(), adjusted, tt.want.UTC(), tt.adjusted)
			}
		})
	}
}

// Whatever is said, an article moves stream time beyond its record by no more than a quarter of the
// window, and never is so old that the cluster that it founds has expired by its own record.
func TestEventTimeIsBounded(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	around := func() time.Time {
		switch r.IntN(4) {
		case 0:
			return time.UnixMilli(r.Int64() - r.Int64())
		case 1:
			return time.Date(1+r.IntN(9999), 1, 1, 0, 0, 0, 0, time.UTC)
		default:
			return now.Add(time.Duration(r.Int64N(int64(20*24*time.Hour))) - 10*24*time.Hour)
		}
	}
	for range 100_000 {
		d := singlepass.Dates{
			Published: around(), Recorded: around(), StreamTime: around().UnixMilli(), Now: now,
			Window: time.Duration(r.Int64N(int64(96 * time.Hour))),
		}
		at, _ := d.EventTime()
		window := d.Window.Milliseconds()
		lead := min(window/4, (24 * time.Hour).Milliseconds())
		if d.Window == 0 {
			lead = (24 * time.Hour).Milliseconds()
		}
		if at < 0 || at > now.UnixMilli()+2*lead {
			t.Fatalf("%+v: %d is out of bounds", d, at)
		}
		recorded := min(d.Recorded.UnixMilli(), now.UnixMilli()+lead)
		if d.Window > 0 && recorded > 0 && (at > recorded+lead || at < recorded-window) {
			t.Fatalf("%+v: %d is out of the window of its record, %d", d, at, recorded)
		}
	}
}
