package v1

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/serve/http/api"
)

// atOnce is how many unknown texts go through the stream at once.
const atOnce = 16

// resolve finds the clusters that are to be labelled. A text that is not known goes through the
// stream, and founds one.
func (s *server) resolve(ctx context.Context, items []api.LabelRequest) []mark {
	marks := make([]mark, len(items))
	ctx, cancel := context.WithTimeout(ctx, resultWait)
	defer cancel()
	var group errgroup.Group
	group.SetLimit(atOnce)
	for i := range items {
		q, m := &items[i], &marks[i]
		switch {
		case q.Action == api.Resume:
		case q.Target == api.ForContact:
			m.err = s.ofContact(q, m)
		case q.Target == api.ForArticle:
			m.err = s.ofOneArticle(ctx, q, m)
		case q.ClusterID != "":
			m.ClusterID = string(q.ClusterID)
			m.err = s.labelable(ctx, m.ClusterID, q)
		case q.ArticleID != "":
			if m.ClusterID, _, m.err = s.ofArticle(ctx, string(q.ArticleID)); m.err == nil {
				m.err = s.labelable(ctx, m.ClusterID, q)
			}
		default:
			group.Go(func() error {
				if m.ClusterID, m.err = s.ofText(ctx, q); m.err == nil {
					m.err = s.labelable(ctx, m.ClusterID, q)
				}
				return nil
			})
		}
	}
	_ = group.Wait() // each has its own error
	return marks
}

// labelable returns nil if a cluster can be labelled so, or if that is not for this instance to
// say.
func (s *server) labelable(ctx context.Context, id string, q *api.LabelRequest) error {
	if _, err := article.ParseAddress(id); err != nil {
		return api.Invalid("/cluster_id", "%v", err)
	}
	c, _, err := s.Spaces.Cluster(ctx, id)
	var elsewhere *api.ElsewhereError
	switch {
	case errors.As(err, &elsewhere), errors.Is(err, api.ErrNotReady):
		return nil
	case errors.Is(err, api.ErrUnknown):
		return &refusal{http.StatusNotFound, "cluster_id: there is no such cluster, or it has expired"}
	case err != nil:
		return err
	}
	if q.Target == api.ForArticle {
		return nil // its own labels are others
	}
	has := slices.ContainsFunc(c.Labels, func(l api.Label) bool {
		return l.Label == q.Label && l.Trial == q.Trial
	})
	if q.Action == api.Add && len(c.Labels) >= article.MaxLabels && !has {
		return api.Invalid("/label", "cluster %s has %d labels, and may have no more: "+
			"remove one first", id, article.MaxLabels)
	}
	return nil
}

// ofArticle returns an article and its cluster.
func (s *server) ofArticle(ctx context.Context, id string) (
	cluster string, m api.Member, err error,
) {
	if s.Members == nil {
		return "", m, &refusal{http.StatusNotFound, "article_id: " + noView}
	}
	m, cluster, _, err = s.Members.Article(ctx, id)
	switch {
	case errors.Is(err, api.ErrUnknown):
		return "", m, &refusal{http.StatusNotFound, "article_id: there is no such article"}
	case err == nil && cluster == "":
		return "", m, unclustered("article_id")
	}
	return cluster, m, err
}

// ofOneArticle finds the article that is to be labelled alone.
func (s *server) ofOneArticle(ctx context.Context, q *api.LabelRequest, m *mark) (err error) {
	m.ArticleID = string(q.ArticleID)
	if m.ClusterID, m.member, err = s.ofArticle(ctx, m.ArticleID); err != nil {
		return err
	}
	switch {
	case q.ClusterID != "" && string(q.ClusterID) != m.ClusterID:
		return api.Invalid("/cluster_id", "the article belongs to cluster %s", m.ClusterID)
	case m.member.Fingerprint == nil:
		return api.Invalid("/target", "the result of the article does not say its fingerprint, by "+
			"which equal articles are known: have output.fields name fingerprint, or label the cluster")
	}
	return s.labelable(ctx, m.ClusterID, q)
}

// ofContact finds the contact that is to be labelled.
func (s *server) ofContact(q *api.LabelRequest, m *mark) error {
	m.ContactRef = q.ContactRef
	c, err := s.Spaces.Contact(q.ContactRef, q.Label)
	var elsewhere *api.ElsewhereError
	switch {
	case errors.As(err, &elsewhere), errors.Is(err, api.ErrNotReady):
		return nil
	case errors.Is(err, api.ErrUnknown):
		return &refusal{http.StatusNotFound, "contact: no label has marked it, or it is in no text of " +
			"a cluster without labels"}
	case err != nil:
		return err
	}
	m.Partition = c.Partition
	return nil
}

func unclustered(field string) error {
	return &refusal{
		http.StatusNotFound, field + ": there is nothing in it to compare, so it has no cluster",
	}
}

// ofText returns the cluster that a text belongs to, which may be the one that it founds.
func (s *server) ofText(ctx context.Context, q *api.LabelRequest) (cluster string, err error) {
	text, err := textOf("", q.TextRequest)
	if err != nil {
		return "", err
	}
	checked, err := s.Spaces.Check(ctx, []api.Text{text}, api.CheckOptions{})
	switch {
	case err != nil:
		return "", err
	case checked[0].Cluster != nil:
		return checked[0].Cluster.ClusterID, nil
	case checked[0].Status == article.Unclustered:
		return "", unclustered("text")
	case q.Action == api.Remove:
		return "", &refusal{http.StatusNotFound, "text: it belongs to no cluster"}
	}
	_, waiter, err := s.Topics.Article(ctx, api.NewArticle{Text: text})
	if err != nil {
		return "", err
	}
	defer waiter.Close()
	result, err := waiter.Result(ctx)
	if err != nil {
		if errors.Is(err, context.DeadlineExceeded) {
			err = errors.New("the result of the text has not come yet: ask again in a while")
		}
		return "", err
	}
	var found struct {
		ClusterID string `json:"cluster_id"`
	}
	if err := json.Unmarshal(result.Value, &found); err != nil {
		return "", err
	}
	if found.ClusterID == "" {
		return "", unclustered("text")
	}
	return found.ClusterID, nil
}
