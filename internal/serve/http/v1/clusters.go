package v1

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/clusterd/clusterd/internal/serve/http/api"
	"github.com/clusterd/clusterd/internal/serve/http/strict"
)

const (
	pageSize = 50   // where nobody asks for another
	maxID    = 1024 // bytes
)

// clusters answers GET /v1/clusters.
func (s *server) clusters(w http.ResponseWriter, r *http.Request) error {
	p := strict.NewQuery(r.URL)
	q := api.ClusterQuery{
		Sort:    p.OneOf("sort", api.BySize, api.ByGrowth, api.Newest),
		Minutes: p.Int("minutes", 1, api.MaxMinutes, api.MaxMinutes),
		Label:   p.Text("label", api.MaxLabel), Title: p.Text("title", api.MaxQuery),
		Limit: p.Int("limit", 1, api.MaxPage, pageSize),
	}
	cursor := p.Text("cursor", maxCursor)
	if err := p.Err(); err != nil {
		return err
	}
	question := fmt.Sprintf("%s %d %q %q", q.Sort, q.Minutes, q.Label, q.Title)
	var err error
	if q.After, err = PlaceOf(cursor, question); err != nil {
		return err
	}
	page, err := s.Spaces.Clusters(r.Context(), q)
	if err != nil {
		return err
	}
	page.Next = CursorOf(page.Next, question)
	return answer(w, http.StatusOK, page)
}

// cluster answers GET /v1/clusters/{id}.
func (s *server) cluster(w http.ResponseWriter, r *http.Request) error {
	if err := noQuery(r); err != nil {
		return err
	}
	c, asOf, err := s.Spaces.Cluster(r.Context(), ClusterID(r))
	if err != nil {
		return fmt.Errorf("cluster: %w", err)
	}
	return answer(w, http.StatusOK, api.OneCluster{Cluster: c, AsOf: asOf})
}

// labelled answers GET /v1/labels: with clusters, or with the records that would label them so.
func (s *server) labelled(w http.ResponseWriter, r *http.Request) error {
	p := strict.NewQuery(r.URL)
	limit, cursor := p.Int("limit", 1, api.MaxPage, pageSize), p.Text("cursor", maxCursor)
	if err := p.Err(); err != nil {
		return err
	}
	after, err := PlaceOf(cursor, "labels")
	if err != nil {
		return err
	}
	page, err := s.allLabelled(r.Context(), after, limit)
	if err != nil {
		return err
	}
	page.Next = CursorOf(page.Next, "labels")
	if strings.Contains(r.Header.Get("Accept"), typeLines) {
		return exported(w, page, limit)
	}
	return answer(w, http.StatusOK, page)
}

// exported writes the label records of a page, a line each. The next page is in the header Link.
func exported(w http.ResponseWriter, page api.Clusters, limit int) error {
	if page.Next != "" {
		w.Header().Set("Link", fmt.Sprintf(`</v1/labels?limit=%d&cursor=%s>; rel="next"`, limit,
			url.QueryEscape(page.Next)))
	}
	w.Header().Set("Content-Type", typeLines)
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	for record := range page.Records() {
		if err := e.Encode(record); err != nil {
			return nil // whoever asked has gone
		}
	}
	return nil
}

// stats answers GET /v1/stats.
func (s *server) stats(w http.ResponseWriter, r *http.Request) error {
	if err := noQuery(r); err != nil {
		return err
	}
	stats := s.Stats(r.Context())
	stats.Streams.Clients, stats.Streams.Dropped = s.Events.Clients()
	stats.AsOf = s.Spaces.AsOf()
	return answer(w, http.StatusOK, stats)
}
