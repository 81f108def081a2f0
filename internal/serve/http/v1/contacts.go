package v1

import (
	"context"
	"net/http"
	"strings"

	"github.com/clusterd/clusterd/internal/serve/http/api"
	"github.com/clusterd/clusterd/internal/serve/http/strict"
)

// contacts answers GET /v1/contacts.
func (s *server) contacts(w http.ResponseWriter, r *http.Request) error {
	p := strict.NewQuery(r.URL)
	show := p.OneOf("show", "all", "shared", "marked")
	q := api.ContactQuery{
		Shared: show != "marked", Marked: show != "shared",
		Limit: p.Int("limit", 1, api.MaxPage, pageSize),
	}
	cursor := p.Text("cursor", maxCursor)
	if err := p.Err(); err != nil {
		return err
	}
	var err error
	if q.After, err = PlaceOf(cursor, "contacts "+show); err != nil {
		return err
	}
	page, err := s.Spaces.Contacts(r.Context(), q)
	if err != nil {
		return err
	}
	page.Next = CursorOf(page.Next, "contacts "+show)
	return answer(w, http.StatusOK, page)
}

// markedPlace begins the place of a page of labelled clusters from which marked contacts come.
const markedPlace = "contacts:"

// allLabelled returns a page of the labelled clusters, behind which the marked contacts come.
func (s *server) allLabelled(ctx context.Context, after string, limit int) (
	page api.Clusters, err error,
) {
	place, marked := strings.CutPrefix(after, markedPlace)
	if !marked {
		page, err = s.Spaces.Labelled(ctx, after, limit)
		if err != nil || page.Next != "" {
			return page, err
		}
		if len(page.Clusters) == limit {
			page.Next = markedPlace
			return page, nil
		}
	}
	contacts, err := s.Spaces.Contacts(ctx, api.ContactQuery{
		Marked: true, Limit: limit - len(page.Clusters), After: place,
	})
	if err != nil {
		return page, err
	}
	if marked {
		page = api.Clusters{Clusters: []api.Cluster{}, Complete: true, AsOf: contacts.AsOf}
	}
	page.Contacts = contacts.Contacts
	if contacts.Next != "" {
		page.Next = markedPlace + contacts.Next
	}
	return page, nil
}
