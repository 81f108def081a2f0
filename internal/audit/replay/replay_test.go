package replay

import (
	"bytes"
	"fmt"
	"hash/maphash"
	"maps"
	"math"
	"math/bits"
	"slices"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/clusterd/clusterd/internal/audit/labels"
	"github.com/clusterd/clusterd/internal/audit/model"
	"github.com/clusterd/clusterd/internal/audit/report"
	"github.com/clusterd/clusterd/internal/audit/spill"
	"github.com/clusterd/clusterd/internal/audit/topics"
	"github.com/clusterd/clusterd/internal/audit/wire"
	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/singlepass"
	"github.com/clusterd/clusterd/internal/testutil/golden"
)

// threshold is how many bits of two fingerprints may differ.
const threshold = 3

// byBits is a method that counts the bits in which fingerprints differ. The streams have their
// fingerprints already, so it makes none.
type byBits struct{}

func (byBits) Identity() string                   { return "method=bits" }
func (byBits) ThresholdSettings() string          { return "" }
func (byBits) Threshold() float64                 { return threshold }
func (byBits) Check(singlepass.Fingerprint) error { return nil }

func (byBits) NewFingerprinter() func(title, content string) (singlepass.Fingerprint, bool) {
	panic("the streams have fingerprints already")
}

func (byBits) NewIndex(float64) (singlepass.Index, error) {
	panic("the audit has a model of its own")
}

func (byBits) Distance(a, b singlepass.Fingerprint) float64 {
	return float64(bits.OnesCount64(a.Hash ^ b.Hash))
}

// A stream has the topics' records of one space. Everything is in partition 0, and an article is
// named by its offset there.
type stream struct {
	set         func(*config.Config) // nil for nothing
	results     map[int64]ResultRow  // by position
	records     []clusterRecord      // at ascending offsets
	tombstones  []tombstone
	unclustered map[int64]int64 // positions, by offset
	last        *Last
	committed   int64 // offset of the group; 0 is behind the last result
	deleted     bool  // the beginning of the results is gone
	labels      []string
	unread      bool // no checkpoint has read the labels
	// erased are founders, and the offsets of the label records that erase their texts.
	erased map[int64]int64
}

// clusterRecord is a record of the clusters topic, and the position of the last member.
type clusterRecord struct {
	position int64
	ClusterRow
}

// labelsFrom is the first position at which the label records of a stream are applied.
const labelsFrom = 2

func minutes(n int64) int64 { return n * time.Minute.Milliseconds() }

func offset(n int64) wire.Address { return wire.Address{Offset: n} }

// represents returns the digest of the representative of a cluster.
func represents(founder int64) uint64 { return uint64(1000 + founder) }

// joins is the result of an article that is a number of bits from the founder of its cluster, and
// makes that so large.
func joins(article int64, hash uint64, minute, founder, distance, size int64) ResultRow {
	return ResultRow{
		Article: model.Article{
			Source: offset(article), Fingerprint: model.Fingerprint{Hash: hash, Known: true},
			Representative: represents(article), EventTime: minutes(minute),
			Cluster: offset(founder), Distance: float64(distance), Joined: article != founder,
		},
		Size: size, Representative: represents(founder),
	}
}

// founds is the result of an article that founds a cluster.
func founds(article int64, hash uint64, minute int64) ResultRow {
	return joins(article, hash, minute, article, 0, 1)
}

// inOrder gives results the positions from 0 on.
func inOrder(results ...ResultRow) map[int64]ResultRow {
	all := make(map[int64]ResultRow)
	for position, r := range results {
		all[int64(position)] = r
	}
	return all
}

// state is the record of a cluster after the member at a position.
func state(
	position, founder int64, hash uint64, seq, size, firstMinute, lastMinute int64,
) clusterRecord {
	return clusterRecord{position, ClusterRow{
		Founder: offset(founder), Fingerprint: hash, Seq: seq, Size: size,
		FirstSeen: minutes(firstMinute), LastSeen: minutes(lastMinute),
		Representative: represents(founder),
	}}
}

