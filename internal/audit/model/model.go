// Package model has clusterd's rule once more, written from the documents and not from the daemon's
// code: an article joins the nearest live centre within the threshold, among equals the oldest, or
// else founds a cluster; a cluster expires when its last member is further behind the stream time
// than the window. Articles go in, in the order of their space, and clusters come out. It knows
// nothing of topics. In earlier versions an article could also join a cluster by a contact:
// what a result says of that is believed if it can be.
package model

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
	"time"

	"github.com/clusterd/clusterd/internal/audit/spill"
	"github.com/clusterd/clusterd/internal/audit/wire"
)

// A Model is the clusters of a space.
//
// One made by [New] looks for the nearest centre. It compares an article only with those that can
// be near enough: the 64 bits are cut into threshold+1 blocks, and a centre that differs in at
// most threshold bits has at least one block that is the same (the pigeonhole principle). So for
// each block there is a bucket of centres for each value of it. A cluster costs about 140 bytes,
// and while it is live 16 bytes more for each block.
//
// One made by [NewFollowing] follows the results.
type Model struct {
	threshold int
	follow    *follow              // nil where the model looks for the nearest
	founders  map[wire.Address]int // clusters
	expires   bool
	window    int64            // milliseconds
	now       map[uint64]int64 // stream time, Unix milliseconds, by the value of an article
	width     int64            // of a bucket of recent articles, milliseconds; 0: there are no signals
	clusters  []Cluster
	blocks    []block
}

// A follow is what a model needs that follows the results.
type follow struct {
	distance func(member, founder Fingerprint) (distance float64, known bool, err error)
}

// A Rule is what decides, beside how near articles are.
type Rule struct {
	Window time.Duration // 0: nothing expires
	Recent time.Duration // within which articles are recent; 0: there are no signals
}

// A Placement is where an article belongs.
type Placement struct {
	Cluster  int     // its number
	Distance float64 // from the founder; 0 where the article joined by a contact
	Joined   bool    // rather than founded it
	Contact  uint64  // a digest of that by which it joined, 0 where it was by its text
}

// An Article is an article of the space, and what its result says of it. The latter decides only
// where the model follows the results.
type Article struct {
	Source         wire.Address
	Fingerprint    Fingerprint
	Space          uint64 // a digest of the value by which articles are divided, 0 for none
	Representative uint64 // a digest of what represents its cluster if it founds one
	EventTime      int64  // Unix milliseconds

	Cluster  wire.Address // the founder
	Distance float64
	Joined   bool
	Contact  uint64 // a digest of that by which it joined, 0 for none

	Publisher uint64 // a digest, 0 for none
	Signals   bool   // its result says what its cluster's articles say together
}

// A Fingerprint is a fingerprint, and where its sketch and its contacts are. Of an article whose
// input record is deleted, these are not known.
type Fingerprint struct {
	Hash             uint64
	Sketch, Contacts Blob
	Known            bool
}

// A Blob stands for the sketch of a fingerprint, or for its contacts. It is zero where there is
// none.
type Blob struct {
	Digest uint64
	Ref    spill.Ref
}

// key returns a number that is the same for fingerprints that are the same.
func (f *Fingerprint) key() uint64 { return f.Hash ^ f.Sketch.Digest }

// A Cluster is a cluster of the model.
type Cluster struct {
	Founder        wire.Address
	Fingerprint    Fingerprint // of the founder
	Space          uint64      // of all its articles
	Representative uint64      // a digest
	Seq            int64       // the founder's position
	Size           int64
	ByContact      int64  // of these, those that joined by a contact
	FirstSeen      int64  // Unix milliseconds
	LastSeen       int64  // Unix milliseconds
	Kept           int64  // milliseconds by which it outlives others
	Members        uint64 // a digest of their positions, as [Member] adds them up
	Signals        *Signals
}

// A block is some of the bits, and the centres by their value.
type block struct {
	low, width int
	buckets    map[bucketKey][]candidate
}

// A bucketKey is the bits of a block, of an article of a value.
type bucketKey struct{ space, bits uint64 }

