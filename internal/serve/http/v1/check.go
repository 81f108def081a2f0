package v1

import (
	"fmt"
	"math"
	"net/http"

	"github.com/clusterd/clusterd/internal/serve/http/api"
	"github.com/clusterd/clusterd/internal/serve/http/strict"
)

// check answers POST /v1/check.
func (s *server) check(w http.ResponseWriter, r *http.Request) error {
	if err := noQuery(r); err != nil {
		return err
	}
	value, contentType, err := body(r, typeJSON, typeText)
	if err != nil {
		return err
	}
	var q api.CheckRequest
	if contentType == typeText {
		text := string(value)
		q.Text = &text
	} else if err := strict.JSON(value, &q, strict.AtMost[api.TextRequest](api.MaxTexts)); err != nil {
		return err
	}
	texts, err := textsOf(&q)
	if err != nil {
		return err
	}
	results, err := s.Spaces.Check(r.Context(), texts, q.CheckOptions)
	switch {
	case err != nil:
		return err
	case q.Articles != nil:
		return answer(w, http.StatusOK, api.CheckedAll{Results: results, AsOf: results[0].AsOf})
	}
	return answer(w, http.StatusOK, results[0])
}

// textsOf returns the texts of a question, once it is known that the question makes sense.
func textsOf(q *api.CheckRequest) (texts []api.Text, err error) {
	switch {
	case q.RunnersUp < 0 || q.RunnersUp > api.MaxRunnersUp:
		return nil, api.Invalid("/runners_up", "must be from 0 to %d", api.MaxRunnersUp)
	case q.Partition != nil && (*q.Partition < 0 || *q.Partition > math.MaxInt32):
		return nil, api.Invalid("/partition", "must be the number of a partition")
	case q.Articles == nil:
		text, err := textOf("", q.TextRequest)
		return []api.Text{text}, err
	case len(q.Articles) == 0:
		return nil, api.Invalid("/articles", "there are 0 texts; 1 to %d are possible", api.MaxTexts)
	case q.TextRequest != (api.TextRequest{}):
		return nil, api.Invalid("/articles", "must not stand beside a text")
	}
	for i, t := range q.Articles {
		text, err := textOf(fmt.Sprintf("/articles/%d", i), t)
		if err != nil {
			return nil, err
		}
		texts = append(texts, text)
	}
	return texts, nil
}

// textOf returns the text that stands in a request at a place.
func textOf(place string, t api.TextRequest) (text api.Text, err error) {
	switch {
	case t.Text == nil && t.Title == nil && t.Content == nil:
		return text, api.Invalid(place, "there must be text, or title and content, or one of the two")
	case t.Text != nil && (t.Title != nil || t.Content != nil):
		return text, api.Invalid(place+"/text", "is the same as content: leave one of the two out")
	case t.Text != nil:
		text.Content = *t.Text
	case t.Content != nil:
		text.Content = *t.Content
	}
	if t.Title != nil {
		text.Title = *t.Title
	}
	if t.PublishedAt != nil {
		text.PublishedAt = *t.PublishedAt
	}
	return text, nil
}

// compare answers POST /v1/compare.
func (s *server) compare(w http.ResponseWriter, r *http.Request) error {
	if err := noQuery(r); err != nil {
		return err
	}
	value, _, err := body(r, typeJSON)
	if err != nil {
		return err
	}
	var q api.CompareRequest
	if err := strict.JSON(value, &q); err != nil {
		return err
	}
	a, err := textOf("/a", q.A)
	if err != nil {
		return err
	}
	b, err := textOf("/b", q.B)
	if err != nil {
		return err
	}
	c, err := s.Spaces.Compare(r.Context(), a, b)
	if err != nil {
		return err
	}
	return answer(w, http.StatusOK, c)
}