// expired is the tombstone of a cluster, written before the article behind a position was taken in.
func expired(founder, by int64) tombstone {
	return tombstone{founder: offset(founder), at: offset(50 + founder), by: by}
}

func (s *stream) clone() *stream {
	other := *s
	other.results, other.unclustered = maps.Clone(s.results), maps.Clone(s.unclustered)
	other.records, other.tombstones = slices.Clone(s.records), slices.Clone(s.tombstones)
	if s.last != nil {
		last := *s.last
		last.Offsets = maps.Clone(last.Offsets)
		other.last = &last
	}
	return &other
}

// result has do change the result at a position.
func (s *stream) result(position int64, do func(*ResultRow)) {
	r := s.results[position]
	do(&r)
	s.results[position] = r
}

// A finding is a violation, and the check that it belongs to.
type finding struct {
	check string
	report.Violation
}

// found has the report of a replay.
type found struct {
	findings []finding
	counts   report.Counts
	unknown  int64 // distances
}

func (s *stream) settings() config.Config {
	c := config.Default()
	c.Cluster.Distance, c.Cluster.Window = threshold, time.Hour
	c.Input.Topic, c.Output.Topic, c.Output.ClustersTopic = "articles", "results", "clusters"
	if s.set != nil {
		s.set(&c)
	}
	return c
}

// replay puts a stream into a space and runs that.
func (s *stream) replay(t *testing.T) found {
	t.Helper()
	must := func(err error) {
		if t.Helper(); err != nil {
			t.Fatal(err)
		}
	}
	dir, err := spill.NewDir(t.TempDir())
	must(err)
	defer func() { must(dir.Close()) }()
	input := topics.Span{
		Topic: "articles", From: map[int32]int64{0: 0}, To: map[int32]int64{0: 100},
	}
	c, seed := s.settings(), maphash.MakeSeed()
	expected, err := NewOf(byBits{}, c, dir, seed, input.From, input.To)
	must(err)
	must(expected.Flush())
	space, err := NewSpace(dir, input)
	must(err)
	committed := s.committed
	for position, row := range s.results {
		row.At = offset(position)
		must(second(space.Results.Put(position, row)))
		if s.committed == 0 {
			committed = max(committed, row.Article.Source.Offset+1)
		}
	}
	for position, row := range s.results {
		if row.Article.Source.Offset < committed {
			space.Required = max(space.Required, position+1)
		}
	}
	for n, r := range s.records {
		r.At = offset(int64(n))
		first, fresh, err := space.PutCluster(r.position, r.ClusterRow)
		must(err)
		if !fresh {
			must(space.PutFurther(r.position, first, r.ClusterRow))
		}
	}
	for source, position := range s.unclustered {
		must(space.PutUnclustered(offset(source), offset(70+source), position))
	}
	space.tombstones, space.Last = s.tombstones, s.last

	r := report.New("articles", "g", 20)
	a := &Audit{
		Config: c, Expected: expected, Complete: !s.deleted, Counts: &r.Counts,
		Advance: func(int64) {}, Order: r.Add("I2", ""), Rule: r.Add("I3", ""),
		Clusters: r.Add("I4", ""), Input: r.Add("input", ""), Erased: make(map[wire.Address]wire.Address),
		Cut: topics.Cut{
			Input: input, Results: topics.Span{Topic: "results"}, Clusters: topics.Span{Topic: "clusters"},
			Labels:    topics.Span{Topic: "labels", To: map[int32]int64{0: int64(len(s.labels))}},
			Committed: map[int32]int64{0: committed}, Applied: map[int32]int64{0: committed},
		},
	}
	if c.Signals.Enabled {
		a.Signals = r.Add("I10", "")
	}
	for founder, record := range s.erased {
		a.Erased[offset(founder)] = offset(record)
	}
	must(Run(t.Context(), a, space, s.labelSpace(t, dir, seed, r)))
	return found{findings(r), r.Counts, a.Unmeasured}
}

