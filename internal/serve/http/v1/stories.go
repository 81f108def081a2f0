package v1

import (
	"fmt"
	"net/http"

	"github.com/clusterd/clusterd/internal/serve/http/api"
	"github.com/clusterd/clusterd/internal/serve/http/strict"
)

// stories answers GET /v1/stories.
func (s *server) stories(w http.ResponseWriter, r *http.Request) error {
	p := strict.NewQuery(r.URL)
	sort := p.OneOf("sort", api.ByRecent, api.BySize, api.Newest)
	limit := p.Int("limit", 1, api.MaxPage, pageSize)
	if err := p.Err(); err != nil {
		return err
	}
	page, err := s.Spaces.Stories(r.Context(), sort, limit)
	if err != nil {
		return err
	}
	return answer(w, http.StatusOK, page)
}

// story answers GET /v1/stories/{id}.
func (s *server) story(w http.ResponseWriter, r *http.Request) error {
	p := strict.NewQuery(r.URL)
	limit, cursor := p.Int("limit", 1, api.MaxPage, pageSize), p.Text("cursor", maxCursor)
	if err := p.Err(); err != nil {
		return err
	}
	after, err := PlaceOf(cursor, "story")
	if err != nil {
		return err
	}
	one, err := s.Spaces.Story(r.Context(), ClusterID(r), after, limit)
	if err != nil {
		return fmt.Errorf("story: %w", err)
	}
	one.Next = CursorOf(one.Next, "story")
	return answer(w, http.StatusOK, one)
}
