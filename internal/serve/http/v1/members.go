package v1

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/serve/http/api"
	"github.com/clusterd/clusterd/internal/serve/http/strict"
)

// noView is why there are no members.
const noView = "this instance keeps no view of members: set serve.bytes, or ask one that does"

// members answers GET /v1/clusters/{id}/members.
func (s *server) members(w http.ResponseWriter, r *http.Request) error {
	p := strict.NewQuery(r.URL)
	limit, cursor := p.Int("limit", 1, api.MaxPage, pageSize), p.Text("cursor", maxCursor)
	texts := p.OneOf("text", "false", "true") == "true"
	if err := p.Err(); err != nil {
		return err
	}
	id := ClusterID(r)
	question := "members " + id
	place, err := PlaceOf(cursor, question)
	if err != nil {
		return err
	}
	var from uint64
	if place != "" {
		if from, err = strconv.ParseUint(place, 10, 64); err != nil {
			return &refusal{http.StatusNotFound, "cursor: names no place"}
		}
	}
	if s.Members == nil {
		return &refusal{http.StatusNotFound, noView}
	}
	page, more, view, err := s.Members.Members(r.Context(), id, from, limit)
	if err != nil {
		return fmt.Errorf("cluster: %w", err)
	}
	answered := api.Members{Members: page, View: view}
	if more && len(page) > 0 {
		next := page[len(page)-1].Position + 1
		answered.Next = CursorOf(strconv.FormatUint(next, 10), question)
	}
	if texts {
		if err := s.readAgain(r.Context(), page); err != nil {
			return err
		}
	}
	return answer(w, http.StatusOK, answered)
}

// readAgain gives members their texts.
func (s *server) readAgain(ctx context.Context, members []api.Member) error {
	var at []article.Address
	for _, m := range members {
		at = append(at, m.Source)
	}
	texts, err := s.Topics.Texts(ctx, at)
	if err != nil {
		return err
	}
	for i, t := range texts {
		text := &t.FullText
		if t.Gone != "" {
			text = nil
		}
		members[i].Text, members[i].Gone = &text, t.Gone
	}
	return nil
}

// article answers GET /v1/articles/{id}.
func (s *server) article(w http.ResponseWriter, r *http.Request) error {
	if err := noQuery(r); err != nil {
		return err
	}
	id := r.PathValue("id")
	switch {
	case id == "" || len(id) > article.MaxIDBytes:
		return &refusal{http.StatusNotFound, "the id of an article has 1 to " +
			strconv.Itoa(article.MaxIDBytes) + " bytes"}
	case s.Members == nil:
		return &refusal{http.StatusNotFound, noView}
	}
	m, cluster, view, err := s.Members.Article(r.Context(), id)
	if err != nil {
		return fmt.Errorf("article: %w", err)
	}
	a := api.Article{Member: m, View: view}
	if cluster != "" {
		a.ClusterID = &cluster
		a.Cluster, err = s.clusterIfThere(r.Context(), cluster)
	}
	if err != nil {
		return err
	}
	return answer(w, http.StatusOK, a)
}

// clusterIfThere returns a cluster, nil where it has expired or another instance has it.
func (s *server) clusterIfThere(ctx context.Context, id string) (*api.Cluster, error) {
	c, _, err := s.Spaces.Cluster(ctx, id)
	var elsewhere *api.ElsewhereError
	switch {
	case errors.Is(err, api.ErrUnknown), errors.Is(err, api.ErrNotReady), errors.As(err, &elsewhere):
		return nil, nil
	case err != nil:
		return nil, err
	}
	return &c, nil
}
