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
						gotCluster, gotDistance, gotJoined, err := m.assign(resultRow{Source: place{Offset: i}, Fingerprint: fingerprint, EventTime: at}, i)
						cluster, distance, joined := l.assign(fingerprint, at)
						if err != nil || gotCluster != cluster || gotDistance != float64(distance) || gotJoined != joined {
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
	for i, row := range []resultRow{
		{Source: place{1, 7}, Fingerprint: 0b111, EventTime: 500, Representative: 1},
		{Source: place{0, 9}, Fingerprint: 0b100, EventTime: 900, Representative: 2},
		{Source: place{0, 10}, Fingerprint: 0b110, EventTime: 100, Representative: 3},
	} {
		if _, _, _, err := m.assign(row, int64(i)); err != nil {
			t.Fatal(err)
		}
	}
	want := centre{print: print{fingerprint: 0b111}, founder: place{1, 7}, representative: 1, size: 3, firstSeen: 100, lastSeen: 900, due: -1, told: -1}
	if len(m.centres) != 1 || m.centres[0] != want {
		t.Errorf("clusters %+v, want %+v", m.centres, want)
	}
}

// Of other methods than simhash the model takes a result's word for the cluster, but for one that is unknown or has expired, and
// but for an article that is the same as a centre; the distance is measured.
func TestModelTakesTheWordOfResults(t *testing.T) {
	t.Parallel()
	type told struct {
		founder  int64 // of the cluster, as the result says
		at       int64
		distance float64
	}
	for name, tt := range map[string]struct {
		fingerprint, sketch uint64
		measured            float64 // from any founder
		unknown             bool    // the input record is deleted
		told
		want told
	}{
		"joined":                        {9, 9, .25, false, told{1, 120, .25}, told{1, 120, .25}},
		"at another distance":           {9, 9, .25, false, told{1, 120, .5}, told{1, 120, .25}},
		"at a distance nobody knows":    {9, 9, .25, true, told{1, 120, .5}, told{1, 120, .5}},
		"a cluster nobody founded":      {9, 9, .25, false, told{5, 120, .25}, told{7, 120, 0}},
		"an expired cluster":            {9, 9, .25, false, told{0, 150, .25}, told{7, 150, 0}},
		"the same as a centre":          {2, 8, .25, false, told{0, 120, .25}, told{1, 120, 0}},
		"the same, and so is an older":  {2, 8, 0, false, told{0, 120, 0}, told{0, 120, 0}},
		"the same, and founded":         {2, 8, 0, false, told{7, 120, 0}, told{1, 120, 0}},
		"the same, nobody knows":        {2, 8, 0, true, told{7, 120, 0}, told{7, 120, 0}},
		"the same as an expired one":    {1, 8, .25, false, told{1, 150, .25}, told{1, 150, .25}},
		"the same bits, another sketch": {2, 9, 4, false, told{0, 120, 4}, told{0, 120, 4}},
		"founded":                       {9, 9, .25, false, told{7, 120, 0}, told{7, 120, 0}},
	} {
		t.Run(name, func(t *testing.T) {
			m := newModel("minhash", 3, 100*time.Millisecond)
			m.measure = func(member, founder print) (float64, bool, error) {
				return tt.measured, member.known && founder.known, nil
			}
			row := func(fingerprint, sketchDigest uint64) resultRow {
				return resultRow{Fingerprint: fingerprint, Sketch: sketch{Digest: sketchDigest}, Known: true}
			}
			for i, at := range []int64{20, 110} {
				founder := row(uint64(i+1), 8)
				founder.Source, founder.Cluster, founder.EventTime = place{Offset: int64(i)}, place{Offset: int64(i)}, at
				if _, _, _, err := m.assign(founder, int64(i)); err != nil {
					t.Fatal(err)
				}
			}
			result := row(tt.fingerprint, tt.sketch)
			result.Source, result.Cluster, result.EventTime = place{Offset: 7}, place{Offset: tt.founder}, tt.at
			result.Distance, result.Joined, result.Known = tt.distance, tt.founder != 7, !tt.unknown
			i, distance, joined, err := m.assign(result, 2)
			if got := (told{m.centres[i].founder.Offset, tt.at, distance}); err != nil || got != tt.want || joined != (tt.want.founder != 7) {
				t.Errorf("%+v, joined %t, %v; want %+v", got, joined, err, tt.want)
			}
		})
	}
}

func BenchmarkModel(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	m := newModel("simhash", 3, 0)
	for i := range int64(500_000) {
		if _, _, _, err := m.assign(resultRow{Source: place{Offset: i}, Fingerprint: r.Uint64(), EventTime: i}, i); err != nil {
			b.Fatal(err)
		}
	}
	b.ResetTimer()
	for i := int64(0); b.Loop(); i++ {
		m.nearest(r.Uint64())
	}
}
