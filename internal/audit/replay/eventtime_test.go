package replay

import (
	"testing"
	"time"
)

// start is when the results were written, in Unix milliseconds.
const start = 1_700_000_000_000

const never, hour, day = -1, 3600_000, 24 * 3600_000

var eventTimes = []struct {
	name                string
	window              time.Duration
	published, recorded int64 // after start; never: it does not say
	at                  int64 // after start
	ok                  bool
}{
	{"published", 0, 5, 9, 5, true},
	{"published, a millisecond later", 0, 5, 9, 6, false},
	{"published, a millisecond earlier", 0, 5, 9, 4, false},
	{"published, and the record's time", 0, 5, 9, 9, false},
	{"the record's time", 0, never, 9, 9, true},
	{"later than the record", 0, never, 9, 10, false},
	{"nothing is known", 0, never, never, 12345, true}, // the replay knows
	{"before 1970", 0, -start - hour, 9, -start, true},
	{"before 1970, not cut", 0, -start - hour, 9, -start - hour, false},
	{"ahead of the clock, cut", 0, 1000 * day, never, day - 5000, true},
	{"ahead of the clock, cut elsewhere", 0, 1000 * day, never, 3 * day, false},
	{"ahead of the clock, not cut", 0, 1000 * day, 9, 1000 * day, true}, // as if the clock were ahead
	{"ahead of the record, cut", 0, 1000 * day, 9 * day, 10 * day, true},
	{
		"ahead of the record by a quarter of the window, cut",
		4 * time.Hour, 5 * hour, 1, hour + 1, true,
	},
	{"ahead of the record, cut by more", 4 * time.Hour, 50 * hour, 40 * hour, 42 * hour, false},
	{"not as far ahead as it is cut to", 40 * time.Hour, 5 * hour, 1, 10*hour + 1, false},
	{"older than the window", 4 * time.Hour, 1, 5 * hour, 5 * hour, true},
	{"older than the window, of a record without a time", 4 * time.Hour, 1, never, 5 * hour, true},
	{
		"not older than the window, of a record without a time",
		4 * time.Hour, 2 * hour, never, 5 * hour, false,
	},
	{
		"older than the window, of a record that is ahead of the clock",
		4 * time.Hour, -5 * hour, 9 * hour, hour, true,
	},
	{
		"ahead of a record that is ahead of the clock",
		40 * time.Hour, 1000 * day, 500 * day, 20 * hour, true,
	},
	{"not older than the window", 4 * time.Hour, 2 * hour, 5 * hour, 5 * hour, false},
}

// Event times are when an article was published or its record was written, or what either is cut
// to.
func TestEventTimes(t *testing.T) {
	t.Parallel()
	for _, test := range eventTimes {
		t.Run(test.name, func(t *testing.T) {
			in := Outcome{Dated: test.published != never, Published: start + test.published, Timestamp: -1}
			if test.recorded != never {
				in.Timestamp = start + test.recorded
			}
			err := in.CheckEventTime(start+test.at, time.UnixMilli(start), test.window)
			if (err == nil) != test.ok {
				t.Errorf("event time %d: %v; want it to be right: %v", test.at, err, test.ok)
			}
		})
	}
}
