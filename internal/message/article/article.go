// Package article holds the wire formats: what an input record must look like to be an
// article, and how results, clusters and dead letters are written. Bytes of a record go in,
// an [Article] or a [Rejection] comes out; a [Result] or a [Cluster] goes in, JSON comes out.
// It knows nothing of Kafka or of clustering.
package article

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// An Article is one input record, decoded.
type Article struct {
	ID          string    // the article's own id, or its [Address] where it has none
	Title       string    // may be empty
	Content     string    // may be empty
	Source      string    // who published it; may be empty
	Space       string    // the value of the field that divides what is compared; empty for none
	Copied      Copied    // what its result repeats of it
	PublishedAt time.Time // zero where the article does not say
	Notes       *Notes    // what was odd about it; nil for nothing
}

// An Address is the place of a record in Kafka. A cluster's id is the address of its founder, so
// a retry mints the same id.
type Address struct {
	Topic     string `json:"topic"`
	Partition int    `json:"partition"`
	Offset    int64  `json:"offset"`
}

// String writes the address as topic/partition/offset.
func (a Address) String() string {
	var buf [64]byte
	return string(a.AppendTo(buf[:0]))
}

// AppendTo appends what [Address.String] returns.
func (a Address) AppendTo(dst []byte) []byte {
	dst = append(append(dst, a.Topic...), '/')
	dst = append(strconv.AppendInt(dst, int64(a.Partition), 10), '/')
	return strconv.AppendInt(dst, a.Offset, 10)
}

// ParseAddress returns the address that s is: it is the inverse of [Address.String].
func ParseAddress(s string) (Address, error) {
	topic, place, found := strings.Cut(s, "/")
	first, second, alsoFound := strings.Cut(place, "/")
	if topic == "" || !found || !alsoFound || strings.Contains(second, "/") {
		return Address{}, fmt.Errorf("%q is not an address: want topic/partition/offset", s)
	}
	partition, err := strconv.ParseUint(first, 10, 31)
	if err != nil {
		return Address{}, fmt.Errorf("%q is not an address: partition: %w", s, err)
	}
	offset, err := strconv.ParseUint(second, 10, 63)
	if err != nil {
		return Address{}, fmt.Errorf("%q is not an address: offset: %w", s, err)
	}
	return Address{Topic: topic, Partition: int(partition), Offset: int64(offset)}, nil
}

// A Class says why a record is no article.
type Class string

// The classes of dead letters.
const (
	NullValue Class = "null_value" // the record has no value (a tombstone)
	BadJSON   Class = "bad_json"   // the value is not one JSON object
	// BadField is of an object whose title and content are of another type, or one is and the other is
	// not there.
	BadField Class = "bad_field"
	Empty    Class = "empty"     // there is a value, but neither title nor content in it
	TooLarge Class = "too_large" // the value is larger than input.max_bytes
	TooDeep  Class = "too_deep"  // the JSON is nested deeper than MaxDepth
	// BadBatch is no record, but the rest of a record batch that cannot be read: from the offset of
	// its address on.
	BadBatch Class = "bad_batch"
	// BadFingerprint is a record of the topic of fingerprinted articles that is none.
	BadFingerprint Class = "bad_fingerprint"
	BadLabel       Class = "bad_label" // a record of the topic of labels that asks for nothing
	// UnknownCluster is of a label for a cluster that is not there, or has expired.
	UnknownCluster Class = "unknown_cluster"
	TooManyLabels  Class = "too_many_labels" // the cluster has MaxLabels already
	// UnknownStory is of stories that cannot be merged or split: they are not there, or are one.
	UnknownStory Class = "unknown_story"
	// UnknownContact is of a label for a contact that cannot be taken off it, or that says that it is
	// harmless, though no label has marked it.
	UnknownContact Class = "unknown_contact"
	// BadDocument is a file that is one article, and cannot be read. It is in no record.
	BadDocument Class = "bad_document"
	// BadRow is a row of a CSV or TSV file that cannot be read. It is in no record.
	BadRow Class = "bad_row"
)

// Classes are all that a record of the input can have, LabelClasses those that only a record of the
// topic of labels has, and FingerprintClasses those that only one of the topic of fingerprinted
// articles has.
var (
	Classes            = []Class{NullValue, BadJSON, BadField, Empty, TooLarge, TooDeep, BadBatch}
	LabelClasses       = []Class{BadLabel, UnknownCluster, TooManyLabels, UnknownStory, UnknownContact}
	FingerprintClasses = []Class{BadFingerprint}
)

// A Rejection is the error of a record that is no article. It goes to the dead letters with its
// class and reason; it never stops the stream.
type Rejection struct {
	Class  Class
	Reason string // for a person: which field, what was found, what is allowed
}

func (r *Rejection) Error() string { return string(r.Class) + ": " + r.Reason }

func reject(class Class, format string, args ...any) *Rejection {
	return &Rejection{Class: class, Reason: fmt.Sprintf(format, args...)}
}

// A Member is an article of a cluster, as others are told of it.
type Member struct {
	ArticleID   string       `json:"article_id"`
	Position    uint64       `json:"position"`
	Source      Address      `json:"source"`
	Fingerprint *Fingerprint `json:"fingerprint,omitempty"` // nil if its result does not say it
	// Size is how many articles the cluster had with this one, 0 if its result does not say it.
	Size int `json:"size,omitempty"`
}
