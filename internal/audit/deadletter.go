package audit

import (
	"context"
	"fmt"
	"hash/maphash"
	"slices"
	"strconv"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/clusterd/clusterd/internal/audit/expect"
	"github.com/clusterd/clusterd/internal/audit/spill"
	"github.com/clusterd/clusterd/internal/audit/wire"
)

// A deadRow is what is kept of a dead letter until its input record is read: 69 bytes.
type deadRow struct {
	At        wire.Address // in the topic of dead letters
	Class     uint8        // as wire.ClassIndex has it
	Own       int32        // headers that clusterd added
	Truncated int64        // as wire.Truncated has it
	Key       bytesRow
	Value     bytesRow
	Headers   uint64 // a digest of the others
	Foreign   int32  // how many there are
}

// A bytesRow stands for bytes.
type bytesRow struct {
	Length int64 // -1 for none, which is not the same as empty
	Digest uint64
}

func newBytesRow(seed maphash.Seed, b []byte) bytesRow {
	if b == nil {
		return bytesRow{Length: -1}
	}
	return bytesRow{int64(len(b)), maphash.Bytes(seed, b)}
}

// begins reports whether r stands for the first bytes of b, or for none.
func (r bytesRow) begins(seed maphash.Seed, b []byte) bool {
	return r.Length < 0 || r.Length <= int64(len(b)) && r.Digest == maphash.Bytes(seed, b[:r.Length])
}

// foreignHeaders returns a digest of the headers that clusterd does not add, how many these are,
// and how many it does add.
func foreignHeaders(seed maphash.Seed, r *kgo.Record) (digest uint64, foreign, own int32) {
	headers, own := wire.SplitHeaders(r)
	return maphash.String(seed, fmt.Sprintf("%q", headers)), int32(len(headers) / 2), own
}

// headersSize returns an upper bound of what the headers count when they are read.
func headersSize(r *kgo.Record) (n int) {
	for _, h := range r.Headers {
		n += 64 + len(h.Key) + len(h.Value)
	}
	return n
}

func (a *audit) readDeadLetters(ctx context.Context) error {
	n, err := a.topics.ReadData(ctx, a.cut.DeadLetters, a.addDeadLetter)
	a.data += n
	return err
}

// addDeadLetter checks what a dead letter says by itself, and keeps what its input record is held
// to.
func (a *audit) addDeadLetter(r *kgo.Record) error {
	a.form.Checked++
	if a.isOfLabel(r) {
		return a.addLabelLetter(r)
	}
	if a.isOfFingerprint(r) {
		return nil
	}
	at := wire.AddressOf(r).In(r.Topic)
	source, err := wire.Source(r, a.config.Input.Topic)
	if err != nil {
		a.form.Violate(at, "the form of a dead letter", err.Error())
		return nil
	}
	class, ok := wire.Header(r, wire.HeaderError)
	if class != wire.BadBatch {
		a.noteOutput(source, at)
		a.noteLetter(source)
	} else if err := a.noteBadBatch(r, source, at); err != nil {
		a.form.Violate(at, "the form of a dead letter", err.Error())
		return nil
	}
	if classes := wire.Classes(); !ok || !slices.Contains(classes, class) {
		a.form.Violate(at, fmt.Sprintf("header %s to be one of %q", wire.HeaderError, classes),
			fmt.Sprintf("%q", class))
		return nil
	}
	row, ok := a.deadRow(r, class)
	if !ok || class == wire.BadBatch {
		return nil // there is no record to hold the latter to
	}
	if err := a.placements.AddDeadLetter(r, source); err != nil {
		return err
	}
	_, err = a.dead.Put(source.Partition, source.Offset, row)
	return err
}

// noteLetter notes that an input record came out as a dead letter, where that says that it was not
// fingerprinted.
func (a *audit) noteLetter(source wire.Address) {
	if a.divided == nil {
		return
	}
	if a.letters[source.Partition] == nil {
		a.letters[source.Partition] = make(spill.Bitmap)
	}
	a.letters[source.Partition].Add(source.Offset)
}

