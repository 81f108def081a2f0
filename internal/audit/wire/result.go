package wire

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// How a result says that its article joined.
const (
	MatchedText      = "text"
	MatchedContained = "contained"
	MatchedContact   = "contact"
)

// The status of a result.
const (
	StatusNew         = "new"
	StatusJoined      = "joined"
	StatusUnclustered = "unclustered"
)

// A Result is the value of a result.
type Result struct {
	ArticleID       string          `json:"article_id"`
	ClusterID       *string         `json:"cluster_id"`
	Status          string          `json:"status"`
	Distance        *float64        `json:"distance"`
	Matched         string          `json:"matched"`
	Contact         string          `json:"contact"`
	Size            int64           `json:"size"`
	StoryID         string          `json:"story_id"`
	StorySimilarity Similarity      `json:"story_similarity"`
	Representative  *Representative `json:"representative"`
	Labels          []string        `json:"labels"`
	TrialLabels     []string        `json:"trial_labels"`
	LabelledBy      []LabelledBy    `json:"labelled_by"`
	Fingerprint     *string         `json:"fingerprint"`
	PublishedAt     *time.Time      `json:"published_at"`
	Publisher       string          `json:"publisher"`
	Space           string          `json:"space"`
	Copied          json.RawMessage `json:"copied"`
	Signals         *Signals        `json:"signals"`
	Pipeline        string          `json:"pipeline"`
	Source          struct {
		Topic     string `json:"topic"`
		Partition int32  `json:"partition"`
		Offset    int64  `json:"offset"`
	} `json:"source"`
	// Unknown is a field of the value that no result has, empty if there is no such field.
	Unknown string `json:"-"`
}

// A LabelledBy is a label that a result carries by a contact of its cluster's founder.
type LabelledBy struct {
	Label   string `json:"label"`
	Contact string `json:"contact"`
	Trial   bool   `json:"trial"`
}

// CheckLabels returns an error unless labels are sorted, and each is there once.
func CheckLabels(labels []string) error {
	for i := 1; i < len(labels); i++ {
		if labels[i-1] >= labels[i] {
			return fmt.Errorf("labels %q are not sorted, or one is there twice", labels)
		}
	}
	return nil
}

// ParseResult reads a value. Only the status is checked.
func ParseResult(value []byte) (Result, error) {
	var r Result
	unknown, err := decodeKnown(value, &r)
	r.Unknown = unknown
	known := r.Status == StatusNew || r.Status == StatusJoined || r.Status == StatusUnclustered
	if err == nil && !known {
		err = fmt.Errorf("status %q", r.Status)
	}
	return r, err
}

// Address returns the input record in its topic.
func (r *Result) Address() Address { return Address{r.Source.Partition, r.Source.Offset} }

// SourceID returns the input record as keys have it.
func (r *Result) SourceID() string { return r.Address().In(r.Source.Topic) }

// ID returns what stands as cluster id, also when there is none.
func (r *Result) ID() string {
	if r.ClusterID == nil {
		return "null"
	}
	return *r.ClusterID
}

// Key returns the key that output.key: cluster gives the result: its cluster's id, and without one
// that of its record.
func (r *Result) Key() string {
	if r.ClusterID != nil {
		return *r.ClusterID
	}
	return r.SourceID()
}

// Unclustered returns the position in the result of an article without a token, or an error unless
// it has the form of one. Earlier versions wrote no position.
func (r *Result) Unclustered(record *kgo.Record) (position int64, ok bool, err error) {
	if r.ClusterID != nil || r.Distance != nil || r.Fingerprint != nil || r.Size != 0 ||
		r.Representative != nil || r.Matched != "" || r.Contact != "" || r.Labels != nil ||
		r.TrialLabels != nil || r.LabelledBy != nil || r.Signals != nil {
		return 0, false, errors.New("cluster, distance, fingerprint, size, representative, labels, " +
			"signals or what matched on an unclustered result")
	}
	if CheckOwnHeaders(record, HeaderSource) == nil {
		return 0, false, nil
	}
	if err := CheckResultHeaders(record); err != nil {
		return 0, false, err
	}
	position, err = NumberHeader(record, HeaderPosition)
	return position, true, err
}

// CheckResultHeaders returns an error unless a result has clusterd's own headers, each once.
func CheckResultHeaders(record *kgo.Record) error {
	return CheckOwnHeaders(record, HeaderSource, HeaderPosition, HeaderEventTime)
}

// CheckParts returns an error unless the result of a clustered article has the parts that it may
// not leave out.
func (r *Result) CheckParts(mayLack func(part string) bool) error {
	for _, part := range []struct {
		name string
		has  bool
	}{
		{"fingerprint", r.Fingerprint != nil},
		{"representative", r.Representative != nil},
	} {
		if !part.has && !mayLack(part.name) {
			return errors.New("a clustered result without " + part.name)
		}
	}
	return nil
}

// An Assignment is what the result of a clustered article says of its cluster.
type Assignment struct {
	Cluster     Address // the founder
	Distance    float64 // 0 by a contact
	Fingerprint uint64  // 0 where it is left out
	EventTime   int64   // Unix milliseconds
	Position    int64
}

// Assignment reads what is neither null nor missing in the result of a clustered article.
func (r *Result) Assignment(record *kgo.Record, input string) (a Assignment, err error) {
	byContact := r.Matched == MatchedContact
	if r.ClusterID == nil || r.Distance == nil != byContact {
		return a, errors.New("a clustered result without cluster, or without a distance that is not by " +
			"a contact")
	}
	switch r.Matched {
	case "", MatchedText, MatchedContained, MatchedContact:
	default:
		return a, fmt.Errorf("matched %q", r.Matched)
	}
	if (r.Contact != "") != byContact {
		return a, fmt.Errorf("matched %q, with contact %q", r.Matched, r.Contact)
	}
	if r.Distance != nil {
		a.Distance = *r.Distance
	}
	if a.Cluster, err = ParseAddress(*r.ClusterID, input); err != nil {
		return a, fmt.Errorf("cluster id %w", err)
	}
	if r.Fingerprint != nil {
		if a.Fingerprint, err = parseFingerprint(*r.Fingerprint); err != nil {
			return a, err
		}
	}
	if a.EventTime, err = NumberHeader(record, HeaderEventTime); err != nil {
		return a, err
	}
	a.Position, err = NumberHeader(record, HeaderPosition)
	return a, err
}
