package wire

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/twmb/franz-go/pkg/kgo"
)

// BadBatch is the class of the rest of a record batch that cannot be read.
const BadBatch = "bad_batch"

// The classes of label records.
const (
	BadLabel       = "bad_label"
	UnknownCluster = "unknown_cluster"
	TooManyLabels  = "too_many_labels"
	UnknownStory   = "unknown_story"
	UnknownContact = "unknown_contact"
)

// Classes returns the classes of dead letters.
func Classes() []string {
	return []string{"null_value", "bad_json", "bad_field", "empty", "too_large", "too_deep", BadBatch}
}

// LabelClasses returns the classes that label records have alone.
func LabelClasses() []string {
	return []string{BadLabel, UnknownCluster, TooManyLabels, UnknownStory, UnknownContact}
}

func allClasses() []string { return slices.Concat(Classes(), LabelClasses()) }

// ClassIndex returns the index of a class among [Classes] and [LabelClasses], or one beyond them.
func ClassIndex(class string) uint8 {
	if i := slices.Index(allClasses(), class); i >= 0 {
		return uint8(i)
	}
	return math.MaxUint8
}

// ClassName returns the class of an index, for people.
func ClassName(index uint8) string {
	if classes := allClasses(); int(index) < len(classes) {
		return classes[index]
	}
	return "that this version does not know"
}

// Truncated returns the length that the value of a dead letter had before it was cut, or -1 where
// nothing was cut.
func Truncated(r *kgo.Record) (int64, error) {
	text, ok := Header(r, HeaderTruncated)
	if !ok {
		return -1, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("%q", text)
	}
	return n, nil
}

// LastUnreadable returns the last of the offsets, from first on and below end, for which a dead
// letter of class [BadBatch] stands.
func LastUnreadable(r *kgo.Record, first, end int64) (int64, error) {
	text, _ := Header(r, HeaderOffsets)
	from, to, _ := strings.Cut(text, "-")
	last, err := strconv.ParseInt(to, 10, 64)
	if err != nil || from != strconv.FormatInt(first, 10) || last < first || last >= end {
		return 0, fmt.Errorf("header %s: %q, which is not %d-last", HeaderOffsets, text, first)
	}
	return last, nil
}

// SplitHeaders returns the names and values of the headers that clusterd does not add, and how
// many it does. An input record may have some of the latter, of which nothing is asked.
func SplitHeaders(r *kgo.Record) (foreign [][]byte, own int32) {
	for _, h := range r.Headers {
		if strings.Contains(h.Key, HeaderPrefix) {
			own++
		} else {
			foreign = append(foreign, []byte(h.Key), h.Value)
		}
	}
	return foreign, own
}
