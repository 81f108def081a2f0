package main

import (
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

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
			"with 0.",
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
			o := daemon.Options{Config: c, Version: version(), Log: log}
			if cmd.Flags().Changed("embedded") {
				return daemon.RunEmbedded(cmd.Context(), o, embedded)
			}
			return daemon.Run(cmd.Context(), o)
		},
	}
	configFlag(cmd, &file)
	cmd.Flags().StringVar(&embedded, "embedded", "",
		"bring a broker of its own, kept in `DIR`, on the first of kafka.brokers; not for production")
	return cmd
}

// ignoreHangups keeps SIGHUP from ending the process, as it does by default, until the function
// that it returns is called. Who sends one expects the configuration to be read again.
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
