package pipeline

import (
	"log/slog"
	"time"

	"github.com/clusterd/clusterd/internal/article"
	"github.com/clusterd/clusterd/internal/monitor"
	"github.com/clusterd/clusterd/internal/space"
)

// progressInterval is how often a worker that works logs what it did.
const progressInterval = 10 * time.Second

// totals counts what became of records.
type totals struct {
	space.Counts
	records, deadLetters int
	labels, corrections  int  // records of the topic of labels, and those written
	nothing              bool // was to do
}

func (t *totals) add(more totals) {
	t.Counts.Add(more.Counts)
	t.records += more.records
	t.deadLetters += more.deadLetters
	t.labels += more.labels
	t.corrections += more.corrections
}

// report counts what became of a committed batch, for the log and the monitor.
func (w *worker) report(b batch, assigned space.Batch, took time.Duration) totals {
	done := totals{
		Counts: assigned.Counts(), records: len(b.records), labels: b.labels.Len(),
		corrections: len(b.labels.Corrections),
	}
	rejected := make(map[string]int)
	var odd monitor.Odd
	for i := range b.records {
		r := &b.records[i]
		var rejection *article.Rejection
		if d := r.deadLetter; d != nil {
			rejection = d.Rejection
			done.deadLetters++
			rejected[string(d.Class)]++
			w.log.Debug("dead letter", "class", d.Class, "reason", d.Reason, "source", r.Source.String())
		}
		for _, what := range w.tally.Add(r.Notes, rejection) {
			w.log.Warn(what, "source", r.Source.String())
		}
		if r.Notes != nil {
			odd.Add(r.Notes)
		}
	}
	w.reportLabels(b, &assigned, &done, rejected)
	w.adjusted.Add(w.log, assigned.Adjusted, time.Now())
	if w.tally.Enough() {
		if warning := w.tally.Warning(); warning != "" {
			w.log.Warn(warning)
		}
	}
	applied, labelled := assigned.CountLabels()
	w.monitor.Committed(monitor.Commit{
		Odd:   odd,
		Space: w.replica.Name(), Took: took, New: done.New, Joined: done.Joined,
		ByContact: done.ByContact, Contained: done.Contained,
		Unclustered: done.Unclustered, Rejected: rejected,
		Expired: len(assigned.Expired), TimesAhead: assigned.Adjusted.Ahead,
		TimesOld:   assigned.Adjusted.Old,
		Distances:  assigned.Distances(w.fingerprinter.Threshold()),
		Candidates: assigned.Candidates, Clusters: w.replica.Space().Len(),
		Labels: monitor.Labels{Applied: applied, Articles: labelled, Corrections: done.corrections},
	})
	return done
}

// progress counts what a worker did, to log it from time to time.
type progress struct {
	done   totals
	since  time.Time
	logger *slog.Logger
}

// log logs the counts and what is left to do, if there is anything, and resets. The time that is
// left is that for the lag at the rate of the counts, as if nothing came in meanwhile.
func (p *progress) log(clusters int, lag int64) {
	rate := float64(p.done.records) / time.Since(p.since).Seconds()
	attributes := []any{
		"records", p.done.records, "per_second", int(rate), "new", p.done.New, "joined", p.done.Joined,
		"unclustered", p.done.Unclustered,
		"dead_letters", p.done.deadLetters, "clusters", clusters, "lag", lag,
	}
	if p.done.labels > 0 || p.done.corrections > 0 {
		attributes = append(attributes, "labels", p.done.labels, "corrections", p.done.corrections)
	}
	if p.done.records > 0 {
		attributes = append(attributes, "eta", monitor.ETA(lag, rate))
	}
	if p.done != (totals{}) || lag > 0 {
		p.logger.Info("progress", attributes...)
	}
	*p = progress{since: time.Now(), logger: p.logger}
}
