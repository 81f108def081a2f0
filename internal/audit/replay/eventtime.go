package replay

import (
	"fmt"
	"time"

	"github.com/clusterd/clusterd/internal/audit/report"
	"github.com/clusterd/clusterd/internal/audit/wire"
)

// Event times may run ahead by a day, or by a quarter of the window where that is less, when they
// are cut. What they are ahead of is the record's time or the clock. The clock is that of the
// result, give or take what a commit may take and clocks may differ.
const (
	maxAhead   = 24 * time.Hour
	clockSlack = time.Hour
)

// CheckEventTime returns an error unless the event time at, in Unix milliseconds, of a result that
// was written at written is one that the input record allows:
//
//   - when the article was published, not before 1970;
//   - when the record was written, where the article does not say, or is older than that by more
//     than the window;
//   - what either was cut to, where it is ahead by more.
//
// Where neither is known it is the stream time, which is not for this to know.
func (o *Outcome) CheckEventTime(at int64, written time.Time, window time.Duration) error {
	published, recorded := o.Published, o.Timestamp
	if o.Timeless() {
		return nil
	}
	lead := maxAhead
	if window > 0 {
		lead = min(lead, window/4)
	}
	stated := max(0, recorded)
	if o.Dated {
		stated = max(0, published)
	}
	old := window > 0 && published < at-window.Milliseconds()
	nearClock := func(ahead time.Duration) bool {
		return written.Add(ahead).Sub(time.UnixMilli(at)).Abs() <= clockSlack
	}
	cutToRecord := recorded > 0 && at == recorded+lead.Milliseconds()
	cutToClock := nearClock(maxAhead) || nearClock(lead) || nearClock(2*lead)
	switch {
	case at == stated, at == recorded && (!o.Dated || old):
		return nil
	case old && recorded <= 0: // it counts by the stream time, which goes on from there
		return nil
	case at < stated && (cutToRecord || cutToClock):
		return nil
	case at < recorded && (!o.Dated || old) && nearClock(lead):
		return nil // the record's time is ahead of the clock, too
	}
	return fmt.Errorf("header %s: %d (%s)", wire.HeaderEventTime, at, report.Clock(at))
}

// EventTimes returns, for people, what the event time may come from.
func (o *Outcome) EventTimes() string {
	if o.Dated {
		return fmt.Sprintf("an event time from published_at %s or the record's time %s",
			report.Clock(o.Published), report.Clock(o.Timestamp))
	}
	return "an event time from the record's time " + report.Clock(o.Timestamp)
}
