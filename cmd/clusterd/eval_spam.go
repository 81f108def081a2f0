package main

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/clusterd/clusterd/internal/quality/eval"
)

// streamParts is of how many parts of the stream a moderator's work is told.
const streamParts = 10

// spamFlags are what the command line of eval spam says.
type spamFlags struct {
	runsFlags
	parts int
}

func newEvalSpam() *cobra.Command {
	var f spamFlags
	cmd := &cobra.Command{
		Use:   "spam [FILE...]",
		Short: "Measure what clusters save a moderator",
		Long: "Clusters files of labelled articles (as 'clusterd cluster' reads them) once for each " +
			"--run, in their order, and measures\n" +
			"what that saves a moderator, who labels a cluster as soon as its first positive (spam) " +
			"article arrives: one click.\n" +
			"Nothing of an article's text is in what comes out. All articles are held in memory.\n\n" +
			"caught    share of all positive articles that join a cluster labelled before them\n" +
			"hit/1000  honest articles (of another label) that join a cluster labelled before them, of a " +
			"thousand honest ones\n" +
			"clicks    clusters that were labelled\n\n" +
			"Articles without a label join clusters, and are left out of the shares. An article in which " +
			"there is nothing to compare\n" +
			"is neither caught nor hit. The same figures follow by parts of the stream, with equally many " +
			"articles each: each part by\n" +
			"itself, so that one sees how soon a new stream is covered, and when new spam arrives. What " +
			"was labelled stays labelled.",
		Example: "  clusterd eval spam mail.jsonl.gz --labels label --positive spam\n" +
			"  clusterd eval spam comments.jsonl --run minhash,fingerprint.shingle.size=3," +
			"cluster.similarity=.7 --run exact --html spam.html",
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, names []string) error {
			names, err := f.files(cmd, names)
			if err == nil {
				err = f.check()
			}
			if err != nil {
				return err
			}
			return f.evaluate(cmd, names, eval.Options{Parts: f.parts})
		},
	}
	f.add(cmd)
	flags := cmd.Flags()
	flags.StringVar(&f.labels, "labels", "label", "`FIELD` of an article that is its label")
	flags.StringVar(&f.positive, "positive", "spam", "`LABEL` of what the moderator looks for")
	flags.IntVar(&f.parts, "parts", streamParts, "divide the stream into `N` parts, 1 to 100")
	return cmd
}

// check completes what the command line says, or finds it wrong.
func (f *spamFlags) check() error {
	switch {
	case f.labels == "":
		return usageError{errors.New("--labels: name a field")}
	case f.positive == "":
		return usageError{errors.New("--positive: name a label")}
	case f.parts < 1 || f.parts > 100:
		return usageError{errors.New("--parts: must be 1 to 100")}
	}
	return f.runsFlags.check()
}
