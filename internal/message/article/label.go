package article

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// The limits of labels.
const (
	// MaxLabels is how many labels a cluster has at most.
	MaxLabels = 8
	// MaxLabelRecordBytes is how long the value of a label record may be.
	MaxLabelRecordBytes = 16 << 10

	maxLabelName = 64  // bytes of a label
	maxLabelBy   = 64  // bytes that say who set it
	maxLabelNote = 256 // bytes of a note
	// maxLabelTime is the end of the year 9999 in Unix milliseconds, the last that RFC 3339 writes.
	maxLabelTime = 253402300799999
)

// A Label is a label of a cluster, as the cluster's record has it.
type Label struct {
	Name  string    `json:"label"`
	By    string    `json:"by,omitempty"` // who set it
	At    time.Time `json:"at"`           // when, in UTC and whole milliseconds
	Note  string    `json:"note,omitempty"`
	Trial bool      `json:"trial,omitempty"` // results carry it apart, and it has no effect
	// Record is the address of the label record that set it.
	Record string `json:"record"`
	// Position is that of the first article whose result may carry it.
	Position uint64 `json:"position"`
	// Contact is the contact of the founder by which the cluster has the label; empty where somebody
	// has labelled the cluster. By, At, Note and Record then are of the last label on that contact.
	Contact string `json:"contact,omitempty"`
	// Reach is, of a label by a contact on a cluster that is younger than the mark, how many articles
	// of the cluster carry it; 0 is all.
	Reach int `json:"reach,omitempty"`
	// Marked are the contacts of the founder that this label has marked.
	Marked []string `json:"marked,omitempty"`
}

// A LabelledBy is a label that a result carries by a contact.
type LabelledBy struct {
	Label   string `json:"label"`
	Trial   bool   `json:"trial,omitempty"`
	Contact string `json:"contact"`
}

// Check returns an error for a label that no record can have set.
func (l *Label) Check() error {
	if err := CheckLabelName(l.Name); err != nil {
		return err
	}
	if err := checkMarks(l.By, l.Note); err != nil {
		return err
	}
	if _, err := ParseAddress(l.Record); err != nil {
		return fmt.Errorf("record: %w", err)
	}
	at, err := labelTime(l.At)
	if err == nil && at != l.At {
		err = errors.New("at is not UTC in whole milliseconds")
	}
	return err
}

// An Action is what a label record asks for.
type Action string

// The actions.
const (
	AddLabel    Action = "add"
	RemoveLabel Action = "remove"
	// ResumeLabel does nothing. In earlier versions it let a label count again that was suspended.
	ResumeLabel Action = "resume"
	// MergeStories makes the younger of two stories part of the older one, UnmergeStories takes it out
	// again, and SplitStory takes a cluster out of its story, to found one of its own.
	MergeStories   Action = "merge"
	UnmergeStories Action = "unmerge"
	SplitStory     Action = "split"
)

// OfStories reports whether the action is of stories, and of no label.
func (a Action) OfStories() bool {
	return a == MergeStories || a == UnmergeStories || a == SplitStory
}

// A LabelRecord is a record of the topic of labels: somebody puts a label on a cluster, an article
// or a contact, or takes it off.
type LabelRecord struct {
	Cluster Address // the founder; zero for [ResumeLabel] and [TargetContact]
	Action  Action
	Label   // as the cluster gets it, but for its Position
	Targeted
	// Of MergeStories and UnmergeStories: Cluster is the address of a story, and Other the id of the
	// other one.
	Other string
	// Of SplitStory, for the new story: the words of the founder, as package story has the vector of
	// an article, whether most of them are Chinese, and the first ones. Without them nothing joins it.
	Words string
	Han   bool
	Terms string
}

