package main

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/files"
	"github.com/clusterd/clusterd/internal/quality/eval"
	"github.com/clusterd/clusterd/internal/text/charset"
)

// evalFlags are what the command line of eval says.
type evalFlags struct {
	runsFlags
	clusters, pairs, within string
}

func newEval() *cobra.Command {
	var f evalFlags
	cmd := &cobra.Command{
		Use:   "eval [FILE...]",
		Short: "Measure methods and settings on your own documents",
		Long: "Clusters files of articles (as 'clusterd cluster' reads them) once for each --run, and " +
			"measures the clusters: against\n" +
			"a truth, that is clusters or pairs that you know, or by labels such as spam and ham. Nothing " +
			"of a document's text is\n" +
			"in what comes out. All documents are held in memory.\n\n" +
			"A clusters file has a document's id and the name of its cluster in a line, a pairs file two " +
			"ids and their similarity\n" +
			"(Jaccard, 0 to 1), divided by tabs; a name that ends in .gz is unpacked. Without a clusters " +
			"file, clusters are what\n" +
			"pairs of a similarity of .8 and more connect.",
		Example: "  clusterd eval articles.jsonl --clusters clusters.tsv --truth pairs.tsv --html " +
			"report.html\n" +
			"  clusterd eval articles.jsonl --clusters clusters.tsv --run simhash --run " +
			"simhash,cluster.distance=5\n" +
			"  clusterd eval mail.jsonl.gz --labels label --positive spam",
		Args: cobra.ArbitraryArgs,
		RunE: f.run(f.check, f.measure),
	}
	cmd.AddCommand(newEvalPaper(), newEvalSpam(), newEvalTune())
	f.add(cmd)
	flags := cmd.Flags()
	flags.StringVar(&f.clusters, "clusters", "", "truth: `FILE` of ids and clusters")
	flags.StringVar(&f.pairs, "truth", "", "truth: `FILE` of pairs of ids and their similarity")
	flags.Float64SliceVar(&f.At, "at", []float64{.5, .8, .9},
		"report the recall of pairs of these `SIMILARITIES`")
	flags.BoolVar(&f.Curves, "thresholds", false, "try other thresholds, too; --html does")
	flags.StringVar(&f.labels, "labels", "",
		"`FIELD` of an article that is its label (default: label, if there is no truth)")
	flags.BoolVar(&f.Stories, "stories", false, "measure stories over clusters, by labels, too")
	flags.StringVar(&f.Positive, "positive", "",
		"`LABEL`, such as spam, that the size of a cluster is to tell, and that a moderator looks for")
	flags.IntSliceVar(&f.Sizes, "sizes", []int{2, 3, 5, 10, 20, 50, 100},
		"cluster `SIZES` that count as a signal for it")
	flags.StringVar(&f.within, "within", "0s",
		"`DURATION` of event time in which so many must arrive, such as 3d; 0s is any")
	// What pflag makes of the numbers is hard to read.
	flags.Lookup("at").DefValue = "[.5,.8,.9]"
	return cmd
}

// check completes what the command line says, or finds it wrong.
func (f *evalFlags) check(given func(flag string) bool) error {
	truth := f.clusters != "" || f.pairs != ""
	if f.labels == "" && (f.Positive != "" || f.Stories || !truth) {
		f.labels = "label"
	}
	outside := func(v float64) bool { return !(v >= 0 && v <= 1) }
	switch {
	case f.Curves && !truth:
		return errors.New("--thresholds needs --clusters or --truth")
	case slices.ContainsFunc(f.At, outside):
		return errors.New("--at: a similarity is from 0 to 1")
	case slices.ContainsFunc(f.Sizes, func(n int) bool { return n < 1 }):
		return errors.New("--sizes: a cluster has at least 1 member")
	}
	window := config.Default()
	if err := window.Set("cluster.window", f.within); err != nil { // written and bounded like this one
		return fmt.Errorf("--within: %w", err)
	}
	f.Labels, f.Within, f.Parts = f.labels != "", window.Cluster.Window, streamParts
	f.Curves = f.Curves || f.html != ""
	return f.runsFlags.check(given)
}

func (f *evalFlags) measure(cmd *cobra.Command, c config.Config, names []string) (err error) {
	if f.Truth, err = f.truth(); err != nil {
		return err
	}
	return f.evaluate(cmd, c, names)
}

// truth returns the truth that the flags name, nil where they name none.
func (f *evalFlags) truth() (*eval.Truth, error) {
	auto, err := charset.Get(charset.Auto)
	if err != nil {
		return nil, err
	}
	var readers [2]io.Reader
	for i, name := range []string{f.clusters, f.pairs} {
		if name == "" {
			continue
		}
		opened, closeFile, err := files.Open(nil, []string{name}, io.Discard)
		if err != nil {
			return nil, err
		}
		defer closeFile()
		readers[i] = auto.Reader(opened[0].Lines)
	}
	if readers[0] == nil && readers[1] == nil {
		return nil, nil
	}
	return eval.ReadTruth(readers[0], readers[1])
}
