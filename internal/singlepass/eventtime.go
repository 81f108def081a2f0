package singlepass

import "time"

// maxLead is how far event times may run ahead of what they are measured from, at most.
const maxLead = 24 * time.Hour

// Dates are what is known of when an article was published.
type Dates struct {
	Published time.Time // what the article says; zero where it does not
	// when its record was written; before 1970, such as zero, where that is not known
	Recorded time.Time
	// the highest event time before it, Unix milliseconds; any negative one is none
	StreamTime int64
	Now        time.Time     // the wall clock
	Window     time.Duration // after which clusters expire; 0 or less is never
}

// An Adjustment says why an article has another event time than it says.
type Adjustment string

// Why an event time is another than the article says.
const (
	AsSaid Adjustment = ""      // it is not
	Ahead  Adjustment = "ahead" // what it says is too far in the future
	Old    Adjustment = "old"   // what it says is before 1970, or older than the window
)

// EventTime returns when the article was published as far as that is plausible, in Unix
// milliseconds: what it says, else its record's time, else stream time. It is never before 1970.
//
// One article must not make all others old. So with a window, nothing is further ahead than a
// quarter of it, or a day if that is less: what the article says is measured from its record's
// time, which is measured from the wall clock. Nor must an article be old before it comes: one that
// is older than its record by more than the window counts by its record's time. Where records have
// no time, the wall clock stands in for it ahead, and stream time behind. Without a window, nothing
// is more than a day ahead of the wall clock.
func (d Dates) EventTime() (at int64, a Adjustment) {
	lead, window := maxLead.Milliseconds(), d.Window.Milliseconds()
	if d.Window > 0 {
		lead = min(lead, window/4)
	}
	latest := d.Now.UnixMilli() + lead
	from, recorded := max(0, min(d.StreamTime, latest)), d.Recorded.UnixMilli()
	if recorded > 0 {
		from = max(0, min(recorded, latest))
		if d.Window > 0 {
			latest = from + lead
		}
	}
	switch said := d.Published.UnixMilli(); {
	case d.Published.IsZero() && recorded > from:
		return from, Ahead
	case d.Published.IsZero():
		return from, AsSaid
	case said > latest:
		return max(0, latest), Ahead
	case d.Window > 0 && said < from-window:
		return from, Old
	case said < 0:
		return 0, Old
	default:
		return said, AsSaid
	}
}
