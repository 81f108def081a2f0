package space

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/message/checkpoint"
	"github.com/clusterd/clusterd/internal/message/cluster"
	"github.com/clusterd/clusterd/internal/singlepass"
	"github.com/clusterd/clusterd/internal/space/fingerprint"
	"github.com/clusterd/clusterd/internal/space/state"
	"github.com/clusterd/clusterd/internal/testutil/clustertest"
	"github.com/clusterd/clusterd/internal/testutil/wait"
)

// private is a contact that is to be erased. The contact shop stays.
const (
	private = "mail:quartz7zebra@example.org"
	shop    = "name:some_shop"
)

// contactErasure is the n-th record of the topic of labels, which erases a contact.
func contactErasure(n int64) article.LabelRecord {
	return article.LabelRecord{
		Action: article.Erase, Label: clustertest.Label("", n),
		Targeted: article.Targeted{Target: article.TargetContact, Contact: private},
	}
}

// privateSpace is a space on disk of a hundred clusters with both contacts. Somebody has labelled
// the first cluster, so that others have the label by a contact.
func privateSpace(t *testing.T, dir string) (s *Space, founders []article.Address) {
	t.Helper()
	s = diskSpace(t, dir)
	s.options.Marks = true
	var many []fingerprint.Article
	for i := range int64(100) {
		a := clustertest.Article(i, rand.Uint64(), at(time.Duration(i)*time.Second))
		a.Fingerprint.Contacts = singlepass.NewContacts([]string{private, shop})
		many = append(many, a)
		founders = append(founders, a.Source)
	}
	mustAssign(t, s, many[:1])
	do(t, s, []article.LabelRecord{{
		Action: article.AddLabel, Cluster: founders[0], Label: clustertest.Label("spam", 2),
	}}, true)
	mustAssign(t, s, many[1:])
	if err := s.store.Flush(); err != nil {
		t.Fatal(err)
	}
	return s, founders
}

// erasePrivate erases the contact, in steps of a few clusters, and returns after how many batches
// that is done.
func erasePrivate(t *testing.T, s *Space, room int) (batches int) {
	t.Helper()
	work := LabelWork{Records: []article.LabelRecord{contactErasure(17)}, Room: room}
	for {
		b, err := s.AssignLabelled(work, clustertest.Each(nil), 0)
		if err != nil {
			t.Fatal(err)
		}
		m := s.Meta()
		m.Checkpoint = &checkpoint.Record{
			NextPosition: s.State().Next, StreamTime: s.State().StreamTime,
			Labels: &checkpoint.Labels{Topic: "labels", Offsets: map[int]int64{}, Due: b.Due},
		}
		if err := s.Commit(b, m); err != nil {
			t.Fatal(err)
		}
		batches++
		if work = (LabelWork{Due: b.Due, Room: room}); len(b.Due) == 0 {
			return batches
		}
	}
}

