package page

import (
	"cmp"
	"context"
	"maps"
	"net/http"
	"slices"

	"github.com/clusterd/clusterd/internal/text/printable"
)

// head is what an instance does, at a glance.
type head struct {
	Instance    string
	Version     string
	Role        string
	State       string // as the page shows it
	Ready       bool
	Reason      string
	Works       bool     // on a space; else it follows those that another works on
	Workers     []string // that work where this one does not; none where nobody knows
	Rate        float64
	Lag         int64 // records
	Loaded      bool  // the clusters are
	Clusters    int
	DeadLetters []count
	Dead        int64    // letters in all
	Known       []string // labels that a browser may propose
	Flood       []string // labels that hit too many articles
}

// unready is the state of an instance that /readyz calls not ready, though it works on a space or
// follows one.
const unready = "unready"

type count struct {
	Name string
	N    int64
}

func (s *server) headNow(ctx context.Context) head {
	stats := s.statsNow(ctx)
	h := head{
		Instance: s.Instance, Version: stats.Version, State: stats.State, Ready: stats.Ready,
		Reason: stats.Reason, Rate: stats.Rate, Loaded: len(stats.Clusters) > 0,
	}
	// By itself that would say that all is well.
	if !h.Ready && (h.State == "live" || h.State == "standby") {
		h.State = unready
	}
	for _, a := range stats.AsOf {
		h.Role = a.Role
		h.Works = h.Works || a.State == "live"
	}
	if h.Ready && !h.Works {
		h.Workers = s.workersNow(ctx)
	}
	for _, n := range stats.Clusters {
		h.Clusters += n
	}
	for _, n := range stats.Lag {
		h.Lag += n
	}
	for _, name := range slices.Sorted(maps.Keys(stats.DeadLetters)) {
		if n := stats.DeadLetters[name]; n > 0 {
			h.DeadLetters = append(h.DeadLetters, count{name, n})
			h.Dead += n
		}
	}
	slices.SortStableFunc(h.DeadLetters, func(a, b count) int { return cmp.Compare(b.N, a.N) })
	for _, l := range stats.Labels {
		// A proposal is shown as it is typed. So one that is not to be shown cannot be proposed.
		if printable.Text(l.Label) == l.Label {
			h.Known = append(h.Known, l.Label)
		}
		if l.AboveFlood {
			h.Flood = append(h.Flood, l.Label)
		}
	}
	return h
}

// head answers GET /head: the head of a page alone, which the script renews.
func (s *server) head(w http.ResponseWriter, r *http.Request) error {
	return s.render(w, r, http.StatusOK, "status", nil)
}
