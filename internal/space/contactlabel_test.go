package space

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/message/checkpoint"
	"github.com/clusterd/clusterd/internal/message/cluster"
	"github.com/clusterd/clusterd/internal/message/label"
	"github.com/clusterd/clusterd/internal/simhash/hamming"
	"github.com/clusterd/clusterd/internal/singlepass"
	"github.com/clusterd/clusterd/internal/space/fingerprint"
	"github.com/clusterd/clusterd/internal/space/state"
	"github.com/clusterd/clusterd/internal/testutil/clustertest"
)

const telephone = "number:+447700900123"

// contactWalk feeds a space in which each article founds a cluster and has the same contact.
type contactWalk struct {
	*testing.T
	space   *Space
	due     []checkpoint.Due
	offset  int64
	records int64
}

func newContactWalk(t *testing.T) *contactWalk {
	t.Helper()
	store, err := state.OpenInMemory(state.Identity{Input: "articles"})
	if err != nil {
		t.Fatal(err)
	}
	s := New(hamming.Centres(hamming.NewBTree(0)), store, marksOptions(),
		func() time.Time { return at(1000 * time.Hour) })
	if err := s.Load(t.Context(), func(singlepass.Fingerprint) error { return nil }); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return &contactWalk{T: t, space: s}
}

// batch assigns and commits articles and a label record, and returns what became of them.
func (w *contactWalk) batch(articles int, room int, records ...article.LabelRecord) Batch {
	w.Helper()
	all := make([]fingerprint.Article, articles)
	for i := range all {
		all[i] = w.article(uint64(w.offset))
	}
	return w.assign(all, room, records...)
}

// article returns the next article, which has this hash.
func (w *contactWalk) article(hash uint64) fingerprint.Article {
	a := inItsTime(clustertest.Article(w.offset, hash, at(0)))
	a.Fingerprint.Contacts = singlepass.NewContacts([]string{telephone})
	w.offset++
	return a
}

func (w *contactWalk) assign(
	all []fingerprint.Article, room int, records ...article.LabelRecord,
) Batch {
	w.Helper()
	b, err := w.space.AssignLabelled(LabelWork{Due: w.due, Records: records, Room: room},
		clustertest.Each(all), len(all))
	if err != nil {
		w.Fatal(err)
	}
	m := w.space.Meta()
	m.Checkpoint = &checkpoint.Record{
		NextPosition: w.space.State().Next, StreamTime: w.space.State().StreamTime,
	}
	if err := w.space.Commit(b, m); err != nil {
		w.Fatal(err)
	}
	w.due = b.Due
	return b
}

// record is the next label record on the contact.
func (w *contactWalk) record(action article.Action, name string) article.LabelRecord {
	w.records++
	return article.LabelRecord{
		Action: action, Label: clustertest.Label(name, 2*w.records),
		Targeted: article.Targeted{Target: article.TargetContact, Contact: telephone},
	}
}

// labelled puts a label on the contact in a batch that has room for what follows.
func (w *contactWalk) labelled(action article.Action, name string) Batch {
	w.Helper()
	return w.batch(0, 100, w.record(action, name))
}

// label puts a label on the contact, or takes it off.
func (w *contactWalk) label(action article.Action, name string, room int) Labelled {
	w.Helper()
	b := w.batch(0, room, w.record(action, name))
	for range 100 {
		if len(w.due) == 0 {
			return b.Labelled[0]
		}
		w.batch(0, room)
	}
	w.Fatal("something is due for ever")
	return Labelled{}
}

// carried returns which of the clusters carry spam.
func (w *contactWalk) carried() (seqs []uint64) {
	w.Helper()
	v, err := w.space.View()
	if err != nil {
		w.Fatal(err)
	}
	defer v.Release()
	for seq := range uint64(w.offset) {
		k, ok, err := v.Get(seq)
		if err != nil || !ok {
			w.Fatal(seq, err)
		}
		if _, has := k.Labels.Get("spam", false); has {
			seqs = append(seqs, seq)
		}
	}
	return seqs
}

// One label on a contact that many clusters share labels all of them, however little room a
// transaction has, and some later ones. Who says that it is harmless takes that back.
func TestLabelAContact(t *testing.T) {
	for _, room := range []int{1, 3, 100} {
		t.Run(fmt.Sprint(room), func(t *testing.T) {
			w := newContactWalk(t)
			w.batch(9, room)
			if l := w.label(article.AddLabel, "spam", room); !l.Changed || l.Rejection != nil {
				t.Fatalf("%+v", l)
			}
			if got := w.carried(); len(got) != 9 {
				t.Errorf("%v of 9 carry the label", got)
			}
			b := w.batch(8, room)
			later := 0
			for i := range b.Assignments {
				if c := b.Assignments[i].Carried; c != nil && slices.Contains(c.Labels, "spam") {
					later++
				}
			}
			if later != 6 {
				t.Errorf("%d later ones carry it, want 6", later)
			}
			if l := w.label(article.AddLabel, "ham", room); !l.Changed {
				t.Errorf("it is harmless: %+v", l)
			}
			if got := w.carried(); len(got) != 0 {
				t.Errorf("%v carry the label of a harmless contact", got)
			}
			if l := w.label(article.RemoveLabel, "ham", room); !l.Changed || len(w.carried()) > 0 {
				t.Errorf("it is not harmless: %+v, and %v carry the label", l, w.carried())
			}
			if l := w.label(article.AddLabel, "spam", room); !l.Changed || len(w.carried()) != 17 {
				t.Errorf("labelled again: %+v, and %v carry the label", l, w.carried())
			}
			if l := w.label(article.RemoveLabel, "spam", room); !l.Changed || len(w.carried()) > 0 {
				t.Errorf("taken off: %+v, and %v carry the label", l, w.carried())
			}
		})
	}
}

