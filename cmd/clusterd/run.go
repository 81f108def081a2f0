package main

import (
	"log/slog"

	"github.com/spf13/cobra"

	"github.com/clusterd/clusterd/internal/cli"
	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/daemon"
)

func newRun() *cobra.Command {
	var file, embedded string
	cmd := &cobra.Command{
		Use:   "run",
		Short: "The daemon: cluster the articles of a Kafka topic until stopped",
		Long: "Reads articles from input.topic and writes results, clusters and dead letters, exactly " +
			"once.\n" +
			"Ctrl-C or SIGTERM finishes the transaction in hand, leaves the consumer group and exits " +
			"with 0.\n" +
			"SIGHUP reads the configuration again, and takes over what can change while it runs.",
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, given, err := loadConfig(cmd, file)
			if err != nil {
				return err
			}
			level := new(slog.LevelVar)
			level.Set(c.Log.Severity())
			log := newLoggerAt(level, c.Log, cmd.ErrOrStderr())
			for _, unused := range given.Unused(c.Fingerprint.Method) {
				log.Warn(unused.Error())
			}
			if !given.Has("fingerprint.method") {
				log.Info("fingerprint.method is not set, so it is " + c.Fingerprint.Method + "; " +
					config.MethodsPage + " says which method is for what")
			}
			o := daemon.Options{
				Config: c, Version: cli.GetVersion().Version, Log: log, Level: level,
				Load: func() (config.Config, error) {
					again, _, err := loadConfig(cmd, file)
					return again, err
				},
			}
			if cmd.Flags().Changed("embedded") {
				return daemon.RunEmbedded(cmd.Context(), o, embedded)
			}
			return daemon.Run(cmd.Context(), o)
		},
	}
	configFlag(cmd, &file)
	cmd.Flags().StringVar(&embedded, "embedded", "",
		"bring a broker in the same process, kept in `DIR`, on the first of kafka.brokers: for a site "+
			"on one machine (docs/embedded.md)")
	return cmd
}
