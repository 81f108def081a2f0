package singlepass

import (
	"cmp"
	"math/big"
	"math/bits"
	"slices"
	"testing"
	"time"
)

// A model is a Space written word for word from the rule, over a slice, with
// arithmetic that cannot overflow. It also keeps what recovery needs of a cluster.
type model struct {
	distance int
	window   time.Duration // 0: never
	clusters []cluster     // the live ones
	articles uint64        // assigned so far
	stream   *int64        // highest event time, nil before the first article
}

type cluster struct {
	centre       Centre
	lastSeen     int64
	lastPosition uint64
}

func (m *model) assign(fingerprint uint64, at int64) (Assignment, []Centre) {
	if m.stream == nil || at > *m.stream {
		m.stream = &at
	}
	expired := m.expire()
	position := m.articles
	m.articles++
	var best *cluster
	for i := range m.clusters {
		c := &m.clusters[i]
		d := m.distanceTo(c, fingerprint)
		if d > m.distance {
			continue
		}
		if best == nil || d < m.distanceTo(best, fingerprint) ||
			d == m.distanceTo(best, fingerprint) && c.centre.Seq < best.centre.Seq {
			best = c
		}
	}
	if best == nil {
		founded := Centre{fingerprint, position}
		m.clusters = append(m.clusters, cluster{founded, at, position})
		return Assignment{Centre: founded, Position: position}, expired
	}
	best.lastSeen = max(best.lastSeen, at)
	best.lastPosition = position
	return Assignment{best.centre, true, m.distanceTo(best, fingerprint), position}, expired
}

func (m *model) distanceTo(c *cluster, fingerprint uint64) int {
	return bits.OnesCount64(c.centre.Fingerprint ^ fingerprint)
}

func (m *model) expire() []Centre {
	if m.window == 0 {
		return nil
	}
	var expired, live []cluster
	for _, c := range m.clusters {
		if m.passed(c.lastSeen) {
			expired = append(expired, c)
		} else {
			live = append(live, c)
		}
	}
	m.clusters = live
	slices.SortFunc(expired, func(a, b cluster) int {
		return cmp.Or(cmp.Compare(a.lastSeen, b.lastSeen), cmp.Compare(a.centre.Seq, b.centre.Seq))
	})
	var centres []Centre
	for _, c := range expired {
		centres = append(centres, c.centre)
	}
	return centres
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

// restored returns a Space rebuilt from the live clusters in the order given by
// shuffle, as after a restart.
func (m *model) restored(index Index, shuffle func(n int, swap func(i, j int))) *Space {
	live := slices.Clone(m.clusters)
	shuffle(len(live), func(i, j int) { live[i], live[j] = live[j], live[i] })
	s := NewSpace(index, m.window)
	for _, c := range live {
		s.Restore(c.centre, c.lastSeen, c.lastPosition)
	}
	return s
}

// compareAssign gives the article to both and fails where they disagree.
func compareAssign(t *testing.T, s *Space, m *model, fingerprint uint64, at int64) {
	t.Helper()
	want, wantExpired := m.assign(fingerprint, at)
	got, gotExpired := s.Assign(fingerprint, at)
	if got != want {
		t.Fatalf("article %d, %016x at %d: assigned %+v, want %+v", want.Position, fingerprint, at, got, want)
	}
	if !slices.Equal(gotExpired, wantExpired) {
		t.Fatalf("article %d, %016x at %d: expired %v, want %v", want.Position, fingerprint, at, gotExpired, wantExpired)
	}
	if s.Len() != len(m.clusters) {
		t.Fatalf("article %d: %d live centres, want %d", want.Position, s.Len(), len(m.clusters))
	}
	if e := s.expiry; e != nil && (len(e.lastSeen) != s.Len() || len(e.queue) != s.Len()) {
		t.Fatalf("article %d: %d centres live, but %d times and %d places in the queue kept",
			want.Position, s.Len(), len(e.lastSeen), len(e.queue))
	}
}
