// Package wire states what clusterd writes to its topics, as the README documents it: headers,
// keys, and the JSON of results, clusters and checkpoints. Records go in, what they say comes out,
// and an error where a record has not the documented form. It is written from the README and
// shares nothing with the daemon; its tests hold the two to one another.
package wire

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/twmb/franz-go/pkg/kgo"
)

// The headers of results, clusters and dead letters.
const (
	// HeaderPrefix begins all headers that clusterd adds.
	HeaderPrefix    = "clusterd."
	HeaderSource    = "clusterd.source"     // topic/partition/offset of the input record
	HeaderPosition  = "clusterd.position"   // in the order of the space
	HeaderEventTime = "clusterd.event_time" // Unix milliseconds
	HeaderError     = "clusterd.error"      // the class of a dead letter
	HeaderReason    = "clusterd.reason"
	HeaderStage     = "clusterd.stage"
	HeaderTruncated = "clusterd.truncated" // the length of a value that was cut
	HeaderOffsets   = "clusterd.offsets"   // first-last, of a dead letter of class BadBatch
)

const (
	// MaxKeyBytes is how long the key of an input record may be for a result to repeat it.
	MaxKeyBytes = 1024
	// maxTitleBytes is how much of a founder's title a representative has.
	maxTitleBytes = 512
)

// An Address is the partition and offset of a record in a topic that is known.
type Address struct {
	Partition int32
	Offset    int64
}

// AddressOf returns where a record is.
func AddressOf(r *kgo.Record) Address { return Address{r.Partition, r.Offset} }

// In returns the address within a topic as headers, keys and cluster ids have it:
// topic/partition/offset.
func (a Address) In(topic string) string {
	return fmt.Sprintf("%s/%d/%d", topic, a.Partition, a.Offset)
}

// ParseAddress reads topic/partition/offset, in which the topic must be that one.
func ParseAddress(text, topic string) (Address, error) {
	rest, ok := strings.CutPrefix(text, topic+"/")
	partition, offset, cut := strings.Cut(rest, "/")
	p, err1 := strconv.ParseInt(partition, 10, 32)
	o, err2 := strconv.ParseInt(offset, 10, 64)
	if !ok || !cut || err1 != nil || err2 != nil || p < 0 || o < 0 {
		return Address{}, fmt.Errorf("%q, which is not %s/partition/offset", text, topic)
	}
	return Address{int32(p), o}, nil
}

// Header returns the last header of that name: dead letters carry the input's headers before
// clusterd's.
func Header(r *kgo.Record, name string) (string, bool) {
	for i := len(r.Headers) - 1; i >= 0; i-- {
		if r.Headers[i].Key == name {
			return string(r.Headers[i].Value), true
		}
	}
	return "", false
}

// NumberHeader returns the value of a header that is a number from 0 on.
func NumberHeader(r *kgo.Record, name string) (int64, error) {
	text, ok := Header(r, name)
	if !ok {
		return 0, fmt.Errorf("no header %s", name)
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("header %s: %q, which is no number from 0 on", name, text)
	}
	return n, nil
}

// Source returns the input record that a result or a dead letter is of.
func Source(r *kgo.Record, input string) (Address, error) {
	text, ok := Header(r, HeaderSource)
	if !ok {
		return Address{}, fmt.Errorf("no header %s", HeaderSource)
	}
	a, err := ParseAddress(text, input)
	if err != nil {
		return Address{}, fmt.Errorf("header %s: %w", HeaderSource, err)
	}
	return a, nil
}

// CheckHeaders returns an error unless a record has headers of these names, each once, and no
// others.
func CheckHeaders(r *kgo.Record, names ...string) error {
	var found []string
	for _, h := range r.Headers {
		found = append(found, h.Key)
	}
	slices.Sort(found)
	slices.Sort(names)
	if !slices.Equal(found, names) {
		return fmt.Errorf("headers %q, want %q", found, names)
	}
	return nil
}

// A Representative is the founder of a cluster, for people.
type Representative struct {
	ID    string `json:"id"`
	Title string `json:"title"`
}

// NewRepresentative returns the representative of a cluster whose founder has this id and title.
// Of a long title it has as many whole characters as fit, and an ellipsis.
func NewRepresentative(id, title string) Representative {
	if len(title) > maxTitleBytes {
		end := maxTitleBytes
		for end > 0 && !utf8.RuneStart(title[end]) {
			end--
		}
		title = title[:end] + "…"
	}
	return Representative{ID: id, Title: title}
}

func parseFingerprint(text string) (uint64, error) {
	n, err := strconv.ParseUint(text, 16, 64)
	if err != nil || len(text) != 16 {
		return 0, fmt.Errorf("fingerprint %q, which is not 16 hexadecimal digits", text)
	}
	return n, nil
}

// Compare orders addresses by partition and offset.
func (a Address) Compare(b Address) int {
	return cmp.Or(cmp.Compare(a.Partition, b.Partition), cmp.Compare(a.Offset, b.Offset))
}
