// expect.go says what each input record must come out as. Records go in, an [Outcome] of each
// comes out, and how far two fingerprints are apart.
//
// It is the one place where the audit shares something with the daemon: the decoder, which makes
// an article of a record, and the configured method, which makes fingerprints of articles and
// compares two of them. So are excerpts of contents, and the fields that results repeat. All are
// functions of their arguments alone and have tests of their own.
// So the audit finds a result that was changed, mixed up or lost, and not a decoder or a method
// that is wrong.

package replay

import (
	"hash/maphash"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/clusterd/clusterd/internal/audit/model"
	"github.com/clusterd/clusterd/internal/audit/report"
	"github.com/clusterd/clusterd/internal/audit/spill"
	"github.com/clusterd/clusterd/internal/audit/wire"
	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/method"
	"github.com/clusterd/clusterd/internal/singlepass"
	"github.com/clusterd/clusterd/internal/text"
)

// A Kind says what an input record comes out as.
type Kind uint8

// The kinds.
const (
	Clustered   Kind = iota + 1 // a result with a cluster
	Unclustered                 // a result without, since there is nothing in the article to compare
	Rejected                    // a dead letter
)

// A KeyKind says what a result repeats of its record's key with output.key: source.
type KeyKind uint8

// The kinds of keys.
const (
	NoKey KeyKind = iota
	WholeKey
	LongKey // too long for a result to repeat
)

// An Outcome is what an input record must come out as: a row of 157 bytes. Texts are digests: that
// two are the same is all that is asked.
type Outcome struct {
	Kind           Kind
	Class          uint8 // of a dead letter, as wire.ClassIndex has it
	KeyKind        KeyKind
	Dated          bool // the article says when it was published
	ID             uint64
	Representative uint64 // of the cluster that it may found
	Published      int64  // Unix milliseconds
	Nanosecond     int32  // of Published, within its second
	Timestamp      int64  // of the record, Unix milliseconds
	Key            uint64
	Publisher      uint64     // 0 for none
	Copied         uint64     // 0 for none
	Space          uint64     // 0 for none
	Headers        [3]carried // that the result may have, by the kinds of them
	LongHeaders    bool       // not all of the record's may be read: those of the result are believed
	Fingerprint    uint64
	Sketch         model.Blob
	Contacts       model.Blob
}

// ComparePublished returns, for people, when the article says that it was published, and when its
// result says so. They are the same where both agree.
func (o *Outcome) ComparePublished(said *time.Time) (want, got string) {
	want, got = "no published_at", "no published_at"
	if o.Dated {
		want = "published_at " + report.Clock(o.Published)
	}
	switch {
	case said == nil:
	case o.Dated && said.UnixMilli() == o.Published && said.Nanosecond() == int(o.Nanosecond):
		got = want
	default:
		got = "published_at " + said.UTC().Format("2006-01-02T15:04:05.999999999Z07:00")
	}
	return want, got
}

// Timeless reports whether only the stream time says when the article was published.
func (o *Outcome) Timeless() bool { return !o.Dated && o.Timestamp <= 0 }

// Outcomes keeps the outcomes of input records.
type Outcomes struct {
	decoder      article.Decoder
	headers      [3][]string // names of those that results may have of their input records
	most         int         // bytes of headers that are read of a record
	long         long
	excerpt      int    // characters of a content
	scope        string // the field or header that divides articles; empty for none
	method       method.Method
	pipeline     string
	fingerprints sync.Pool // of *fingerprinter
	seed         maphash.Seed
	rows         *spill.Partitions[Outcome]
	blobs        *spill.Blobs // sketches and contacts
}

// HashIsAll reports whether the configured method compares 64 bits and no sketch, so that the
// nearest of many fingerprints can be looked for.
func HashIsAll(c config.Config) bool {
	spec, _ := method.SpecOf(c.Fingerprint.Method)
	return spec.HashIsAll
}

type fingerprinter = func(title, content string) (singlepass.Fingerprint, bool)