// ParseLabelRecord reads a record of the topic of labels, which stands at this address and was
// written at this time. Anybody may have written it. The rejection is of class [BadLabel].
func ParseLabelRecord(value []byte, recorded time.Time, at Address) (LabelRecord, *Rejection) {
	switch {
	case value == nil:
		return LabelRecord{}, reject(BadLabel, "the record has no value")
	case len(value) > MaxLabelRecordBytes:
		return LabelRecord{}, reject(BadLabel, "the value is larger than %d bytes", MaxLabelRecordBytes)
	case !utf8.Valid(value):
		return LabelRecord{}, reject(BadLabel, "the value is not UTF-8")
	}
	var wire labelRecord
	if err := json.Unmarshal(value, &wire); err != nil {
		return LabelRecord{}, reject(BadLabel, "no JSON object of a label: %.200s", err)
	}
	r, err := wire.record(recorded)
	if err != nil {
		return LabelRecord{}, reject(BadLabel, "%s", err)
	}
	r.Record = at.String()
	return r, nil
}

// labelRecord is the value of a label record.
type labelRecord struct {
	ClusterID string     `json:"cluster_id"`
	Label     string     `json:"label"`
	Action    Action     `json:"action"`
	By        string     `json:"by"`
	At        *time.Time `json:"at"`
	Note      string     `json:"note"`
	Trial     bool       `json:"trial"`
	StoryID   string     `json:"story_id"`
	Other     string     `json:"other"`
	Words     []byte     `json:"words"`
	Han       bool       `json:"han"`
	Terms     string     `json:"terms"`
	targetWire
}

// maxTerms is how many bytes the first words of a founder may have.
const maxTerms = 256

// story reads a record that is of stories.
func (w *labelRecord) story(r LabelRecord) (LabelRecord, error) {
	id, field := w.ClusterID, "cluster_id"
	if r.Action != SplitStory {
		id, field = w.StoryID, "story_id"
		if other, err := ParseAddress(w.Other); err != nil || other.String() != w.Other {
			return r, fmt.Errorf("other: %.80q is no id of a story", w.Other)
		}
		r.Other = w.Other
	}
	var err error
	if r.Cluster, err = ParseAddress(id); err != nil || r.Cluster.String() != id {
		return r, fmt.Errorf("%s: %.80q is not topic/partition/offset", field, id)
	}
	if w.Label != "" || w.Trial {
		return r, fmt.Errorf("action %s is of stories, and has no label", r.Action)
	}
	if len(w.Terms) > maxTerms {
		return r, fmt.Errorf("terms has %d bytes, at most %d are allowed", len(w.Terms), maxTerms)
	}
	if r.Action == SplitStory {
		r.Words, r.Han, r.Terms = string(w.Words), w.Han, w.Terms
	}
	return r, nil
}

func (w *labelRecord) record(recorded time.Time) (r LabelRecord, err error) {
	r.Name, r.By, r.Note, r.Trial = w.Label, w.By, w.Note, w.Trial
	if r.Action = w.Action; r.Action == "" {
		r.Action = AddLabel
	}
	if err := CheckLabelName(w.Label); err != nil && !r.Action.OfStories() &&
		r.Action != Erase {
		return r, err
	}
	if err := checkMarks(w.By, w.Note); err != nil {
		return r, err
	}
	if w.At == nil {
		// A record without a time is from before 1970.
		w.At = new(time.UnixMilli(min(max(0, recorded.UnixMilli()), maxLabelTime)))
	}
	if r.At, err = labelTime(*w.At); err != nil {
		return r, err
	}
	if r.Action == Erase {
		return w.erase(r)
	}
	if r.Targeted, err = w.read(r.Action); err != nil {
		return r, err
	}
	switch r.Action {
	case MergeStories, UnmergeStories, SplitStory:
		return w.story(r)
	case ResumeLabel:
		if w.ClusterID != "" {
			return r, fmt.Errorf("action %s is of a label, and has no cluster_id", r.Action)
		}
		return r, nil
	case AddLabel, RemoveLabel:
		if r.Target == TargetContact {
			return r, nil
		}
	default:
		return r, fmt.Errorf("action %.80q: there are %s, %s, %s, %s, %s, %s and %s", r.Action, AddLabel,
			RemoveLabel, ResumeLabel, MergeStories, UnmergeStories, SplitStory, Erase)
	}
	if r.Cluster, err = ParseAddress(w.ClusterID); err == nil && r.Cluster.String() != w.ClusterID {
		err = fmt.Errorf("%.80q is not written as topic/partition/offset are", w.ClusterID)
	}
	if err != nil {
		return r, fmt.Errorf("cluster_id: %.300w", err)
	}
	return r, nil
}

