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
// Labels mark contacts: see mark.go and marking.go. What happens to a mark depends on the order of
// label records and articles. Where the topics do not say it, a contact is vague, and the clusters
// that have it are loose: what their records say is believed, and the contact is certain again with
// its next record. So it is with clusters that a version founded in which labels marked nothing.
//
// Memory is 100 to 200 bytes for each cluster that has a label, and 40 for each transaction with
// label records, and 8 for each contact of a cluster; that of a contact with marks is some 200 for
// each record of it. The rest is in temporary files.
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
	Marks       bool          // labels mark contacts
	// Contacts returns digests of contacts, in their order, as [wire.ContactDigest] makes them.
	Contacts   func(model.Blob) ([]uint64, error)
	Scopes     bool // each partition of the input is a space
	Partitions int  // of the input
}

// Labels are the label records, and what topics say of each.
type Labels struct {
	rule          Rule
	seed          maphash.Seed
	allow         map[uint64]bool
	from          map[int32]int64
	behind        map[int32]int64 // behind the last record that was added
	applied, told *report.Check
	records       *spill.Partitions[record]
	traces        *spill.Partitions[trace]
	sets          map[uint64]string // some sets of labels, for people
	names         map[uint64]string // of labels

	marked   map[wire.Address][]uint64       // what a label record has marked
	parts    map[uint64][]label              // labels by contacts of a cluster's record, by its digest
	by       map[wire.Address][]label        // of these, some of each kind, by founder
	excepted map[exceptionKey]bool           // there is a label record of an article like that
	spread   map[spreadKey]trace             // what corrections say of clusters that no record names
	members  map[wire.Address][]toldOfMember // what they say of articles that have exceptions
	erasures
	reasons map[string]bool        // why labels cannot be checked
	kept    map[wire.Address]int64 // clusters that labels have kept, and for how long at most
}

// An exceptionKey is articles of a cluster that have a fingerprint.
type exceptionKey struct {
	cluster wire.Address
	print   uint64
}

// A spreadKey is a cluster that a label record, which is about another one, has changed by a
// contact.
type spreadKey struct{ record, cluster wire.Address }

// A toldOfMember is what a correction says of an article with an exception.
type toldOfMember struct {
	cluster wire.Address
	print   uint64
	labels  uint64
	at      wire.Address
}

// A record is a label record, and what its dead letter says: 94 bytes.
type record struct {
	Cluster wire.Address
	Kind    kind
	Target  target
	Trial   bool
	Dead    uint8  // the class of its dead letter, from 1 on in the order of deadClasses; 0 for none
	Name    uint64 // a digest
	Entry   uint64 // a digest of what the record of its cluster says of it
	Change  uint64 // a digest of what a correction says of it
	Cause   uint64 // likewise, of another cluster
	Contact uint64 // a digest, and that of the value where it is one
	Value   uint64
	Print   uint64 // the fingerprint of an article, and its position
	Member  int64
}

// A target is what a label record is about.
type target uint8

const (
	ofCluster target = iota
	ofArticle
	ofContact
)

var targets = map[string]target{
	wire.TargetCluster: ofCluster, wire.TargetArticle: ofArticle, wire.TargetContact: ofContact,
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
	erasing // that erases the text of an article, or a contact
)

var kinds = map[string]kind{
	wire.ActionAdd: add, wire.ActionRemove: remove, wire.ActionResume: resume,
	wire.ActionMerge: storied, wire.ActionUnmerge: storied, wire.ActionSplit: storied,
	wire.ActionErase: erasing,
}

// deadClasses are those of the dead letters of label records.
func deadClasses() []string {
	return []string{
		"", wire.BadLabel, wire.UnknownCluster, wire.TooManyLabels, wire.UnknownStory,
		wire.UnknownContact,
	}
}

const (
	notDead uint8 = iota
	badLabel
	unknownCluster
	tooManyLabels
	unknownStory
	unknownContact
)

// A trace is what corrections and records of clusters say of a label record: 73 bytes.
type trace struct {
	Position int64 // at which it was applied, plus 1; 0 is unknown
	Count    int64 // of corrections
	Plain    int64 // of these, those of articles without an exception
	Members  uint64
	Labels   uint64 // the sum of the labels that these say
	Said     uint64 // what the first of these says
	First    wire.Address
}

