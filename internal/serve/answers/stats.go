package answers

import (
	"context"

	"github.com/clusterd/clusterd/internal/monitor"
	"github.com/clusterd/clusterd/internal/serve/http/api"
)

// Stats returns what an instance does, but for what others know: where its spaces are, and who
// streams. View is nil where there is none.
func Stats(ctx context.Context, m *monitor.Monitor, spaces *Spaces, view *Members) api.Stats {
	status, counts := m.Status(), m.Counts()
	s := api.Stats{
		Version: status.Version, Ready: status.Ready, Reason: status.Reason, State: status.State,
		Since: counts.Since, Clusters: counts.Clusters, Rate: counts.Rate, Lag: status.Lag,
		DeadLetters: counts.DeadLetters, Labels: spaces.LabelCounts(ctx),
		Articles: api.Articles{
			New: counts.New, Joined: counts.Joined, Unclustered: counts.Unclustered,
		},
	}
	if view != nil {
		s.View = view.Stats()
	}
	return s
}
