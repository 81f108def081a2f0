package label

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/clusterd/clusterd/internal/message/article"
)

// Vote is a whole vote in the unit of [Mark.Votes]. One divided by 1 to 16, the number of contacts
// that a text may have, is exact.
const Vote = 720720

// Common is how many live clusters without a label make a contact common, until more have been
// clicked.
const Common = 3

const (
	// firstReach is for how many clusters one click is good, and more clicks are for laterReach times
	// as many as the contact has labelled.
	firstReach, laterReach = 6, 3
	// maxPeople is how many of those who clicked last a mark names.
	maxPeople = 8
	// exceptedVote is how many clusters with a harmless article take a vote: as many as one click is
	// good for.
	exceptedVote = firstReach
)

// A Mark is what is known of a label on a contact. A text that founds a cluster and has a marked
// contact gets the label from its first day on.
type Mark struct {
	Name  string `json:"label"`
	Trial bool   `json:"trial,omitempty"`
	// Votes are those for the label, in parts of [Vote]: a click on a text gives each of its n
	// contacts an nth.
	Votes int `json:"votes"`
	// Clicks counts the labels by hand on clusters whose founder has the contact. A click that gave no
	// vote, since the contact was common, counts, too.
	Clicks int `json:"clicks"`
	Hams   int `json:"hams,omitempty"` // how often somebody said that the contact is harmless
	// Excepted counts clusters that had the label by the contact when somebody said that one of their
	// articles is harmless.
	Excepted int    `json:"excepted,omitempty"`
	Reach    int    `json:"reach"` // how many clusters it may label
	Used     int    `json:"used"`  // how many it has labelled
	Last     uint64 `json:"last"`  // seq of the cluster that was clicked or labelled last
	// Clicked and Harmless are the last ones who marked it, and who said that it is harmless.
	Clicked  []By `json:"clicked,omitempty"`
	Harmless []By `json:"harmless,omitempty"`
}

// By is who did something to a mark, when, and with which record.
type By struct {
	By     string    `json:"by,omitempty"`
	At     time.Time `json:"at"`
	Note   string    `json:"note,omitempty"`
	Record string    `json:"record"`
	// ClusterID is the cluster that was labelled, empty for the contact itself. Label is the name of
	// the label of who said that the contact is harmless.
	ClusterID string `json:"cluster_id,omitempty"`
	Label     string `json:"label,omitempty"`
}

func by(l *article.Label) By { return By{By: l.By, At: l.At, Note: l.Note, Record: l.Record} }

// strong reports whether a contact labels from any vote on: a number, a name or a code is of one
// person. Many people share a site, a page or a mail address.
func strong(contact string) bool {
	kind, _, _ := strings.Cut(contact, ":")
	return kind == "number" || kind == "name" || kind == "code"
}

// Counts reports whether the mark of a contact labels clusters.
func (m *Mark) Counts(contact string) bool {
	return m.Votes > m.against() && (strong(contact) || m.Votes >= Vote/2)
}

// against returns the votes against the mark.
func (m *Mark) against() int { return Vote * (m.Hams + m.Excepted/exceptedVote) }

// MayLabel reports whether the mark of a contact may label one more cluster.
func (m *Mark) MayLabel(contact string) bool { return m.Counts(contact) && m.Used < m.Reach }

// Empty reports whether nothing speaks for the mark or against it.
func (m *Mark) Empty() bool { return m.Votes <= 0 && m.Hams == 0 && m.Clicks <= 0 }

// Pass counts a click that does not mark the contact, since it is common.
func (m *Mark) Pass(seq uint64) {
	m.Clicks++
	m.Last = seq
}

// Click marks a contact with a share of a vote, for a label that somebody put on a cluster.
func (m *Mark) Click(votes int, l *article.Label, seq uint64) {
	m.Votes += votes
	m.Clicks++
	m.Reach = max(m.Reach, m.Used+max(firstReach, laterReach*m.Used))
	m.Last = seq
	m.Clicked = last(m.Clicked, by(l))
}

