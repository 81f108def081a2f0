package daemon

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/monitor"
	"github.com/clusterd/clusterd/internal/pipeline"
	httpapi "github.com/clusterd/clusterd/internal/serve/http"
	"github.com/clusterd/clusterd/internal/serve/http/access"
	"github.com/clusterd/clusterd/internal/serve/http/api"
	"github.com/clusterd/clusterd/internal/serve/http/events"
	"github.com/clusterd/clusterd/internal/serve/http/page"
	v1 "github.com/clusterd/clusterd/internal/serve/http/v1"
	"github.com/clusterd/clusterd/internal/serve/lookup"
	"github.com/clusterd/clusterd/internal/serve/members"
	"github.com/clusterd/clusterd/internal/serve/tail"
	"github.com/clusterd/clusterd/internal/serve/topics"
	"github.com/clusterd/clusterd/internal/text"
	"github.com/clusterd/clusterd/internal/text/diff"
)

// desk is what an instance answers with.
type desk struct {
	spaces *lookup.Service
	view   *members.View // nil: serve.bytes is 0
	submit *topics.Submitter
	tail   *tail.Tail
	hub    *events.Hub
	hidden bool // nothing that articles say is told
	routes []v1.Route
	// visitors answers browsers that have not said who asks.
	visitors http.Handler
}

func newDesk(
	c config.Config, client *kafka.Client, log *slog.Logger, m *monitor.Monitor,
) (d *desk, err error) {
	d = &desk{
		spaces: lookup.New(lookup.Options{
			Config: c, State: m.SpaceState, End: endOf(client, c.Input.Topic),
		}),
		hub: events.NewHub(),
	}
	fields := article.Fields(c.Input.Fields)
	d.submit, err = topics.NewSubmitter(topics.SubmitOptions{
		Client: client, Log: log, InputTopic: c.Input.Topic, LabelsTopic: c.Labels.Topic,
		Format: c.Input.Format, Fields: fields, Encoding: c.Input.Encoding,
		MaxBytes: c.Input.MaxBytes, Compression: c.Output.Compression,
	})
	if err != nil {
		return nil, err
	}
	decoder, err := article.NewDecoder(c.Input.Format, fields, c.Input.MaxBytes, c.Input.Encoding)
	if err != nil {
		return nil, fmt.Errorf("reading articles again: %w", err)
	}
	followed := map[tail.Kind]string{
		tail.Result: c.Output.Topic, tail.Label: c.Labels.Topic, tail.Correction: c.Labels.Corrections,
	}
	for kind, topic := range followed {
		if topic == "" {
			delete(followed, kind)
		}
	}
	d.tail = tail.New(tail.Options{Client: client, Log: log, Topics: followed})
	hidden := c.Serve.Content == config.Hidden
	d.hidden = hidden
	o := v1.Options{
		Spaces: d.spaces, Events: d.hub, Labels: c.Labels.Topic != "",
		Topics: &topics.Topics{
			Submit: d.submit, Tail: d.tail, Hidden: hidden, Told: d.told,
			Reread: &topics.Reader{
				Client: client, Log: log, Topic: c.Input.Topic, Decoder: decoder, MaxBytes: c.Input.MaxBytes,
			},
		},
	}
	if c.Serve.Bytes > 0 {
		d.view = members.New(members.Options{
			Client: client, Log: log, Dir: filepath.Join(c.State.Dir, "members"), Topic: c.Output.Topic,
			Input: c.Input.Topic, Bytes: int64(c.Serve.Bytes),
			OnPoll: func(s members.Stats) { m.Members(s.Lag, s.Bytes) },
		})
		o.Members = d.view
	}
	o.Stats = func(ctx context.Context) api.Stats { return d.stats(ctx, m) }
	d.routes = v1.Routes(o)
	return d, d.addPage(c, o, client)
}

// told notes that somebody is told the result of an article.
func (d *desk) told(articleID string, result, source article.Address) {
	d.spaces.Told(source)
	if d.view != nil {
		d.view.Told(articleID, result)
	}
}

