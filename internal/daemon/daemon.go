// Package daemon wires what clusterd is while it runs: the connection to Kafka, the pipeline, the
// monitor and the HTTP server that shows it, the limit of memory. A configuration goes in; articles
// are clustered until the context ends.
package daemon

import (
	"context"
	"fmt"
	"log/slog"
	"net"

	"golang.org/x/sync/errgroup"

	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/kafka/embedded"
	"github.com/clusterd/clusterd/internal/kafka/login"
	"github.com/clusterd/clusterd/internal/monitor"
	"github.com/clusterd/clusterd/internal/monitor/memlimit"
	"github.com/clusterd/clusterd/internal/pipeline"
	"github.com/clusterd/clusterd/internal/pipeline/tracing"
	"github.com/clusterd/clusterd/internal/serve/http"
)

// Options are what a daemon needs.
type Options struct {
	Config  config.Config
	Version string // of clusterd, for the log and the metrics
	Log     *slog.Logger
	Level   *slog.LevelVar // of Log; nil: it does not change
	// Load reads the configuration again, on SIGHUP; nil: it is in no file.
	Load func() (config.Config, error)
	// Listener is where HTTP is served; nil: at http.listen.
	Listener net.Listener
}

// Run clusters the articles of the input topic until ctx ends, which is no error, or something
// fails for good.
func Run(ctx context.Context, o Options) error { return run(ctx, o, o.Config) }

// run does what Run does. What was loaded may differ from what is in force.
func run(ctx context.Context, o Options, loaded config.Config) error {
	c, log := o.Config, o.Log
	told, stopListening := hangups()
	defer stopListening()
	client, err := Connect(c.Kafka, log)
	if err != nil {
		return err
	}
	defer client.Close()
	limitMemory(c.Memory, log)
	m := monitor.New(o.Version)
	client.OnRequest = m.Request
	desk, err := newDesk(c, client, log, m)
	if err != nil {
		return err
	}
	options := httpOptions(c.HTTP, desk)
	options.Listener = o.Listener
	server, err := httpapi.Listen(ctx, options, m, log)
	if err != nil {
		return err
	}
	log.Info("starting", "version", o.Version, "brokers", c.Kafka.Brokers,
		"input", c.Input.Topic, "group", c.Input.Group,
		"output", c.Output.Topic, "clusters", c.Output.ClustersTopic,
		"dead_letters", c.Output.DeadLetterTopic,
		"scope", c.Cluster.Scope, "method", c.Fingerprint.Method, "state", c.State.Dir,
		"http", server.Address())
	for _, warning := range c.Warnings() {
		log.Warn(warning)
	}
	spans, err := tracing.New(ctx, tracing.Options{
		Endpoint: c.Trace.Endpoint, Ratio: c.Trace.Ratio, Instance: instanceName(c),
		Version: o.Version, Log: log,
	})
	if err != nil {
		return fmt.Errorf("trace.endpoint: %w", err)
	}
	defer spans.Close(ctx)
	group, ctx := errgroup.WithContext(ctx)
	defer context.AfterFunc(ctx, m.Stopping)()
	// The server ends after the pipeline, so that it can say that clusterd is stopping.
	serving, stop := context.WithCancel(context.WithoutCancel(ctx))
	group.Go(func() error { return server.Run(serving) })
	group.Go(func() error {
		o.reloadOn(ctx, told, loaded, server)
		return nil
	})
	desk.run(ctx, group)
	group.Go(func() error {
		defer stop()
		return pipeline.Run(ctx, pipeline.Options{
			Config: c, Client: client, Log: log, Monitor: m,
			Readers: desk.spaces, Members: desk.members(), Tracer: spans.Tracer(),
		})
	})
	if err = group.Wait(); err == nil {
		log.Info("stopped")
	}
	return err
}

// Connect returns a client of the cluster that the configuration names. It logs when a certificate
// or a token has changed.
func Connect(c config.Kafka, log *slog.Logger) (*kafka.Client, error) {
	return kafka.NewClient(kafka.Options{
		Brokers: c.Brokers, TLS: login.TLS(c.TLS), SASL: login.SASL(c.SASL), Log: log,
	})
}

// RunEmbedded runs a broker of its own on the first of kafka.brokers, which keeps its records in
// dir, and clusters the articles of its input topic as [Run] does.
func RunEmbedded(ctx context.Context, o Options, dir string) error {
	b, err := embedded.Start(o.Config.Kafka.Brokers[0], dir, o.Log)
	if err != nil {
		return err
	}
	defer b.Close()
	o.Log.Info("embedded broker: one process and one disk, without replicas; docs/embedded.md says "+
		"what it is for", "address", b.Address(), "dir", dir)
	loaded := o.Config
	o.Config.Kafka.Brokers = []string{b.Address()}
	o.Config.Kafka.CreateTopics = true
	ended := make(chan error, 1)
	go func() { ended <- run(ctx, o, loaded) }()
	select {
	case err = <-ended:
	case <-b.Failed():
	}
	if failed := b.Err(); failed != nil {
		return failed // no transaction that is under way can be finished
	}
	return err
}

// limitMemory sets the limit, and returns where it comes from.
func limitMemory(c config.Memory, log *slog.Logger) (from string) {
	limit, err := memlimit.SetLimit(c.Limit)
	switch {
	case err != nil:
		log.Warn("memory is not limited", "error", err)
	case limit.From != "none":
		log.Info("memory is limited", "bytes", limit.Bytes, "from", limit.From)
	}
	return limit.From
}
