package v1

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/serve/http/api"
	"github.com/clusterd/clusterd/internal/serve/http/strict"
)

const (
	// resultWait is how long a request waits for the result of its article.
	resultWait = 10 * time.Second
	maxFields  = 256 // of an article
)

// articleRequest is the body of POST /v1/articles. What is beside these fields goes into the
// record as it is.
type articleRequest struct {
	ID          string                    `json:"id,omitzero"`
	Title       *string                   `json:"title,omitzero"`
	Content     *string                   `json:"content,omitzero"`
	PublishedAt *time.Time                `json:"published_at,omitzero"`
	Source      string                    `json:"source,omitzero"`
	Others      map[string]jsontext.Value `json:",embed"`
}

// publish answers POST /v1/articles: with the result, once it is committed.
func (s *server) publish(w http.ResponseWriter, r *http.Request) error {
	if err := noQuery(r); err != nil {
		return err
	}
	value, _, err := body(r, typeJSON)
	if err != nil {
		return err
	}
	if err := strict.Few(value, maxFields); err != nil {
		return err
	}
	var q articleRequest
	if err := strict.JSON(value, &q); err != nil {
		return err
	}
	text, err := textOf("", api.TextRequest{
		Title: q.Title, Content: q.Content, PublishedAt: q.PublishedAt,
	})
	if err != nil {
		return api.Invalid("", "there must be title and content, or one of the two")
	}
	if len(q.ID) > article.MaxIDBytes {
		return api.Invalid("/id", "is longer than %d bytes", article.MaxIDBytes)
	}
	a := api.NewArticle{ID: q.ID, Text: text, Source: q.Source, Others: make(map[string][]byte)}
	for name, value := range q.Others {
		a.Others[name] = value
	}
	ctx, cancel := context.WithTimeout(r.Context(), resultWait)
	defer cancel()
	source, waiter, err := s.Topics.Article(ctx, a)
	if err != nil {
		return err
	}
	defer waiter.Close()
	result, err := waiter.Result(ctx)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return answer(w, http.StatusAccepted, api.Accepted{Source: source})
	case err != nil:
		return err
	}
	w.Header().Set("Content-Type", typeJSON)
	_, _ = w.Write(append(result.JSON(), '\n')) // whoever asked may have gone
	return nil
}
