// letter.go holds a dead letter to its input record.

package audit

import (
	"fmt"
	"hash/maphash"
	"strconv"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/clusterd/clusterd/internal/audit/report"
	"github.com/clusterd/clusterd/internal/audit/wire"
)

// A letterRow is what is kept of a dead letter until its input record is read: 69 bytes.
type letterRow struct {
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

// newLetterRow returns the row of a dead letter.
func newLetterRow(seed maphash.Seed, r *kgo.Record, class string, truncated int64) letterRow {
	row := letterRow{
		At: wire.AddressOf(r), Class: wire.ClassIndex(class), Truncated: truncated,
		Key: newBytesRow(seed, r.Key), Value: newBytesRow(seed, r.Value),
	}
	row.Headers, row.Foreign, row.Own = foreignHeaders(seed, r)
	return row
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

// Check holds the bytes of a dead letter to those of its record. Where the topic does not take the
// record whole, its value is cut, or key, value and headers are left out. Keys and headers beyond
// limit are cut as they are read.
func (dead *letterRow) Check(r *kgo.Record, seed maphash.Seed, limit int, d *report.Differences) {
	digest, _, forged := foreignHeaders(seed, r)
	cut, own := dead.Truncated >= 0, int32(4)
	if cut {
		own++
	}
	key, value := dead.Key == newBytesRow(seed, r.Key), dead.Value == newBytesRow(seed, r.Value)
	headers, long := dead.Headers == digest, wire.HeadersSize(r.Headers) > limit
	if cut && dead.Truncated != int64(len(r.Value)) {
		d.Add(fmt.Sprintf("header %s: %d", wire.HeaderTruncated, len(r.Value)),
			strconv.FormatInt(dead.Truncated, 10))
	}
	if cut && key && value && headers {
		d.Add("no header "+wire.HeaderTruncated, "one, on a whole record")
	}
	if !value && !(cut && dead.Value.begins(seed, r.Value)) {
		d.Add("the value", fmt.Sprintf("another one, of %d bytes", dead.Value.Length))
	}
	if !key && !((cut || len(r.Key) > limit) && dead.Key.begins(seed, r.Key)) {
		d.Add("the key", fmt.Sprintf("another one, of %d bytes", dead.Key.Length))
	}
	if !headers && !(cut && dead.Foreign == 0) && !long {
		d.Add("the headers", fmt.Sprintf("other ones, %d", dead.Foreign))
	}
	if dead.Own != own && dead.Own != own+forged && !long {
		d.Add(fmt.Sprintf("%d headers of clusterd", own), strconv.Itoa(int(dead.Own)))
	}
}
