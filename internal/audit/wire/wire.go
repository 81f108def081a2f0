// Package wire states what clusterd writes to its topics, as docs/messages.md says: headers,
// keys, and the JSON of results, clusters and checkpoints. Records go in, what they say comes out,
// and an error where a record has not the documented form. It is written from that page and
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
	HeaderOwn       = "clusterd.own"       // on records of the clusters topic that are not clusters
	OwnCheckpoint   = "checkpoint"         // value of HeaderOwn
	OwnStory        = "story"              // value of HeaderOwn
	OwnContact      = "contact"            // value of HeaderOwn
)

const (
	// MaxKeyBytes is how long the key of an input record may be for a result to repeat it.
	MaxKeyBytes = 1024
	// maxTitleBytes is how much of a founder's title a representative has, and maxPublisherBytes how
	// much a result has of who published its article.
	maxTitleBytes, maxPublisherBytes = 512, 256
	// maxHeaders and maxHeaderBytes are how much of the headers of its input record a result has.
	maxHeaders, maxHeaderBytes = 64, 16 << 10
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
func CheckHeaders(r *kgo.Record, names ...string) error { return checkHeaders(r.Headers, names) }

// CheckOwnHeaders does what [CheckHeaders] does, of a record that has headers of its input record
// before them.
func CheckOwnHeaders(r *kgo.Record, names ...string) error {
	return checkHeaders(r.Headers[foreign(r):], names)
}

// foreign returns how many headers of its input record a result has.
func foreign(r *kgo.Record) int {
	own := slices.IndexFunc(r.Headers,
		func(h kgo.RecordHeader) bool { return strings.HasPrefix(h.Key, HeaderPrefix) })
	if own < 0 {
		return len(r.Headers)
	}
	return own
}

// Passed returns the headers of its input record that a result has, as [Passing] does, and how many
// bytes they have.
func Passed(r *kgo.Record) (text string, bytes int) { return joined(r.Headers[:foreign(r)]) }

// Passing returns the headers of an input record that a result must have, as text, and how many
// bytes they have: those of these names, where "*" is all, under names that are not clusterd's. One
// that does not fit beside those before it is left out.
func Passing(r *kgo.Record, names []string) (text string, bytes int) {
	var headers []kgo.RecordHeader
	all := slices.Contains(names, "*")
	for _, h := range r.Headers {
		n := len(h.Key) + len(h.Value)
		if !all && !slices.Contains(names, h.Key) || len(headers) == maxHeaders ||
			bytes+n > maxHeaderBytes {
			continue
		}
		bytes += n
		const mark = "input."
		rest := h.Key
		for strings.HasPrefix(rest, mark) {
			rest = rest[len(mark):]
		}
		if strings.HasPrefix(rest, HeaderPrefix) {
			h.Key = mark + h.Key
		}
		headers = append(headers, h)
	}
	return joined(headers)
}

// HeadersSize returns an upper bound of what headers count when they are read.
func HeadersSize(headers []kgo.RecordHeader) (n int) {
	for _, h := range headers {
		n += HeaderSize(len(h.Key) + len(h.Value))
	}
	return n
}

// HeaderSize does so of a header whose name and value have this many bytes.
func HeaderSize(length int) int { return 64 + length }

func joined(headers []kgo.RecordHeader) (text string, bytes int) {
	var b strings.Builder
	for _, h := range headers {
		bytes += len(h.Key) + len(h.Value)
		fmt.Fprintf(&b, "%q=%q;", h.Key, h.Value)
	}
	return b.String(), bytes
}

// CheckOwn returns an error where a record of the clusters topic that is not a cluster says that it
// is something else than [OwnCheckpoint], [OwnStory] or [OwnContact]. Earlier versions did not say
// what it is.
func CheckOwn(r *kgo.Record, is string) error {
	said, found := "", 0
	for _, h := range r.Headers {
		if h.Key == HeaderOwn {
			said = string(h.Value)
			found++
		}
	}
	if found > 1 || found == 1 && said != is {
		return fmt.Errorf("%d headers %s, the last %.80q: want %q", found, HeaderOwn, said, is)
	}
	return nil
}

func checkHeaders(headers []kgo.RecordHeader, names []string) error {
	var found []string
	for _, h := range headers {
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
	ID      string `json:"id"`
	Title   string `json:"title"`
	Excerpt string `json:"excerpt"` // of the content, where there is no title
}

// NewRepresentative returns the representative of a cluster whose founder has this id and title,
// without an excerpt. Of a long title it has as many whole characters as fit, and an ellipsis.
func NewRepresentative(id, title string) Representative {
	return Representative{ID: id, Title: clip(title, maxTitleBytes)}
}

// NewPublisher returns what a result says of who published its article.
func NewPublisher(source string) string { return clip(source, maxPublisherBytes) }

func clip(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	end := limit
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + "…"
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

// maxSpaceBytes is how long the value may be by which articles are divided.
const maxSpaceBytes = 256

// Space returns the value by which the article of a record is divided from others: that of its
// field, or where the setting is header:NAME, that of the first header of this name. One that is
// too long or not UTF-8 is none.
func Space(r *kgo.Record, field, setting string) string {
	name, isHeader := strings.CutPrefix(setting, "header:")
	if !isHeader {
		return field
	}
	value := ""
	named := func(h kgo.RecordHeader) bool { return h.Key == name }
	if i := slices.IndexFunc(r.Headers, named); i >= 0 {
		value = string(r.Headers[i].Value)
	}
	if len(value) > maxSpaceBytes || !utf8.ValidString(value) {
		return ""
	}
	return value
}
