package wire

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/twmb/franz-go/pkg/kgo"
)

// What a label record asks for.
const (
	ActionAdd     = "add"
	ActionRemove  = "remove"
	ActionResume  = "resume"
	ActionMerge   = "merge" // of stories
	ActionUnmerge = "unmerge"
	ActionSplit   = "split"
	ActionErase   = "erase" // of the text of an article, or of a contact
)

// What a label record is about.
const (
	TargetCluster = "cluster"
	TargetArticle = "article" // with the fingerprint of one, in its cluster
	TargetContact = "contact"
)

const (
	// MaxExceptions is for how many fingerprints a cluster may have exceptions.
	MaxExceptions = 64
	// MaxLabels is how many labels a cluster may have.
	MaxLabels = 8
	// MaxMarks is how many marks a contact may have.
	MaxMarks = 16

	maxLabelBytes     = 64
	maxNoteBytes      = 256
	maxLabelRecord    = 16 << 10
	lastMilliOfLabels = 253402300799999 // of the year 9999
)

// A LabelRecord is a record of the topic of labels.
type LabelRecord struct {
	ClusterID string `json:"cluster_id"` // empty with ActionResume
	Label     string `json:"label"`
	Action    string `json:"action"`
	By        string `json:"by"`
	At        int64  `json:"-"` // Unix milliseconds
	Note      string `json:"note"`
	Trial     bool   `json:"trial"`
	Target    string `json:"target"` // empty: TargetCluster
	// Of TargetArticle: the article.
	ArticleID   string `json:"article_id"`
	Source      string `json:"source"` // topic/partition/offset
	Position    int64  `json:"member_position"`
	Fingerprint string `json:"fingerprint"`
	// Of TargetContact: the contact, and where it is one.
	Contact   string `json:"contact"`
	Space     string `json:"space"`
	Partition int32  `json:"partition"`
	StoryID   string `json:"story_id"` // of ActionMerge and ActionUnmerge alone
	Other     string `json:"other"`    // likewise
	Words     []byte `json:"words"`    // of ActionSplit alone: the founder's
	Han       bool   `json:"han"`
	Terms     string `json:"terms"`
}

// OfStories reports whether the record merges stories, takes them apart or splits them.
func (l *LabelRecord) OfStories() bool {
	return l.Action == ActionMerge || l.Action == ActionUnmerge || l.Action == ActionSplit
}

// maxTerms is how many bytes the first words of a founder may have.
const maxTerms = 256

// checkStories holds a record about stories to its form.
func (l *LabelRecord) checkStories() error {
	id := l.ClusterID
	if l.Action != ActionSplit {
		if id = l.StoryID; !IsAddress(l.Other) {
			return fmt.Errorf("other %q", l.Other)
		}
	}
	if !IsAddress(id) || l.Label != "" || l.Trial || len(l.Terms) > maxTerms {
		return fmt.Errorf("action %s of %q with label %q", l.Action, id, l.Label)
	}
	l.ClusterID = id
	return nil
}

// checkErase holds a record that erases an article or a contact to its form.
func (l *LabelRecord) checkErase() error {
	if l.Target == TargetContact && l.Label == "" && !l.Trial {
		return l.checkTarget()
	}
	if l.Target != TargetArticle || !IsAddress(l.ClusterID) || !IsAddress(l.Source) || l.Label != "" ||
		l.Trial {
		return fmt.Errorf("action erase of target %q, %q, with label %q", l.Target, l.Source, l.Label)
	}
	return nil
}

// ParseLabelRecord reads a record of the topic of labels. Anybody may write there: an error is what
// makes it a dead letter of class [BadLabel].
func ParseLabelRecord(r *kgo.Record) (LabelRecord, error) {
	var v struct {
		LabelRecord
		At *time.Time `json:"at"`
	}
	if len(r.Value) > maxLabelRecord || !utf8.Valid(r.Value) {
		return v.LabelRecord, fmt.Errorf("more than %d bytes, or no UTF-8", maxLabelRecord)
	}
	if err := json.Unmarshal(r.Value, &v); err != nil {
		return v.LabelRecord, err
	}
	l := v.LabelRecord
	if l.Action == "" {
		l.Action = ActionAdd
	}
	l.At = min(max(0, r.Timestamp.UnixMilli()), lastMilliOfLabels)
	if v.At != nil {
		l.At = v.At.UnixMilli()
	}
	switch {
	case l.Action != ActionAdd && l.Action != ActionRemove && l.Action != ActionResume &&
		l.Action != ActionErase && !l.OfStories():
		return l, fmt.Errorf("action %q", l.Action)
	case l.Action == ActionResume && l.ClusterID != "":
		return l, errors.New("a cluster beside action resume")
	case len(l.By) > maxLabelBytes || len(l.Note) > maxNoteBytes:
		return l, errors.New("by or note is too long")
	case l.At < 0 || l.At > lastMilliOfLabels:
		return l, errors.New("at is not from 1970 to 9999")
	}
	if l.OfStories() {
		return l, l.checkStories()
	}
	if l.Action == ActionErase {
		return l, l.checkErase()
	}
	return l, cmp.Or(checkLabel(l.Label), l.checkTarget())
}

