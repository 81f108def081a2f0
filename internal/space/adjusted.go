package space

import (
	"log/slog"
	"time"
)

// adjustedInterval is how often it is logged at most that event times were adjusted.
const adjustedInterval = time.Minute

// An AdjustedLog logs from time to time that articles have another event time than they say.
type AdjustedLog struct {
	ahead, old int       // since it was last logged
	logged     time.Time // zero: never
}

// Add counts, and logs: the first time, and then at most once in an interval.
func (a *AdjustedLog) Add(log *slog.Logger, more Adjusted, now time.Time) {
	a.ahead, a.old = a.ahead+more.Ahead, a.old+more.Old
	if more.Example == nil || !a.logged.IsZero() && now.Sub(a.logged) < adjustedInterval {
		return
	}
	e := more.Example
	published := any(e.PublishedAt)
	if e.PublishedAt.IsZero() {
		published = "none" // then the time of the record is not plausible
	}
	log.Warn("articles say times that would expire others' clusters, or their own at once: they "+
		"count by the time of their record",
		"ahead", a.ahead, "old", a.old, "for_example", e.Source.String(), "published_at", published,
		"record_time", e.RecordedAt.UTC(),
		"counts_as", more.EventTime)
	*a = AdjustedLog{logged: now}
}
