package minhash

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/clusterd/clusterd/internal/method/jaccard"
	"github.com/clusterd/clusterd/internal/singlepass"
	"github.com/clusterd/clusterd/internal/testutil/check"
)

// plainIndex is the definition as an index.
type plainIndex struct {
	*linear
	singlepass.Index // the rest of what an index is, of which no Space makes use here
}

func (p plainIndex) Insert(c singlepass.Centre)      { p.centres = append(p.centres, c) }
func (p plainIndex) Remove(c singlepass.Centre) bool { return p.remove(c) }
func (p plainIndex) Nearest(
	f singlepass.Fingerprint, live *singlepass.Live,
) (singlepass.Centre, float64, bool) {
	if live == nil {
		return p.nearest(f, always)
	}
	return p.nearest(f, live.Asked)
}

// A space is one with what its user knows of its clusters.
type space struct {
	*singlepass.Space
	clusters map[uint64]singlepass.Centre
	lastSeen map[uint64]int64
}

func newSpace(index singlepass.Index, window time.Duration) *space {
	s := &space{clusters: make(map[uint64]singlepass.Centre), lastSeen: make(map[uint64]int64)}
	s.Space = singlepass.NewSpace(index, singlepass.Rule{Window: window},
		func(seq uint64) int64 { return s.lastSeen[seq] })
	return s
}

func (s *space) assign(f singlepass.Fingerprint, at int64) singlepass.Assignment {
	a := s.Assign(f, at)
	s.clusters[a.Centre.Seq] = a.Centre
	s.lastSeen[a.Centre.Seq] = max(s.lastSeen[a.Centre.Seq], at)
	return a
}

// collect removes each expired centre with this probability.
func (s *space) collect(r *rand.Rand, share float64) {
	for _, seq := range slices.Sorted(maps.Keys(s.clusters)) {
		if s.Expired("", s.lastSeen[seq]) && r.Float64() < share {
			s.Remove(s.clusters[seq])
			delete(s.clusters, seq)
			delete(s.lastSeen, seq)
		}
	}
}

// In a flood of texts of one template, each of which is a near miss of all others, a space in which
// expired centres stay for any time, and which is undone and filled again in any order, assigns as
// one from which they are taken the moment they expire, by an index that goes through all of them.
func TestFloodIsAssignedByLiveCentresAlone(t *testing.T) {
	check.OneGoroutine(t)
	for _, test := range []struct {
		name    string
		share   float64 // of equal places in texts of the template
		window  time.Duration
		jump    int64 // of event times, now and then
		similar int   // one of so many texts is a changed copy
	}{
		{"near misses", .8, 250 * time.Millisecond, 0, 4},
		{"gaps in which all expire", .8, 250 * time.Millisecond, 200, 4},
		{"farther apart", .72, 600 * time.Millisecond, 0, 2},
		{"never expires", .8, 0, 0, 4},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			const hashes = 64
			r := rand.New(rand.NewPCG(9, 9))
			form := randomSignature(r, hashes)
			var texts [][]byte
			next := func() singlepass.Fingerprint {
				text := slices.Clone(form)
				for i := range text {
					if r.Float64() > test.share {
						text[i] = byte(r.Uint32())
					}
				}
				if len(texts) > 0 && r.IntN(test.similar) == 0 {
					text = changed(r, texts[r.IntN(len(texts))], r.IntN(hashes/5))
				}
				texts = append(texts, text)
				return fingerprintOf(text)
			}
			build := func() *index { return newIndex(hashes, .23, .999, jaccard.Rule{}) }
			prompt := newSpace(plainIndex{linear: newLinear(build(), .23)}, test.window)
			index := build()
			late := newSpace(index, test.window)
			joined, buckets := 0, 0
			for i, at := 0, int64(0); i < 1500; i++ {
				at += 1
				if r.IntN(100) == 0 {
					at += test.jump
				}
				switch f := next(); r.IntN(60) {
				case 0:
					late.undone(r, at+r.Int64N(400), next)
				case 1:
					index = build()
					late = late.again(r, index, test.window)
				default:
					want, got := prompt.assign(f, at), late.assign(f, at)
					if got != want {
						t.Fatalf("article %d: assigned %+v, want %+v", i, got, want)
					}
					if got.Joined {
						joined++
					}
				}
				prompt.collect(r, 1)
				late.collect(r, .02)
				if late.Len() != len(late.clusters) {
					t.Fatalf("article %d: %d centres, want %d", i, late.Len(), len(late.clusters))
				}
				for _, c := range index.capped {
					buckets += len(c)
				}
			}
			if joined < 100 || buckets < 300 {
				t.Errorf("%d joined, %d buckets: the test shows little", joined, buckets)
			}
		})
	}
}

// undone assigns some articles that are ahead in time, and takes them back.
func (s *space) undone(r *rand.Rand, at int64, next func() singlepass.Fingerprint) {
	state, clusters, lastSeen := s.State(), maps.Clone(s.clusters), maps.Clone(s.lastSeen)
	for range r.IntN(20) {
		s.assign(next(), at)
	}
	for _, seq := range slices.Sorted(maps.Keys(s.clusters)) {
		if _, ok := clusters[seq]; !ok {
			s.Remove(s.clusters[seq])
		}
	}
	s.Resume(state)
	s.clusters, s.lastSeen = clusters, lastSeen
}

// again returns the space after a restart.
func (s *space) again(r *rand.Rand, index singlepass.Index, window time.Duration) *space {
	made := newSpace(index, window)
	maps.Copy(made.lastSeen, s.lastSeen)
	maps.Copy(made.clusters, s.clusters)
	all := slices.Collect(maps.Values(s.clusters))
	r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	made.BulkLoad(len(all), func(yield func(singlepass.Centre, int64) bool) {
		for _, c := range all {
			if !yield(c, s.lastSeen[c.Seq]) {
				return
			}
		}
	})
	made.Resume(s.State())
	return made
}
