package main

import (
	"context"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/httpapi"
	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/kafka/embedded"
	"github.com/clusterd/clusterd/internal/memlimit"
	"github.com/clusterd/clusterd/internal/monitor"
	"github.com/clusterd/clusterd/internal/pipeline"
)

func newRun() *cobra.Command {
	var file, embedded string
	cmd := &cobra.Command{
		Use:   "run",
		Short: "The daemon: cluster the articles of a Kafka topic until stopped",
		Long: "Reads articles from input.topic and writes results, clusters and dead letters, exactly once.\n" +
			"Ctrl-C or SIGTERM finishes the transaction in hand, leaves the consumer group and exits with 0.",
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, given, err := config.LoadGiven(file)
			if err != nil {
				return err
			}
			log := newLogger(c.Log, cmd.ErrOrStderr())
			defer ignoreHangups(log)()
			for _, unused := range given.Unused(c.Fingerprint.Method) {
				log.Warn(unused.Error())
			}
			if cmd.Flags().Changed("embedded") {
				return runEmbedded(cmd.Context(), c, embedded, log)
			}
			return runOn(cmd.Context(), c, log)
		},
	}
	configFlag(cmd, &file)
	cmd.Flags().StringVar(&embedded, "embedded", "", "bring a broker of its own, kept in `DIR`, on the first of kafka.brokers; not for production")
	return cmd
}

// ignoreHangups keeps SIGHUP from ending the process, as it does by default, until the function that it returns is
// called. Who sends one expects the configuration to be read again.
func ignoreHangups(log *slog.Logger) (stop func()) {
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	go func() {
		for range hangups {
			log.Warn("SIGHUP is ignored: a changed configuration takes effect at the next start")
		}
	}()
	return func() {
		signal.Stop(hangups)
		close(hangups)
	}
}

func runEmbedded(ctx context.Context, c config.Config, dir string, log *slog.Logger) error {
	b, err := embedded.Start(c.Kafka.Brokers[0], dir, log)
	if err != nil {
		return err
	}
	defer b.Close()
	log.Info("embedded broker (for trying things out, not for production)", "address", b.Address(), "dir", dir)
	c.Kafka.Brokers = []string{b.Address()}
	c.Kafka.CreateTopics = true
	return runOn(ctx, c, log)
}

func runOn(ctx context.Context, c config.Config, log *slog.Logger) error {
	client, err := kafka.NewClient(c.Kafka)
	if err != nil {
		return err
	}
	defer client.Close()
	limit, err := memlimit.SetLimit(c.Memory.Limit)
	switch {
	case err != nil:
		log.Warn("memory is not limited", "error", err)
	case limit.From != "none":
		log.Info("memory is limited", "bytes", limit.Bytes, "from", limit.From)
	}
	m := monitor.New(version())
	client.OnRequest = m.Request
	server, err := httpapi.Listen(ctx, c.HTTP, m, log)
	if err != nil {
		return err
	}
	log.Info("starting", "version", version(), "brokers", c.Kafka.Brokers, "input", c.Input.Topic, "group", c.Input.Group,
		"output", c.Output.Topic, "clusters", c.Output.ClustersTopic, "dead_letters", c.Output.DeadLetterTopic, "scope", c.Cluster.Scope,
		"method", c.Fingerprint.Method, "state", c.State.Dir, "http", server.Address())
	for _, warning := range c.Warnings() {
		log.Warn(warning)
	}
	group, ctx := errgroup.WithContext(ctx)
	defer context.AfterFunc(ctx, m.Stopping)()
	// The server ends after the pipeline, so that it can say that clusterd is stopping.
	serving, stop := context.WithCancel(context.WithoutCancel(ctx))
	group.Go(func() error { return server.Run(serving) })
	group.Go(func() error {
		defer stop()
		return pipeline.Run(ctx, c, client, log, m)
	})
	if err = group.Wait(); err == nil {
		log.Info("stopped")
	}
	return err
}
