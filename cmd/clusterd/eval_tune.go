package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/clusterd/clusterd/internal/method"
	"github.com/clusterd/clusterd/internal/quality/tune"
)

// tuneFlags are what the command line of eval tune says.
type tuneFlags struct {
	measureFlags
	methods []string
	sample  int
	seed    uint64
	same    float64

	labels, positive string
	hits             float64
	stories          bool
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
		RunE: func(cmd *cobra.Command, names []string) error {
			names, err := f.files(cmd, names)
			if err != nil {
				return err
			}
			asked := tune.Asked{
				Sample: f.sample, Same: f.same, Hits: f.hits, Positive: f.positive, Stories: f.stories,
			}
			if err := asked.Check(cmd.Flags().Changed); err != nil {
				return usageError{err}
			}
			return f.tune(cmd, names)
		},
	}
	f.add(cmd)
	flags := cmd.Flags()
	flags.StringSliceVar(&f.methods, "methods", method.Names(), "`METHODS` to try, divided by commas")
	flags.Float64Var(&f.same, "same", .8, "least `SIMILARITY` of articles that are the same, .5 to 1")
	flags.StringVar(&f.labels, "labels", "label", "`FIELD` of an article that is its label")
	flags.StringVar(&f.positive, "positive", "",
		"`LABEL`, such as spam, that a moderator looks for; without it, labels are not looked at")
	flags.Float64Var(&f.hits, "hits", 1.5,
		"at most `N` of a thousand honest articles, of another label, may be hit")
	flags.BoolVar(&f.stories, "stories", false,
		"propose thresholds of stories instead, by labels if --labels is given")
	flags.IntVar(&f.sample, "sample", 20_000,
		"take `N` articles that follow one another, or all if they are fewer")
	flags.Uint64Var(&f.seed, "seed", 1, "`NUMBER` that the choice of articles follows from")
	return cmd
}

func (f *tuneFlags) tune(cmd *cobra.Command, names []string) error {
	c, _, err := loadConfig(cmd, f.config)
	if err != nil {
		return err
	}
	for _, name := range f.methods {
		tried := c
		if err := tried.Set("fingerprint.method", name); err != nil {
			return usageError{fmt.Errorf("--methods: %w", err)}
		}
	}
	labels := ""
	if f.positive != "" || f.stories && cmd.Flags().Changed("labels") {
		labels = f.labels
	}
	documents, err := readDocuments(cmd, c, names, labels)
	if err == nil {
		err = checkLabels(documents, labels, f.positive)
	}
	if err != nil {
		return err
	}
	documents = tune.Sample(documents, f.sample, f.seed)
	bar := newBar(cmd.ErrOrStderr(), int64(len(documents)*len(f.methods)), "finding near pairs")
	report, err := tune.Propose(cmd.Context(), documents, tune.Options{
		Same: f.same, Methods: f.methods, Config: c, Now: time.Now(), Positive: f.positive, Hits: f.hits,
		Progress: func(name string, n int) {
			bar.Describe(name)
			_ = bar.Add(n)
		},
		Stories: f.stories, Labels: labels != "",
	})
	_ = bar.Clear()
	return f.write(cmd, report, err)
}
