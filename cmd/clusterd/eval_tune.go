package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/method"
	"github.com/clusterd/clusterd/internal/quality/tune"
)

// tuneFlags are what the command line of eval tune says.
type tuneFlags struct {
	measureFlags
	tune.Options
	labels string
}

func newEvalTune() *cobra.Command {
	var f tuneFlags
	cmd := &cobra.Command{
		Use:   "tune [FILE...]",
		Short: "Propose a method and a threshold for your own articles",
		Long:  tune.Help(),
		Example: "  clusterd eval tune articles.jsonl\n  clusterd eval tune --same .6 -c clusterd.yaml " +
			"articles.jsonl.gz\n  clusterd eval tune --labels label --positive spam mail.jsonl.gz\n" +
			"  clusterd eval tune --stories --labels event -c news.yaml articles.jsonl",
		RunE: f.run(f.Check, f.tune),
	}
	f.add(cmd)
	flags := cmd.Flags()
	flags.StringSliceVar(&f.Methods, "methods", method.Names(), "`METHODS` to try, divided by commas")
	flags.Float64Var(&f.Same, "same", .8, "least `SIMILARITY` of articles that are the same, .5 to 1")
	flags.StringVar(&f.labels, "labels", "label", "`FIELD` of an article that is its label")
	flags.StringVar(&f.Positive, "positive", "",
		"`LABEL`, such as spam, that a moderator looks for; without it, labels are not looked at")
	flags.Float64Var(&f.Hits, "hits", 1.5,
		"at most `N` of a thousand honest articles, of another label, may be hit")
	flags.BoolVar(&f.Stories, "stories", false,
		"propose thresholds of stories instead, by labels if --labels is given")
	flags.IntVar(&f.Sample, "sample", 20_000,
		"take `N` articles that follow one another, or all if they are fewer")
	flags.Uint64Var(&f.Seed, "seed", 1, "`NUMBER` that the choice of articles follows from")
	return cmd
}

func (f *tuneFlags) tune(cmd *cobra.Command, c config.Config, names []string) error {
	for _, name := range f.Methods {
		tried := c
		if err := tried.Set("fingerprint.method", name); err != nil {
			return usageError{fmt.Errorf("--methods: %w", err)}
		}
	}
	field := ""
	if f.Positive != "" || f.Stories && cmd.Flags().Changed("labels") {
		field = f.labels
	}
	documents, err := readDocuments(cmd, c, names, field, f.Positive)
	if err != nil {
		return err
	}
	documents = tune.Sample(documents, f.Sample, f.Seed)
	bar := newBar(cmd.ErrOrStderr(), int64(len(documents)*len(f.Methods)), "finding near pairs")
	f.Options.Config, f.Options.Now, f.Options.Labels = c, time.Now(), field != ""
	f.Progress = progress(bar)
	report, err := tune.Propose(cmd.Context(), documents, f.Options)
	_ = bar.Clear()
	return f.write(cmd, report, err)
}
