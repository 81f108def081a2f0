// Package labels has the rule of labels once more, written from the documents and not from the
// daemon's code. Label records, checkpoints, cluster records, results and corrections go in; where
// they do not agree comes out.
//
// Where a label record was applied is written in the record of its cluster, as long as the label is
// there, and in corrections. Else it is between two checkpoints: after the last that had not read
// it, and, where none between the two can be missing, before the articles of the transaction of the
// first that had. What is then not known is left to the results: the record was applied before the
// first of its cluster that shows it.
//
// Memory is 100 to 200 bytes for each cluster that has a label, and 40 for each transaction with
// label records; the rest is in temporary files.
package labels

import (
	"hash/maphash"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/clusterd/clusterd/internal/audit/model"
	"github.com/clusterd/clusterd/internal/audit/report"
	"github.com/clusterd/clusterd/internal/audit/spill"
	"github.com/clusterd/clusterd/internal/audit/wire"
)

// A Rule is the settings of labels, and of what they are about.
type Rule struct {
	Input       string // topics
	Topic       string
	Corrections string // empty where none are written
	Allow       []string
	Kept        time.Duration // by which a cluster with labels outlives others
	Scopes      bool          // each partition of the input is a space
	Partitions  int           // of the input
}

// Labels are the label records, and what topics say of each.
type Labels struct {
	rule          Rule
	seed          maphash.Seed
	allow         map[uint64]bool
	from          map[int32]int64
	applied, told *report.Check
	records       *spill.Partitions[record]
	traces        *spill.Partitions[trace]
	sets          map[uint64]string // some sets of labels, for people
}

// A record is a label record, and what its dead letter says: 53 bytes.
type record struct {
	Cluster wire.Address
	Kind    kind
	Trial   bool
	Dead    uint8  // the class of its dead letter, from 1 on in the order of deadClasses; 0 for none
	Name    uint64 // a digest
	Entry   uint64 // a digest of what the record of its cluster says of it
	Change  uint64 // a digest of what a correction says of it
}

// A kind says what a label record asks for.
type kind uint8

const (
	add kind = iota + 1
	remove
	resume
	bad
	foreign // for a cluster that this input cannot have
	storied // that merges or splits stories
)

var kinds = map[string]kind{
	wire.ActionAdd: add, wire.ActionRemove: remove, wire.ActionResume: resume,
	wire.ActionMerge: storied, wire.ActionUnmerge: storied, wire.ActionSplit: storied,
}

// deadClasses are those of the dead letters of label records.
func deadClasses() []string {
	return []string{
		"", wire.BadLabel, wire.UnknownCluster, wire.TooManyLabels, wire.UnknownStory,
	}
}

const (
	notDead uint8 = iota
	badLabel
	unknownCluster
	tooManyLabels
)

// A trace is what corrections and records of clusters say of a label record: 57 bytes.
type trace struct {
	Position int64 // at which it was applied, plus 1; 0 is unknown
	Count    int64 // of corrections
	Members  uint64
	Labels   uint64 // that its cluster carries from then on
	First    wire.Address
}

// New returns labels without records, of a topic with these offsets, first and behind the last.
// What is wrong with labels is reported to applied, and with corrections to told.
func New(
	rule Rule, dir *spill.Dir, seed maphash.Seed, from, to map[int32]int64,
	applied, told *report.Check,
) *Labels {
	l := &Labels{
		rule: rule, seed: seed, allow: make(map[uint64]bool), from: from, applied: applied, told: told,
		records: spill.NewPartitions[record](dir, from, to),
		traces:  spill.NewPartitions[trace](dir, from, to), sets: map[uint64]string{0: "no label"},
	}
	for _, name := range rule.Allow {
		l.allow[l.name(name)] = true
	}
	return l
}

// entry and change are what digests are made of.
type (
	entry struct {
		label, by, note, record string
		at                      int64
		trial                   bool
	}
	change struct {
		cluster, label, action, by, note, record string
		at                                       int64
	}
)

// Add adds a label record, and the class of its dead letter, which is empty where there is none.
func (l *Labels) Add(r *kgo.Record, class string) error {
	at := wire.AddressOf(r)
	row := l.parse(r)
	row.Dead = uint8(max(0, slices.Index(deadClasses(), class)))
	_, err := l.records.Put(at.Partition, at.Offset, row)
	return err
}