// New returns empty outcomes, by the configured method, of records at the offsets of each partition
// from (first) to (behind the last). Digests are made with seed.
func New(
	c config.Config, dir *spill.Dir, seed maphash.Seed, from, to map[int32]int64,
) (*Outcomes, error) {
	m, err := method.New(c.MethodSettings())
	if err != nil {
		return nil, err
	}
	return NewOf(m, c, dir, seed, from, to)
}

// NewOf does what [New] does, with a method that is made already.
func NewOf(
	m method.Method, c config.Config,
	dir *spill.Dir, seed maphash.Seed, from, to map[int32]int64,
) (*Outcomes, error) {
	in, fields := c.Input, article.Fields(c.Input.Fields)
	decoder, err := article.NewDecoder(in.Format, fields, in.MaxBytes, in.Encoding)
	if err != nil {
		return nil, err
	}
	blobs, err := spill.NewBlobs(dir)
	if err != nil {
		return nil, err
	}
	return &Outcomes{
		decoder: article.ByField(article.Copying(decoder, c.Output.Copy), c.Cluster.ScopeField),
		headers: headersOf(c), most: in.MaxBytes, excerpt: c.Output.Excerpt, scope: c.Cluster.ScopeField,
		method: m, pipeline: m.Identity(), seed: seed,
		rows: spill.NewPartitions[Outcome](dir, from, to), blobs: blobs,
		fingerprints: sync.Pool{New: func() any {
			print := m.NewFingerprinter()
			return &print
		}},
	}, nil
}

// Add works out the outcomes of records on all cores, keeps them, and calls do with each in order.
func (o *Outcomes) Add(records []*kgo.Record, do func(*kgo.Record, *Outcome) error) error {
	made := make([]inputOutcome, len(records))
	onAllCores(len(records), func(from, to int) {
		print := o.fingerprints.Get().(*fingerprinter)
		defer o.fingerprints.Put(print)
		for i := from; i < to; i++ {
			made[i] = o.of(*print, records[i])
		}
	})
	for i, r := range records {
		row, err := made[i].Outcome, error(nil)
		if row.Sketch.Ref, err = o.blobs.Put(made[i].sketch); err != nil {
			return err
		}
		if made[i].contacts != "" {
			row.Contacts.Ref, err = o.blobs.Put(string(made[i].contacts))
		}
		if err != nil {
			return err
		}
		if row.LongHeaders {
			if o.long.n++; o.long.n == 1 {
				o.long.first = wire.AddressOf(r).In(r.Topic)
			}
		}
		if _, err := o.rows.Put(r.Partition, r.Offset, row); err != nil {
			return err
		}
		if err := do(r, &row); err != nil {
			return err
		}
	}
	return nil
}

// Pipeline returns what every message must say of how fingerprints are made.
func (o *Outcomes) Pipeline() string { return o.pipeline }

// Threshold returns the largest distance at which articles are the same.
func (o *Outcomes) Threshold() float64 { return o.method.Threshold() }

// Flush makes what was added ready for Distance. Nothing may be added after it.
func (o *Outcomes) Flush() error { return o.blobs.Flush() }

// Of returns what a record must come out as. It is not known of one that retention has deleted,
// and there is none of one that was never committed.
func (o *Outcomes) Of(source wire.Address) (row Outcome, ok bool, err error) {
	return o.rows.Get(source.Partition, source.Offset)
}

// Distance returns how far two fingerprints are apart, in the measure of the method. It is not
// known where one of them is not.
func (o *Outcomes) Distance(a, b model.Fingerprint) (distance float64, known bool, err error) {
	both, known, err := o.both(a, b)
	if !known || err != nil {
		return 0, false, err
	}
	return o.method.Distance(both[0], both[1]), true, nil
}

// Same reports whether the method takes articles as the same. It is not known where the fingerprint
// of one of them is not.
func (o *Outcomes) Same(a, b model.Fingerprint) (same, known bool, err error) {
	both, known, err := o.both(a, b)
	if !known || err != nil {
		return false, false, err
	}
	return method.Same(o.method, both[0], both[1]), true, nil
}

