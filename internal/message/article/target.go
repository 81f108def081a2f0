package article

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// A Target is what a label record labels.
type Target string

// The targets. A record that names no target labels a cluster, as one does that names "cluster".
const (
	TargetCluster Target = "" // all articles of the cluster
	// TargetArticle is one article of a cluster, and those that are equal to it: its exception.
	TargetArticle Target = "article"
	TargetContact Target = "contact" // a contact, such as a telephone number
)

// clusterTarget is how a record may name [TargetCluster].
const clusterTarget = "cluster"

// maxContactBytes is how long a contact may be.
const maxContactBytes = 96

// maxMemberPosition is the last position that every reader of JSON reads exactly.
const maxMemberPosition = 1<<53 - 1

// A Targeted is what a label record says of its target if that is no cluster.
type Targeted struct {
	Target Target

	// Of an article, as its result has them.
	ArticleID      string
	Source         Address
	MemberPosition uint64 // its position
	Fingerprint    Fingerprint

	// Of a contact.
	Contact   string // such as number:+447700900123
	Space     string // with cluster.scope_field: the value to which it belongs
	Partition int    // with cluster.scope partition: the one of the input to which it belongs
}

// targetWire is what the value of a label record says of its target.
type targetWire struct {
	Target         Target       `json:"target"`
	ArticleID      string       `json:"article_id"`
	Source         string       `json:"source"`
	MemberPosition *int64       `json:"member_position"`
	Fingerprint    *Fingerprint `json:"fingerprint"`
	Contact        string       `json:"contact"`
	Space          string       `json:"space"`
	Partition      *int32       `json:"partition"`
}

// read reads what a record for one label, with this action, says of its target.
func (w *targetWire) read(action Action) (t Targeted, err error) {
	switch w.Target {
	case TargetCluster, clusterTarget:
		return Targeted{}, nil
	case TargetArticle, TargetContact:
	default:
		return t, fmt.Errorf("target %.80q: there are %s, %s and %s", w.Target, clusterTarget,
			TargetArticle, TargetContact)
	}
	if action != AddLabel && action != RemoveLabel {
		return t, fmt.Errorf("target %s is for actions %s and %s, and not for %s", w.Target, AddLabel,
			RemoveLabel, action)
	}
	if w.Target == TargetArticle {
		return w.article()
	}
	return w.contact()
}

func (w *targetWire) article() (t Targeted, err error) {
	t = Targeted{Target: TargetArticle, ArticleID: w.ArticleID}
	switch {
	case w.ArticleID == "" || len(w.ArticleID) > MaxIDBytes:
		return t, fmt.Errorf("article_id has %d bytes, and 1 to %d are allowed", len(w.ArticleID),
			MaxIDBytes)
	case w.MemberPosition == nil || *w.MemberPosition < 0 || *w.MemberPosition > maxMemberPosition:
		return t, errors.New("member_position: it is missing, or no position of an article")
	case w.Fingerprint == nil:
		return t, errors.New("fingerprint: it is missing; the result of the article has it")
	}
	if t.Source, err = addressIn("source", w.Source); err != nil {
		return t, err
	}
	t.MemberPosition, t.Fingerprint = uint64(*w.MemberPosition), *w.Fingerprint
	return t, nil
}

// addressIn reads the address in a field of a label record.
func addressIn(field, text string) (Address, error) {
	a, err := ParseAddress(text)
	if err != nil || a.String() != text {
		return a, fmt.Errorf("%s: %.300q is not topic/partition/offset", field, text)
	}
	return a, nil
}

func (w *targetWire) contact() (t Targeted, err error) {
	t = Targeted{Target: TargetContact, Contact: w.Contact, Space: w.Space}
	if err := CheckContact(w.Contact); err != nil {
		return t, err
	}
	if len(w.Space) > MaxSpaceBytes {
		return t, fmt.Errorf("space has %d bytes, at most %d are allowed", len(w.Space), MaxSpaceBytes)
	}
	if w.Partition != nil {
		if t.Partition = int(*w.Partition); t.Partition < 0 {
			return t, fmt.Errorf("partition: %d is below zero", t.Partition)
		}
	}
	return t, nil
}

// ErasedContact is the kind of contacts that somebody has erased.
const ErasedContact = "erased"

// CheckContact returns an error for what cannot be a contact.
func CheckContact(contact string) error {
	kind, value, found := strings.Cut(contact, ":")
	if kind == ErasedContact {
		return fmt.Errorf("contact: %.120q was erased", contact)
	}
	control := func(r rune) bool { return r <= ' ' || r == 0x7f }
	if !found || kind == "" || value == "" || len(contact) > maxContactBytes ||
		!utf8.ValidString(contact) || strings.ContainsFunc(contact, control) {
		return fmt.Errorf("contact: %.120q is no contact such as number:+447700900123: a kind, a colon "+
			"and a value without white space, at most %d bytes", contact, maxContactBytes)
	}
	return nil
}

// MaxExceptions is how many exceptions a cluster has at most.
const MaxExceptions = 64

// An Exception is the labels of the articles of a cluster that have one fingerprint. It names the
// article that somebody labelled first.
type Exception struct {
	Source         string      `json:"source"` // address of its record in the input
	ArticleID      string      `json:"article_id"`
	MemberPosition uint64      `json:"member_position"`
	Fingerprint    Fingerprint `json:"fingerprint"`
	Labels         []Label     `json:"labels"` // in order, as those of a cluster
}

// Check returns an error for an exception that no label record can have made. Its labels are for
// others to check.
func (e *Exception) Check() error {
	_, err := ParseAddress(e.Source)
	switch {
	case err != nil:
		return fmt.Errorf("source: %w", err)
	case e.ArticleID == "" || len(e.ArticleID) > MaxIDBytes:
		return fmt.Errorf("article_id has %d bytes", len(e.ArticleID))
	case e.MemberPosition > maxMemberPosition:
		return fmt.Errorf("member_position %d is no position", e.MemberPosition)
	}
	return nil
}

// AppendExceptions appends exceptions as a JSON array, as the record of a cluster has them.
func AppendExceptions(dst []byte, all []Exception) []byte { return appendPlain(dst, all) }
