package audit

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/maphash"
	"math"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/clusterd/clusterd/internal/article"
	"github.com/clusterd/clusterd/internal/singlepass"
)

// What an input record is.
const (
	clusteredKind   uint8 = iota + 1 // an article with something in it to compare
	unclusteredKind                  // an article without
	rejectedKind                     // no article: a dead letter
)

// An inputRow is what an input record must come out as: 80 bytes on disk, by the offset in its partition. Texts are
// digests: that two are the same is all that is asked.
type inputRow struct {
	Kind           uint8
	Class          uint8 // of a dead letter, as an index of deadLetterClasses
	KeyKind        uint8
	Dated          bool // PublishedAt is known
	ID             uint64
	Representative uint64 // of the cluster that it may found
	Published      int64  // Unix milliseconds
	PublishedAt    uint64 // the digest of it to the nanosecond
	Timestamp      int64  // of the record, Unix milliseconds
	Key            uint64
	Fingerprint    uint64
	Sketch         sketch
}

// A sketch is where a sketch is in the file of them.
type sketch struct {
	Digest uint64 // 0 where a method has none
	At     int64
	Bytes  int32
}

// The kinds of keys of input records, by what a result takes over of them with output.key: source.
const (
	noKey uint8 = iota
	wholeKey
	longKey // too long for a result to repeat
)

var seed = maphash.MakeSeed()

// digest is a hash of texts, good in this process only.
func digest(parts ...[]byte) uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	var size [8]byte
	for _, part := range parts {
		binary.LittleEndian.PutUint64(size[:], uint64(len(part)))
		_, _ = h.Write(size[:]) // it takes everything
		_, _ = h.Write(part)
	}
	return h.Sum64()
}

func representativeDigest(id, title string) uint64 { return digest([]byte(id), []byte(title)) }

// timeDigest is 0 where there is no time.
func timeDigest(t time.Time) uint64 {
	if t.IsZero() {
		return 0
	}
	return digest(t.UTC().AppendFormat(nil, time.RFC3339Nano))
}

// readInput works out again what every committed record must come out as, up to the group's offsets, and holds the
// dead letters to it. Offsets have gaps, so the records themselves must be seen.
func (a *audit) readInput(ctx context.Context) error {
	input := a.cut.input
	to := make(map[int32]int64)
	for p, end := range input.to {
		to[p] = max(input.from[p], min(end, max(a.cut.committed[p], a.cut.applied[p])))
		t, err := newTable[inputRow](a.dir)
		if err != nil {
			return err
		}
		a.inputs[p] = t
	}
	a.cut.read = to
	input.to = to
	var err error
	if a.sketches, err = newBlobs(a.dir); err != nil {
		return err
	}
	in := a.config.Input
	decoder, err := article.NewFormatDecoder(in.Format, article.Fields(in.Fields), in.MaxBytes, in.Encoding)
	if err != nil {
		return err
	}
	printers := sync.Pool{New: func() any {
		print := a.method.NewPrinter()
		return &print
	}}
	err = a.readBatches(ctx, input, func(records []*kgo.Record) error {
		out := make([]expected, len(records))
		onAllCores(len(records), func(from, to int) {
			print := printers.Get().(*printer)
			defer printers.Put(print)
			for i := from; i < to; i++ {
				out[i] = a.expect(decoder, *print, records[i])
			}
		})
		for i, r := range records {
			if err := a.takeInput(r, &out[i]); err != nil {
				return err
			}
		}
		return nil
	}, a.wentUnread)
	if err != nil {
		return err
	}
	return a.sketches.flush()
}

type printer = func(title, content string) (singlepass.Fingerprint, bool)

// expected is what an input record must come out as, with its sketch.
type expected struct {
	inputRow
	sketch string
}

// expect makes an article of a record, and a fingerprint of that.
func (a *audit) expect(decoder *article.Decoder, print printer, r *kgo.Record) expected {
	e := expected{inputRow: inputRow{Kind: clusteredKind, Timestamp: r.Timestamp.UnixMilli()}}
	switch {
	case len(r.Key) > article.MaxIDBytes:
		e.KeyKind = longKey
	case r.Key != nil:
		e.KeyKind, e.Key = wholeKey, digest(r.Key)
	}
	made, err := decoder.Decode(r.Key, r.Value, article.Address{Topic: r.Topic, Partition: int(r.Partition), Offset: r.Offset})
	var rejection *article.Rejection
	if errors.As(err, &rejection) {
		e.Kind, e.Class = rejectedKind, classIndex(string(rejection.Class))
		return e
	}
	founder := article.NewRepresentative(made)
	e.ID, e.Representative = digest([]byte(made.ID)), representativeDigest(founder.ID, founder.Title)
	if e.Dated = !made.PublishedAt.IsZero(); e.Dated {
		e.Published, e.PublishedAt = made.PublishedAt.UnixMilli(), timeDigest(made.PublishedAt)
	}
	fingerprint, ok := print(made.Title, made.Content)
	if !ok {
		e.Kind = unclusteredKind
		return e
	}
	e.Fingerprint, e.sketch = fingerprint.Hash, fingerprint.Sketch
	if e.sketch != "" {
		e.Sketch.Digest = digest([]byte(e.sketch))
	}
	return e
}