// An erased contact is gone from marks, from clusters and their labels, from the disk and from
// copies, however many transactions that takes. What clusters are labelled stays.
func TestEraseContact(t *testing.T) {
	for _, room := range []int{1000, 7} {
		t.Run(fmt.Sprint(room), func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "space")
			s, founders := privateSpace(t, dir)
			if !holdsText(t, dir, "quartz7zebra") {
				t.Fatal("the contact cannot be found on disk")
			}
			if got := erasePrivate(t, s, room); got != 1+99/room {
				t.Errorf("%d batches", got)
			}
			wantForgotten(t, s, founders)
			wait.Until(t, "the contact to be gone from disk", func() bool {
				return !holdsText(t, dir, "quartz7zebra")
			})
			copied := filepath.Join(t.TempDir(), "copy")
			if _, err := s.CopyTo(copied); err != nil {
				t.Fatal(err)
			}
			if holdsText(t, copied, "quartz7zebra") {
				t.Error("the contact is in a copy")
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			s = diskSpace(t, dir)
			wantForgotten(t, s, founders)
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// wantForgotten holds a space in which the private contact was erased to have no trace of it, and
// its labels as before.
func wantForgotten(t *testing.T, s *Space, founders []article.Address) {
	t.Helper()
	const erased = "erased:0/17"
	labelled := 0
	for _, founder := range founders {
		c, ok, err := s.Find(founder)
		if err != nil || !ok {
			t.Fatal(ok, err)
		}
		if want := singlepass.NewContacts([]string{erased, shop}); c.Contacts != want {
			t.Fatalf("%s has contacts %q", founder, c.Contacts)
		}
		if strings.Contains(string(c.Labels), private) {
			t.Fatalf("%s has labels %s", founder, c.Labels)
		}
		for _, l := range c.Labels.All() {
			labelled++
			if l.Contact == "" && !slices.Equal(l.Marked, []string{erased, shop}) || l.Contact == private {
				t.Errorf("%s is labelled by %q, which marked %q", founder, l.Contact, l.Marked)
			}
		}
	}
	if labelled != 13 { // one by hand, and as many by each contact as a click reaches
		t.Errorf("%d clusters have a label", labelled)
	}
	v, err := s.View()
	if err != nil {
		t.Fatal(err)
	}
	defer v.Release()
	var marked []string
	err = v.Contacts(func(c *cluster.Contact) bool { marked = append(marked, c.Name); return true })
	if err != nil || !slices.Equal(marked, []string{shop}) {
		t.Errorf("marked are %q, %v", marked, err)
	}
	err = v.Shared(1, func(_, contact string, _ int, _ uint64) bool {
		if contact != shop {
			t.Errorf("clusters share %s", contact)
		}
		return true
	})
	if err != nil {
		t.Error(err)
	}
}

// A later text with an erased contact founds a cluster that has it, without a label: what was
// marked is forgotten. A label that is taken off a cluster takes back no more votes than it gave.
func TestAfterContactsAreErased(t *testing.T) {
	s, founders := privateSpace(t, filepath.Join(t.TempDir(), "space"))
	defer s.Close()
	erasePrivate(t, s, 1000)
	again := clustertest.Article(1000, 1, at(time.Minute))
	again.Fingerprint.Contacts = singlepass.NewContacts([]string{private})
	mustAssign(t, s, []fingerprint.Article{again})
	c, _, err := s.Find(again.Source)
	if err != nil || c.Labels != "" || !c.Contacts.Has(private) {
		t.Errorf("a later text: %q, %s, %v", c.Contacts, c.Labels, err)
	}
	do(t, s, []article.LabelRecord{{
		Action: article.AddLabel, Cluster: founders[50], Label: clustertest.Label("scam", 18),
	}}, true)
	if c, _, _ = s.Find(founders[50]); strings.Contains(string(c.Labels), `"marked":["erased`) {
		t.Errorf("a label marks an erased contact: %s", c.Labels)
	}
	before := votesOf(t, s)
	do(t, s, []article.LabelRecord{{
		Action: article.RemoveLabel, Cluster: founders[0], Label: clustertest.Label("spam", 20),
	}}, true)
	if after := votesOf(t, s); before != 360360 || after != 0 {
		t.Errorf("%d votes before, %d after", before, after)
	}
}

// votesOf returns the votes that the shop's contact has for spam.
func votesOf(t *testing.T, s *Space) int {
	t.Helper()
	c, _, err := s.store.Contact("", shop)
	if err != nil {
		t.Fatal(err)
	}
	return c.Marks.Of("spam", false).Votes
}

// What another instance erases is gone from the disk of an instance that follows.
func TestApplyErasedContact(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "space")
	s, founders := privateSpace(t, dir)
	defer s.Close()
	var changes []*Change
	for _, founder := range founders {
		c, _, err := s.Find(founder)
		if err != nil {
			t.Fatal(err)
		}
		c.EraseContact(private, cluster.Erased("labels/0/17"))
		changes = append(changes, &Change{Cluster: c, Stored: true, Erased: true})
	}
	gone := state.ContactChange{Contact: cluster.Contact{Name: private}}
	if err := s.Apply(slices.Values(changes), s.Meta(), &gone); err != nil {
		t.Fatal(err)
	}
	wantForgotten(t, s, founders)
	wait.Until(t, "the contact to be gone from disk", func() bool {
		return !holdsText(t, dir, "quartz7zebra")
	})
}
