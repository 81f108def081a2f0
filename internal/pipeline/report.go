package pipeline

import (
	"log/slog"
	"slices"
	"time"

	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/monitor"
	"github.com/clusterd/clusterd/internal/pipeline/intake"
	"github.com/clusterd/clusterd/internal/space"
)

// progressInterval is how often a worker that works logs what it did.
const progressInterval = 10 * time.Second

// totals counts what became of records.
type totals struct {
	space.Counts
	records, deadLetters int
	labels, corrections  int // records of the topic of labels, and those written
}

func (t *totals) add(more totals) {
	t.Counts.Add(more.Counts)
	t.records += more.records
	t.deadLetters += more.deadLetters
	t.labels += more.labels
	t.corrections += more.corrections
}

// reportItems counts what became of the items of a committed batch, for the log and the monitor.
func (o *owner) reportItems(b intake.Batch, commit *monitor.Commit) totals {
	done := totals{records: len(b.Items)}
	commit.Rejected = make(map[string]int)
	for i := range b.Items {
		r := &b.Items[i]
		var rejection *article.Rejection
		if d := r.DeadLetter; d != nil {
			rejection = d.Rejection
			done.deadLetters++
			commit.Rejected[string(d.Class)]++
			o.log.Debug("dead letter", "class", d.Class, "reason", d.Reason, "source", r.Source.String())
		}
		for _, what := range o.tally.Add(r.Notes, rejection) {
			o.log.Warn(what, "source", r.Source.String())
		}
		if r.Notes != nil {
			commit.Odd.Add(r.Notes)
		}
	}
	if o.tally.Enough() {
		if warning := o.tally.Warning(); warning != "" {
			o.log.Warn(warning)
		}
	}
	return done
}

// report counts what became of a committed batch, for the log and the monitor.
func (w *worker) report(b batch, assigned space.Batch, took time.Duration) totals {
	commit := monitor.Commit{Space: w.name, Took: took}
	done := w.reportItems(b.Batch, &commit)
	done.Counts = assigned.Counts()
	done.labels, done.corrections = b.labels.Len(), len(b.labels.Corrections)
	w.reportLabels(b, &assigned, &done, commit.Rejected)
	w.adjusted.Add(w.log, assigned.Adjusted, time.Now())
	commit.New, commit.Joined, commit.Unclustered = done.New, done.Joined, done.Unclustered
	commit.Contained = done.Contained
	commit.Expired, commit.Repeated = len(assigned.Expired), b.repeated
	commit.TimesAhead, commit.TimesOld = assigned.Adjusted.Ahead, assigned.Adjusted.Old
	commit.Distances = assigned.Distances(w.fingerprinter.Threshold())
	commit.Candidates = assigned.Candidates
	labels := assigned.CountLabels()
	commit.Labels = monitor.Labels{
		Applied: labels.Applied, Articles: labels.Articles, ByContact: labels.ByContact,
		EndedMarks: labels.EndedMarks, Corrections: done.corrections,
	}
	w.monitor.Committed(commit)
	w.monitor.Loaded(w.name, assigned.Clusters)
	return done
}

// counts returns what the log says of a worker's progress.
func (t *totals) counts(clusters int) []any {
	return []any{
		"new", t.New, "joined", t.Joined, "unclustered", t.Unclustered,
		"dead_letters", t.deadLetters, "clusters", clusters,
	}
}

// progress counts what a worker did, to log it from time to time.
type progress struct {
	done   totals
	since  time.Time
	logger *slog.Logger
}

// log logs the counts and what is left to do, if there is anything, and resets. The time that is
// left is that for the lag at the rate of the counts, as if nothing came in meanwhile.
func (p *progress) log(lag int64, counts ...any) {
	rate := float64(p.done.records) / time.Since(p.since).Seconds()
	attributes := slices.Concat(
		[]any{"records", p.done.records, "per_second", int(rate)}, counts, []any{"lag", lag},
	)
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
