package v1

import (
	"net/http"

	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/serve/http/api"
	"github.com/clusterd/clusterd/internal/serve/http/events"
	"github.com/clusterd/clusterd/internal/serve/http/strict"
)

// stream answers GET /v1/stream.
func (s *server) stream(w http.ResponseWriter, r *http.Request) error {
	p := strict.NewQuery(r.URL)
	f := events.Filter{
		Label: p.Text("label", api.MaxLabel), Cluster: p.Text("cluster", maxID),
		Publisher: p.Text("publisher", api.MaxQuery),
		Status: p.OneOf("status", "", string(article.New), string(article.Joined),
			string(article.Unclustered)),
	}
	if err := p.Err(); err != nil {
		return err
	}
	if r.Method == http.MethodHead {
		return nil // it has no end
	}
	s.Events.Serve(w, r, f)
	return nil
}
