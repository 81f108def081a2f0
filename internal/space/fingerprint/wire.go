package fingerprint

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"
	"unicode/utf8"
	"unsafe"

	"github.com/zeebo/xxh3"

	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/message/fields"
	"github.com/clusterd/clusterd/internal/singlepass"
	"github.com/clusterd/clusterd/internal/story"
	"github.com/clusterd/clusterd/internal/story/words"
)

// wireVersion is the first byte of what [Wire.Append] writes. It rises with every change of the
// form, a new flag included: testdata/wire has the bytes of each version, and all of them are read.
// Versions end at lastWireVersion, since text, JSON, Protobuf and Avro with a schema id never begin
// with the bytes from 1 to 7.
const (
	wireVersion     = 1
	lastWireVersion = 7
)

// The flags of an article, its second byte.
const (
	flagComparable = 1 << iota
	flagKey
	flagPublished
	flagRecorded
	flagSpace
	flagWords
	flagHan
	flagsEnd
)

// maxWireHeaders is the most headers that an article on the wire may have.
const maxWireHeaders = 1 << 10

// A Wire writes and reads fingerprinted articles as the values of records, for another instance to
// assign them. All numbers are little-endian or varints as of encoding/binary, all texts have their
// length before them:
//
//	byte     version, 1; in every version, the version is the first byte
//	byte     flags: 1 comparable, 2 has a key, 4 says when it was published, 8 its record has a time,
//	         16 has a space, 32 has words of stories, 64 of which most are Chinese
//	8 bytes  digest of the settings
//	uvarint  offset of the record in the input topic; the partition is that of this record
//	varint   the record's time in Unix milliseconds, where it has one
//	varint   published at: Unix seconds, then uvarint nanoseconds, where it says so
//	8 bytes  fingerprint
//	texts    sketch, contacts, id, title, excerpt, publisher, copied fields; the key and the
//	         space, if it has them; the vector of its words and the first ones, if it has any
//	uvarint  number of headers, and of each its name, 0 or 1 + the length of its value, the value
type Wire struct {
	input    string // the topic of all articles
	settings uint64 // a digest of what both sides must agree on
}

// NewWire returns the form of articles of an input topic, whose fingerprints have this identity.
func NewWire(input, identity string) Wire {
	return Wire{input, xxh3.HashString(input + "\x00" + identity)}
}

// Append appends an article. Its notes are not written, and of its source the offset alone.
func (w Wire) Append(dst []byte, a *Article) []byte {
	flags := flagIf(a.Comparable, flagComparable) | flagIf(a.Key != nil, flagKey) |
		flagIf(!a.PublishedAt.IsZero(), flagPublished) | flagIf(!a.RecordedAt.IsZero(), flagRecorded) |
		flagIf(a.Fingerprint.Space != "", flagSpace) | flagIf(a.Words != words.Words{}, flagWords) |
		flagIf(a.Words.Han, flagHan)
	dst = append(dst, wireVersion, flags)
	dst = binary.LittleEndian.AppendUint64(dst, w.settings)
	dst = binary.AppendUvarint(dst, uint64(a.Source.Offset))
	if flags&flagRecorded != 0 {
		dst = binary.AppendVarint(dst, a.RecordedAt.UnixMilli())
	}
	if flags&flagPublished != 0 {
		dst = binary.AppendVarint(dst, a.PublishedAt.Unix())
		dst = binary.AppendUvarint(dst, uint64(a.PublishedAt.Nanosecond()))
	}
	dst = binary.LittleEndian.AppendUint64(dst, a.Fingerprint.Hash)
	for _, text := range []string{
		a.Fingerprint.Sketch, string(a.Fingerprint.Contacts), a.Representative.ID, a.Representative.Title,
		a.Representative.Excerpt, a.Publisher, string(a.Copied),
	} {
		dst = append(binary.AppendUvarint(dst, uint64(len(text))), text...)
	}
	if a.Key != nil {
		dst = append(binary.AppendUvarint(dst, uint64(len(a.Key))), a.Key...)
	}
	if value := a.Fingerprint.Space; value != "" {
		dst = append(binary.AppendUvarint(dst, uint64(len(value))), value...)
	}
	if flags&flagWords != 0 {
		dst = fields.AppendText(fields.AppendText(dst, string(a.Words.Vector)), a.Words.Terms)
	}
	dst = binary.AppendUvarint(dst, uint64(len(a.Headers)))
	for _, h := range a.Headers {
		dst = append(binary.AppendUvarint(dst, uint64(len(h.Key))), h.Key...)
		if h.Value == nil {
			dst = append(dst, 0)
			continue
		}
		dst = append(binary.AppendUvarint(dst, uint64(len(h.Value))+1), h.Value...)
	}
	return dst
}

func flagIf(set bool, flag byte) byte {
	if set {
		return flag
	}
	return 0
}

// ErrOtherSettings marks an article that was fingerprinted by other settings, or of another input
// topic.
var ErrOtherSettings = errors.New("it was fingerprinted by other settings, or is of another " +
	"input topic")

// ErrOtherVersion marks an article in a form that this clusterd does not know: a newer clusterd has
// written it.
var ErrOtherVersion = errors.New("it was written by a newer clusterd")

