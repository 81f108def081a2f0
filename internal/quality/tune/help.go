package tune

import "fmt"

const help = `Takes a run of the articles (as 'clusterd cluster' reads them), clusters it by each method
at each threshold that may be the best, and says what to change in the configuration, if anything.

Without labels, it finds, exactly, which articles are similar: by the Jaccard index of their runs of
five characters. What is similar enough counts as the same, and copies count as one text; a method
is worth its F1 of pairs. Where there is little as similar as --same says, a lower similarity is
taken, down to %v. What is similar by its characters favours minhash and shingle.

With --positive, a method is worth the share of positive (spam) articles that carry the label when
they arrive, as in 'clusterd eval spam', at a threshold that hits at most --hits of a thousand
honest articles.

Ten times the memory of a centre, or a tenth of the rate, must be worth %v more: that is the
cost. The method that is worth most less its cost is taken, and of those less than %v below it
the cheapest. It is proposed if it is ahead of what is configured by %v, or by %v with the same
method, and ahead in each half of the articles by itself: less may be chance; and if %v of the
pairs that it finds are right, or as many as with what is configured. With fewer than %d pairs
of different texts that are the same, or positive articles, nothing is proposed. All
articles are held in memory.

With --stories it clusters by the configured method, and tries thresholds of stories, one for
Chinese texts and one for others. With --labels FIELD, whose labels are events, a threshold is
worth its B-cubed F1. Without, it is worth the mean silhouette of its stories: how much nearer
articles are to their own story than to the next. It is proposed if it is ahead by %v, or by a
share of %v without labels, and by two standard errors, which random halves of the labels or
stories give; without labels, if its silhouette is %v or more. With fewer than %d labels of two
clusters, or %d clusters without labels, nothing is proposed. What is clear is not always right:
read some stories first.`

// Help says how a proposal is made, for a person.
func Help() string {
	return fmt.Sprintf(help, Near, Price, Gain, NewMethod, Gain, Precise, FewPairs,
		StoryGain, Clearer, Structure, FewLabels, FewFounders)
}