func second(_ bool, err error) error { return err }

// labelSpace returns the labels of the stream. The first checkpoint has read none of them, the
// second one, at labelsFrom, has read all.
func (s *stream) labelSpace(
	t *testing.T, dir *spill.Dir, seed maphash.Seed, r *report.Report,
) *labels.Space {
	t.Helper()
	if s.labels == nil {
		return nil
	}
	n, read := int64(len(s.labels)), int64(len(s.labels))
	if s.unread {
		read = 0
	}
	all := labels.New(labels.Rule{Input: "articles", Topic: "labels", Partitions: 1}, dir, seed,
		map[int32]int64{0: 0}, map[int32]int64{0: n}, r.Add("I9", ""), r.Add("I11", ""))
	for at, value := range s.labels {
		record := &kgo.Record{Topic: "labels", Offset: int64(at), Value: []byte(value)}
		if err := all.Add(record, ""); err != nil {
			t.Fatal(err)
		}
	}
	space := all.Space(0)
	checkpoint := func(position, read int64) {
		space.Checkpoint(&wire.Checkpoint{NextPosition: position, Labels: &wire.LabelProgress{
			Topic: "labels", Offsets: map[int32]int64{0: read},
		}}, true, "a checkpoint")
	}
	checkpoint(labelsFrom, 0)
	checkpoint(labelsFrom, read)
	checkpoint(1<<40, read)
	return space
}

func findings(r *report.Report) (all []finding) {
	for _, check := range r.Checks {
		for _, v := range check.Shown {
			all = append(all, finding{check.ID, v})
		}
	}
	return all
}

