package eval_test

import (
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/quality/eval"
)

// A writer writes comments that share no wording.
type writer struct{ rng *rand.Rand }

func newWriter() writer { return writer{rand.New(rand.NewPCG(41, 0))} }

// words returns a comment of a dozen made-up words.
func (w writer) words() string {
	all := make([]string, 12)
	for i := range all {
		for range 2 + w.rng.IntN(2) {
			all[i] += string("bdfgklmnprstvz"[w.rng.IntN(14)]) + string("aeiou"[w.rng.IntN(5)])
		}
	}
	return strings.Join(all, " ")
}

// post returns a comment with a label that names something.
func (w writer) post(label, names string) eval.Document {
	return eval.Document{ID: "d", Label: label, Content: w.words() + ". " + names}
}

// posts returns n of them.
func (w writer) posts(n int, label, names string) (all []eval.Document) {
	for range n {
		all = append(all, w.post(label, names))
	}
	return all
}

// public is what many honest comments name: a broadcaster, a hotline, a shop, and a seller.
var public = []string{
	"see bbc.co.uk", "call +44 800 123 4567", "order at harbour-books.com", "WeChat pearl1962",
}

// honest returns n comments, each of which names one of these.
func (w writer) honest(n int) (all []eval.Document) {
	for i := range n {
		all = append(all, w.post("h", public[i%len(public)]))
	}
	return all
}

const advert = "Telegram @watch_king88"

// attacked has a moderator work on comments by configs/comments.yaml.
func attacked(t *testing.T, docs []eval.Document, feedback eval.Feedback) eval.Work {
	t.Helper()
	text, err := os.ReadFile("../../../configs/comments.yaml")
	if err != nil {
		t.Fatal(err)
	}
	c, err := config.Parse("comments.yaml", text, os.LookupEnv, os.ReadFile)
	if err != nil {
		t.Fatal(err)
	}
	o := eval.Options{
		Positive: "s", Parts: 1, Threads: 1, Moderator: who{Feedback: feedback},
		Now: time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC),
	}
	p, err := eval.Prepare(t.Context(), docs, eval.Variant{Name: "comments", Config: c}, o)
	if err != nil {
		t.Fatal(err)
	}
	m, err := p.Moderate(t.Context(), p.Threshold, o)
	if err != nil {
		t.Fatal(err)
	}
	return m.Work
}

// A spammer names what honest comments name, so that these are hidden with the spam. Reports of the
// contacts end that at once, exceptions once they are as many as a click is good for.
func TestPoison(t *testing.T) {
	for _, test := range []struct {
		spams    int // each is followed by as many of the 160 honest comments
		feedback eval.Feedback
		hit      int // at most
	}{
		{1, eval.NoFeedback, 12},
		{1, eval.ArticleFeedback, 12},
		{1, eval.ContactFeedback, 2},
		{40, eval.NoFeedback, 53},
		{40, eval.ArticleFeedback, 14},
		{40, eval.ContactFeedback, 4},
	} {
		w := newWriter()
		var docs []eval.Document
		for range test.spams {
			docs = append(docs, w.post("s", strings.Join(public, ", ")))
			docs = append(docs, w.honest(160/test.spams)...)
		}
		got := attacked(t, docs, test.feedback)
		if got.Honest != 160 || got.Hit == 0 || got.Hit+got.Later > test.hit {
			t.Errorf("%d spams, feedback %s: %d of %d honest comments are hit when they come, %d later; "+
				"want %d at most", test.spams, test.feedback, got.Hit, got.Honest, got.Later, test.hit)
		}
	}
}

// A spammer puts the contact into honest-looking comments first, so that it is common. It is no
// longer once more clusters were clicked.
func TestHonestLookingFirst(t *testing.T) {
	for first, least := range map[int]int{0: 57, 3: 54, 10: 47, 30: 27} {
		w := newWriter()
		docs := append(w.posts(first, "h", "Ask "+advert), w.posts(60, "s", "Ask "+advert)...)
		got := attacked(t, docs, eval.NoFeedback)
		if got.Caught < least || got.Later > 0 {
			t.Errorf("after %d honest-looking comments %d of %d are caught, want %d; %d of the former get "+
				"the label", first, got.Caught, got.Positive, least, got.Later)
		}
	}
}

// A spammer adds made-up sites, so that the real contact has little of each vote. A site needs half
// a vote, so more clicks.
func TestMadeUpContacts(t *testing.T) {
	for _, test := range []struct {
		real   string
		caught map[int]int // at least, by how many are added
	}{
		{advert, map[int]int{0: 57, 5: 57, 10: 57, 30: 57}},
		{"call +44 7700 900123", map[int]int{0: 57, 5: 57, 10: 57, 30: 57}},
		{"order at king-watches.com", map[int]int{0: 57, 5: 55, 10: 52, 30: 50}},
	} {
		for added, least := range test.caught {
			w := newWriter()
			var docs []eval.Document
			for range 60 {
				names := test.real
				for range added {
					names += " " + strings.ReplaceAll(w.words()[:12], " ", "-") + "z.com"
				}
				docs = append(docs, w.post("s", names))
			}
			got := attacked(t, docs, eval.NoFeedback)
			if got.Caught < least {
				t.Errorf("%s and %d made-up sites: %d of %d are caught, want %d", test.real, added,
					got.Caught, got.Positive, least)
			}
		}
	}
}

// Victims quote the seller in warnings, each of which is reported. The adverts among them are
// caught as they are without reports, unless six warnings follow a single click.
func TestQuotedSellers(t *testing.T) {
	for _, test := range []struct {
		clicked, warnings, adverts int // adverts follow each warning
		caught                     int // at least
		without                    int // caught if nobody reports a warning
	}{
		{1, 1, 3, 22, 22},
		{1, 3, 3, 27, 27},
		{1, 10, 3, 48, 48},
		{3, 10, 3, 50, 50},
		{1, 3, 0, 19, 19},
		{3, 10, 0, 16, 16},
		{1, 10, 0, 10, 16},
	} {
		for feedback, least := range map[eval.Feedback]int{
			eval.ArticleFeedback: test.caught, eval.NoFeedback: test.without,
		} {
			w := newWriter()
			docs := w.posts(test.clicked, "s", "Ask "+advert)
			for range test.warnings {
				docs = append(docs, w.post("h", "Never pay "+advert))
				docs = append(docs, w.posts(test.adverts, "s", "Ask "+advert)...)
			}
			docs = append(docs, w.posts(20, "s", "Ask "+advert)...)
			if got := attacked(t, docs, feedback); got.Caught != least {
				t.Errorf("%+v, feedback %s: %d of %d are caught, want %d", test, feedback, got.Caught,
					got.Positive, least)
			}
		}
	}
}

// A victim quotes the seller in a warning. Whoever reports that warning shows it, and no advert.
func TestQuotedSeller(t *testing.T) {
	w := newWriter()
	docs := w.posts(3, "s", "Ask "+advert)
	warning := w.post("h", "Never pay "+advert)
	docs = append(docs, warning)
	docs = append(docs, w.posts(10, "s", "Ask "+advert)...)
	docs = append(docs, warning)
	got := attacked(t, docs, eval.ArticleFeedback)
	if got.Hit != 1 || got.Feedback != 1 || got.Caught < 11 {
		t.Errorf("%+v: the warning must be shown once it is reported, and the adverts stay hidden", got)
	}
}