type candidate struct {
	key     uint64
	cluster int
}

// New returns an empty model that looks for the nearest centre, for fingerprints of 64 bits of
// which up to threshold may differ.
func New(threshold int, rule Rule) *Model {
	m := &Model{
		threshold: threshold, expires: rule.Window > 0, window: rule.Window.Milliseconds(),
		now: make(map[uint64]int64), founders: make(map[wire.Address]int),
		width: rule.Recent.Milliseconds() / buckets,
	}
	for i := range threshold + 1 {
		low, high := 64*i/(threshold+1), 64*(i+1)/(threshold+1)
		b := block{low: low, width: high - low, buckets: make(map[bucketKey][]candidate)}
		m.blocks = append(m.blocks, b)
	}
	return m
}

// NewFollowing returns an empty model that does not look for the nearest centre. To compare all
// pairs of sketches would take too long, and the methods' indexes need not find every one. Such a
// model believes the result: an article joins the cluster that its result names, if that is live,
// or founds one. It measures the distance with distance, where that is known. But it finds an
// article that is the same as a live centre, sketch included: that must be at distance 0 from its
// cluster, which is that centre's or an older one.
func NewFollowing(
	rule Rule,
	distance func(member, founder Fingerprint) (distance float64, known bool, err error),
) *Model {
	m := New(0, rule)
	m.follow = &follow{distance}
	return m
}

// Len returns how many clusters were founded.
func (m *Model) Len() int { return len(m.clusters) }

// Cluster returns the i-th cluster in the order of founding. It is good until the next Assign.
func (m *Model) Cluster(i int) *Cluster { return &m.clusters[i] }

// Number returns the number of the cluster that an article has founded.
func (m *Model) Number(founder wire.Address) (number int, ok bool) {
	number, ok = m.founders[founder]
	return number, ok
}

// OfSeq returns the number of the cluster whose founder has a position.
func (m *Model) OfSeq(seq int64) (number int, ok bool) {
	return slices.BinarySearchFunc(m.clusters, seq,
		func(c Cluster, seq int64) int { return cmp.Compare(c.Seq, seq) })
}

// StreamTime returns the highest event time of a value, in Unix milliseconds, or math.MinInt64
// before the first.
func (m *Model) StreamTime(space uint64) int64 {
	if now, ok := m.now[space]; ok {
		return now
	}
	return math.MinInt64
}

// Assign puts the article at the position seq into a cluster.
func (m *Model) Assign(a Article, seq int64) (p Placement, err error) {
	m.now[a.Space] = max(m.StreamTime(a.Space), a.EventTime)
	if m.follow == nil {
		var differing int
		p.Cluster, differing, p.Joined = m.nearest(a.Space, a.Fingerprint.key())
		p.Distance = float64(differing)
	} else if p, err = m.followed(&a); err != nil {
		return Placement{}, err
	}
	if !p.Joined {
		p = m.joinedByContact(&a)
	}
	if !p.Joined {
		p = Placement{Cluster: len(m.clusters)}
		m.found(Cluster{
			Fingerprint: a.Fingerprint, Space: a.Space, Founder: a.Source, Representative: a.Representative,
			Seq: seq, FirstSeen: a.EventTime, LastSeen: a.EventTime,
		})
	}
	c := &m.clusters[p.Cluster]
	c.Size++
	c.Members += Member(seq)
	if p.Contact != 0 {
		c.ByContact++
	}
	c.FirstSeen, c.LastSeen = min(c.FirstSeen, a.EventTime), max(c.LastSeen, a.EventTime)
	if m.width > 0 && a.Signals {
		if c.Signals == nil {
			c.Signals = new(Signals)
		}
		c.Signals.add(m.width, m.now[a.Space], a.EventTime, a.Publisher)
	}
	return p, nil
}

// joinedByContact returns the cluster that an article joined by a contact, by what its result says.
func (m *Model) joinedByContact(a *Article) Placement {
	cluster, known := m.founders[a.Cluster]
	if a.Contact == 0 || !known || !m.mayTake(cluster, a) {
		return Placement{}
	}
	return Placement{Cluster: cluster, Joined: true, Contact: a.Contact}
}

