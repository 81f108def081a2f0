package replay

import (
	"fmt"

	"github.com/clusterd/clusterd/internal/audit/model"
	"github.com/clusterd/clusterd/internal/audit/report"
	"github.com/clusterd/clusterd/internal/audit/wire"
)

// checkSignals holds what a result says of its cluster's articles to what the model has counted.
// They count from the first result on that has signals.
func (r *replay) checkSignals(row ResultRow, c *model.Cluster) {
	r.signals = r.signals || row.Article.Signals
	if r.Audit.Signals == nil || !r.signals {
		return
	}
	r.Audit.Signals.Checked++
	at := row.At.In(r.Cut.Results.Topic)
	if !row.Article.Signals {
		r.Audit.Signals.Violate(at, "signals, as a result before has them", "none")
		return
	}
	want := told{c.Signals.Publishers(), c.Signals.Recent(), c.FirstSeen, c.LastSeen}
	got := told{row.Publishers, row.Recent, row.FirstSeen, row.LastSeen}
	if got != want {
		r.Audit.Signals.Violate(at, want.String(), got.String())
	}
}

// told is what a result or a cluster says of its articles. Times are Unix milliseconds.
type told struct{ publishers, recent, first, last int64 }

func (t told) String() string {
	return fmt.Sprintf("%v publishers, %d recent, seen from %s to %s", wire.Publishers(t.publishers),
		t.recent, report.Clock(t.first), report.Clock(t.last))
}

// checkRecordSignals holds those of a cluster's record to the model, as of its last member.
func (r *replay) checkRecordSignals(got ClusterRow, c *model.Cluster) {
	if r.Audit.Signals == nil || c.Signals == nil {
		return
	}
	want := told{c.Signals.Publishers(), c.Signals.Recent(), c.FirstSeen, c.LastSeen}
	found := told{got.Publishers, got.Recent, c.FirstSeen, c.LastSeen}
	switch at := got.At.In(r.Cut.Clusters.Topic); {
	case !got.Signals:
		r.Audit.Signals.Violate(at, want.String(), "no signals")
	case found != want:
		r.Audit.Signals.Violate(at, want.String(), found.String())
	}
}
