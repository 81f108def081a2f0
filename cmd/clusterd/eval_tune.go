package main

import (
	"errors"
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
	methods []string
	sample  int
	seed    uint64
	same    float64
}

func newEvalTune() *cobra.Command {
	var f tuneFlags
	cmd := &cobra.Command{
		Use:   "tune [FILE...]",
		Short: "Propose a method and a threshold for your own articles",
		Long: "Takes a run of the articles (as 'clusterd cluster' reads them) and finds, exactly, how " +
			"similar they are: the Jaccard\n" +
			"index of their runs of five characters. What is similar enough counts as the same. Then it " +
			"clusters the articles by\n" +
			"each method at each threshold, and proposes the fastest whose best F1 is within .01 of the " +
			"highest, as lines for the\n" +
			"configuration. What is similar by its characters favours minhash and shingle. All articles " +
			"are held in memory.",
		Example: "  clusterd eval tune articles.jsonl\n  clusterd eval tune --same .6 -c clusterd.yaml " +
			"articles.jsonl.gz",
		RunE: func(cmd *cobra.Command, names []string) error {
			names, err := f.files(cmd, names)
			if err != nil {
				return err
			}
			switch {
			case f.sample < 1:
				return usageError{errors.New("--sample: at least 1 is needed")}
			case !(f.same >= tune.Near && f.same <= 1): // nor NaN
				return usageError{fmt.Errorf("--same %v: must be %v to 1", f.same, tune.Near)}
			}
			return f.tune(cmd, names)
		},
	}
	f.add(cmd)
	flags := cmd.Flags()
	flags.StringSliceVar(&f.methods, "methods", method.Names(), "`METHODS` to try, divided by commas")
	flags.Float64Var(&f.same, "same", .8, "least `SIMILARITY` of articles that are the same, .5 to 1")
	flags.IntVar(&f.sample, "sample", 20_000,
		"take `N` articles that follow one another, or all if they are fewer")
	flags.Uint64Var(&f.seed, "seed", 1, "`NUMBER` that the choice of articles follows from")
	return cmd
}

func (f *tuneFlags) tune(cmd *cobra.Command, names []string) error {
	c, err := config.Load(f.config)
	if err != nil {
		return err
	}
	for _, name := range f.methods {
		if err := c.Set("fingerprint.method", name); err != nil {
			return usageError{fmt.Errorf("--methods: %w", err)}
		}
	}
	documents, err := readDocuments(cmd, c, names, "")
	if err != nil {
		return err
	}
	documents = tune.Sample(documents, f.sample, f.seed)
	bar := newBar(cmd.ErrOrStderr(), int64(len(documents)*len(f.methods)), "finding near pairs")
	report, err := tune.Run(cmd.Context(), documents, tune.Options{
		Same: f.same, Methods: f.methods, Config: c, Now: time.Now(),
		Progress: func(name string, n int) {
			bar.Describe(name)
			_ = bar.Add(n)
		},
	})
	_ = bar.Clear()
	return f.write(cmd, report, err)
}
