package audit

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/clusterd/clusterd/internal/article"
)

// classes of dead letters, as the README lists them.
var deadLetterClasses = []string{"null_value", "bad_json", "bad_field", "empty", "too_large", "too_deep", badBatch}

// badBatch is the class of the rest of a record batch that cannot be read.
const badBatch = "bad_batch"

// A deadRow is what is kept of a dead letter until its input record is read: 69 bytes on disk.
type deadRow struct {
	At        place // in the topic of dead letters
	Class     uint8 // an index of deadLetterClasses
	Own       int32 // headers named clusterd.something
	Truncated int64 // the value's length, as the header says; -1 without
	Key       bytesRow
	Value     bytesRow
	Headers   uint64 // a digest of the others
	Others    int32  // how many there are
}

// A bytesRow stands for bytes.
type bytesRow struct {
	Length int64 // -1 for none, which is not the same as empty
	Digest uint64
}

func bytesRowOf(b []byte) bytesRow {
	if b == nil {
		return bytesRow{Length: -1}
	}
	return bytesRow{int64(len(b)), digest(b)}
}

// beginning reports whether r stands for the first bytes of b, or for none.
func (r bytesRow) beginning(b []byte) bool {
	return r.Length < 0 || r.Length <= int64(len(b)) && r.Digest == digest(b[:r.Length])
}

// otherHeaders are those that clusterd does not add, and how many it does. An input record may have some of the latter,
// of which nothing is asked.
func otherHeaders(r *kgo.Record) (others [][]byte, own int32) {
	for _, h := range r.Headers {
		if strings.Contains(h.Key, "clusterd.") {
			own++
		} else {
			others = append(others, []byte(h.Key), h.Value)
		}
	}
	return others, own
}

// headersSize is at least what the headers count when they are read.
func headersSize(r *kgo.Record) (n int) {
	for _, h := range r.Headers {
		n += 64 + len(h.Key) + len(h.Value)
	}
	return n
}

func (a *audit) readDead(ctx context.Context) error {
	n, err := a.read(ctx, a.cut.dead, kgo.ReadCommitted(), data(a.takeDead))
	a.data += n
	return err
}

func (a *audit) takeDead(r *kgo.Record) error {
	a.form.Checked++
	at := placeOf(r).in(r.Topic)
	source, err := sourceHeader(r, a.config.Input.Topic)
	if err != nil {
		a.form.violated(at, "the form of a dead letter", err.Error())
		return nil
	}
	class, ok := header(r, article.HeaderError)
	if class != badBatch {
		a.came(source, at)
	} else if err := a.cameBad(r, source, at); err != nil {
		a.form.violated(at, "the form of a dead letter", err.Error())
		return nil
	}
	if !ok || !slices.Contains(deadLetterClasses, class) {
		a.form.violated(at, fmt.Sprintf("header %s to be one of %q", article.HeaderError, deadLetterClasses), fmt.Sprintf("%q", class))
		return nil
	}
	a.report.Counts.DeadLetters[class]++
	row := deadRow{At: placeOf(r), Class: classIndex(class), Truncated: -1, Key: bytesRowOf(r.Key), Value: bytesRowOf(r.Value)}
	if text, ok := header(r, article.HeaderTruncated); ok {
		if row.Truncated, err = strconv.ParseInt(text, 10, 64); err != nil || row.Truncated < 0 {
			a.form.violated(at, fmt.Sprintf("header %s to be a length", article.HeaderTruncated), fmt.Sprintf("%q", text))
			return nil
		}
	}
	for _, name := range []string{article.HeaderReason, article.HeaderStage} {
		if text, _ := header(r, name); text == "" {
			a.form.violated(at, "header "+name, "none, or an empty one")
		}
	}
	if class == badBatch {
		return nil // there is no record to hold it to
	}
	others, own := otherHeaders(r)
	row.Own, row.Headers, row.Others = own, digest(others...), int32(len(others)/2)
	if err := a.placed(source, placement{At: placeOf(r), Dead: true, Hash: uint32(source.Partition)}); err != nil {
		return err
	}
	return put(a, a.dead, source, row)
}

// cameBad notes all offsets of which a dead letter says that they cannot be read.
func (a *audit) cameBad(r *kgo.Record, first place, at string) error {
	text, _ := header(r, article.HeaderOffsets)
	from, to, _ := strings.Cut(text, "-")
	last, err := strconv.ParseInt(to, 10, 64)
	if err != nil || from != strconv.FormatInt(first.Offset, 10) || last < first.Offset || last >= a.cut.input.to[first.Partition] {
		return fmt.Errorf("header %s: %q, which is not %d-last", article.HeaderOffsets, text, first.Offset)
	}
	for offset := first.Offset; offset <= last; offset++ {
		a.came(place{first.Partition, offset}, at)
		a.account(first.Partition).bad.add(offset)
	}
	return nil
}

// compareDead holds the dead letter of an input record, if there is one, to it.
func (a *audit) compareDead(r *kgo.Record, in *inputRow) error {
	t := a.dead[r.Partition]
	if t == nil {
		return nil
	}
	dead, ok, err := t.get(r.Offset - a.cut.input.from[r.Partition])
	if !ok || err != nil {
		return err
	}
	a.input.Checked++
	at, source := dead.At.in(a.cut.dead.topic), placeOf(r).in(r.Topic)
	if in.Kind != rejectedKind {
		a.input.violated(at, fmt.Sprintf("a result: %s is an article", source), "a dead letter of class "+className(dead.Class))
		return nil
	}
	var d differences
	if dead.Class != in.Class {
		d.add("class "+className(in.Class), className(dead.Class))
	}
	dead.differs(r, a.config.Input.MaxBytes, &d)
	a.differ(at, source, d)
	return nil
}

// differs holds the bytes of a dead letter to those of its record. Where the topic does not take the record whole, its
// value is cut, or key, value and headers are left out; keys and headers beyond limit are cut as they are read.
func (dead *deadRow) differs(r *kgo.Record, limit int, d *differences) {
	others, forged := otherHeaders(r)
	cut, own := dead.Truncated >= 0, int32(4)
	if cut {
		own++
	}
	key, value, headers := dead.Key == bytesRowOf(r.Key), dead.Value == bytesRowOf(r.Value), dead.Headers == digest(others...)
	if cut && dead.Truncated != int64(len(r.Value)) {
		d.add(fmt.Sprintf("header %s: %d", article.HeaderTruncated, len(r.Value)), strconv.FormatInt(dead.Truncated, 10))
	}
	if cut && key && value && headers {
		d.add("no header "+article.HeaderTruncated, "one, on a whole record")
	}
	if !value && !(cut && dead.Value.beginning(r.Value)) {
		d.add("the value", fmt.Sprintf("another one, of %d bytes", dead.Value.Length))
	}
	if !key && !((cut || len(r.Key) > limit) && dead.Key.beginning(r.Key)) {
		d.add("the key", fmt.Sprintf("another one, of %d bytes", dead.Key.Length))
	}
	if !headers && !(cut && dead.Others == 0) && headersSize(r) <= limit {
		d.add("the headers", fmt.Sprintf("other ones, %d", dead.Others))
	}
	if dead.Own != own && dead.Own != own+forged {
		d.add(fmt.Sprintf("%d headers of clusterd", own), strconv.Itoa(int(dead.Own)))
	}
}
