package model

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/clusterd/clusterd/internal/audit/wire"
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

// bare returns an article of which no more is known.
func bare(offset int64, hash uint64, at int64) Article {
	return Article{
		Source: wire.Address{Offset: offset}, Fingerprint: Fingerprint{Hash: hash}, EventTime: at,
	}
}

// The model's buckets make no difference: for every distance, with and without expiry, on
// fingerprints that are random and on ones that lie in heaps, it decides as a scan of all centres
// does.
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
					m := New(distance, Rule{Window: time.Duration(window) * time.Millisecond})
					l := &linear{distance: distance, window: window}
					for i := range int64(1000) {
						fingerprint, at := source(r), max(0, i*3+r.Int64N(200)-100) // some are late
						got, err := m.Assign(bare(i, fingerprint, at), i)
						cluster, distance, joined := l.assign(fingerprint, at)
						want := Placement{Cluster: cluster, Distance: float64(distance), Joined: joined}
						if err != nil || got != want {
							t.Fatalf("article %d, %016x at %d: %+v, %v; the scan says %+v", i, fingerprint, at, got,
								err, want)
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
	m, founder := New(3, Rule{}), wire.Address{Partition: 1, Offset: 7}
	hash := func(bits uint64) Fingerprint { return Fingerprint{Hash: bits} }
	for i, a := range []Article{
		{Source: founder, Fingerprint: hash(0b111), EventTime: 500, Representative: 1},
		{Source: wire.Address{Offset: 9}, Fingerprint: hash(0b100), EventTime: 900, Representative: 2},
		{Source: wire.Address{Offset: 10}, Fingerprint: hash(0b110), EventTime: 100, Representative: 3},
	} {
		if _, err := m.Assign(a, int64(i)); err != nil {
			t.Fatal(err)
		}
	}
	want := Cluster{
		Fingerprint: Fingerprint{
			Hash: 0b111,
		}, Founder: founder, Representative: 1,
		Size: 3, FirstSeen: 100, LastSeen: 900, Members: Member(0) + Member(1) + Member(2),
	}
	if m.Len() != 1 || *m.Cluster(0) != want {
		t.Errorf("clusters %+v, want %+v", m.clusters, want)
	}
}

// A followed is what the result of an article says.
type followed struct {
	founder  int64 // of the cluster
	at       int64
	distance float64
}

var followedTests = map[string]struct {
	fingerprint, sketch uint64
	measured            float64 // from any founder
	unknown             bool    // the input record is deleted
	followed
	want followed
}{
	"joined":                        {9, 9, .25, false, followed{1, 120, .25}, followed{1, 120, .25}},
	"at another distance":           {9, 9, .25, false, followed{1, 120, .5}, followed{1, 120, .25}},
	"at a distance nobody knows":    {9, 9, .25, true, followed{1, 120, .5}, followed{1, 120, .5}},
	"a cluster nobody founded":      {9, 9, .25, false, followed{5, 120, .25}, followed{7, 120, 0}},
	"an expired cluster":            {9, 9, .25, false, followed{0, 150, .25}, followed{7, 150, 0}},
	"the same as a centre":          {2, 8, .25, false, followed{0, 120, .25}, followed{1, 120, 0}},
	"the same, and so is an older":  {2, 8, 0, false, followed{0, 120, 0}, followed{0, 120, 0}},
	"the same, and founded":         {2, 8, 0, false, followed{7, 120, 0}, followed{1, 120, 0}},
	"the same, nobody knows":        {2, 8, 0, true, followed{7, 120, 0}, followed{7, 120, 0}},
	"the same as an expired one":    {1, 8, .25, false, followed{1, 150, .25}, followed{1, 150, .25}},
	"the same bits, another sketch": {2, 9, 4, false, followed{0, 120, 4}, followed{0, 120, 4}},
	"founded":                       {9, 9, .25, false, followed{7, 120, 0}, followed{7, 120, 0}},
}

// Of other methods than simhash the model follows the results, but not to a cluster that is
// unknown or has expired, and not with an article that is the same as a centre; the distance is
// measured.
func TestModelFollowsResults(t *testing.T) {
	t.Parallel()
	for name, tt := range followedTests {
		t.Run(name, func(t *testing.T) {
			m := NewFollowing(
				Rule{Window: 100 * time.Millisecond},
				func(member, founder Fingerprint) (float64, bool, error) {
					return tt.measured, member.Known && founder.Known, nil
				},
			)
			article := func(hash, sketchDigest uint64) Article {
				return Article{
					Fingerprint: Fingerprint{Hash: hash, Sketch: Blob{Digest: sketchDigest}, Known: true},
				}
			}
			for i, at := range []int64{20, 110} {
				founder := article(uint64(i+1), 8)
				founder.Source, founder.EventTime = wire.Address{Offset: int64(i)}, at
				founder.Cluster = founder.Source
				if _, err := m.Assign(founder, int64(i)); err != nil {
					t.Fatal(err)
				}
			}
			a := article(tt.fingerprint, tt.sketch)
			a.Source, a.Cluster, a.EventTime = wire.Address{
				Offset: 7,
			}, wire.Address{
				Offset: tt.founder,
			}, tt.at
			a.Distance, a.Joined, a.Fingerprint.Known = tt.distance, tt.founder != 7, !tt.unknown
			p, err := m.Assign(a, 2)
			got := followed{m.Cluster(p.Cluster).Founder.Offset, tt.at, p.Distance}
			if err != nil || got != tt.want || p.Joined != (tt.want.founder != 7) {
				t.Errorf("%+v, joined %t, %v; want %+v", got, p.Joined, err, tt.want)
			}
		})
	}
}

func BenchmarkModel(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	m := New(3, Rule{})
	for i := range int64(500_000) {
		if _, err := m.Assign(bare(i, r.Uint64(), i), i); err != nil {
			b.Fatal(err)
		}
	}
	b.ResetTimer()
	for i := int64(0); b.Loop(); i++ {
		m.nearest(0, r.Uint64())
	}
}

// Articles of different values are never the same, and expire by themselves.
func TestValuesAreApart(t *testing.T) {
	for name, m := range map[string]*Model{
		"nearest": New(3, Rule{Window: time.Minute}),
		"following": NewFollowing(Rule{Window: time.Minute},
			func(_, _ Fingerprint) (float64, bool, error) { return 0, true, nil }),
	} {
		t.Run(name, func(t *testing.T) {
			for i, step := range []struct {
				space, hash uint64
				at          int64
				cluster     int
				joined      bool
			}{
				{1, 7, 0, 0, false},
				{2, 7, 0, 1, false},
				{1, 7, 3600_000, 2, false},
				{2, 7, 30_000, 1, true},
				{0, 7, 0, 3, false},
				{1, 7, 3600_000, 2, true},
			} {
				a := bare(int64(i), step.hash, step.at)
				a.Space, a.Joined, a.Fingerprint.Known = step.space, true, true
				a.Cluster = bare(0, 0, 0).Source // the result says that it joined the first cluster
				p, err := m.Assign(a, int64(i))
				if err != nil || p.Cluster != step.cluster || p.Joined != step.joined {
					t.Errorf("article %d: %+v, %v, want cluster %d, joined %t", i, p, err, step.cluster,
						step.joined)
				}
			}
			if m.StreamTime(2) != 30_000 || m.StreamTime(1) != 3600_000 {
				t.Errorf("stream times %d and %d", m.StreamTime(1), m.StreamTime(2))
			}
		})
	}
}
