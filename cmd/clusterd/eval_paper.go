package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/method"
	"github.com/clusterd/clusterd/internal/method/hamming"
	"github.com/clusterd/clusterd/internal/quality/eval"
	"github.com/clusterd/clusterd/internal/quality/paper"
	"github.com/clusterd/clusterd/internal/singlepass"
	"github.com/clusterd/clusterd/internal/terminal"
	"github.com/clusterd/clusterd/internal/text"
)

// paperFlags are what the command line of eval paper says.
type paperFlags struct {
	config, format        string
	runs                  []string
	sample, minCharacters int
	centres               int
	seed                  uint64
}

func newEvalPaper() *cobra.Command {
	var f paperFlags
	cmd := &cobra.Command{
		Use:   "paper [FILE...]",
		Short: "Repeat the published experiments on your own articles",
		Long: "Edits a sample of the articles (as 'clusterd cluster' reads them): adds, deletes and changes words, reorders sentences.\n" +
			"Then it counts which each method still recognises, and measures time and memory. Beside each figure stands what the\n" +
			"paper has published that the design follows. All articles are held in memory.",
		Example: "  clusterd eval paper articles.jsonl\n  clusterd eval paper articles.jsonl.gz --run minhash --run simhash,cluster.distance=4 --format json",
		RunE: func(cmd *cobra.Command, files []string) error {
			files, err := evalFiles(cmd, files, f.format)
			if err != nil {
				return err
			}
			switch {
			case f.sample < 2:
				return usageError{errors.New("--sample: at least 2 are needed")}
			case f.minCharacters < 1:
				return usageError{errors.New("--min-chars: at least 1 is needed")}
			case f.centres < 1:
				return usageError{errors.New("--centres: at least 1 is needed")}
			}
			if len(f.runs) == 0 {
				f.runs = paperRuns()
			}
			return f.experiment(cmd, files)
		},
	}
	configFlag(cmd, &f.config)
	flags := cmd.Flags()
	flags.StringArrayVar(&f.runs, "run", nil, "measure `METHOD[,KEY=VALUE]...`; may be repeated (default: every method as configured, and variants of simhash)")
	flags.IntVar(&f.sample, "sample", 1000, "take `N` articles at random")
	flags.IntVar(&f.minCharacters, "min-chars", 200, "leave out articles of fewer than `N` characters")
	flags.IntVar(&f.centres, "centres", paper.Centres, "measure memory with `N` centres, of methods with sketches at most 50000")
	flags.Uint64Var(&f.seed, "seed", 1, "`NUMBER` that all that is random follows from")
	flags.StringVar(&f.format, "format", "table", "`FORM` of what is written to standard output: table or json")
	return cmd
}

// evalFiles checks what the verbs under eval have in common, and returns the files to read.
func evalFiles(cmd *cobra.Command, files []string, format string) ([]string, error) {
	if format != "table" && format != "json" {
		return nil, usageError{fmt.Errorf("--format: %q is neither table nor json", format)}
	}
	if len(files) > 0 {
		return files, nil
	}
	if terminal.Is(cmd.InOrStdin()) {
		return nil, usageError{fmt.Errorf("%s: name a file, or pipe articles in", cmd.Name())}
	}
	return []string{"-"}, nil
}

func (f *paperFlags) experiment(cmd *cobra.Command, files []string) error {
	c, err := config.Load(f.config)
	if err != nil {
		return err
	}
	variants, err := f.variants(c)
	if err != nil {
		return err
	}
	documents, err := readDocuments(cmd, c, files, "")
	if err != nil {
		return err
	}
	articles, err := f.articles(c, documents)
	if err != nil {
		return err
	}
	bar := newBar(cmd.ErrOrStderr(), 1, "experimenting")
	report, err := paper.Run(cmd.Context(), articles, variants, paper.Options{Seed: f.seed, Centres: f.centres, Progress: func(done, all int) {
		bar.ChangeMax(all)
		_ = bar.Set(done)
	}})
	_ = bar.Clear()
	switch {
	case errors.Is(err, context.Canceled):
		return errors.New("interrupted: nothing was written")
	case err != nil:
		return err
	case f.format == "json":
		return report.WriteJSON(jsonOut(cmd))
	default:
		return report.WriteTable(cmd.OutOrStdout())
	}
}

// paperRuns are the methods as configured, and beside simhash what it is with the paper's settings, to the
// letter and with the token hash mended, and at its widest.
func paperRuns() []string {
	runs := []string{
		"simhash", "simhash,fingerprint.hash=sdbm-raw,fingerprint.weight=tf", "simhash,fingerprint.weight=tf", "simhash,cluster.distance=6",
	}
	for _, name := range method.Names() {
		if name != "simhash" {
			runs = append(runs, name)
		}
	}
	return runs
}

func (f *paperFlags) variants(c config.Config) ([]paper.Variant, error) {
	runs, err := (&evalFlags{runs: f.runs}).variants(c)
	if err != nil {
		return nil, err
	}
	var variants []paper.Variant
	made := make(map[string]method.Method) // by identity: dictionaries are large
	for _, run := range runs {
		m, err := method.New(run.Config)
		if err != nil {
			return nil, err
		}
		bound := m.Bound()
		if same := made[m.Identity()]; same != nil {
			m = same
		}
		made[m.Identity()] = m
		v := paper.Variant{Name: run.Name, Method: m, Bound: bound}
		if run.Config.Fingerprint.Method == "simhash" {
			v.OtherIndex = func() singlepass.Index { return hamming.Centres(hamming.NewMIH(int(bound))) }
		}
		variants = append(variants, v)
	}
	return variants, nil
}

// articles are the sample.
func (f *paperFlags) articles(c config.Config, documents []eval.Document) ([]paper.Article, error) {
	cleaner, err := text.NewArticleCleaner(c.Text.HTML, c.Text.Extract)
	if err != nil {
		return nil, err
	}
	var articles []paper.Article
	for _, d := range documents {
		if !d.Rejected {
			articles = append(articles, paper.Article{Title: d.Title, Content: d.Content, Text: string(cleaner.AppendClean(nil, d.Title, d.Content))})
		}
	}
	articles = paper.Sample(articles, f.sample, f.minCharacters, f.seed)
	if len(articles) < 2 {
		return nil, fmt.Errorf("%d articles of at least %d characters: two are needed; give more, or lower --min-chars", len(articles), f.minCharacters)
	}
	return articles, nil
}
