package demo

import (
	"context"
	"fmt"

	"github.com/clusterd/clusterd/internal/cli"
	"github.com/clusterd/clusterd/internal/cli/demo/sample"
	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/serve/http/api"
	"github.com/clusterd/clusterd/internal/serve/http/client"
)

// spam is the label that the demo gives to campaigns.
const spam = "spam"

// report has an advert's cluster labelled once another advert has joined it, as a moderator would.
func (v *view) report(r *article.Result) {
	if r.Status != article.Joined || len(r.Labels) > 0 {
		return
	}
	v.mutex.Lock()
	founder := v.made[r.Representative.ID]
	v.mutex.Unlock()
	cluster := v.largest[*r.ClusterID]
	if founder.Kind != sample.Spam || cluster.reported {
		return
	}
	select {
	case v.campaigns <- *r.ClusterID:
	default: // there are many, and its next advert comes
		return
	}
	cluster.reported = true
	v.largest[*r.ClusterID] = cluster
	v.line(cli.Yellow, "label  ", fmt.Sprintf("%-5s %-15s %s", cluster.founder, spam,
		"from now on its copies carry the label"))
}

// moderate labels the clusters that are reported, as anybody can who asks the server, until ctx
// ends.
func (v *view) moderate(ctx context.Context) error {
	server, err := client.New("http://"+v.config.HTTP.Listen, "")
	if err != nil {
		return err
	}
	for {
		select {
		case id := <-v.campaigns:
			labels := []api.LabelRequest{{ClusterID: api.ID(id), Label: spam, Action: api.Add}}
			err := server.Label(ctx, labels, func(l api.Labelled) error {
				if l.Error != "" {
					return fmt.Errorf("labelling %s: %s", id, l.Error)
				}
				return nil
			})
			if err != nil {
				return err
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