// The streams. Each is right.
var streams = map[string]*stream{
	// The first two are 4 bits apart, the third is 2 from each.
	"two clusters": {
		results: inOrder(
			founds(0, 0x00, 0),
			founds(1, 0x0f, 1),
			joins(2, 0x03, 2, 0, 2, 2),
			joins(3, 0x1f, 3, 1, 1, 2),
			joins(4, 0x00, 4, 0, 0, 3),
		),
		records: []clusterRecord{
			state(2, 0, 0x00, 0, 2, 0, 2), state(3, 1, 0x0f, 1, 2, 1, 3), state(4, 0, 0x00, 0, 3, 0, 4),
		},
	},
	"the nearer cluster": {
		results: inOrder(
			founds(0, 0x00, 0), founds(1, 0x1f, 1), joins(2, 0x0f, 2, 1, 1, 2),
			joins(3, 0x07, 3, 1, 2, 3),
		),
		records: []clusterRecord{state(0, 0, 0x00, 0, 1, 0, 0), state(3, 1, 0x1f, 1, 3, 1, 3)},
	},
	// A member does not move the centre: an article near the member alone founds a cluster.
	"the centre stays": {
		results: inOrder(founds(0, 0, 0), joins(1, 0x07, 1, 0, 3, 2), founds(2, 0x3f, 2)),
		records: []clusterRecord{state(1, 0, 0, 0, 2, 0, 1), state(2, 2, 0x3f, 2, 1, 2, 2)},
	},
	"repeated articles": {
		results: inOrder(founds(0, 5, 0), joins(1, 5, 0, 0, 0, 2), joins(2, 5, 0, 0, 0, 3)),
		records: []clusterRecord{state(2, 0, 5, 0, 3, 0, 0)},
	},
	// The window is an hour. A late article moves the first time, and not the last one.
	"a late article": {
		results: inOrder(founds(0, 0, 90), joins(1, 1, 60, 0, 1, 2), joins(2, 2, 80, 0, 1, 3)),
		records: []clusterRecord{state(2, 0, 0, 0, 3, 60, 90)},
	},
	// After exactly an hour a cluster lives.
	"expiry": {
		results: inOrder(
			founds(0, 0, 0), joins(1, 0, 60, 0, 0, 2), founds(2, 0xff00, 120), founds(3, 0, 121),
			joins(4, 1, 122, 3, 1, 2),
		),
		records: []clusterRecord{
			state(0, 0, 0, 0, 1, 0, 0), state(2, 2, 0xff00, 2, 1, 120, 120), state(4, 3, 0, 3, 2, 121, 122),
		},
		tombstones: []tombstone{expired(0, 3)},
	},
	// An article that is older than the window founds a cluster that no article can join. It needs
	// no record.
	"too late for a cluster": {
		results: inOrder(founds(0, 0, 100), founds(1, 0xff, 30), founds(2, 0xff, 100)),
		records: []clusterRecord{state(0, 0, 0, 0, 1, 100, 100), state(2, 2, 0xff, 2, 1, 100, 100)},
	},
	"no window": {
		set:     func(c *config.Config) { c.Cluster.Window = 0 },
		results: inOrder(founds(0, 0, 0), joins(1, 0, 1_000_000, 0, 0, 2)),
		records: []clusterRecord{state(1, 0, 0, 0, 2, 0, 1_000_000)},
	},
	"divided by a field": {
		results: inOrder(
			of(7, founds(0, 0, 0)), of(8, founds(1, 0, 500)), of(7, joins(2, 0, 1, 0, 0, 2)),
		),
		records: []clusterRecord{
			recordOf(8, state(1, 1, 0, 1, 1, 500, 500)), recordOf(7, state(2, 0, 0, 0, 2, 0, 1)),
		},
	},
	// An earlier version joined articles by contacts, however far apart they were.
	"by a contact": {
		set: func(c *config.Config) { c.Contacts.Join = true },
		results: inOrder(
			founds(0, 0, 0), byItsContact(77, joins(1, 0xffff, 1, 0, 0, 2)),
			byItsText(joins(2, 1, 2, 0, 1, 3)),
		),
		records: []clusterRecord{membersByContact(1, state(2, 0, 0, 0, 3, 0, 2))},
	},
	// Offsets 1, 2 and 5 were not clustered: they have the position of the next clustered article.
	"unclustered": {
		results:     inOrder(founds(0, 0, 0), joins(3, 0, 1, 0, 0, 2), joins(4, 0, 1, 0, 0, 3)),
		records:     []clusterRecord{state(2, 0, 0, 0, 3, 0, 1)},
		unclustered: map[int64]int64{1: 1, 2: 1, 5: 3},
		committed:   6,
	},
	"signals": {
		set: func(c *config.Config) { c.Signals.Enabled, c.Signals.Window = true, 12*time.Minute },
		results: inOrder(
			signals(5, 1, 1, 0, 0, founds(0, 0, 0)),
			signals(6, 2, 2, 0, 1, joins(1, 0, 1, 0, 0, 2)),
			signals(5, 2, 1, 0, 13, joins(2, 0, 13, 0, 0, 3)),
		),
		records: []clusterRecord{recordSignals(2, 1, state(2, 0, 0, 0, 3, 0, 13))},
	},
	"only the stream time is known": {
		results: inOrder(founds(0, 0, 9), timeless(joins(1, 0, 9, 0, 0, 2))),
		records: []clusterRecord{state(1, 0, 0, 0, 2, 9, 9)},
	},
	"a checkpoint": {
		results: inOrder(founds(0, 0, 9), joins(1, 0, 5, 0, 0, 2), joins(2, 0, 20, 0, 0, 3)),
		records: []clusterRecord{state(1, 0, 0, 0, 2, 5, 9)},
		last: &Last{At: "the checkpoint", Checkpoint: wire.Checkpoint{
			Input: "articles", Scope: "topic", Output: "results", Window: "1h0m0s",
			Pipeline: "method=bits", Offsets: map[int32]int64{0: 2}, NextPosition: 2,
			StreamTime: minutes(9),
		}},
		committed: 2,
	},
	// Article 2 is of a transaction that was not over at the cut. Position 2 is not there yet.
	"an open transaction": {
		results: map[int64]ResultRow{
			0: founds(0, 0, 0), 1: joins(1, 0, 1, 0, 0, 2), 3: joins(3, 0, 3, 0, 0, 4),
		},
		records:   []clusterRecord{state(1, 0, 0, 0, 2, 0, 1)},
		committed: 2,
	},
	// Without the first results the clusters are unknown. The order can still be checked.
	"retention": {
		results: map[int64]ResultRow{7: joins(7, 0, 0, 1, 9, 9), 9: joins(9, 0xff, 0, 2, 9, 9)},
		deleted: true,
	},
	// Of other methods the audit does not look for the nearest: 0x03 is nearer to the other one.
	"another method": {
		set: following, results: inOrder(
			founds(0, 0x00, 0), founds(1, 0x0f, 0), joins(2, 0x03, 0, 1, 2, 2),
			joins(3, 0x00, 0, 0, 0, 2),
		),
		records: []clusterRecord{state(2, 1, 0x0f, 1, 2, 0, 0), state(3, 0, 0x00, 0, 2, 0, 0)},
	},
	// Their input records are gone, so the distance is believed.
	"unknown fingerprints": {
		set: following, results: inOrder(forgotten(founds(0, 0, 0)), forgotten(joins(1, 9, 0, 0, 2, 2))),
		records: []clusterRecord{state(1, 0, 0, 0, 2, 0, 0)},
	},
	// The fingerprints are not known, so it is believed that one text contains the other.
	"contained": {
		set: func(c *config.Config) {
			c.Fingerprint.Method, c.Cluster.Containment = "minhash", 0.8
		},
		results: inOrder(forgotten(founds(0, 0, 0)), itContains(forgotten(joins(1, 9, 0, 0, 5, 2)))),
		records: []clusterRecord{state(1, 0, 0, 0, 2, 0, 0)},
	},
	"an erasure that is not read yet": {
		results: inOrder(founds(0, 0, 0)),
		records: []clusterRecord{state(0, 0, 0, 0, 1, 0, 0)},
		labels: []string{
			`{"cluster_id":"articles/0/0","action":"erase","target":"article","source":"articles/0/0"}`,
		},
		unread: true,
		erased: map[int64]int64{0: 0},
	},
	"an erased text": {
		results: inOrder(founds(0, 0, 0), joins(1, 0, 1, 0, 0, 2), withoutText(joins(2, 0, 2, 0, 0, 3))),
		records: []clusterRecord{state(1, 0, 0, 0, 2, 0, 1), erasedRecord(state(2, 0, 0, 0, 3, 0, 2))},
		labels: []string{
			`{"cluster_id":"articles/0/0","action":"erase","target":"article","source":"articles/0/0"}`,
		},
		erased: map[int64]int64{0: 0},
	},
}