// CheckLabelName returns an error for a name that no label can have.
func CheckLabelName(name string) error {
	switch {
	case name == "" || len(name) > maxLabelName:
		return fmt.Errorf("label has %d bytes, and 1 to %d are allowed", len(name), maxLabelName)
	case !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl) ||
		strings.ContainsRune(name, ',') || strings.TrimSpace(name) != name:
		return fmt.Errorf("label %q: control characters, commas, and white space around it are not "+
			"allowed", name)
	}
	return nil
}

// checkMarks returns an error for marks beside a label that are too long.
func checkMarks(by, note string) error {
	if len(by) > maxLabelBy || len(note) > maxLabelNote {
		return fmt.Errorf("by has %d bytes, and note %d: at most %d and %d are allowed", len(by),
			len(note), maxLabelBy, maxLabelNote)
	}
	if !utf8.ValidString(by) || !utf8.ValidString(note) {
		return errors.New("by or note is not UTF-8")
	}
	return nil
}

// labelTime returns a time in UTC and whole milliseconds.
func labelTime(at time.Time) (time.Time, error) {
	ms := at.UnixMilli()
	if ms < 0 || ms > maxLabelTime {
		return time.Time{}, errors.New("at is not from the years 1970 to 9999")
	}
	return time.UnixMilli(ms).UTC(), nil
}

// AppendLabels appends labels as a JSON array, as the record of a cluster has them.
func AppendLabels(dst []byte, labels []Label) []byte { return appendPlain(dst, labels) }

// appendPlain appends v as encoding/json writes it, but with <, > and & as they are.
func appendPlain(dst []byte, v any) []byte {
	b := bytes.NewBuffer(dst)
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic("article: " + err.Error()) // texts, numbers, and times that were checked always can be
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// A LabelChange is a change of the labels that a cluster carries, by a label record.
type LabelChange struct {
	ClusterID string    `json:"cluster_id"`
	Label     string    `json:"label"`
	Action    Action    `json:"action"`
	Labels    []string  `json:"labels"` // that it carries from then on; empty, not nil, for none
	By        string    `json:"by"`
	At        time.Time `json:"at"`
	Note      string    `json:"note,omitempty"`
	Position  uint64    `json:"position"` // of the first article that the change counts for
	Record    string    `json:"record"`   // the address of the label record
	// Contact is that by which the cluster got the label, or lost it; empty where somebody labelled
	// the cluster.
	Contact string `json:"contact,omitempty"`
	// Target is [TargetArticle] if the change is of one article alone.
	Target Target `json:"target,omitempty"`
}

// A Correction tells of a member that came before a change of its cluster's labels.
type Correction struct {
	ArticleID string `json:"article_id"`
	LabelChange
	MemberPosition uint64  `json:"member_position"`
	Source         Address `json:"source"` // of the member
}

// AppendJSON appends the value of the record of a correction.
func (c *Correction) AppendJSON(dst []byte) []byte { return appendPlain(dst, c) }

// ParseCorrection reads what [Correction.AppendJSON] wrote.
func ParseCorrection(value []byte) (Correction, error) {
	var c Correction
	if err := json.Unmarshal(value, &c); err != nil {
		return Correction{}, fmt.Errorf("not a correction: %w", err)
	}
	return c, nil
}