// Member returns the digest of a member's position. Those of several members are added: so a set of
// them has a digest that no order changes.
func Member(position int64) uint64 {
	h := uint64(position) + 0x9e3779b97f4a7c15 // as SplitMix64 does
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>27) * 0x94d049bb133111eb
	return h ^ h>>31
}

// followed returns the cluster that the result says the article joined by its text, at the distance
// that is measured, or else a live one with the same fingerprint, which the article should have
// joined.
func (m *Model) followed(a *Article) (p Placement, err error) {
	same, exists := -1, false
	if a.Fingerprint.Known {
		same, _, exists = m.nearest(a.Space, a.Fingerprint.key())
	}
	cluster, known := m.founders[a.Cluster]
	if a.Joined && a.Contact == 0 && known && m.mayTake(cluster, a) {
		distance, measured, err := m.follow.distance(a.Fingerprint, m.clusters[cluster].Fingerprint)
		if err != nil {
			return Placement{}, err
		}
		if !measured {
			distance = a.Distance
		}
		if !exists || cluster <= same && distance == 0 {
			return Placement{Cluster: cluster, Distance: distance, Joined: true}, nil
		}
	}
	return Placement{Cluster: same, Joined: exists}, nil
}

func (m *Model) found(c Cluster) {
	number := len(m.clusters)
	m.clusters = append(m.clusters, c)
	m.founders[c.Founder] = number
	m.index(number, false)
}

// index has a cluster found by its fingerprint, also if it may be found by it.
func (m *Model) index(number int, again bool) {
	c := &m.clusters[number]
	if m.follow != nil && !c.Fingerprint.Known {
		return
	}
	own := candidate{c.Fingerprint.key(), number}
	for i := range m.blocks {
		b := &m.blocks[i]
		value := bucketKey{c.Space, b.value(own.key)}
		if !again || !slices.Contains(b.buckets[value], own) {
			b.buckets[value] = append(b.buckets[value], own)
		}
	}
}

// Outlive has a cluster outlive others by this many milliseconds, if only so an article of an event
// time can be its member.
func (m *Model) Outlive(number int, eventTime, kept int64) {
	c := &m.clusters[number]
	over := max(m.StreamTime(c.Space), eventTime) - c.LastSeen - m.window
	if m.expires && over > c.Kept && over <= kept {
		c.Kept = kept
		m.index(number, true)
	}
}

func (b *block) value(key uint64) uint64 { return key >> b.low & (1<<b.width - 1) }

// nearest returns the nearest live cluster within the threshold. It goes through the buckets, and
// drops from them what has expired: that is never live again.
func (m *Model) nearest(space, key uint64) (nearest, distance int, ok bool) {
	nearest, distance = -1, m.threshold+1
	for i := range m.blocks {
		b := &m.blocks[i]
		value := bucketKey{space, b.value(key)}
		bucket := b.buckets[value]
		live := bucket[:0]
		for _, c := range bucket {
			if m.Expired(c.cluster) {
				continue
			}
			live = append(live, c)
			d := bits.OnesCount64(c.key ^ key)
			if d < distance || d == distance && nearest >= 0 && c.cluster < nearest {
				nearest, distance = c.cluster, d
			}
		}
		if len(live) < len(bucket) {
			b.buckets[value] = live
		}
	}
	return nearest, distance, nearest >= 0
}

// Expired reports whether the stream time is past a cluster's last member by more than the window,
// and by what it is kept beyond that.
func (m *Model) Expired(cluster int) bool {
	c := &m.clusters[cluster]
	return m.expires && m.now[c.Space]-c.LastSeen > m.window+c.Kept
}

// mayTake reports whether an article may belong to a cluster at all: that lives, and is of the same
// value.
func (m *Model) mayTake(cluster int, a *Article) bool {
	return m.clusters[cluster].Space == a.Space && !m.Expired(cluster)
}