func (a *audit) takeInput(r *kgo.Record, e *expected) error {
	a.went(r)
	var err error
	if e.Sketch, err = a.sketches.put(e.Sketch.Digest, e.sketch); err != nil {
		return err
	}
	if _, err := a.inputs[r.Partition].put(r.Offset-a.cut.input.from[r.Partition], e.inputRow); err != nil {
		return err
	}
	return a.compareDead(r, &e.inputRow)
}

// readRest notes the records that came out though the group's offsets are not past them.
func (a *audit) readRest(ctx context.Context) error {
	rest := a.cut.input
	rest.from, rest.to = a.cut.read, make(map[int32]int64)
	for p, end := range a.cut.input.to {
		rest.to[p] = min(end, a.account(p).top)
	}
	return a.readBatches(ctx, rest, func(records []*kgo.Record) error {
		for _, r := range records {
			a.went(r)
		}
		return nil
	}, a.wentUnread)
}

// went notes a committed record of the input.
func (a *audit) went(r *kgo.Record) {
	a.account(r.Partition).in.add(r.Offset)
	if r.Offset < a.cut.committed[r.Partition] {
		a.report.Counts.Records++
	}
	if a.account(r.Partition).bad.has(r.Offset) {
		a.once.violated(placeOf(r).in(r.Topic), "the record, which can be read", "a dead letter of class "+badBatch)
	}
}

// wentUnread notes records that the audit cannot read. What clusterd makes of them is not held to anything, but
// that each comes out once.
func (a *audit) wentUnread(partition int32, first, last int64, gaps bool) error {
	for offset := first; offset <= last; offset++ {
		if gaps {
			a.account(partition).doubted.add(offset)
			continue
		}
		a.account(partition).in.add(offset)
		if offset < a.cut.committed[partition] {
			a.report.Counts.Records++
		}
	}
	return nil
}

// inputOf is what a record must come out as. It is not known of one that retention has deleted, and there is none of
// one that never was committed.
func (a *audit) inputOf(source place) (row inputRow, ok bool, err error) {
	t := a.inputs[source.Partition]
	if n := source.Offset - a.cut.input.from[source.Partition]; t != nil && n >= 0 {
		return t.get(n)
	}
	return row, false, nil
}

// onAllCores divides n into as many pieces as there are cores.
func onAllCores(n int, do func(from, to int)) {
	var pieces sync.WaitGroup
	size := max(1, (n+runtime.GOMAXPROCS(0)-1)/runtime.GOMAXPROCS(0))
	for from := 0; from < n; from += size {
		pieces.Go(func() { do(from, min(from+size, n)) })
	}
	pieces.Wait()
}

// Event times may run ahead by a day, or by a quarter of the window where that is less, when they are cut. What they
// are ahead of is the record's time or the clock; and the clock is that of the result, give or take what a commit may
// take and clocks may differ.
const (
	maxAhead   = 24 * time.Hour
	clockSlack = time.Hour
)

// eventTime holds an event time to those that the input record allows:
//
//   - when the article was published, not before 1970;
//   - when the record was written, where the article does not say, or is older than that by more than the window;
//   - what either was cut to, where it is ahead by more.
//
// Where neither is known it is the stream time, which the replay knows.
func eventTime(at int64, in *inputRow, written time.Time, window time.Duration) error {
	published, recorded := in.Published, in.Timestamp
	if !in.Dated && recorded <= 0 {
		return nil
	}
	lead := maxAhead
	if window > 0 {
		lead = min(lead, window/4)
	}
	said := max(0, recorded)
	if in.Dated {
		said = max(0, published)
	}
	old := window > 0 && published < at-window.Milliseconds()
	nearClock := func(ahead time.Duration) bool {
		return written.Add(ahead).Sub(time.UnixMilli(at)).Abs() <= clockSlack
	}
	switch {
	case at == said, at == recorded && (!in.Dated || old):
		return nil
	case old && recorded <= 0: // it counts by the stream time, which goes on from there
		return nil
	case at < said && (recorded > 0 && at == recorded+lead.Milliseconds() || nearClock(maxAhead) || nearClock(lead) || nearClock(2*lead)):
		return nil
	case at < recorded && (!in.Dated || old) && nearClock(lead): // the record's time is ahead of the clock, too
		return nil
	}
	return fmt.Errorf("header %s: %d (%s)", article.HeaderEventTime, at, clock(at))
}

// timeless tells whether only the stream time says when an article was published.
func (in *inputRow) timeless() bool { return !in.Dated && in.Timestamp <= 0 }

func classIndex(class string) uint8 {
	if i := slices.Index(deadLetterClasses, class); i >= 0 {
		return uint8(i)
	}
	return math.MaxUint8
}

func className(index uint8) string {
	if int(index) < len(deadLetterClasses) {
		return deadLetterClasses[index]
	}
	return "that this version does not know"
}