// deadRow counts a dead letter, and returns what its record is held to, if its headers say it.
func (a *audit) deadRow(r *kgo.Record, class string) (row deadRow, ok bool) {
	a.report.Counts.DeadLetters[class]++
	at := wire.AddressOf(r)
	truncated, err := wire.Truncated(r)
	if err != nil {
		a.form.Violate(at.In(r.Topic),
			fmt.Sprintf("header %s to be a length", wire.HeaderTruncated), err.Error())
		return row, false
	}
	for _, name := range []string{wire.HeaderReason, wire.HeaderStage} {
		if text, _ := wire.Header(r, name); text == "" {
			a.form.Violate(at.In(r.Topic), "header "+name, "none, or an empty one")
		}
	}
	row = deadRow{
		At: at, Class: wire.ClassIndex(class), Truncated: truncated,
		Key: newBytesRow(a.seed, r.Key), Value: newBytesRow(a.seed, r.Value),
	}
	row.Headers, row.Foreign, row.Own = foreignHeaders(a.seed, r)
	return row, true
}

// noteBadBatch notes all offsets of which a dead letter says that they cannot be read.
func (a *audit) noteBadBatch(r *kgo.Record, first wire.Address, at string) error {
	last, err := wire.LastUnreadable(r, first.Offset, a.cut.Input.To[first.Partition])
	if err != nil {
		return err
	}
	for offset := first.Offset; offset <= last; offset++ {
		a.noteOutput(wire.Address{Partition: first.Partition, Offset: offset}, at)
		a.noteLetter(wire.Address{Partition: first.Partition, Offset: offset})
		a.account(first.Partition).bad.Add(offset)
	}
	return nil
}

// checkDeadLetter holds the dead letter of an input record, if there is one, to it.
func (a *audit) checkDeadLetter(r *kgo.Record, in *expect.Outcome) error {
	dead, ok, err := a.dead.Get(r.Partition, r.Offset)
	if !ok || err != nil {
		return err
	}
	a.input.Checked++
	at, source := dead.At.In(a.cut.DeadLetters.Topic), wire.AddressOf(r).In(r.Topic)
	if in.Kind != expect.Rejected {
		a.input.Violate(at, fmt.Sprintf("a result: %s is an article", source),
			"a dead letter of class "+wire.ClassName(dead.Class))
		return nil
	}
	var d differences
	if dead.Class != in.Class {
		d.add("class "+wire.ClassName(in.Class), wire.ClassName(dead.Class))
	}
	dead.check(r, a.seed, a.config.Input.MaxBytes, &d)
	a.reportDifferences(at, source, d)
	return nil
}

// check holds the bytes of a dead letter to those of its record. Where the topic does not take the
// record whole, its value is cut, or key, value and headers are left out. Keys and headers beyond
// limit are cut as they are read.
func (dead *deadRow) check(r *kgo.Record, seed maphash.Seed, limit int, d *differences) {
	digest, _, forged := foreignHeaders(seed, r)
	cut, own := dead.Truncated >= 0, int32(4)
	if cut {
		own++
	}
	key, value := dead.Key == newBytesRow(seed, r.Key), dead.Value == newBytesRow(seed, r.Value)
	headers := dead.Headers == digest
	if cut && dead.Truncated != int64(len(r.Value)) {
		d.add(fmt.Sprintf("header %s: %d", wire.HeaderTruncated, len(r.Value)),
			strconv.FormatInt(dead.Truncated, 10))
	}
	if cut && key && value && headers {
		d.add("no header "+wire.HeaderTruncated, "one, on a whole record")
	}
	if !value && !(cut && dead.Value.begins(seed, r.Value)) {
		d.add("the value", fmt.Sprintf("another one, of %d bytes", dead.Value.Length))
	}
	if !key && !((cut || len(r.Key) > limit) && dead.Key.begins(seed, r.Key)) {
		d.add("the key", fmt.Sprintf("another one, of %d bytes", dead.Key.Length))
	}
	if !headers && !(cut && dead.Foreign == 0) && headersSize(r) <= limit {
		d.add("the headers", fmt.Sprintf("other ones, %d", dead.Foreign))
	}
	if dead.Own != own && dead.Own != own+forged {
		d.add(fmt.Sprintf("%d headers of clusterd", own), strconv.Itoa(int(dead.Own)))
	}
}
