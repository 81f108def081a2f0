package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/clusterd/clusterd/internal/quality/eval"
)

// streamParts is of how many parts of the stream a moderator's work is told.
const streamParts = 10

// spamFlags are what the command line of eval spam says.
type spamFlags struct {
	runsFlags
	feedback string
}

func newEvalSpam() *cobra.Command {
	var f spamFlags
	cmd := &cobra.Command{
		Use:   "spam [FILE...]",
		Short: "Measure what clusters save a moderator",
		Long: "Clusters files of labelled articles (as 'clusterd cluster' reads them) once for each " +
			"--run, in their order, and measures\n" +
			"what that saves a moderator, who labels the cluster of each positive (spam) article that " +
			"does not carry the label: one click.\n" +
			"Clusters and labels are those of the daemon: with contacts.join a label also marks the " +
			"contacts of the cluster's founder.\n" +
			"Nothing of an article's text is in what comes out. All articles are held in memory.\n\n" +
			"caught    share of all positive articles that carry the label when they arrive\n" +
			"hit/1000  honest articles (of another label) that carry it when they arrive, of a thousand " +
			"honest ones\n" +
			"later     honest articles that get it after they have arrived, by a contact\n" +
			"clicks    clusters that were labelled\n" +
			"reports   honest articles that carried the label and that the moderator reported\n\n" +
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
		RunE: f.run(f.check, f.evaluate),
	}
	f.add(cmd)
	flags := cmd.Flags()
	flags.StringVar(&f.labels, "labels", "label", "`FIELD` of an article that is its label")
	flags.StringVar(&f.Positive, "positive", "spam", "`LABEL` of what the moderator looks for")
	flags.IntVar(&f.Parts, "parts", streamParts, "divide the stream into `N` parts, 1 to 100")
	flags.StringVar(&f.feedback, "feedback", string(eval.ArticleFeedback),
		"what the moderator does about an honest article that carries the label, `WHAT`: article (an "+
			"exception for it), contact (the contact that brought the label is harmless) or none")
	flags.IntVar(&f.Moderator.Late, "late", 0,
		"the moderator looks at an article after `N` more have arrived")
	flags.IntVar(&f.Moderator.Every, "every", 1,
		"the moderator reports one of `N` honest articles that carry the label")
	return cmd
}

// check completes what the command line says, or finds it wrong.
func (f *spamFlags) check(given func(flag string) bool) error {
	switch {
	case f.labels == "":
		return errors.New("--labels: name a field")
	case f.Positive == "":
		return errors.New("--positive: name a label")
	case f.Parts < 1 || f.Parts > 100:
		return errors.New("--parts: must be 1 to 100")
	case f.Moderator.Late < 0:
		return errors.New("--late: less than 0")
	case f.Moderator.Every < 1:
		return errors.New("--every: less than 1")
	}
	f.Moderator.Feedback = eval.Feedback(f.feedback)
	switch f.Moderator.Feedback {
	case eval.NoFeedback, eval.ArticleFeedback, eval.ContactFeedback:
	default:
		return fmt.Errorf("--feedback: %q is none of article, contact and none", f.feedback)
	}
	return f.runsFlags.check(given)
}