// New returns labels without records, of a topic with these offsets, first and behind the last.
// What is wrong with labels is reported to applied, and with corrections to told.
func New(
	rule Rule, dir *spill.Dir, seed maphash.Seed, from, to map[int32]int64,
	applied, told *report.Check,
) *Labels {
	l := &Labels{
		rule: rule, seed: seed, allow: make(map[uint64]bool), from: from,
		behind: make(map[int32]int64), applied: applied, told: told,
		records: spill.NewPartitions[record](dir, from, to),
		traces:  spill.NewPartitions[trace](dir, from, to), sets: map[uint64]string{0: "no label"},
		names: make(map[uint64]string), marked: make(map[wire.Address][]uint64),
		parts: make(map[uint64][]label), by: make(map[wire.Address][]label),
		excepted: make(map[exceptionKey]bool), spread: make(map[spreadKey]trace),
		members:  make(map[wire.Address][]toldOfMember),
		erasures: erasures{map[string]string{}, map[uint64]wire.Address{}, map[wire.Address][]uint64{}},
		reasons:  make(map[string]bool), kept: make(map[wire.Address]int64),
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
	l.behind[at.Partition] = max(l.behind[at.Partition], at.Offset+1)
	row := l.parse(r)
	if row.Kind == erasing && row.Target == ofContact && class == "" {
		l.noteErasure(r)
	}
	row.Dead = uint8(max(0, slices.Index(deadClasses(), class)))
	_, err := l.records.Put(at.Partition, at.Offset, row)
	return err
}

func (l *Labels) parse(r *kgo.Record) record {
	v, err := wire.ParseLabelRecord(r)
	if err != nil {
		return record{Kind: bad}
	}
	row := record{
		Kind: kinds[v.Action], Target: targets[v.Target], Trial: v.Trial, Name: l.remember(v.Label),
	}
	if row.Kind == resume {
		return row
	}
	address := wire.AddressOf(r).In(r.Topic)
	row.Entry = maphash.Comparable(l.seed,
		entry{v.Label, v.By, v.Note, address, v.At, v.Trial})
	row.Change = maphash.Comparable(l.seed,
		change{v.ClusterID, v.Label, v.Action, v.By, v.Note, address, v.At})
	row.Cause = maphash.Comparable(l.seed, change{"", "", "", v.By, v.Note, address, v.At})
	if row.Target == ofContact {
		row.Contact, row.Value = wire.ContactDigest(l.seed, v.Contact), l.digestOfText(v.Space)
		if l.rule.Scopes {
			row.Cluster.Partition = v.Partition
		}
		return row
	}
	if !wire.IsAddress(v.ClusterID) {
		return record{Kind: bad}
	}
	row.Cluster, err = wire.ParseAddress(v.ClusterID, l.rule.Input)
	if err != nil || int(row.Cluster.Partition) >= l.rule.Partitions {
		if row.Cluster = (wire.Address{}); row.Kind != storied {
			row.Kind = foreign
		}
	}
	if row.Target == ofArticle && row.Kind != erasing {
		row.Print, row.Member = v.Print(), v.Position
		l.excepted[exceptionKey{row.Cluster, row.Print}] = true
	}
	return row
}

// Set returns a digest of a set of labels, 0 of none.
func (l *Labels) Set(names []string) (set uint64) {
	for _, name := range names {
		set += l.name(name)
	}
	const most = 1000
	if len(names) > 0 && len(l.sets) < most {
		l.sets[set] = strings.Join(names, ", ")
	}
	return set
}

func (l *Labels) name(name string) uint64 { return maphash.String(l.seed, name) }

// By returns a digest of the labels that a result says its cluster has by contacts.
func (l *Labels) By(all []wire.LabelledBy) (digest uint64) {
	for _, b := range all {
		digest += l.byDigest(l.name(b.Label), b.Trial, l.contactDigest(b.Contact))
	}
	return digest
}

func (l *Labels) byDigest(name uint64, trial bool, contact uint64) uint64 {
	return maphash.Comparable(l.seed, [3]uint64{name, uint64(compareBools(trial, false)), contact})
}

// remember returns the digest of the name of a label, and keeps the name.
func (l *Labels) remember(name string) uint64 {
	digest := l.name(name)
	l.names[digest] = name
	return digest
}

// digestOfText returns that of a text, 0 of an empty one.
func (l *Labels) digestOfText(text string) uint64 {
	if text == "" {
		return 0
	}
	return maphash.String(l.seed, text)
}

// describe names a set of labels for people.
func (l *Labels) describe(set uint64) string {
	if text, ok := l.sets[set]; ok {
		return text
	}
	return "other labels"
}

// keptDigest returns that of how long a cluster is kept.
func keptDigest(ms int64) uint64 { return uint64(ms) * 0x9e3779b97f4a7c15 }

// homeOf returns the partition of the input that has the space which takes a label record.
func (l *Labels) homeOf(row *record) int32 {
	switch row.Kind {
	case add, remove, erasing, storied:
		if l.rule.Scopes {
			return row.Cluster.Partition
		}
	}
	return 0
}

// partitions returns those of a map, ascending.
func partitions[T any](of map[int32]T) []int32 { return slices.Sorted(maps.Keys(of)) }