// ClickContact does what Click does, for a label that somebody put on the contact itself, which
// this many clusters without labels have: all get the label, and some later ones.
func (m *Mark) ClickContact(l *article.Label, seq uint64, clusters int) {
	m.Click(Vote, l, seq)
	m.Reach = max(m.Reach, m.Used+clusters+firstReach)
}

// Unclick takes back what a click with a label did.
func (m *Mark) Unclick(votes int, l *article.Label) {
	m.Votes = max(0, m.Votes-votes)
	m.Clicks = max(0, m.Clicks-1)
	m.Clicked = slices.DeleteFunc(slices.Clone(m.Clicked),
		func(b By) bool { return b.Record == l.Record })
}

// Harm takes a vote, since somebody says that the contact is harmless; unharm gives it back.
func (m *Mark) Harm(l *article.Label) {
	m.Hams++
	b := by(l)
	b.Label = l.Name
	m.Harmless = last(m.Harmless, b)
}

// Unharm takes back what the last Harm did.
func (m *Mark) Unharm() {
	if m.Hams > 0 {
		m.Hams--
		m.Harmless = m.Harmless[:max(0, min(m.Hams, len(m.Harmless)-1))]
	}
}

// Except counts one more cluster with an article that is harmless, or takes one back.
func (m *Mark) Except(clusters int) { m.Excepted = max(0, m.Excepted+clusters) }

// Use has the mark label a cluster, and returns the label.
func (m *Mark) Use(contact string, seq, position uint64) article.Label {
	m.Used++
	m.Last = seq
	l := article.Label{Name: m.Name, Trial: m.Trial, Contact: contact, Position: position}
	if n := len(m.Clicked); n > 0 {
		b := m.Clicked[n-1]
		l.By, l.At, l.Note, l.Record = b.By, b.At, b.Note, b.Record
	}
	return l
}

func last(all []By, next By) []By {
	all = append(slices.Clone(all), next)
	return all[max(0, len(all)-maxPeople):]
}

// Enough is how many live clusters without a label make a contact common for one more click. More
// clicks do not outvote these clusters once somebody has said that the contact is harmless.
func (m *Mark) Enough() int {
	if m.Hams > 0 {
		return Common
	}
	return max(Common, m.Clicks+1)
}

// Marks are those of a contact, in the order of their labels, the real one before that on trial.
type Marks []Mark

func compareMarks(a Mark, b Mark) int {
	return cmp.Or(strings.Compare(a.Name, b.Name), compareTrial(a.Trial, b.Trial))
}

func compareTrial(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	default:
		return 1
	}
}

// Of returns the mark of a label, empty where there is none.
func (all Marks) Of(name string, trial bool) Mark {
	m := Mark{Name: name, Trial: trial}
	if at, ok := slices.BinarySearchFunc(all, m, compareMarks); ok {
		return all[at]
	}
	return m
}

// With returns the marks with this one in place of that of the same label, or without it where
// nothing is left of it.
func (all Marks) With(m Mark) Marks {
	at, found := slices.BinarySearchFunc(all, m, compareMarks)
	next := slices.Clone(all)
	if found {
		next = slices.Delete(next, at, at+1)
	}
	if m.Empty() {
		return next
	}
	return slices.Insert(next, at, m)
}

// MaxMarks is how many labels a contact has at most.
const MaxMarks = 2 * article.MaxLabels

// Check returns an error for marks that no clusterd can have made.
func (all Marks) Check() error {
	if len(all) == 0 || len(all) > MaxMarks {
		return fmt.Errorf("%d marks: 1 to %d are possible", len(all), MaxMarks)
	}
	for i := range all {
		m := &all[i]
		if err := article.CheckLabelName(m.Name); err != nil {
			return err
		}
		switch {
		case i > 0 && compareMarks(all[i-1], *m) >= 0:
			return errors.New("marks are not in order")
		case min(m.Votes, m.Clicks, m.Hams, m.Excepted, m.Used, m.Reach) < 0 || m.Empty():
			return fmt.Errorf("the mark %q: a number in it is below zero, or it has neither votes nor hams",
				m.Name)
		case len(m.Clicked) > maxPeople || len(m.Harmless) > maxPeople:
			return fmt.Errorf("the mark %q names more than %d people", m.Name, maxPeople)
		}
	}
	return nil
}