// Parse reads what [Wire.Append] wrote, in a record of this partition. The article refers to the
// value, which must stay as it is, but its fingerprint does not. The error is [ErrOtherVersion],
// [ErrOtherSettings], or says why no clusterd can have written the value.
func (w Wire) Parse(value []byte, partition int) (a Article, err error) {
	r := wireReader{rest: value}
	switch version := r.byte(); {
	case version == wireVersion:
	case version > wireVersion && version <= lastWireVersion:
		return Article{}, fmt.Errorf("%w, in version %d of its form, and this one knows versions "+
			"up to %d", ErrOtherVersion, version, wireVersion)
	default:
		return Article{}, fmt.Errorf("it begins with byte %#x, which is no version", version)
	}
	flags := r.byte()
	if flags >= flagsEnd {
		return Article{}, fmt.Errorf("flags %#x", flags)
	}
	settings := r.uint64()
	a.Comparable = flags&flagComparable != 0
	a.Source = article.Address{Topic: w.input, Partition: partition, Offset: r.offset()}
	if flags&flagRecorded != 0 {
		a.RecordedAt = time.UnixMilli(r.varint())
	}
	if flags&flagPublished != 0 {
		a.PublishedAt = r.time()
	}
	a.Fingerprint.Hash = r.uint64()
	// A centre keeps these, and shall not keep the whole value.
	a.Fingerprint.Sketch = strings.Clone(r.text())
	a.Fingerprint.Contacts = singlepass.Contacts(strings.Clone(r.text()))
	a.Representative = article.Representative{ID: r.text(), Title: r.text(), Excerpt: r.text()}
	a.Publisher, a.Copied = r.text(), article.Copied(r.text())
	if flags&flagKey != 0 {
		a.Key = r.bytes(r.length())
	}
	if flags&flagSpace != 0 {
		a.Fingerprint.Space = strings.Clone(r.text())
	}
	var vector []byte
	if flags&flagWords != 0 {
		vector = r.bytes(r.length())
		a.Words = words.Words{Han: flags&flagHan != 0, Terms: r.text()}
	}
	a.Headers = r.headers()
	switch {
	case r.failed:
		return Article{}, errors.New("it ends too early, or a length or time in it is impossible")
	case len(r.rest) > 0:
		return Article{}, fmt.Errorf("%d bytes are behind its end", len(r.rest))
	case flags&(flagWords|flagHan) == flagHan || !utf8.ValidString(a.Words.Terms):
		return Article{}, errors.New("its words are not UTF-8, or none")
	case flags&flagSpace != 0 && !possibleSpace(a.Fingerprint.Space):
		return Article{}, errors.New("its space is empty, too long or not UTF-8")
	case settings != w.settings:
		return Article{}, ErrOtherSettings
	}
	if a.Words.Vector, err = story.ParseVector(vector); err != nil {
		return Article{}, err
	}
	return a, a.Fingerprint.Contacts.Check()
}

func possibleSpace(value string) bool {
	return value != "" && len(value) <= article.MaxSpaceBytes && utf8.ValidString(value)
}

// wireReader reads parts of a value, one after the other. Once one is not there, all are zero.
type wireReader struct {
	rest   []byte
	failed bool
}

func (r *wireReader) fail() {
	r.rest, r.failed = nil, true
}

// bytes returns the next n bytes. It has no room to append.
func (r *wireReader) bytes(n int) []byte {
	if n < 0 || n > len(r.rest) {
		r.fail()
		return nil
	}
	b := r.rest[:n:n]
	r.rest = r.rest[n:]
	return b
}

func (r *wireReader) byte() byte {
	if b := r.bytes(1); b != nil {
		return b[0]
	}
	return 0
}

func (r *wireReader) uint64() uint64 {
	if b := r.bytes(8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

func (r *wireReader) uvarint() uint64 {
	n, size := binary.Uvarint(r.rest)
	if size <= 0 {
		r.fail()
		return 0
	}
	r.rest = r.rest[size:]
	return n
}

func (r *wireReader) varint() int64 {
	n, size := binary.Varint(r.rest)
	if size <= 0 {
		r.fail()
		return 0
	}
	r.rest = r.rest[size:]
	return n
}

// length returns that of what comes next, -1 where there cannot be so much.
func (r *wireReader) length() int {
	if n := r.uvarint(); n <= uint64(len(r.rest)) {
		return int(n)
	}
	return -1
}

// text returns a view of the next text.
func (r *wireReader) text() string {
	b := r.bytes(r.length())
	return unsafe.String(unsafe.SliceData(b), len(b))
}

// offset returns an offset to which one can be added.
func (r *wireReader) offset() int64 {
	n := r.uvarint()
	if n >= math.MaxInt64 {
		r.fail()
		return 0
	}
	return int64(n)
}

// time returns a time that RFC 3339 can write.
func (r *wireReader) time() time.Time {
	seconds, nanoseconds := r.varint(), r.uvarint()
	if nanoseconds >= uint64(time.Second) {
		r.fail()
		return time.Time{}
	}
	t := time.Unix(seconds, int64(nanoseconds)).UTC()
	if t.Year() < 0 || t.Year() > 9999 || t.IsZero() {
		r.fail()
	}
	return t
}

func (r *wireReader) headers() []Header {
	n := r.uvarint()
	if n > maxWireHeaders {
		r.fail()
	}
	if r.failed || n == 0 {
		return nil
	}
	headers := make([]Header, 0, n)
	for range n {
		h := Header{Key: r.text()}
		if size := r.uvarint(); size > uint64(len(r.rest))+1 {
			r.fail()
		} else if size > 0 {
			h.Value = r.bytes(int(size) - 1)
		}
		headers = append(headers, h)
	}
	return headers
}