// both returns two fingerprints with their sketches, where they are known.
func (o *Outcomes) both(
	a, b model.Fingerprint,
) (both [2]singlepass.Fingerprint, known bool, err error) {
	if !a.Known || !b.Known {
		return both, false, nil
	}
	for i, f := range []model.Fingerprint{a, b} {
		both[i].Hash = f.Hash
		if both[i].Sketch, err = o.blobs.Get(f.Sketch.Ref); err != nil {
			return both, false, err
		}
	}
	return both, true, nil
}

// Contacts returns digests of the contacts of a fingerprint, in their order.
func (o *Outcomes) Contacts(b model.Blob) (digests []uint64, err error) {
	contacts, err := o.blobs.Get(b.Ref)
	if err != nil {
		return nil, err
	}
	for contact := range singlepass.Contacts(contacts).All() {
		digests = append(digests, wire.ContactDigest(o.seed, contact))
	}
	return digests, nil
}

// An inputOutcome is an Outcome with its sketch and its contacts.
type inputOutcome struct {
	Outcome
	sketch   string
	contacts singlepass.Contacts
}

// of makes an article of a record, and a fingerprint of that.
func (o *Outcomes) of(print fingerprinter, r *kgo.Record) inputOutcome {
	out := inputOutcome{Outcome: Outcome{Kind: Clustered, Timestamp: r.Timestamp.UnixMilli()}}
	out.LongHeaders = wire.HeadersSize(r.Headers) > o.most
	switch {
	case len(r.Key) > wire.MaxKeyBytes:
		out.KeyKind = LongKey
	case r.Key != nil:
		out.KeyKind, out.Key = WholeKey, maphash.Bytes(o.seed, r.Key)
	}
	at := article.Address{Topic: r.Topic, Partition: int(r.Partition), Offset: r.Offset}
	made, rejection := o.decoder.Decode(r.Key, r.Value, at)
	if rejection != nil {
		out.Kind, out.Class = Rejected, wire.ClassIndex(string(rejection.Class))
		return out
	}
	out.ID = maphash.String(o.seed, made.ID)
	out.Publisher = o.digest(wire.NewPublisher(made.Source))
	out.Copied = o.digest(string(made.Copied))
	out.Space = o.digest(wire.Space(r, made.Space, o.scope))
	for i, names := range o.headers {
		passing, size := wire.Passing(r, names)
		out.Headers[i] = carried{o.digest(passing), int32(size)}
	}
	if out.Dated = !made.PublishedAt.IsZero(); out.Dated {
		out.Published = made.PublishedAt.UnixMilli()
		out.Nanosecond = int32(made.PublishedAt.Nanosecond())
	}
	fingerprint, ok := print(made.Title, made.Content)
	if !ok {
		out.Kind = Unclustered
		return out
	}
	represents := wire.NewRepresentative(made.ID, made.Title)
	if strings.TrimSpace(made.Title) == "" {
		represents.Excerpt = text.Excerpt(made.Content, o.excerpt)
	}
	out.Representative = maphash.Comparable(o.seed, represents)
	out.Fingerprint, out.sketch = fingerprint.Hash, fingerprint.Sketch
	out.Sketch.Digest = o.digest(out.sketch)
	out.contacts = fingerprint.Contacts
	out.Contacts.Digest = o.digest(string(out.contacts))
	return out
}

// digest returns that of a text, 0 of an empty one.
func (o *Outcomes) digest(text string) uint64 {
	if text == "" {
		return 0
	}
	return maphash.String(o.seed, text)
}

// onAllCores calls do with as many parts of n as there are cores.
func onAllCores(n int, do func(from, to int)) {
	var parts sync.WaitGroup
	size := max(1, (n+runtime.GOMAXPROCS(0)-1)/runtime.GOMAXPROCS(0))
	for from := 0; from < n; from += size {
		parts.Go(func() { do(from, min(from+size, n)) })
	}
	parts.Wait()
}
