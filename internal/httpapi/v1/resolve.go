package v1

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/clusterd/clusterd/internal/article"
	"github.com/clusterd/clusterd/internal/httpapi/api"
)

const (
	// seenWait is how long a cluster may be known to whoever asks, and not yet here: its first result
	// is read elsewhere.
	seenWait = 500 * time.Millisecond
	// atOnce is how many unknown texts go through the stream at once.
	atOnce = 16
)

// resolve finds the clusters that are to be labelled. A text that is not known goes through the
// stream, and founds one.
func (s *server) resolve(ctx context.Context, items []api.LabelRequest) []mark {
	marks := make([]mark, len(items))
	ctx, cancel := context.WithTimeout(ctx, resultWait)
	defer cancel()
	patient, cancelPatient := context.WithTimeout(ctx, seenWait)
	defer cancelPatient()
	var group errgroup.Group
	group.SetLimit(atOnce)
	for i := range items {
		q, m := &items[i], &marks[i]
		switch {
		case q.Action == api.Resume:
		case q.ClusterID != "":
			m.ClusterID = string(q.ClusterID)
			m.err = s.known(patient, m.ClusterID)
		case q.ArticleID != "":
			m.ClusterID, m.err = s.ofArticle(ctx, string(q.ArticleID))
		default:
			group.Go(func() error {
				m.ClusterID, m.err = s.ofText(ctx, q)
				return nil
			})
		}
	}
	_ = group.Wait() // each has its own error
	return marks
}

// known returns nil if there is such a cluster, or if that is not for this instance to say.
func (s *server) known(ctx context.Context, id string) error {
	if _, err := article.ParseAddress(id); err != nil {
		return &InvalidError{"/cluster_id", err.Error()}
	}
	for {
		_, _, err := s.Spaces.Cluster(ctx, id)
		var elsewhere *ElsewhereError
		switch {
		case errors.As(err, &elsewhere), errors.Is(err, ErrNotReady):
			return nil
		case !errors.Is(err, ErrUnknown):
			return err
		}
		select {
		case <-time.After(look):
		case <-ctx.Done():
			return &refusal{http.StatusNotFound, "cluster_id: there is no such cluster, or it has expired"}
		}
	}
}

// ofArticle returns the cluster of an article.
func (s *server) ofArticle(ctx context.Context, id string) (cluster string, err error) {
	if s.Members == nil {
		return "", &refusal{http.StatusNotFound, "article_id: " + noView}
	}
	_, cluster, _, err = s.Members.Article(ctx, id)
	switch {
	case errors.Is(err, ErrUnknown):
		return "", &refusal{http.StatusNotFound, "article_id: there is no such article"}
	case err == nil && cluster == "":
		return "", unclustered("article_id")
	}
	return cluster, err
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