func of(space uint64, r ResultRow) ResultRow {
	r.Article.Space = space
	return r
}

func recordOf(space uint64, r clusterRecord) clusterRecord {
	r.Space = space
	return r
}

func byItsContact(contact uint64, r ResultRow) ResultRow {
	r.Article.Contact, r.Matched = contact, byContact
	return r
}

func byItsText(r ResultRow) ResultRow {
	r.Matched = byText
	return r
}

func membersByContact(n int64, r clusterRecord) clusterRecord {
	r.ByContact = n
	return r
}

// signals has a result of a publisher's article say how many publishers and recent articles there
// are, and the minutes of the first and the last.
func signals(publisher uint64, publishers, recent, first, last int64, r ResultRow) ResultRow {
	r.Article.Signals, r.Article.Publisher = true, publisher
	r.Publishers, r.Recent, r.FirstSeen, r.LastSeen = publishers, recent, minutes(first), minutes(last)
	return r
}

func recordSignals(publishers, recent int64, r clusterRecord) clusterRecord {
	r.Signals, r.Publishers, r.Recent = true, publishers, recent
	return r
}

func timeless(r ResultRow) ResultRow {
	r.Timeless = true
	return r
}

func following(c *config.Config) { c.Fingerprint.Method = "minhash" }

func forgotten(r ResultRow) ResultRow {
	r.Article.Fingerprint.Known = false
	return r
}