// founderOf returns the founder of the cluster with a seq.
func founderOf(seq uint64) article.Address {
	return clustertest.Article(int64(seq), 0, at(0)).Source
}

// except labels the founder of a cluster as harmless, or takes that back.
func (w *contactWalk) except(action article.Action, seq uint64) Batch {
	w.Helper()
	r := w.record(action, "ham")
	r.Cluster = founderOf(seq)
	r.Targeted = article.Targeted{
		Target: article.TargetArticle, ArticleID: "a", MemberPosition: seq, Source: r.Cluster,
		Fingerprint: article.Fingerprint(seq),
	}
	b := w.batch(0, 100, r)
	if l := b.Labelled[0]; l.Rejection != nil || !l.Changed {
		w.Fatalf("%s of an exception: %+v", action, l)
	}
	return b
}

// If an article is harmless in each of the six clusters that a click was good for, the mark ends.
// Who takes one of the exceptions back takes back its part of the vote. A second article of a
// cluster does not count, nor does a cluster that somebody has labelled.
func TestExceptionsTakeAVote(t *testing.T) {
	w := newContactWalk(t)
	w.batch(1, 100)
	click := w.record(article.AddLabel, "spam")
	click.Targeted, click.Cluster = article.Targeted{}, founderOf(0)
	w.batch(0, 100, click)
	w.batch(6, 100)
	mark := func() label.Mark {
		t.Helper()
		c, ok, err := w.space.store.Contact("", telephone)
		if err != nil || !ok {
			t.Fatal(ok, err)
		}
		return c.Marks.Of("spam", false)
	}
	w.except(article.AddLabel, 0)
	for seq := range uint64(5) {
		w.except(article.AddLabel, 1+seq)
	}
	again := w.record(article.AddLabel, "ham")
	again.Cluster = founderOf(1)
	again.Targeted = article.Targeted{
		Target: article.TargetArticle, ArticleID: "b", Source: again.Cluster, Fingerprint: 99,
	}
	w.batch(0, 100, again)
	if m := mark(); m.Excepted != 5 || !m.Counts(telephone) || len(w.carried()) != 7 {
		t.Fatalf("after five clusters: %+v, %v have the label", m, w.carried())
	}
	b := w.except(article.AddLabel, 6)
	if m := mark(); m.Counts(telephone) || m.State(telephone) != label.Ended || b.endedMarks != 1 {
		t.Errorf("after six clusters: %+v", m)
	}
	if got := w.carried(); !slices.Equal(got, []uint64{0}) {
		t.Errorf("%v have the label, want the cluster that was clicked alone", got)
	}
	w.except(article.RemoveLabel, 6)
	if m := mark(); m.Excepted != 5 || !m.Counts(telephone) || m.Votes != label.Vote {
		t.Errorf("after an exception was taken back: %+v", m)
	}
}

// Marks are counted, and so are the articles that they label, and how many feedback has ended.
func TestMarksAreCounted(t *testing.T) {
	w := newContactWalk(t)
	w.batch(2, 100)
	for _, step := range []struct {
		name     string
		do       func() Batch
		want     label.Tally
		articles int // that carry a label by a contact
		ended    int
	}{
		{
			"labelled, with two clusters", func() Batch { return w.labelled(article.AddLabel, "spam") },
			label.Tally{Labelling: 1, Reach: 8, Used: 2},
			0, 0,
		},
		{
			"four more clusters", func() Batch { return w.batch(4, 100) },
			label.Tally{Labelling: 1, Reach: 8, Used: 6},
			4, 0,
		},
		{
			"four more, of which two get no label", func() Batch { return w.batch(4, 100) },
			label.Tally{UsedUp: 1, Reach: 8, Used: 8},
			2, 0,
		},
		{
			"harmless", func() Batch { return w.labelled(article.AddLabel, "ham") },
			label.Tally{Ended: 1},
			0, 1,
		},
		{
			"harmless, once more", func() Batch { return w.labelled(article.AddLabel, "ham") },
			label.Tally{Ended: 1},
			0, 0,
		},
	} {
		b := step.do()
		if got := w.space.Marks(); got != step.want {
			t.Errorf("%s: %+v, want %+v", step.name, got, step.want)
		}
		if n := b.CountLabels(); n.ByContact != step.articles || n.EndedMarks != step.ended {
			t.Errorf("%s: %+v, want %d articles and %d marks that ended", step.name, n, step.articles,
				step.ended)
		}
	}
}

