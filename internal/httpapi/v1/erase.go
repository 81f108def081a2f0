package v1

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/clusterd/clusterd/internal/article"
	"github.com/clusterd/clusterd/internal/httpapi/access"
	"github.com/clusterd/clusterd/internal/httpapi/api"
	"github.com/clusterd/clusterd/internal/httpapi/strict"
)

// erase answers POST /v1/erase: once the text is erased, or some seconds have passed.
func (s *server) erase(w http.ResponseWriter, r *http.Request) error {
	if err := noQuery(r); err != nil {
		return err
	}
	value, _, err := body(r, typeJSON)
	if err != nil {
		return err
	}
	var q api.EraseRequest
	if err := strict.JSON(value, &q); err != nil {
		return err
	}
	switch {
	case (q.ClusterID == "") == (q.ArticleID == ""):
		return &InvalidError{"", "there must be one of cluster_id and article_id"}
	case !s.Labels:
		return &refusal{
			http.StatusNotFound, "texts are erased by a record of labels.topic: set that key",
		}
	}
	if err := validNote(q.Note); err != nil {
		return err
	}
	erased, err := s.erasable(r, &q)
	if err != nil {
		return err
	}
	record := api.NewEraseRecord(erased.ClusterID, erased.Source)
	record.By, record.Note = access.From(r.Context()).Name, q.Note
	record.At = time.Now().UTC().Truncate(time.Millisecond)
	at, err := s.Topics.Erase(r.Context(), record)
	if err != nil {
		return err
	}
	erased.Record = at.String()
	if !awaitRecord(r.Context(), func() bool { return s.Spaces.Applied(erased.ClusterID, at) }) {
		return answer(w, http.StatusAccepted, erased)
	}
	return s.reportErased(w, r, erased)
}

// erasable returns the article that is meant, and its cluster. It does not look for the cluster: if
// that has expired, stories may still have the text.
func (s *server) erasable(r *http.Request, q *api.EraseRequest) (e api.Erased, err error) {
	e.ClusterID = string(q.ClusterID)
	e.Source = e.ClusterID
	if q.ArticleID != "" {
		var m api.Member
		if e.ClusterID, m, err = s.ofArticle(r.Context(), string(q.ArticleID)); err != nil {
			return e, err
		}
		e.Source = m.Source.String()
	}
	if a, err := article.ParseAddress(e.ClusterID); err != nil || a.String() != e.ClusterID {
		return e, &InvalidError{"/cluster_id", "must be the id of a cluster, topic/partition/offset"}
	}
	e.Founder = e.Source == e.ClusterID
	return e, nil
}

// reportErased says whether a text is gone whose erasure was read.
func (s *server) reportErased(w http.ResponseWriter, r *http.Request, e api.Erased) error {
	c, _, err := s.Spaces.Cluster(r.Context(), e.ClusterID)
	switch {
	case errors.Is(err, ErrUnknown): // nothing is left of it, but perhaps headlines: they are erased
	case err != nil: // another instance has the space by now
		return answer(w, http.StatusAccepted, e)
	case e.Founder && (c.Representative.Title != "" || c.Representative.Excerpt != ""):
		return &InvalidError{"", fmt.Sprintf("it was not erased: a dead letter of %s says why", e.Record)}
	}
	e.Applied = true
	return answer(w, http.StatusOK, e)
}
