package singlepass_test

import (
	"math/big"
	"math/bits"
	"slices"
	"time"

	"github.com/clusterd/clusterd/internal/singlepass"
)

// A model is a Space written word for word from the rule, over a slice, with
// arithmetic that cannot overflow. A centre is taken out the moment it expires.
type model struct {
	distance int
	window   time.Duration // 0: never
	clusters []cluster     // the live ones
	articles uint64        // assigned so far
	stream   *int64        // highest event time, nil before the first article
}

type cluster struct {
	centre       singlepass.Centre
	lastSeen     int64
	lastPosition uint64
}

func (m *model) assign(f singlepass.Fingerprint, at int64) singlepass.Assignment {
	if m.stream == nil || at > *m.stream {
		m.stream = &at
	}
	m.expire()
	position := m.articles
	m.articles++
	var best *cluster
	for i := range m.clusters {
		c := &m.clusters[i]
		d := m.distanceTo(c, f)
		if d > m.distance {
			continue
		}
		if best == nil || d < m.distanceTo(best, f) ||
			d == m.distanceTo(best, f) && c.centre.Seq < best.centre.Seq {
			best = c
		}
	}
	if best != nil {
		best.lastSeen, best.lastPosition = max(best.lastSeen, at), position
		centre := best.centre
		centre.Contacts = ""
		return singlepass.Assignment{
			Centre: centre, Joined: true, Distance: float64(m.distanceTo(best, f)), Position: position,
		}
	}
	founded := singlepass.Centre{Fingerprint: f, Seq: position}
	m.clusters = append(m.clusters, cluster{centre: founded, lastSeen: at, lastPosition: position})
	m.expire() // it may have been late
	return singlepass.Assignment{Centre: founded, Position: position}
}

func (m *model) distanceTo(c *cluster, f singlepass.Fingerprint) int {
	return bits.OnesCount64(c.centre.Hash ^ f.Hash)
}

func (m *model) expire() {
	if m.window > 0 {
		m.clusters = slices.DeleteFunc(m.clusters, func(c cluster) bool { return m.passed(c.lastSeen) })
	}
}

// passed reports whether stream time passes lastSeen + window, in nanoseconds.
func (m *model) passed(lastSeen int64) bool {
	nanoseconds := func(ms int64) *big.Int {
		return new(big.Int).Mul(big.NewInt(ms), big.NewInt(int64(time.Millisecond)))
	}
	end := nanoseconds(lastSeen)
	end.Add(end, big.NewInt(int64(m.window)))
	return end.Cmp(nanoseconds(*m.stream)) < 0
}

// bitsOf returns the fingerprint that these bits are all of.
func bitsOf(fingerprint uint64) singlepass.Fingerprint {
	return singlepass.Fingerprint{Hash: fingerprint}
}
