package v1

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/serve/http/access"
	"github.com/clusterd/clusterd/internal/serve/http/api"
	"github.com/clusterd/clusterd/internal/serve/http/strict"
)

// merge answers POST /v1/stories/{id}/merge.
func (s *server) merge(w http.ResponseWriter, r *http.Request) error {
	q, err := s.readTwo(r)
	if err != nil {
		return err
	}
	one, err := s.Spaces.Story(r.Context(), ClusterID(r), "", 1)
	if err != nil {
		return fmt.Errorf("story: %w", err)
	}
	var elsewhere *api.ElsewhereError
	other, err := s.Spaces.Story(r.Context(), q.Other, "", 1)
	switch {
	case errors.Is(err, api.ErrUnknown):
		return api.Invalid("/other", "there is no story %s, or it has expired", q.Other)
	case errors.As(err, &elsewhere), err == nil && other.AsOf.Space != one.AsOf.Space:
		return api.Invalid("/other", "is a story of another partition of the input: with "+
			"cluster.scope: partition each has stories of its own")
	case err != nil:
		return fmt.Errorf("other: %w", err)
	case other.Story.StoryID == one.Story.StoryID:
		return api.Invalid("/other", "is part of this story already, or is this one")
	}
	return s.change(w, r, api.StoryRecord{
		Action: api.Merge, StoryID: one.Story.StoryID, Other: q.Other, Note: q.Note,
	}, one.Story.StoryID, func(ctx context.Context) (bool, error) {
		return s.areOne(ctx, one.Story.StoryID, q.Other)
	})
}

// areOne reports whether two stories are one.
func (s *server) areOne(ctx context.Context, id, other string) (bool, error) {
	a, err := s.Spaces.Story(ctx, id, "", 1)
	if err != nil {
		return false, err
	}
	b, err := s.Spaces.Story(ctx, other, "", 1)
	return a.Story.StoryID == b.Story.StoryID, err
}

// unmerge answers POST /v1/stories/{id}/unmerge.
func (s *server) unmerge(w http.ResponseWriter, r *http.Request) error {
	q, err := s.readTwo(r)
	if err != nil {
		return err
	}
	id := ClusterID(r)
	if _, err := s.Spaces.Part(r.Context(), id, q.Other); err != nil {
		return fmt.Errorf("story: %w", err)
	}
	return s.change(w, r, api.StoryRecord{
		Action: api.Unmerge, StoryID: id, Other: q.Other, Note: q.Note,
	}, id, func(ctx context.Context) (bool, error) {
		one, err := s.areOne(ctx, id, q.Other)
		return !one && err == nil, err
	})
}

// split answers POST /v1/stories/{id}/split. The record has the words of the cluster's founder,
// which is read again for it.
func (s *server) split(w http.ResponseWriter, r *http.Request) error {
	var q api.SplitRequest
	if err := s.readStory(r, &q); err != nil {
		return err
	}
	if err := validNote("", q.Note); err != nil {
		return err
	}
	founder, err := article.ParseAddress(q.ClusterID)
	if err != nil || founder.String() != q.ClusterID {
		return api.Invalid("/cluster_id", "must be the id of a cluster, topic/partition/offset")
	}
	if err := s.splittable(r.Context(), ClusterID(r), q.ClusterID); err != nil {
		return err
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
	return s.change(w, r, record, q.ClusterID, func(ctx context.Context) (bool, error) {
		c, _, err := s.Spaces.Cluster(ctx, q.ClusterID)
		return c.StoryID == q.ClusterID, err
	})
}

// splittable returns an error for a cluster that cannot leave a story.
func (s *server) splittable(ctx context.Context, story, cluster string) error {
	one, err := s.Spaces.Story(ctx, story, "", 1)
	if err != nil {
		return fmt.Errorf("story: %w", err)
	}
	c, _, err := s.Spaces.Cluster(ctx, cluster)
	var elsewhere *api.ElsewhereError
	switch {
	case errors.Is(err, api.ErrUnknown):
		return api.Invalid("/cluster_id", "there is no such cluster, or it has expired")
	case err != nil && !errors.As(err, &elsewhere):
		return fmt.Errorf("cluster: %w", err)
	}
	of, err := s.Spaces.Story(ctx, c.StoryID, "", 1)
	if err != nil || of.Story.StoryID != one.Story.StoryID {
		return api.Invalid("/cluster_id", "must be a cluster of this story")
	}
	if _, err := s.Spaces.Story(ctx, cluster, "", 1); !errors.Is(err, api.ErrUnknown) {
		return api.Invalid("/cluster_id", "must not be the first cluster of a story, whose id is the "+
			"story's: where that story was made part of this one, take it out by unmerge")
	}
	return nil
}

// readTwo reads the body of a request about a story and another one.
func (s *server) readTwo(r *http.Request) (q api.MergeRequest, err error) {
	if err := s.readStory(r, &q); err != nil {
		return q, err
	}
	if err := validNote("", q.Note); err != nil {
		return q, err
	}
	if a, err := article.ParseAddress(q.Other); err != nil || a.String() != q.Other {
		return q, api.Invalid("/other", "must be the id of a story, topic/partition/offset")
	}
	return q, nil
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

// validNote checks the note of a request at this place.
func validNote(place, note string) error {
	if len(note) > api.MaxNote || hasControls(note) {
		return api.Invalid(place+"/note", "must have at most %d bytes, and no control characters",
			api.MaxNote)
	}
	return nil
}

// change writes a record about a story, and answers once it was read, or some seconds have passed.
// It is in the space of an id. Somebody else may have changed the stories since they were checked.
// So committed looks whether it was applied.
func (s *server) change(
	w http.ResponseWriter, r *http.Request, record api.StoryRecord, id string,
	committed func(context.Context) (bool, error),
) error {
	record.By = access.From(r.Context()).Name
	record.At = time.Now().UTC().Truncate(time.Millisecond)
	at, err := s.Topics.ChangeStory(r.Context(), record)
	if err != nil {
		return err
	}
	done := api.StoryChanged{Record: at.String()}
	if !awaitRecord(r.Context(), func() bool { return s.Spaces.Applied(id, at) }) {
		return answer(w, http.StatusAccepted, done)
	}
	switch done.Applied, err = committed(r.Context()); {
	case err != nil && !errors.Is(err, api.ErrUnknown): // another instance has the space by now
		return answer(w, http.StatusAccepted, done)
	case !done.Applied:
		return api.Invalid("", "it was not done, or has been undone: the stories were "+
			"changed meanwhile. If it was not done, a dead letter of %s says why", at)
	}
	return answer(w, http.StatusOK, done)
}
