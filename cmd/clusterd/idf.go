package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"

	"github.com/clusterd/clusterd/internal/cli/offline"
	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/files"
	"github.com/clusterd/clusterd/internal/simhash"
)

func newIDF() *cobra.Command {
	var file string
	cmd := &cobra.Command{
		Use:   "idf [FILE...]",
		Short: "Learn how rare words are from your articles, for the weight tfidf",
		Long: "Reads files of articles as 'clusterd cluster' does, and writes to standard output in " +
			"how many of them words occur, as\n" +
			"fingerprint.idf takes it. Some ten thousand articles of the kind that will be clustered are " +
			"enough; the words are those\n" +
			"of the text section of the configuration. Lines that are no article are reported and passed " +
			"over. Fingerprints made by\n" +
			"another table cannot be compared.",
		Example: "  clusterd idf -c clusterd.yaml articles.jsonl.gz > idf.tsv",
		RunE: func(cmd *cobra.Command, names []string) error {
			c, _, err := loadConfig(cmd, file)
			if err != nil {
				return err
			}
			if names, err = inputNames(cmd, names); err != nil {
				return err
			}
			return learnIDF(cmd, c, names)
		},
	}
	configFlag(cmd, &file)
	return cmd
}

func learnIDF(cmd *cobra.Command, c config.Config, names []string) error {
	errs := cmd.ErrOrStderr()
	bar := newBar(errs, files.Size(names), "learning", progressbar.OptionShowBytes(true))
	log := newLogger(c.Log, errs)
	inputs, err := offline.Open(cmd.Context(), &c.Input, cmd.InOrStdin(), names, bar, log)
	if err != nil {
		return err
	}
	defer inputs.Close()
	tokenizer, err := c.Text.NewTokenizer(nil) // the words alone count
	if err != nil {
		return err
	}
	reader, err := files.NewReader(c.Input, inputs.Files)
	if err != nil {
		return err
	}
	learner, counter, compared := simhash.NewIDFLearner(), tokenizer.NewCounter(), false
	for entry, err := reader.Next(); !errors.Is(err, io.EOF); entry, err = reader.Next() {
		if err != nil {
			return err
		}
		if cmd.Context().Err() != nil {
			return errors.New("interrupted: no table was written")
		}
		a, rejection := reader.Article(entry)
		inputs.Observe(entry, a.Notes, rejection)
		if rejection == nil {
			tokens := counter.Tokens(a.Title, a.Content)
			compared = compared || len(tokens) > 0
			learner.Add(tokens)
		} else if err := inputs.Reject(offline.Rejected{Entry: entry, Rejection: rejection}); err != nil {
			return err
		}
	}
	_ = bar.Clear()
	if err := inputs.Verdict(compared); err != nil {
		return err
	}
	if learner.Articles() == 0 {
		return errors.New("there is no article to learn from")
	}
	words, err := learner.Write(cmd.OutOrStdout())
	if err != nil {
		return fmt.Errorf("writing the table: %w", err)
	}
	log.Info("done", "articles", learner.Articles(), "words", words,
		"rejected", inputs.Rejected())
	return nil
}