// stats returns what this instance does, without what package v1 knows itself.
func (d *desk) stats(ctx context.Context, m *monitor.Monitor) api.Stats {
	status, counts := m.Status(), m.Counts()
	s := api.Stats{
		Version: status.Version, Ready: status.Ready, Reason: status.Reason, State: status.State,
		Since: counts.Since, Clusters: counts.Clusters, Rate: counts.Rate, Lag: status.Lag,
		DeadLetters: counts.DeadLetters, Labels: d.spaces.LabelCounts(ctx),
		Articles: api.Articles{
			New: counts.New, Joined: counts.Joined, Unclustered: counts.Unclustered,
		},
	}
	if d.view != nil {
		v := d.view.Stats()
		s.View = &api.ViewStats{View: v.View(), Members: int64(v.Members), Bytes: v.Bytes}
	}
	return s
}

// endOf returns what tells where a partition of a topic ends; 0 if there is no such partition.
func endOf(client *kafka.Client, topic string) func(context.Context, int) (int64, error) {
	return func(ctx context.Context, partition int) (int64, error) {
		all, err := client.Partitions(ctx, topic)
		if err != nil || !slices.Contains(all, partition) {
			return 0, err
		}
		ends, err := client.StableOffsets(ctx, topic, []int{partition})
		return ends[partition], err
	}
}

// addPage adds the pages for people to the routes.
func (d *desk) addPage(c config.Config, o v1.Options, client *kafka.Client) error {
	passages, err := diff.New(text.CleanOptions{HTML: c.Text.HTML, Extract: c.Text.Extract})
	if err != nil {
		return err
	}
	pages, err := page.Routes(page.Options{
		Options: o, Instance: instanceName(c), Hidden: d.hidden, Activity: d.spaces.Activity,
		Passages: passages, Stories: c.Stories.Topic != "",
		Suspects: d.spaces.Suspects,
		Workers: func(ctx context.Context) ([]string, error) {
			if c.Role != config.All {
				hosts, err := client.Workers(ctx, c.AssignGroup(), c.Fingerprints.Topic)
				if err != nil || len(hosts) > 0 || c.Divided() {
					return hosts, err
				}
			}
			return client.Workers(ctx, c.Input.Group, c.Input.Topic)
		},
	})
	if err != nil {
		return err
	}
	d.routes = append(d.routes, pages...)
	d.visitors, err = page.Visitors()
	return err
}

// instanceName returns what this instance is called.
func instanceName(c config.Config) string {
	name, err := os.Hostname()
	if err != nil {
		return c.HTTP.Listen
	}
	return name
}

// members returns the view for corrections, nil where there is none.
func (d *desk) members() pipeline.Members {
	if d.view == nil {
		return nil
	}
	return d.view
}

// run does the work behind the answers until ctx ends.
func (d *desk) run(ctx context.Context, group *errgroup.Group) {
	works := []func(context.Context){
		d.submit.Run, d.tail.Run,
		func(ctx context.Context) { topics.Feed(ctx, d.tail, d.hub, d.hidden) },
	}
	if d.view != nil {
		works = append(works, d.view.Run)
	}
	for _, work := range works {
		group.Go(func() error {
			work(ctx)
			return nil
		})
	}
}

// httpOptions returns where and to whom the configuration opens the HTTP server.
func httpOptions(c config.HTTP, d *desk) httpapi.Options {
	return httpapi.Options{
		CertFile: c.TLS.CertFile, KeyFile: c.TLS.KeyFile, Routes: d.routes,
		Access: access.Options{
			Listen: c.Listen, Token: c.Token, TokensFile: c.TokensFile, Hosts: c.Hosts, Origins: c.Origins,
			TrustedProxies: c.TrustedProxies, UserHeader: c.UserHeader, Rate: c.Rate,
			Visitors: d.visitors,
		},
	}
}