func itContains(r ResultRow) ResultRow {
	r.Matched = contained
	return r
}

func withoutText(r ResultRow) ResultRow {
	r.Representative = ErasedText
	return r
}

func erasedRecord(r clusterRecord) clusterRecord {
	r.Representative = ErasedText
	return r
}

// There is no finding in a stream that is right. The table has its clusters, how many of them live,
// how many results are left to the next audit, and how many distances are unknown.
func TestRight(t *testing.T) {
	t.Parallel()
	// Distances are unknown where an input record is gone.
	type counts struct{ clusters, live, later, unknown int64 }
	want := map[string]counts{
		"two clusters":                  {2, 2, 0, 0},
		"the nearer cluster":            {2, 2, 0, 0},
		"the centre stays":              {2, 2, 0, 0},
		"repeated articles":             {1, 1, 0, 0},
		"a late article":                {1, 1, 0, 0},
		"expiry":                        {3, 2, 0, 0},
		"too late for a cluster":        {3, 2, 0, 0},
		"no window":                     {1, 1, 0, 0},
		"divided by a field":            {2, 2, 0, 0},
		"by a contact":                  {1, 1, 0, 0},
		"unclustered":                   {1, 1, 0, 0},
		"signals":                       {1, 1, 0, 0},
		"only the stream time is known": {1, 1, 0, 0},
		"a checkpoint":                  {1, 1, 0, 0},
		"an open transaction":           {1, 1, 1, 0},
		"retention":                     {},
		"another method":                {2, 2, 0, 0},
		"unknown fingerprints":          {1, 1, 0, 1},
		"contained":                     {1, 1, 0, 1}, "an erasure that is not read yet": {1, 1, 0, 0},
		"an erased text": {1, 1, 0, 0},
	}
	for name, s := range streams {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := s.replay(t)
			for _, finding := range got.findings {
				t.Errorf("found %+v", finding)
			}
			n := counts{got.counts.Clusters, got.counts.Live, got.counts.Later, got.unknown}
			if n != want[name] {
				t.Errorf("counts %+v, want %+v", n, want[name])
			}
		})
	}
}

// A fault is one thing that is wrong in a stream. testdata/faults.txt has the findings.
type fault struct {
	name, stream string
	do           func(*stream)
}

// inResult changes a result of a stream.
func inResult(position int64, do func(*ResultRow)) func(*stream) {
	return func(s *stream) { s.result(position, do) }
}

// inRecord changes a record of the clusters topic.
func inRecord(n int, do func(*ClusterRow)) func(*stream) {
	return func(s *stream) { do(&s.records[n].ClusterRow) }
}

