package lookup

import (
	"errors"
	"testing"

	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/message/cluster"
	"github.com/clusterd/clusterd/internal/message/label"
	"github.com/clusterd/clusterd/internal/serve/http/api"
	"github.com/clusterd/clusterd/internal/space"
)

// Where texts are hidden, no answer has one, and what else it has is as ever.
func TestHidden(t *testing.T) {
	const said = "canary"
	options := Options{Config: configured("topic")}
	options.Config.Serve.Content = config.Hidden
	s := New(options)
	c := s.cluster(&cluster.Cluster{Size: 3, Representative: article.Representative{
		ID: "a1", Title: said, Excerpt: said,
	}}, "all", 0)
	if c.Size != 3 || c.Representative != (article.Representative{ID: "a1"}) {
		t.Errorf("a cluster: %+v", c)
	}
	var invalid *api.InvalidError
	_, err := s.Clusters(t.Context(), api.ClusterQuery{Title: said})
	if !errors.As(err, &invalid) {
		t.Errorf("looking for titles: %v", err)
	}
	c = s.cluster(&cluster.Cluster{
		Labels: label.Of([]article.Label{{Name: "spam", Contact: "number:" + said}}),
	}, "all", 0)
	if len(c.Labels) != 1 || c.Labels[0].Contact != "number:hidden" {
		t.Errorf("a label by a contact: %+v", c.Labels)
	}
	checked := s.checked(&asked{name: "all"}, &space.Answer{Carried: label.Carried{
		By: []article.LabelledBy{{Label: "spam", Contact: "mail:" + said}},
	}})
	if len(checked.LabelledBy) != 1 || checked.LabelledBy[0].Contact != "mail:hidden" {
		t.Errorf("a check: %+v", checked.LabelledBy)
	}
}
