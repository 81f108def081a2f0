package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"

	"github.com/clusterd/clusterd/internal/cli/offline"
	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/files"
	"github.com/clusterd/clusterd/internal/files/document"
	"github.com/clusterd/clusterd/internal/method"
)

// clusterFlags are the keys of the configuration that cluster also takes as flags.
var clusterFlags = []struct{ flag, key, usage string }{
	{
		"method", "fingerprint.method",
		"how articles are compared (`METHOD`: " + strings.Join(method.Names(), ", ") + ")",
	},
	{
		"distance", "cluster.distance",
		usedBy("cluster.distance") + "`BITS` by which a member may differ from the centre, 0 to 6",
	},
	{
		"similarity", "cluster.similarity",
		usedBy("cluster.similarity") +
			"least `SHARE` to which a member is like the centre, .01 to 1, or auto",
	},
	{
		"window", "cluster.window",
		"`DURATION` after which a cluster without new members expires; 0s is never",
	},
	{"format", "input.format", "`FORMAT` of a line: json or text"},
	{
		"encoding", "input.encoding",
		"character `ENCODING` of the files: auto, or one such as gb18030 or big5",
	},
}

// usedBy names the methods that use a key.
func usedBy(key string) string { return strings.Join(method.Using(key), ", ") + ": " }

func newCluster() *cobra.Command {
	var file, deadLetters string
	cmd := &cobra.Command{
		Use:   "cluster [FILE...]",
		Short: "Cluster files: articles in, one result a line out, in order",
		Long: "Reads files of one JSON article (or, with --format text, one text) a line, or of a JSON " +
			"array of articles; - or no\n" +
			"file is standard input. In .csv and .tsv the first line names the columns, which are the " +
			"fields of input.fields. Names\n" +
			"that end in .gz, .zst or .bz2 are unpacked. Of a folder, all files below it are read that " +
			"are not hidden, in the order\n" +
			"of their names. Results go to standard output. The ids are those that 'clusterd run' would " +
			"give to the same lines in\n" +
			"partition 0 of input.topic. Lines that are no article are reported and passed over.\n\n" +
			"If no article has text in the fields of input.fields, fields of usual names are taken " +
			"instead, such as text and body, and a\n" +
			"warning says which. (Of standard input, this is so up to 64 MiB.)\n\n" +
			"A file with a name in " + strings.Join(document.Extensions(), " ") + " is one article\n" +
			"instead, with its name as its id, and so is a .txt without --format text. For pages as their " +
			"sites have them, see\n" +
			"text.extract.",
		Example: "  clusterd cluster --method minhash articles.jsonl > results.jsonl\n" +
			"  zcat articles.jsonl.gz | clusterd cluster --method simhash --distance 2 -\n" +
			"  clusterd cluster --method minhash report.docx slides.pptx page.html\n" +
			"  clusterd cluster -c comments.yaml comments.csv.zst archive/",
		RunE: func(cmd *cobra.Command, names []string) error {
			c, given, err := loadConfig(cmd, file)
			if err != nil {
				return err
			}
			if err := setFlags(cmd, &c); err != nil {
				return err
			}
			if names, err = inputNames(cmd, names); err != nil {
				return err
			}
			for _, unused := range given.Unused(c.Fingerprint.Method) {
				newLogger(c.Log, cmd.ErrOrStderr()).Warn(unused.Error())
			}
			chosen := given.Has("fingerprint.method") || cmd.Flags().Changed("method")
			return clusterFiles(cmd, c, names, deadLetters, chosen)
		},
	}
	configFlag(cmd, &file)
	for _, f := range clusterFlags {
		cmd.Flags().String(f.flag, "", f.usage)
	}
	cmd.Flags().StringVar(&deadLetters, "dead-letters", "",
		"write the lines that are no article to `FILE`, with the reasons")
	return cmd
}

// setFlags sets what the command line says. A flag that the method does not use is a mistake.
func setFlags(cmd *cobra.Command, c *config.Config) error {
	for _, f := range clusterFlags {
		if flag := cmd.Flags().Lookup(f.flag); flag.Changed {
			if err := c.Set(f.key, flag.Value.String()); err != nil {
				return usageError{fmt.Errorf("--%s: %w", f.flag, err)}
			}
		}
	}
	for _, f := range clusterFlags {
		if unused := config.Unused(f.key, c.Fingerprint.Method); unused != "" &&
			cmd.Flags().Changed(f.flag) {
			return usageError{fmt.Errorf("--%s %s", f.flag, unused)}
		}
	}
	return nil
}

func clusterFiles(
	cmd *cobra.Command, c config.Config, names []string, deadLetters string, chosen bool,
) (err error) {
	errs := cmd.ErrOrStderr()
	bar := newBar(errs, files.Size(names), "clustering", progressbar.OptionShowBytes(true))
	log := newLogger(c.Log, errs)
	inputs, err := offline.Open(cmd.Context(), &c.Input, cmd.InOrStdin(), names, bar, log)
	if err != nil {
		return err
	}
	defer inputs.Close()
	if deadLetters != "" {
		f, failed := os.Create(deadLetters)
		if failed != nil {
			return fmt.Errorf("--dead-letters: %w", failed)
		}
		defer func() { err = errors.Join(err, f.Close()) }()
		inputs.Keep(f)
	}
	var trial *offline.Trial
	if !chosen {
		trial = offline.NewTrial(c)
		defer trial.Close()
	}
	began := time.Now()
	totals, err := offline.Cluster(cmd.Context(), c, inputs.Files, jsonOut(cmd), inputs.Reject,
		inputs.Observe, trial)
	_ = bar.Clear()
	if err != nil {
		if errors.Is(err, context.Canceled) {
			return errors.New("interrupted: the results are not complete")
		}
		return err
	}
	log.Info("done", append([]any{
		"lines", totals.Lines, "new", totals.New, "joined", totals.Joined,
		"unclustered", totals.Unclustered, "rejected", totals.Rejected,
		"clusters", totals.Clusters, "took", time.Since(began).Round(time.Millisecond),
	}, inputs.Oddities()...)...)
	if text := trial.Compare(totals); text != "" {
		log.Info(text)
	}
	return inputs.Verdict(totals.New+totals.Joined > 0)
}