func (l *Labels) parse(r *kgo.Record) record {
	v, err := wire.ParseLabelRecord(r)
	if err != nil {
		return record{Kind: bad}
	}
	row := record{Kind: kinds[v.Action], Trial: v.Trial, Name: l.name(v.Label)}
	if row.Kind == resume {
		return row
	}
	address := wire.AddressOf(r).In(r.Topic)
	row.Entry = maphash.Comparable(l.seed,
		entry{v.Label, v.By, v.Note, address, v.At, v.Trial})
	row.Change = maphash.Comparable(l.seed,
		change{v.ClusterID, v.Label, v.Action, v.By, v.Note, address, v.At})
	if !wire.IsAddress(v.ClusterID) {
		return record{Kind: bad}
	}
	row.Cluster, err = wire.ParseAddress(v.ClusterID, l.rule.Input)
	if err != nil || int(row.Cluster.Partition) >= l.rule.Partitions {
		row.Kind = foreign
	}
	return row
}

// Set returns a digest of a set of labels, 0 of none.
func (l *Labels) Set(names []string) (set uint64) {
	for _, name := range names {
		set += l.name(name)
	}
	const most = 1000
	if len(l.sets) < most {
		l.sets[set] = strings.Join(names, ", ")
		if len(names) == 0 {
			l.sets[set] = "no label"
		}
	}
	return set
}

func (l *Labels) name(name string) uint64 { return maphash.String(l.seed, name) }

// describe names a set of labels for people.
func (l *Labels) describe(set uint64) string {
	if text, ok := l.sets[set]; ok {
		return text
	}
	return "other labels"
}

// AddCluster notes what the record of a cluster says of labels. It returns a digest of that.
func (l *Labels) AddCluster(c *wire.Cluster) (digest uint64, err error) {
	digest = keptDigest(c.KeptMS)
	for _, e := range c.Labels {
		l.Set([]string{e.Label})
		own := maphash.Comparable(l.seed,
			entry{e.Label, e.By, e.Note, e.Record, e.At.UnixMilli(), e.Trial})
		digest += l.entryDigest(own, e.Position)
		at, err := wire.ParseAddress(e.Record, l.rule.Topic)
		if err != nil {
			continue // of another topic of labels
		}
		t, _, err := l.traces.Get(at.Partition, at.Offset)
		if err != nil {
			return 0, err
		}
		if t.Position == 0 {
			t.Position = e.Position + 1
			if err := l.traces.Set(at.Partition, at.Offset, t); err != nil {
				return 0, err
			}
		}
	}
	return digest, nil
}

// entryDigest returns that of a label of a cluster, from a position on. Those of all are added.
func (l *Labels) entryDigest(entry uint64, position int64) uint64 {
	return maphash.Comparable(l.seed, [2]uint64{entry, uint64(position)})
}

// keptDigest returns that of how long a cluster is kept.
func keptDigest(ms int64) uint64 { return uint64(ms) * 0x9e3779b97f4a7c15 }

// AddCorrection notes a correction, and holds it to its label record. What it says of its member is
// for others to check.
func (l *Labels) AddCorrection(c *wire.Correction, r *kgo.Record) error {
	l.told.Checked++
	at := wire.AddressOf(r)
	where := at.In(r.Topic)
	of, err := wire.ParseAddress(c.Record, l.rule.Topic)
	if err != nil {
		l.told.Violate(where, "record: a label record", err.Error())
		return nil
	}
	row, ok, err := l.records.Get(of.Partition, of.Offset)
	if err != nil {
		return err
	}
	if !ok || row.Kind != add && row.Kind != remove {
		if of.Offset >= l.from[of.Partition] {
			l.told.Violate(where, c.Record+" to put a label on a cluster, or to take one off", "none of it")
		}
		return nil
	}
	own := maphash.Comparable(l.seed,
		change{c.ClusterID, c.Label, c.Action, c.By, c.Note, c.Record, c.At.UnixMilli()})
	if own != row.Change {
		l.told.Violate(where, "what "+c.Record+" says", "something else")
	}
	if err := wire.CheckLabels(c.Labels); err != nil {
		l.told.Violate(where, "labels in their order", err.Error())
	}
	if c.MemberPosition >= c.Position {
		l.told.Violate(where, "a member before the position of the change", "a later one")
	}
	t, _, err := l.traces.Get(of.Partition, of.Offset)
	if err != nil {
		return err
	}
	labels := l.Set(c.Labels)
	if t.Count == 0 {
		t.Labels, t.First = labels, at
	}
	if t.Position == 0 {
		t.Position = c.Position + 1
	}
	if t.Position != c.Position+1 || t.Labels != labels {
		l.told.Violate(where, "the position and labels that others say of "+c.Record, "other ones")
	}
	t.Count++
	t.Members += model.Member(c.MemberPosition)
	return l.traces.Set(of.Partition, of.Offset, t)
}

// homeOf returns the partition of the input that has the space which takes a label record.
func (l *Labels) homeOf(row *record) int32 {
	if l.rule.Scopes && (row.Kind == add || row.Kind == remove) {
		return row.Cluster.Partition
	}
	return 0
}

// partitions returns those of a map, ascending.
func partitions[T any](of map[int32]T) []int32 { return slices.Sorted(maps.Keys(of)) }
