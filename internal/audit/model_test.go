package audit

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"testing"
	"time"
)

// linear is the rule over a plain slice, every centre looked at.
type linear struct {
	distance int
	window   int64 // 0: never
	now      int64
	clusters []struct {
		fingerprint uint64
		lastSeen    int64
	}
}

func (l *linear) assign(fingerprint uint64, at int64) (cluster, distance int, joined bool) {
	l.now = max(l.now, at)
	cluster = -1
	for i, c := range l.clusters {
		d := bits.OnesCount64(c.fingerprint ^ fingerprint)
		live := l.window == 0 || l.now-c.lastSeen <= l.window
		if live && d <= l.distance && (cluster < 0 || d < distance) {
			cluster, distance = i, d
		}
	}
	if joined = cluster >= 0; !joined {
		l.clusters = append(l.clusters, struct {
			fingerprint uint64
			lastSeen    int64
		}{fingerprint, at})
		return len(l.clusters) - 1, 0, false
	}
	l.clusters[cluster].lastSeen = max(l.clusters[cluster].lastSeen, at)
	return cluster, distance, true
}

// The model's buckets make no difference: for every distance, with and without expiry, on fingerprints
// that are random and on ones that lie in heaps, it decides as a scan of all centres does.
func TestModelIsTheLinearScan(t *testing.T) {
	t.Parallel()
	sources := map[string]func(r *rand.Rand) uint64{
		"random": (*rand.Rand).Uint64,
		"near one another": func(r *rand.Rand) uint64 {
			f := uint64(r.IntN(20)) * 0x9e3779b97f4a7c15
			for range r.IntN(8) {
				f ^= 1 << r.IntN(64)
			}
			return f
		},
		"in one block": func(r *rand.Rand) uint64 { return r.Uint64() & 0xff },
		"few bits":     func(r *rand.Rand) uint64 { return 1 << r.IntN(64) & r.Uint64() },
	}
	for name, source := range sources {
		for distance := range 7 {
			for _, window := range []int64{0, 1, 50, 2000} {
				t.Run(fmt.Sprintf("%s, distance %d, window %d", name, distance, window), func(t *testing.T) {
					t.Parallel()
					r := rand.New(rand.NewPCG(uint64(distance), uint64(window)))
					m, l := newModel("simhash", distance, time.Duration(window)*time.Millisecond), &linear{distance: distance, window: window}
					for i := range int64(1000) {
						fingerprint, at := source(r), max(0, i*3+r.Int64N(200)-100) // some are late
						gotCluster, gotDistance, gotJoined := m.assign(resultRow{Source: place{Offset: i}, Fingerprint: fingerprint, EventTime: at}, i)
						cluster, distance, joined := l.assign(fingerprint, at)
						if gotCluster != cluster || gotDistance != float64(distance) || gotJoined != joined {
							t.Fatalf("article %d, %016x at %d: cluster %d at %v, joined %v; the scan says %d at %d, %v",
								i, fingerprint, at, gotCluster, gotDistance, gotJoined, cluster, distance, joined)
						}
					}
				})
			}
		}
	}
}

// Members move a cluster's times and size, not its centre.
func TestModelMembers(t *testing.T) {
	t.Parallel()
	m := newModel("simhash", 3, 0)
	m.assign(resultRow{Source: place{1, 7}, Fingerprint: 0b111, EventTime: 500}, 0)
	m.assign(resultRow{Source: place{0, 9}, Fingerprint: 0b100, EventTime: 900}, 1)
	m.assign(resultRow{Source: place{0, 10}, Fingerprint: 0b110, EventTime: 100}, 2)
	want := centre{fingerprint: 0b111, founder: place{1, 7}, size: 3, firstSeen: 100, lastSeen: 900, due: -1, told: -1}
	if len(m.centres) != 1 || m.centres[0] != want {
		t.Errorf("clusters %+v, want %+v", m.centres, want)
	}
}

// Where a result does not say all that its method compared, the model takes its word for the cluster, but for
// one that is unknown or has expired, and but for an article that is the same as a centre.
func TestModelTakesTheWordOfResults(t *testing.T) {
	t.Parallel()
	type told struct {
		founder  int64 // of the cluster, as the result says
		at       int64
		distance float64
	}
	for name, tt := range map[string]struct {
		method      string
		fingerprint uint64
		told
		want told
	}{
		"joined":                     {"minhash", 9, told{1, 120, .25}, told{1, 120, .25}},
		"a cluster nobody founded":   {"minhash", 9, told{5, 120, .25}, told{7, 120, 0}},
		"an expired cluster":         {"minhash", 9, told{0, 150, .25}, told{7, 150, 0}},
		"the same as a centre":       {"minhash", 2, told{0, 120, .25}, told{1, 120, 0}},
		"the same as an expired one": {"minhash", 1, told{1, 150, .25}, told{1, 150, .25}},
		"the same bits, verified":    {"simhash+verify", 2, told{0, 120, 4}, told{0, 120, 4}},
		"founded":                    {"shingle", 9, told{7, 120, 0}, told{7, 120, 0}},
	} {
		t.Run(name, func(t *testing.T) {
			m := newModel(tt.method, 3, 100*time.Millisecond)
			m.assign(resultRow{Source: place{Offset: 0}, Cluster: place{Offset: 0}, Fingerprint: 1, EventTime: 20}, 0)
			m.assign(resultRow{Source: place{Offset: 1}, Cluster: place{Offset: 1}, Fingerprint: 2, EventTime: 110}, 1)
			row := resultRow{
				Source: place{Offset: 7}, Cluster: place{Offset: tt.founder}, Fingerprint: tt.fingerprint, EventTime: tt.at,
				Distance: tt.distance, Joined: tt.founder != 7,
			}
			i, distance, joined := m.assign(row, 2)
			if got := (told{m.centres[i].founder.Offset, tt.at, distance}); got != tt.want || joined != (tt.want.founder != 7) {
				t.Errorf("%+v, joined %t, want %+v", got, joined, tt.want)
			}
		})
	}
}

func BenchmarkModel(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	m := newModel("simhash", 3, 0)
	for i := range int64(500_000) {
		m.assign(resultRow{Source: place{Offset: i}, Fingerprint: r.Uint64(), EventTime: i}, i)
	}
	b.ResetTimer()
	for i := int64(0); b.Loop(); i++ {
		m.nearest(r.Uint64())
	}
}
