package v1

import (
	"errors"
	"net/http"
	"time"

	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/serve/http/access"
	"github.com/clusterd/clusterd/internal/serve/http/api"
	"github.com/clusterd/clusterd/internal/serve/http/strict"
)

// erase answers POST /v1/erase: once that is done, or some seconds have passed.
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
	if err := s.validErase(&q); err != nil {
		return err
	}
	erased, err := s.erasable(r, &q)
	if err != nil {
		return err
	}
	record := api.NewEraseRecord(&erased)
	record.By, record.Note = access.From(r.Context()).Name, q.Note
	record.At = time.Now().UTC().Truncate(time.Millisecond)
	at, err := s.Topics.Erase(r.Context(), record)
	if err != nil {
		return err
	}
	erased.Record = at.String()
	applied := func() bool { return s.Spaces.Applied(erased.ClusterID, at) }
	if q.Contact != "" {
		applied = func() bool { return s.Spaces.AppliedTo(erased.ContactRef, at) }
	}
	if !awaitRecord(r.Context(), applied) {
		return answer(w, http.StatusAccepted, erased)
	}
	return s.reportErased(w, r, erased)
}

// validErase checks a request.
func (s *server) validErase(q *api.EraseRequest) error {
	named, contact := 0, q.ContactRef != (api.ContactRef{})
	for _, is := range []bool{q.ClusterID != "", q.ArticleID != "", contact} {
		if is {
			named++
		}
	}
	switch {
	case named != 1:
		return api.Invalid("", "there must be one of cluster_id, article_id and contact")
	case !s.Labels:
		return &refusal{
			http.StatusNotFound, "what is erased is named by a record of labels.topic: set that key",
		}
	case contact:
		if err := article.CheckContact(q.Contact); err != nil {
			return api.Invalid("/contact", "%v", err)
		}
	}
	return validNote("", q.Note)
}

// erasable returns the article that is meant, and its cluster; or the contact, with its partition.
// It does not look for the cluster: if that has expired, stories may still have the text. Nor does
// it want anything to have the contact.
func (s *server) erasable(r *http.Request, q *api.EraseRequest) (e api.Erased, err error) {
	if q.Contact != "" {
		c, err := s.Spaces.Contact(q.ContactRef, "")
		if err != nil && !errors.Is(err, api.ErrUnknown) {
			return e, err
		}
		e.ContactRef = q.ContactRef
		e.Partition = c.Partition
		return e, nil
	}
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
		return e, api.Invalid("/cluster_id", "must be the id of a cluster, topic/partition/offset")
	}
	e.Founder = new(e.Source == e.ClusterID)
	return e, nil
}

// reportErased says whether what was to be erased is gone, once the record was read.
func (s *server) reportErased(w http.ResponseWriter, r *http.Request, e api.Erased) error {
	if e.Contact != "" {
		e.Applied = true
		return answer(w, http.StatusOK, e)
	}
	c, _, err := s.Spaces.Cluster(r.Context(), e.ClusterID)
	switch {
	case errors.Is(err, api.ErrUnknown):
		// Nothing is left of it, but perhaps headlines: they are erased.
	case err != nil: // another instance has the space by now
		return answer(w, http.StatusAccepted, e)
	case *e.Founder && (c.Representative.Title != "" || c.Representative.Excerpt != ""):
		return api.Invalid("", "it was not erased: a dead letter of %s says why", e.Record)
	}
	e.Applied = true
	return answer(w, http.StatusOK, e)
}
