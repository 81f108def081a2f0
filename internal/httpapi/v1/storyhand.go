package v1

import (
	"fmt"
	"net/http"
	"time"

	"github.com/clusterd/clusterd/internal/article"
	"github.com/clusterd/clusterd/internal/httpapi/access"
	"github.com/clusterd/clusterd/internal/httpapi/api"
	"github.com/clusterd/clusterd/internal/httpapi/strict"
)

// merge answers POST /v1/stories/{id}/merge.
func (s *server) merge(w http.ResponseWriter, r *http.Request) error {
	var q api.MergeRequest
	if err := s.readStory(r, &q); err != nil {
		return err
	}
	if err := validNote(q.Note); err != nil {
		return err
	}
	if a, err := article.ParseAddress(q.Other); err != nil || a.String() != q.Other {
		return &InvalidError{"/other", "must be the id of a story, topic/partition/offset"}
	}
	one, err := s.Spaces.Story(r.Context(), ClusterID(r), "", 1)
	if err != nil {
		return fmt.Errorf("story: %w", err)
	}
	return s.change(w, r, api.StoryRecord{
		Action: api.Merge, StoryID: one.Story.StoryID, Other: q.Other, Note: q.Note,
	}, one.Story.StoryID)
}

// split answers POST /v1/stories/{id}/split. The record has the words of the cluster's founder,
// which is read again for it.
func (s *server) split(w http.ResponseWriter, r *http.Request) error {
	var q api.SplitRequest
	if err := s.readStory(r, &q); err != nil {
		return err
	}
	if err := validNote(q.Note); err != nil {
		return err
	}
	founder, err := article.ParseAddress(q.ClusterID)
	if err != nil || founder.String() != q.ClusterID {
		return &InvalidError{"/cluster_id", "must be the id of a cluster, topic/partition/offset"}
	}
	one, err := s.Spaces.Story(r.Context(), ClusterID(r), "", 1)
	if err != nil {
		return fmt.Errorf("story: %w", err)
	}
	c, _, err := s.Spaces.Cluster(r.Context(), q.ClusterID)
	if err != nil {
		return fmt.Errorf("cluster: %w", err)
	}
	of, err := s.Spaces.Story(r.Context(), c.StoryID, "", 1)
	if err != nil || of.Story.StoryID != one.Story.StoryID || c.ClusterID == one.Story.StoryID {
		return &InvalidError{
			"/cluster_id", "must be a cluster of this story, and not the first one, whose id is the story's",
		}
	}
	texts, err := s.Topics.Texts(r.Context(), []article.Address{founder})
	switch {
	case err != nil:
		return err
	case texts[0].Gone != "":
		return &refusal{http.StatusNotFound, "the article that founded the cluster is gone (" +
			texts[0].Gone + "), so that its words are not known"}
	}
	record := api.StoryRecord{Action: api.Split, ClusterID: q.ClusterID, Note: q.Note}
	record.Words, record.Han, record.Terms, err = s.Spaces.StoryWords(texts[0].FullText)
	if err != nil {
		return err
	}
	return s.change(w, r, record, q.ClusterID)
}

// readStory reads the body of a request about a story.
func (s *server) readStory(r *http.Request, q any) error {
	if err := noQuery(r); err != nil {
		return err
	}
	value, _, err := body(r, typeJSON)
	if err != nil {
		return err
	}
	if err := strict.JSON(value, q); err != nil {
		return err
	}
	if !s.Labels {
		return &refusal{
			http.StatusNotFound,
			"labels are off, and stories are merged and split by their topic: set labels.topic",
		}
	}
	return nil
}

func validNote(note string) error {
	if len(note) > api.MaxNote || hasControls(note) {
		return &InvalidError{"/note", fmt.Sprintf(
			"must have at most %d bytes, and no control characters", api.MaxNote)}
	}
	return nil
}

// change writes a record about a story, and answers once it was read, or some seconds have passed.
// It is in the space of an id.
func (s *server) change(
	w http.ResponseWriter, r *http.Request, record api.StoryRecord, id string,
) error {
	record.By = access.From(r.Context()).Name
	record.At = time.Now().UTC().Truncate(time.Millisecond)
	at, err := s.Topics.ChangeStory(r.Context(), record)
	if err != nil {
		return err
	}
	done := api.StoryChanged{Record: at.String()}
	done.Applied = s.awaitRecord(r.Context(), id, at)
	if !done.Applied {
		return answer(w, http.StatusAccepted, done)
	}
	return answer(w, http.StatusOK, done)
}