// A label on trial has no effect, so it does not count as a label by a contact.
func TestTrialByContactIsNotCounted(t *testing.T) {
	w := newContactWalk(t)
	w.batch(1, 100)
	r := w.record(article.AddLabel, "spam")
	r.Trial = true
	w.batch(0, 100, r)
	b := w.batch(3, 100)
	if n := b.CountLabels(); n.ByContact != 0 || n.Articles != 0 || w.space.Marks().Labelling != 1 {
		t.Errorf("%+v, and %+v", n, w.space.Marks())
	}
}

// What no label has marked cannot be harmless.
func TestLabelAnUnknownContact(t *testing.T) {
	w := newContactWalk(t)
	w.batch(2, 100)
	for _, r := range []struct {
		action article.Action
		name   string
	}{{article.AddLabel, "ham"}, {article.RemoveLabel, "ham"}, {article.RemoveLabel, "spam"}} {
		l := w.label(r.action, r.name, 100)
		if l.Rejection == nil || l.Rejection.Class != article.UnknownContact || l.Changed {
			t.Errorf("%s %s: %+v", r.action, r.name, l)
		}
	}
}

// A label by a contact reaches the first articles of a younger cluster. What is changed of it is
// told to these and to the later ones, and each is told what it carries.
func TestCorrectionsOfALabelThatReachesTheFirstArticles(t *testing.T) {
	w := newContactWalk(t)
	w.batch(1, 100)
	w.label(article.AddLabel, "spam", 100)
	copies := make([]fingerprint.Article, 12)
	for i := range copies {
		copies[i] = w.article(1 << 40)
	}
	b := w.assign(copies, 100)
	reach := slices.IndexFunc(b.Assignments, func(a Assignment) bool { return a.Carried == nil })
	if reach <= 0 {
		t.Fatalf("the first %d of %d articles carry the label", reach, len(copies))
	}
	told := func(b *Batch, first, later string) {
		t.Helper()
		for _, c := range b.Changes() {
			if c.ClusterID != b.Touched[len(b.Touched)-1].ID() {
				continue
			}
			for size := 1; size <= len(copies); size++ {
				want := later
				if size <= reach {
					want = first
				}
				got := strings.Join(c.LabelsOf(&article.Member{Size: size}), "+")
				if got != want {
					t.Errorf("article %d is told that it carries %q, want %q", size, got, want)
				}
			}
			return
		}
		t.Errorf("nothing is told of the cluster: %+v", b.Changes())
	}
	record := func(name string, targeted article.Targeted) *Batch {
		w.records++
		b := w.batch(0, 100, article.LabelRecord{
			Action: article.AddLabel, Label: clustertest.Label(name, 2*w.records), Targeted: targeted,
			Cluster: b.Touched[len(b.Touched)-1].Founder,
		})
		return &b
	}
	told(record("bulk", article.Targeted{}), "bulk+spam", "bulk")
	harmless := article.Targeted{Target: article.TargetContact, Contact: telephone}
	told(record("ham", harmless), "bulk", "bulk")
}

// Marks go when the cluster that was clicked last has expired, though somebody took its label off
// and it expired before those that have labels.
func TestMarksExpireWithAClusterWithoutLabels(t *testing.T) {
	w := newContactWalk(t)
	founded := w.batch(2, 100)
	by := func(action article.Action, id int64, cluster int) {
		w.batch(0, 100, article.LabelRecord{
			Action: action, Label: clustertest.Label("spam", 2*id),
			Cluster: founded.Touched[cluster].Founder,
		})
		for len(w.due) > 0 {
			w.batch(0, 100)
		}
	}
	by(article.AddLabel, 1, 0)
	by(article.AddLabel, 2, 1)
	by(article.RemoveLabel, 3, 1)
	marks := func() (n int) {
		v, err := w.space.View()
		if err != nil {
			t.Fatal(err)
		}
		defer v.Release()
		if err := v.Contacts(func(*cluster.Contact) bool { n++; return true }); err != nil {
			t.Fatal(err)
		}
		return n
	}
	if n := marks(); n != 1 {
		t.Fatalf("%d contacts have marks, want 1", n)
	}
	for i := range 3 { // the cluster of the last article stays until the next one
		a := inItsTime(clustertest.Article(w.offset, 1<<50, at(time.Duration(90+i)*time.Minute)))
		w.offset++
		w.assign([]fingerprint.Article{a}, 100)
	}
	if n := marks(); n != 0 {
		t.Errorf("%d contacts have marks of expired clusters", n)
	}
}
