package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/clusterd/clusterd/internal/cli"
	"github.com/clusterd/clusterd/internal/cli/demo"
	"github.com/clusterd/clusterd/internal/config"
)

func newDemo() *cobra.Command {
	var articles string
	o := demo.Options{Version: cli.GetVersion().Version}
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "See it work: a broker, a stream, live clusters, here and on a page",
		Long: "Starts a broker of its own, plays articles in Chinese and English that it makes up " +
			"(originals, copies, edits, reordered\n" +
			"sentences, HTML, comment spam) or yours, and shows which cluster each goes to, here and on a " +
			"page whose address it prints\n" +
			"first. Nothing is kept.",
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !(o.Rate > 0 && o.Rate <= demo.MaxRate) { // nor NaN
				return usageError{fmt.Errorf("--rate %v: must be above 0 and at most %d", o.Rate, demo.MaxRate)}
			}
			if o.Duration < 0 {
				return usageError{fmt.Errorf("--for %v: must not be negative", o.Duration)}
			}
			return runDemo(cmd, o, articles)
		},
	}
	cmd.Flags().StringVar(&articles, "articles", "",
		"play the articles of `FILE` (JSON, one a line) instead of made-up ones")
	cmd.Flags().Float64Var(&o.Rate, "rate", 5, "articles a second, `N`")
	cmd.Flags().DurationVar(&o.Duration, "for", 0, "stop after `DURATION` (default: at Ctrl-C)")
	return cmd
}

func runDemo(cmd *cobra.Command, o demo.Options, articles string) error {
	if articles != "" {
		f, err := os.Open(articles)
		if err != nil {
			return fmt.Errorf("--articles: %w", err)
		}
		defer f.Close()
		o.Articles = f
	}
	logged := config.Default().Log
	logged.Level = "warn"
	o.Log = newLogger(logged, cmd.ErrOrStderr())
	return demo.Run(cmd.Context(), o, cmd.OutOrStdout(), cmd.ErrOrStderr())
}
