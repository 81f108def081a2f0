package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/quality/paper"
)

// paperFlags are what the command line of eval paper says.
type paperFlags struct {
	measureFlags
	paper.Options
	runs                  []string
	sample, minCharacters int
}

func newEvalPaper() *cobra.Command {
	var f paperFlags
	cmd := &cobra.Command{
		Use:   "paper [FILE...]",
		Short: "Repeat the published experiments on your own articles",
		Long: "Edits a sample of the articles (as 'clusterd cluster' reads them): adds, deletes and " +
			"changes words, reorders sentences.\n" +
			"Then it counts which each method still recognises, and measures time and memory. Beside each " +
			"figure stands what the\n" +
			"paper has published that the design follows. All articles are held in memory.",
		Example: "  clusterd eval paper articles.jsonl\n  clusterd eval paper articles.jsonl.gz --run " +
			"minhash --run simhash,cluster.distance=4 --format json",
		RunE: f.run(f.check, f.experiment),
	}
	f.add(cmd)
	flags := cmd.Flags()
	flags.StringArrayVar(&f.runs, "run", nil,
		"measure `METHOD[,KEY=VALUE]...`; may be repeated (default: every method as configured, and "+
			"variants of simhash)")
	flags.IntVar(&f.sample, "sample", 1000, "take `N` articles at random")
	flags.IntVar(&f.minCharacters, "min-chars", 200, "leave out articles of fewer than `N` characters")
	flags.IntVar(&f.Centres, "centres", paper.Centres,
		"measure memory with `N` centres, of methods with sketches at most 50000")
	flags.Uint64Var(&f.Seed, "seed", 1, "`NUMBER` that all that is random follows from")
	return cmd
}

// check completes what the command line says, or finds it wrong.
func (f *paperFlags) check(func(flag string) bool) error {
	switch {
	case f.sample < 2:
		return errors.New("--sample: at least 2 are needed")
	case f.minCharacters < 1:
		return errors.New("--min-chars: at least 1 is needed")
	case f.Centres < 1:
		return errors.New("--centres: at least 1 is needed")
	}
	if len(f.runs) == 0 {
		f.runs = paper.Runs()
	}
	return nil
}

func (f *paperFlags) experiment(cmd *cobra.Command, c config.Config, names []string) error {
	configured, err := parseVariants(c, f.runs)
	if err != nil {
		return err
	}
	variants, err := paper.NewVariants(configured)
	if err != nil {
		return err
	}
	documents, err := readDocuments(cmd, c, names, "", "")
	if err != nil {
		return err
	}
	articles, err := paper.NewArticles(c.Text, documents)
	if err != nil {
		return err
	}
	articles = paper.Sample(articles, f.sample, f.minCharacters, f.Seed)
	if len(articles) < 2 {
		return fmt.Errorf(
			"%d articles of at least %d characters: two are needed; give more, or lower --min-chars",
			len(articles), f.minCharacters)
	}
	bar := newBar(cmd.ErrOrStderr(), 1, "experimenting")
	f.Progress = func(done, all int) {
		bar.ChangeMax(all)
		_ = bar.Set(done)
	}
	report, err := paper.Run(cmd.Context(), articles, variants, f.Options)
	_ = bar.Clear()
	return f.write(cmd, report, err)
}
