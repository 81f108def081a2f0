package eval_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/quality/eval"
)

type (
	who  = eval.Moderator
	work = eval.Work
)

// posted are documents, each with its label, - for none, and its text.
func posted(lines ...string) []eval.Document {
	docs := make([]eval.Document, len(lines))
	for i, line := range lines {
		name, text, _ := strings.Cut(line, " ")
		docs[i] = eval.Document{ID: "d", Label: strings.Trim(name, "-"), Content: text}
	}
	return docs
}

// moderate has a moderator work on documents, which are clustered by the method exact.
func moderate(
	t *testing.T, docs []eval.Document, by who, parts int, set ...string,
) eval.Moderation {
	t.Helper()
	v, err := eval.ParseVariant(config.Default(), strings.Join(append([]string{"exact"}, set...), ","))
	if err != nil {
		t.Fatal(err)
	}
	o := eval.Options{
		Positive: "s", Parts: parts, Threads: 1, Moderator: by,
		Now: time.Date(2026, 6, 1, 0, 0, 0, 123, time.Local),
	}
	p, err := eval.Prepare(t.Context(), docs, v, o)
	if err != nil {
		t.Fatal(err)
	}
	m, err := p.Moderate(t.Context(), p.Threshold, o)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestModerate(t *testing.T) {
	for _, test := range []struct {
		name string
		docs []eval.Document
		who  who
		want work
	}{
		{
			"the first of a cluster is the click, the others are caught",
			posted("s win a prize", "s win a prize", "s win a prize", "h a song"),
			who{},
			work{Documents: 4, Positive: 3, Caught: 2, Honest: 1, Clicks: 1, CaughtShare: 2. / 3},
		},
		{
			"honest ones are hit once it is labelled",
			posted("h win a prize", "s win a prize", "h win a prize", "h win a prize"),
			who{Feedback: eval.NoFeedback},
			work{
				Documents: 4, Positive: 1, Honest: 3, Hit: 2, Clicks: 1, HitPerThousand: 2000. / 3,
			},
		},
		{
			"a report frees the equal ones after it",
			posted("s win a prize", "h win a prize", "h win a prize", "h win a prize"),
			who{Feedback: eval.ArticleFeedback},
			work{
				Documents: 4, Positive: 1, Honest: 3, Hit: 1, Clicks: 1, Feedback: 1,
				HitPerThousand: 1000. / 3,
			},
		},
		{
			"one of two is reported",
			posted("s win a prize", "h win a prize", "h win a prize", "h win a prize"),
			who{Feedback: eval.ArticleFeedback, Every: 2},
			work{
				Documents: 4, Positive: 1, Honest: 3, Hit: 2, Clicks: 1, Feedback: 1,
				HitPerThousand: 2000. / 3,
			},
		},
		{
			"who is late misses copies, and clicks once",
			posted("s win a prize", "s win a prize", "s win a prize", "s win a prize", "s win a prize"),
			who{Late: 2},
			work{Documents: 5, Positive: 5, Caught: 2, Clicks: 1, CaughtShare: .4},
		},
		{
			"what has no label does not count",
			posted("- win a prize", "- win a prize", "s win a prize", "- win a prize", "s win a prize"),
			who{},
			work{Documents: 5, Positive: 2, Caught: 1, Clicks: 1, CaughtShare: .5},
		},
		{
			"what is in no cluster is neither", posted("s !!!", "s !!!", "h !!!"),
			who{},
			work{Documents: 3, Positive: 2, Honest: 1},
		},
		{
			"each cluster costs a click", posted("s a b", "s c d", "s a b", "s e f"),
			who{},
			work{Documents: 4, Positive: 4, Caught: 1, Clicks: 3, CaughtShare: .25},
		},
		{"nothing", nil, who{}, work{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, moderate(t, test.docs, test.who, 1).Work); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// What is labelled in one part is known in the next. Parts may differ by one document, and there
// are no more of them than documents.
func TestModerateByParts(t *testing.T) {
	docs := posted("s win a prize", "s win a prize", "h win a prize", "s win a prize", "h win a prize")
	want := []work{
		{Documents: 2, Positive: 2, Caught: 1, Clicks: 1, CaughtShare: .5},
		{
			Documents: 3, Positive: 1, Caught: 1, Honest: 2, Hit: 2, CaughtShare: 1,
			HitPerThousand: 1000,
		},
	}
	who := who{Feedback: eval.NoFeedback}
	if diff := cmp.Diff(want, moderate(t, docs, who, 2).Parts); diff != "" {
		t.Error(diff)
	}
	if n := len(moderate(t, docs, who, 10).Parts); n != len(docs) {
		t.Errorf("%d parts of %d documents", n, len(docs))
	}
}

// With contacts.join a label reaches other texts with the contact, earlier ones too. Each kind of
// feedback takes back as much as it says.
func TestModerateByContact(t *testing.T) {
	docs := posted(
		"h did anybody try +44 7700 900123?",
		"s cheap watches, call +44 7700 900123",
		"s best bags in town, ask +44 7700 900123",
		"h my uncle lost money to +44 7700 900123",
		"h beware of +44 7700 900123, they cheat",
		"s cheap watches, call +44 7700 900123",
	)
	for _, test := range []struct {
		who  who
		set  string
		want work
	}{
		{who{Feedback: eval.NoFeedback}, "false", work{Caught: 1, Clicks: 2}},
		{who{Feedback: eval.NoFeedback}, "true", work{Caught: 2, Hit: 2, Later: 1, Clicks: 1}},
		{
			who{Feedback: eval.ArticleFeedback},
			"true",
			work{Caught: 2, Hit: 2, Later: 1, Clicks: 1, Feedback: 2},
		},
		{
			who{Feedback: eval.ContactFeedback},
			"true",
			work{Caught: 2, Hit: 1, Later: 1, Clicks: 1, Feedback: 1},
		},
	} {
		got := moderate(t, docs, test.who, 1, "contacts.join="+test.set).Work
		test.want.Documents, test.want.Positive, test.want.Honest = 6, 3, 3
		test.want.CaughtShare = float64(test.want.Caught) / 3
		test.want.HitPerThousand = float64(1000*test.want.Hit) / 3
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("feedback %s, contacts.join %s: %s", test.who.Feedback, test.set, diff)
		}
	}
}
