package audit

import (
	"math"
	"math/bits"
	"time"
)

// A model is clusterd's rule once more, written from the README and not from the code: an article joins
// the nearest live centre within the distance, among equals the oldest, or else founds a cluster.
//
// It looks at centres one by one, but only at those that can be near enough: the 64 bits are cut into
// distance+1 blocks, and a centre that differs in at most distance bits has at least one block that is
// the same (the pigeonhole rule). So for each block there is a bucket of centres for each value of it.
//
// A cluster costs about 140 bytes, and while it is live 16 bytes more for each block.
//
// Of methods other than simhash the model does not look for the nearest centre: to compare all pairs of sketches would
// take too long, and the methods' indexes need not find every one. There it takes the result's word for the cluster, if that is live,
// and for a founder; the distance is that of the two fingerprints. But an article that is the same as a live centre, sketch
// included, must be at distance 0 from its cluster, which is that centre's or an older one.
type model struct {
	distance int
	measure  func(member, founder print) (distance float64, known bool, err error) // where the model takes the result's word
	founders map[place]int                                                         // clusters, where the model takes the result's word; else nil
	expires  bool
	window   int64 // milliseconds
	now      int64 // stream time, Unix milliseconds
	centres  []centre
	blocks   []block
}

// A centre is a cluster, in the order of founding.
type centre struct {
	print
	founder        place
	representative uint64 // a digest
	seq            int64  // the founder's position
	size           int64
	firstSeen      int64 // Unix milliseconds
	lastSeen       int64 // Unix milliseconds

	due    int64 // position of the last member that the clusters topic must know, or -1
	told   int64 // position of the last record of it in the clusters topic, or -1
	toldAt place // of that record in the clusters topic
}

// A print is a fingerprint, and where its sketch is. It is not known all of an article whose record is deleted.
type print struct {
	fingerprint uint64
	sketch      sketch
	known       bool
}

// key is the same of fingerprints that are.
func (p *print) key() uint64 { return p.fingerprint ^ p.sketch.Digest }

// A block is some of the bits, and the centres by their value.
type block struct {
	low, width int
	buckets    map[uint64][]candidate
}

type candidate struct {
	key    uint64
	centre int
}

func newModel(method string, distance int, window time.Duration) *model {
	m := &model{distance: distance, expires: window > 0, window: window.Milliseconds(), now: math.MinInt64}
	if method != "simhash" {
		m.distance, m.founders = 0, make(map[place]int)
	}
	for i := range m.distance + 1 {
		low, high := 64*i/(m.distance+1), 64*(i+1)/(m.distance+1)
		m.blocks = append(m.blocks, block{low: low, width: high - low, buckets: make(map[uint64][]candidate)})
	}
	return m
}

func (b *block) value(fingerprint uint64) uint64 {
	return fingerprint >> b.low & (1<<b.width - 1)
}

// assign takes in the next article of the recorded order, by its result. It returns its cluster, as an
// index of centres, and how far it is from it.
func (m *model) assign(row resultRow, seq int64) (cluster int, distance float64, joined bool, err error) {
	m.now = max(m.now, row.EventTime)
	p := print{row.Fingerprint, row.Sketch, row.Known}
	if m.founders == nil {
		var bits int
		cluster, bits, joined = m.nearest(p.key())
		distance = float64(bits)
	} else if cluster, distance, joined, err = m.told(row, p); err != nil {
		return 0, 0, false, err
	}
	if !joined {
		cluster, distance = len(m.centres), 0
		c := centre{print: p, founder: row.Source, representative: row.Representative, seq: seq, firstSeen: row.EventTime, lastSeen: row.EventTime, due: -1, told: -1}
		if row.Known {
			c.representative = row.Founder
		}
		m.found(c)
	}
	c := &m.centres[cluster]
	c.size++
	c.firstSeen, c.lastSeen = min(c.firstSeen, row.EventTime), max(c.lastSeen, row.EventTime)
	return cluster, distance, joined, nil
}

// told is the cluster that the result names, at the distance that is measured; or else a live one with the same fingerprint,
// which the article should have joined.
func (m *model) told(row resultRow, p print) (cluster int, distance float64, joined bool, err error) {
	same, exists := -1, false
	if p.known {
		same, _, exists = m.nearest(p.key())
	}
	told, known := m.founders[row.Cluster]
	if row.Joined && known && !m.expired(told) {
		measured := false
		if distance, measured, err = m.measure(p, m.centres[told].print); err != nil {
			return 0, 0, false, err
		}
		if !measured {
			distance = row.Distance
		}
		if !exists || told <= same && distance == 0 {
			return told, distance, true, nil
		}
	}
	return same, 0, exists, nil
}

func (m *model) found(c centre) {
	for i := range m.blocks {
		if m.founders != nil && !c.known {
			break
		}
		b := &m.blocks[i]
		value := b.value(c.key())
		b.buckets[value] = append(b.buckets[value], candidate{c.key(), len(m.centres)})
	}
	if m.founders != nil {
		m.founders[c.founder] = len(m.centres)
	}
	m.centres = append(m.centres, c)
}

// nearest scans the buckets, and takes out of them what has expired: it is never live again.
func (m *model) nearest(key uint64) (nearest, distance int, ok bool) {
	nearest, distance = -1, m.distance+1
	for i := range m.blocks {
		b := &m.blocks[i]
		value := b.value(key)
		bucket := b.buckets[value]
		live := bucket[:0]
		for _, c := range bucket {
			if m.expired(c.centre) {
				continue
			}
			live = append(live, c)
			d := bits.OnesCount64(c.key ^ key)
			if d < distance || d == distance && nearest >= 0 && c.centre < nearest {
				nearest, distance = c.centre, d
			}
		}
		if len(live) < len(bucket) {
			b.buckets[value] = live
		}
	}
	return nearest, distance, nearest >= 0
}

// expired reports whether stream time is past a cluster's last member by more than the window.
func (m *model) expired(cluster int) bool {
	return m.expires && m.now-m.centres[cluster].lastSeen > m.window
}