var faults = []fault{
	// Results.
	{
		"another cluster", "two clusters",
		inResult(2, func(r *ResultRow) { r.Article.Cluster = offset(1) }),
	},
	{"joined instead of new", "two clusters", inResult(1, func(r *ResultRow) {
		r.Article.Cluster, r.Article.Joined, r.Article.Distance, r.Size = offset(0), true, 4, 2
	})},
	{
		"new instead of joined", "two clusters",
		inResult(3, func(r *ResultRow) { r.Article.Joined = false }),
	},
	{"another distance", "two clusters", inResult(3, func(r *ResultRow) { r.Article.Distance++ })},
	{"another size", "two clusters", inResult(4, func(r *ResultRow) { r.Size-- })},
	{"another representative", "two clusters", inResult(3, func(r *ResultRow) { r.Representative++ })},
	{"joined an expired cluster", "expiry", inResult(3, func(r *ResultRow) {
		r.Article.Cluster, r.Article.Joined, r.Size = offset(0), true, 3
	})},
	{"joined another value", "divided by a field", inResult(1, func(r *ResultRow) {
		r.Article.Cluster, r.Article.Joined, r.Size = offset(0), true, 2
	})},
	{"how it matched", "by a contact", inResult(2, func(r *ResultRow) { r.Matched = contained })},
	{
		"joined by a contact, and says by its text", "by a contact",
		inResult(1, func(r *ResultRow) { r.Matched = byText }),
	},
	{"by a contact in vain", "by a contact", inResult(2, func(r *ResultRow) {
		r.Article.Contact, r.Matched, r.Article.Distance = 77, byContact, 0
	})},
	{"by a contact in vain, unexplained", "by a contact", func(s *stream) {
		s.set = nil
		s.result(1, func(r *ResultRow) { r.Matched = unexplained })
		s.result(2, func(r *ResultRow) { r.Article.Contact, r.Matched = 77, unexplained })
	}},
	{
		"another event time than the stream time", "only the stream time is known",
		inResult(1, func(r *ResultRow) { r.Article.EventTime-- }),
	},
	{"another number of publishers", "signals", inResult(1, func(r *ResultRow) { r.Publishers++ })},
	{"another number of recent ones", "signals", inResult(2, func(r *ResultRow) { r.Recent++ })},
	{"another first time", "signals", inResult(1, func(r *ResultRow) { r.FirstSeen++ })},
	{"another last time", "signals", inResult(2, func(r *ResultRow) { r.LastSeen++ })},
	{"no signals any more", "signals", inResult(2, func(r *ResultRow) { r.Article.Signals = false })},
	{
		"too far", "another method",
		inResult(2, func(r *ResultRow) { r.Article.Fingerprint.Hash = 0xf0 }),
	},
	{"the same as another cluster", "another method", inResult(3, func(r *ResultRow) {
		r.Article.Cluster, r.Article.Distance = offset(1), 4
	})},
	{
		"too far by its own distance", "unknown fingerprints",
		inResult(1, func(r *ResultRow) { r.Article.Distance = 4 }),
	},
	{"text comes back in a result", "an erased text", func(s *stream) {
		s.results[3] = joins(3, 0, 3, 0, 0, 4)
		s.records = append(s.records, erasedRecord(state(3, 0, 0, 0, 4, 0, 3)))
	}},

	// Order.
	{"no result", "two clusters", func(s *stream) { delete(s.results, 3) }},
	{"a result too many", "two clusters", func(s *stream) {
		s.results[5] = joins(4, 0, 4, 0, 0, 4)
		s.records = append(s.records, state(5, 0, 0, 0, 4, 0, 4))
	}},
	{"two positions swapped", "repeated articles", func(s *stream) {
		s.results[1], s.results[2] = joins(2, 5, 0, 0, 0, 2), joins(1, 5, 0, 0, 0, 3)
	}},
	{"offsets go down", "retention", func(s *stream) { s.results[9] = s.results[7] }},
	{"before the one before it", "unclustered", func(s *stream) { s.unclustered[2] = 0 }},
	{"behind the next one", "unclustered", func(s *stream) { s.unclustered[1] = 2 }},
	{"behind the last one", "unclustered", func(s *stream) { s.unclustered[5] = 4 }},

	// The clusters topic.
	{"no record", "two clusters", func(s *stream) { s.records = s.records[:1] }},
	{"no last record", "two clusters", func(s *stream) { s.records = s.records[:2] }},
	{
		"a record at a member of another cluster", "two clusters",
		inRecord(1, func(r *ClusterRow) { r.Founder = offset(0) }),
	},
	{"records in the wrong order", "two clusters", func(s *stream) {
		s.records[0], s.records[2] = s.records[2], s.records[0]
	}},
	{"two records of a position", "two clusters", func(s *stream) {
		s.records = append(s.records, state(4, 0, 0, 0, 4, 0, 4))
	}},
	{"another fingerprint", "two clusters", inRecord(1, func(r *ClusterRow) { r.Fingerprint++ })},
	{"another seq", "two clusters", inRecord(1, func(r *ClusterRow) { r.Seq++ })},
	{"another size of a record", "two clusters", inRecord(1, func(r *ClusterRow) { r.Size++ })},
	{"another first_seen", "two clusters", inRecord(1, func(r *ClusterRow) { r.FirstSeen++ })},
	{"another last_seen", "two clusters", inRecord(1, func(r *ClusterRow) { r.LastSeen++ })},
	{"another sketch", "two clusters", inRecord(1, func(r *ClusterRow) { r.Sketch++ })},
	{"other contacts", "two clusters", inRecord(1, func(r *ClusterRow) { r.Contacts += 2 })},
	{"another space", "two clusters", inRecord(1, func(r *ClusterRow) { r.Space++ })},
	{"another title", "two clusters", inRecord(1, func(r *ClusterRow) { r.Representative++ })},
	{"members by a contact", "by a contact", inRecord(0, func(r *ClusterRow) { r.ByContact++ })},
	{"publishers of a record", "signals", inRecord(0, func(r *ClusterRow) { r.Publishers++ })},
	{"a record without signals", "signals", inRecord(0, func(r *ClusterRow) { r.Signals = false })},
	{"a tombstone of no cluster", "expiry", func(s *stream) {
		s.tombstones = append(s.tombstones, expired(9, 4))
	}},
	{"a tombstone of a live cluster", "expiry", func(s *stream) {
		s.tombstones = append(s.tombstones, expired(2, 4))
	}},
	{"a tombstone too early", "expiry", func(s *stream) { s.tombstones[0].by = 2 }},
	{"a tombstone as late as the last result", "two clusters", func(s *stream) {
		s.tombstones = append(s.tombstones, expired(1, math.MaxInt64))
	}},
	{"the text is still there", "an erased text", func(s *stream) {
		s.results[2] = joins(2, 0, 2, 0, 0, 3)
		s.records[1] = state(2, 0, 0, 0, 3, 0, 2)
	}},
	{"the text comes back", "an erased text", func(s *stream) {
		s.records[1] = state(2, 0, 0, 0, 3, 0, 2)
	}},

	// The last checkpoint.
	{"offsets are skipped", "a checkpoint", func(s *stream) { s.committed = 3 }},
	{"offsets come again", "a checkpoint", func(s *stream) { s.committed = 1 }},
	{"of another role", "a checkpoint", func(s *stream) {
		s.last.Fingerprints = &struct {
			Topic   string
			Offsets map[int32]int64
		}{"fingerprints", map[int32]int64{0: 2}}
	}},
	{"another input", "a checkpoint", func(s *stream) { s.last.Input = "other" }},
	{"another scope", "a checkpoint", func(s *stream) { s.last.Scope = "partition" }},
	{"another output", "a checkpoint", func(s *stream) { s.last.Output = "other" }},
	{"another window", "a checkpoint", func(s *stream) { s.last.Window = "2h0m0s" }},
	{"another pipeline", "a checkpoint", func(s *stream) { s.last.Pipeline = "method=other" }},
	{"another position", "a checkpoint", func(s *stream) { s.last.NextPosition = 1 }},
	{"another stream time", "a checkpoint", func(s *stream) { s.last.StreamTime++ }},
	{"labels read beyond their end", "a checkpoint", func(s *stream) {
		s.set = func(c *config.Config) { c.Labels.Topic = "labels" }
		s.last.Labels = &wire.LabelProgress{Topic: "labels", Offsets: map[int32]int64{0: 1}}
	}},
}

// Replay finds each fault, and says where and why.
func TestFaults(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	for _, f := range faults {
		s := streams[f.stream].clone()
		f.do(s)
		got := s.replay(t).findings
		if len(got) == 0 {
			t.Errorf("%s: nothing is found", f.name)
		}
		fmt.Fprintf(&b, "%s: %s\n", f.stream, f.name)
		for _, finding := range got {
			fmt.Fprintf(&b, "  %s %s\n    expected  %s\n    found     %s\n", finding.check, finding.At,
				finding.Expected, finding.Found)
		}
	}
	golden.Check(t, "testdata/faults.txt", b.Bytes())
}