// checkTarget holds what a label record says of its target to its form.
func (l *LabelRecord) checkTarget() error {
	switch l.Target {
	case "", TargetCluster:
		return nil
	case TargetArticle:
		if _, err := parseFingerprint(l.Fingerprint); err != nil {
			return err
		}
		if !IsAddress(l.Source) || l.Position < 0 {
			return fmt.Errorf("source %q at member_position %d", l.Source, l.Position)
		}
		return nil
	case TargetContact:
		if l.Contact == "" || l.ClusterID != "" || strings.HasPrefix(l.Contact, erasedPrefix) {
			return fmt.Errorf("contact %q next to cluster %q", l.Contact, l.ClusterID)
		}
		return nil
	default:
		return fmt.Errorf("target %q", l.Target)
	}
}

// Print returns the fingerprint of the article of a record of [TargetArticle].
func (l *LabelRecord) Print() uint64 {
	print, _ := parseFingerprint(l.Fingerprint) // it was checked
	return print
}

func checkLabel(name string) error {
	if name == "" || len(name) > maxLabelBytes || strings.Contains(name, ",") ||
		strings.TrimSpace(name) != name || strings.ContainsFunc(name, unicode.IsControl) {
		return fmt.Errorf("label %q", name)
	}
	return nil
}

// A ClusterLabel is a label as the record of its cluster has it.
type ClusterLabel struct {
	Label    string    `json:"label"`
	By       string    `json:"by"`
	At       time.Time `json:"at"`
	Note     string    `json:"note"`
	Trial    bool      `json:"trial"`
	Record   string    `json:"record"`   // topic/partition/offset of the label record
	Position int64     `json:"position"` // from which on results carry it
	// Contact is by which contact of its founder the cluster has the label; empty where by hand.
	Contact string   `json:"contact"`
	Reach   int64    `json:"reach"`  // how many of its articles carry it then; 0 is all
	Marked  []string `json:"marked"` // contacts that a label by hand has marked
}

// An Exception is the labels of the articles of a cluster that have a fingerprint, as the record of
// the cluster has them.
type Exception struct {
	Source      string         `json:"source"`
	ArticleID   string         `json:"article_id"`
	Fingerprint string         `json:"fingerprint"`
	Labels      []ClusterLabel `json:"labels"`
}

// Print returns the fingerprint, or an error unless it has the form of one.
func (e *Exception) Print() (uint64, error) { return parseFingerprint(e.Fingerprint) }

// A Correction is a record of the topic of corrections: a member that came before a change of what
// its cluster carries.
type Correction struct {
	Change
	ArticleID      string `json:"article_id"`
	MemberPosition int64  `json:"member_position"`
	Source         struct {
		Topic     string `json:"topic"`
		Partition int32  `json:"partition"`
		Offset    int64  `json:"offset"`
	} `json:"source"`
}

// A Change is what a label record changed of what a cluster carries.
type Change struct {
	ClusterID string    `json:"cluster_id"`
	Label     string    `json:"label"`
	Action    string    `json:"action"`
	Labels    []string  `json:"labels"` // from then on
	By        string    `json:"by"`
	At        time.Time `json:"at"`
	Note      string    `json:"note"`
	Position  int64     `json:"position"` // from which on results carry it
	Record    string    `json:"record"`   // topic/partition/offset of the label record
	Contact   string    `json:"contact"`  // by which the cluster got the label or lost it
	Target    string    `json:"target"`   // TargetArticle of an exception; else empty or TargetCluster
}

// ParseCorrection reads the record of a correction. Its key must be its cluster.
func ParseCorrection(r *kgo.Record) (Correction, error) {
	var c Correction
	err := json.Unmarshal(r.Value, &c)
	if err == nil && (c.Labels == nil || string(r.Key) != c.ClusterID) {
		err = fmt.Errorf("no labels, or cluster_id %q under the key %q", c.ClusterID, r.Key)
	}
	return c, err
}

// A LabelProgress is what a checkpoint says of labels.
type LabelProgress struct {
	Topic       string              `json:"topic"`
	Offsets     map[int32]int64     `json:"offsets"` // the first that were not read
	Flood       map[string]Flood    `json:"flood"`   // by label
	Corrections []PendingCorrection `json:"corrections"`
	Due         []Due               `json:"due"`
	Since       int64               `json:"since"` // the position up to which labels were off, 0 for never
}

// A Due is a contact whose clusters are not in step with its marks yet.
type Due struct {
	Contact string `json:"contact"`
	Space   string `json:"space"`
}

// A Flood is what a checkpoint says of how often a label hits. Earlier versions left a label
// out of results that hit too often.
type Flood struct {
	Suspended bool `json:"suspended"`
}

// A PendingCorrection is a change of which the members from a position on have no correction yet.
type PendingCorrection struct {
	Change
	Next int64 `json:"next"`
}

// IsAddress reports whether a text is topic/partition/offset as they are written, of any topic.
func IsAddress(text string) bool {
	topic, _, _ := strings.Cut(text, "/")
	a, err := ParseAddress(text, topic)
	return topic != "" && err == nil && a.In(topic) == text
}
