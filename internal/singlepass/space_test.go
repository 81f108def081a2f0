package singlepass_test

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/clusterd/clusterd/internal/simhash/hamming"
	"github.com/clusterd/clusterd/internal/singlepass"
)

// TestRule is the rule by example. Fingerprints are small numbers, so that their
// distances can be read; times are milliseconds.
func TestRule(t *testing.T) {
	type step struct {
		fingerprint uint64
		at          int64
		seq         uint64 // of the cluster it belongs to; equal to its position: founded
		distance    float64
		expired     []uint64 // Seqs of what has expired by then, in order
	}
	for _, test := range []struct {
		name     string
		distance int
		window   time.Duration
		steps    []step
	}{
		{"distance 3 joins, 4 founds", 3, 0, []step{
			{fingerprint: 0, seq: 0},
			{fingerprint: 0b0111, seq: 0, distance: 3},
			{fingerprint: 0b1111, seq: 2},
		}},
		{"distance 0 joins the same only", 0, 0, []step{
			{fingerprint: 5, seq: 0},
			{fingerprint: 5, seq: 0},
			{fingerprint: 4, seq: 2},
		}},
		{"the centre never moves", 3, 0, []step{
			{fingerprint: 0, seq: 0},
			{fingerprint: 0b111, seq: 0, distance: 3},
			{fingerprint: 0b111111, seq: 2}, // 3 from the member, 6 from the centre
		}},
		{"the nearest wins over the oldest", 3, 0, []step{
			{fingerprint: 0, seq: 0},
			{fingerprint: 0b1111, seq: 1},
			{fingerprint: 0b0111, seq: 1, distance: 1},
		}},
		{"among equals the oldest wins", 3, 0, []step{
			{fingerprint: 0b1111, seq: 0},
			{fingerprint: 0, seq: 1},
			{fingerprint: 0b0011, seq: 0, distance: 2},
		}},
		{"without a window nothing expires", 3, 0, []step{
			{fingerprint: 0, at: math.MinInt64, seq: 0},
			{fingerprint: 0, at: math.MaxInt64, seq: 0},
		}},
		{"a centre lives to the end of the window", 3, time.Second, []step{
			{fingerprint: 0, at: 1000, seq: 0},
			{fingerprint: 0, at: 2000, seq: 0},
		}},
		{"and expires when stream time passes it", 3, time.Second, []step{
			{fingerprint: 0, at: 1000, seq: 0},
			{fingerprint: 0, at: 2001, seq: 1, expired: []uint64{0}},
		}},
		{"every member prolongs it", 3, time.Second, []step{
			{fingerprint: 0, at: 1000, seq: 0},
			{fingerprint: 1, at: 2000, seq: 0, distance: 1},
			{fingerprint: 0, at: 3000, seq: 0},
			{fingerprint: 0, at: 4001, seq: 3, expired: []uint64{0}},
		}},
		{"an early member does not shorten it", 3, time.Second, []step{
			{fingerprint: 0, at: 2000, seq: 0},
			{fingerprint: 0, at: 1500, seq: 0},
			{fingerprint: 0, at: 3000, seq: 0},
		}},
		{"articles of other clusters move stream time", 3, time.Second, []step{
			{fingerprint: 0, at: 0, seq: 0},
			{fingerprint: 0xff, at: 1001, seq: 1, expired: []uint64{0}},
			{fingerprint: 0, at: 0, seq: 2, expired: []uint64{0, 2}},
		}},
		{"a late article joins, and founds what has expired from the beginning", 3, time.Second, []step{
			{fingerprint: 0, at: 9000, seq: 0},
			{fingerprint: 0, at: 1000, seq: 0},
			{fingerprint: 0xff, at: 1000, seq: 2, expired: []uint64{2}},
			{fingerprint: 0xff, at: 1000, seq: 3, expired: []uint64{2, 3}},
			{fingerprint: 0xff, at: 9000, seq: 4, expired: []uint64{2, 3}},
		}},
		{"an expired centre does not hide a live one that is further away", 3, time.Second, []step{
			{fingerprint: 0, at: 0, seq: 0},
			{fingerprint: 0b1111, at: 500, seq: 1},
			{fingerprint: 0b0001, at: 1001, seq: 1, distance: 3, expired: []uint64{0}},
		}},
		{"a freed fingerprint founds a younger cluster", 3, time.Second, []step{
			{fingerprint: 0, at: 0, seq: 0},
			{fingerprint: 0b11, at: 900, seq: 0, distance: 2},
			{fingerprint: 0b11, at: 1901, seq: 2, expired: []uint64{0}},
			{fingerprint: 0, at: 1901, seq: 2, distance: 2, expired: []uint64{0}},
		}},
		{"a window below a millisecond is a window", 3, time.Microsecond, []step{
			{fingerprint: 0, at: 5, seq: 0},
			{fingerprint: 0, at: 5, seq: 0},
			{fingerprint: 0, at: 6, seq: 2, expired: []uint64{0}},
		}},
		{"the ends of time do not overflow", 3, time.Second, []step{
			{fingerprint: 0, at: math.MinInt64, seq: 0},
			{fingerprint: 0, at: math.MinInt64 + 1000, seq: 0},
			{fingerprint: 0, at: math.MaxInt64 - 1000, seq: 2, expired: []uint64{0}},
			{fingerprint: 0, at: math.MaxInt64, seq: 2, expired: []uint64{0}},
			{fingerprint: 0, at: math.MinInt64, seq: 2, expired: []uint64{0}},
			{fingerprint: 0xff, at: math.MaxInt64, seq: 5, expired: []uint64{0}},
		}},
		{"the longest window", 3, math.MaxInt64, []step{
			{fingerprint: 0, at: 0, seq: 0},
			{fingerprint: 0, at: 9_223_372_036_854, seq: 0},
			{fingerprint: 0xff, at: 18_446_744_073_708, seq: 2},
			{fingerprint: 0, at: 18_446_744_073_709, seq: 3, expired: []uint64{0}},
		}},
	} {
		eachIndex(t, func(t *testing.T, build func(int) singlepass.Index) {
			lastSeen := make(map[uint64]int64)
			s := singlepass.NewSpace(build(test.distance), singlepass.Rule{Window: test.window},
				func(seq uint64) int64 { return lastSeen[seq] })
			for i, step := range test.steps {
				a := s.Assign(bitsOf(step.fingerprint), step.at)
				if a.Centre.Seq != step.seq || a.Distance != step.distance ||
					a.Joined != (step.seq != uint64(i)) || a.Position != uint64(i) {
					t.Errorf("%s: article %d: %+v, want cluster %d at distance %g", test.name, i, a, step.seq,
						step.distance)
				}
				if want := test.steps[step.seq].fingerprint; a.Centre.Hash != want {
					t.Errorf("%s: article %d: centre %x, want that of its founder, %x", test.name, i,
						a.Centre.Hash, want)
				}
				if seen, ok := lastSeen[a.Centre.Seq]; !ok || step.at > seen {
					lastSeen[a.Centre.Seq] = step.at
				}
				var expired []uint64
				for seq, seen := range lastSeen {
					if s.Expired("", seen) {
						expired = append(expired, seq)
					}
				}
				slices.Sort(expired)
				if !slices.Equal(expired, step.expired) {
					t.Errorf("%s: article %d: expired are %v, want %v", test.name, i, expired, step.expired)
				}
			}
		})
	}
}

func TestHorizon(t *testing.T) {
	for _, test := range []struct {
		name       string
		window     time.Duration
		streamTime int64
		before     int64
		ok         bool
	}{
		{"no window", 0, 5000, 0, false},
		{"a window below zero is none", -time.Second, 5000, 0, false},
		{"a second", time.Second, 5000, 4000, true},
		{"below a millisecond", time.Microsecond, 5000, 5000, true},
		{"no further back than time goes", time.Second, math.MinInt64 + 1000, math.MinInt64, true},
		{"nor past it", time.Second, math.MinInt64 + 999, math.MinInt64, true},
	} {
		s := singlepass.NewSpace(hamming.Centres(hamming.NewBTree(3)),
			singlepass.Rule{Window: test.window}, nil)
		s.Resume(singlepass.State{StreamTime: test.streamTime})
		before, ok := s.Horizon("")
		if before != test.before || ok != test.ok {
			t.Errorf("%s: %d, %t; want %d, %t", test.name, before, ok, test.before, test.ok)
		}
		if test.ok && (s.Expired("", test.before) || s.Expired("", math.MaxInt64) ||
			before > math.MinInt64 &&
				!s.Expired("", before-1)) {
			t.Errorf("%s: Expired does not agree with Horizon", test.name)
		}
	}
}

// eachIndex runs f as a subtest for every kind of index of fingerprints that are bits.
func eachIndex(t *testing.T, f func(t *testing.T, build func(distance int) singlepass.Index)) {
	t.Helper()
	bitsApart := func(a,
		b singlepass.Fingerprint,
	) float64 {
		return float64(bits.OnesCount64(a.Hash ^ b.Hash))
	}
	for name, build := range map[string]func(distance int) singlepass.Index{
		"linear": func(distance int) singlepass.Index {
			return singlepass.NewLinear(float64(distance),
				bitsApart)
		},
		"btree": func(distance int) singlepass.Index {
			return hamming.Centres(
				hamming.NewBTree(distance))
		},
		"mih": func(distance int) singlepass.Index {
			return hamming.Centres(
				hamming.NewMIH(distance))
		},
	} {
		t.Run(name, func(t *testing.T) { f(t, build) })
	}
}

// A source makes fingerprints; seen are those before.
type source func(r *rand.Rand, seen []uint64) uint64

func sources() map[string]source {
	return map[string]source{
		"uniform": func(r *rand.Rand, _ []uint64) uint64 { return r.Uint64() },
		"clustered": func(r *rand.Rand, seen []uint64) uint64 {
			if len(seen) == 0 || r.IntN(4) == 0 {
				return r.Uint64()
			}
			return flipped(r, seen[r.IntN(len(seen))], r.IntN(9))
		},
		"around zero and all ones: ties": func(r *rand.Rand, _ []uint64) uint64 {
			return flipped(r, -uint64(r.IntN(2)), r.IntN(8))
		},
		"duplicates": func(r *rand.Rand, seen []uint64) uint64 {
			if len(seen) == 0 || r.IntN(8) == 0 {
				return r.Uint64()
			}
			return seen[r.IntN(len(seen))]
		},
	}
}

// flipped returns the fingerprint with up to n random bits flipped.
func flipped(r *rand.Rand, fingerprint uint64, n int) uint64 {
	for range n {
		fingerprint ^= 1 << r.IntN(64)
	}
	return fingerprint
}

// A stream makes articles: fingerprints like those of centres seen before, and
// event times that mostly advance but also tie, fall back, and leap.
type stream struct {
	r    *rand.Rand
	next source
	seen []uint64
	at   int64
}

func (s *stream) article() (f singlepass.Fingerprint, at int64) {
	f = bitsOf(s.next(s.r, s.seen))
	f.Contacts = s.contacts()
	s.seen = append(s.seen, f.Hash)
	if len(s.seen) > 100 {
		s.seen = s.seen[50:]
	}
	switch s.r.IntN(10) {
	case 0:
		return f, s.at - s.r.Int64N(3000)
	case 1:
		s.at += s.r.Int64N(1500)
	case 2, 3, 4, 5, 6:
		s.at += s.r.Int64N(20)
	}
	return f, s.at
}

// contacts are now and then one or several of a few.
func (s *stream) contacts() singlepass.Contacts {
	var values []string
	for name := 'a'; name < 'a'+8 && s.r.IntN(3) == 0; name++ {
		values = append(values, string(name))
		name += s.r.Int32N(3)
	}
	return singlepass.NewContacts(values)
}

// Whatever the user of a Space does between articles, and wherever its batches end, the
// Space assigns as the model does, which takes centres out the moment they expire.
func TestSpaceEqualsModel(t *testing.T) {
	for name, next := range sources() {
		for _, window := range []time.Duration{0, time.Nanosecond, 100 * time.Millisecond, time.Second} {
			for _, distance := range []int{0, 3, hamming.MaxDistance} {
				t.Run(fmt.Sprintf("%s/%v/%d", name, window, distance), func(t *testing.T) {
					eachIndex(t, func(t *testing.T, build func(int) singlepass.Index) {
						r := rand.New(rand.NewPCG(uint64(window), uint64(distance)))
						k := newKeeper(t, r, build, &model{
							distance: distance, window: window,
						})
						compareStream(k, &stream{r: r, next: next})
					})
				})
			}
		}
	}
}

func compareStream(k *keeper, articles *stream) {
	k.t.Helper()
	var collected, undone, restarts int
	for range 400 {
		switch k.r.IntN(40) {
		case 0:
			k.restart()
			restarts++
		case 1, 2:
			later := *articles
			k.undo(k.r.IntN(20), later.article)
			undone++
		case 3, 4, 5:
			collected += k.collect()
		}
		k.compare(articles.article())
	}
	if restarts == 0 || undone == 0 || (collected > 0) != (k.model.window > 0) {
		k.t.Errorf("%d restarts, %d batches undone, %d clusters collected: the stream tests little",
			restarts, undone, collected)
	}
}

// FuzzSpace reads bytes as a distance, a window and then operations of three bytes, an
// article each or something that the user of a Space does, and compares it with the
// model.
func FuzzSpace(f *testing.F) {
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) < 2 {
			return
		}
		eachIndex(t, func(t *testing.T, build func(int) singlepass.Index) { fuzzSpace(t, build, data) })
	})
}

func fuzzSpace(t *testing.T, build func(distance int) singlepass.Index, data []byte) {
	t.Helper()
	r := rand.New(rand.NewPCG(uint64(data[0]), uint64(data[1])))
	k := newKeeper(t, r, build, &model{
		distance: int(data[0]) % (hamming.MaxDistance + 1),
		window:   time.Duration(data[1]) * time.Millisecond,
	})
	var at int64
	for op := data[2:]; len(op) >= 3 && k.model.articles < 500; op = op[3:] {
		switch {
		case op[0] != 255:
			at += int64(int8(op[0])) // 127 forward to 128 back
			k.compare(fuzzFingerprint(op[1], op[2]), at)
		case op[1] == 1:
			k.collect()
		case op[1] == 2:
			k.undo(int(op[2]%16), func() (singlepass.Fingerprint, int64) {
				return fuzzFingerprint(byte(r.Uint32()), 0), at + r.Int64N(500) - 100
			})
		default:
			k.restart()
		}
	}
}

// fuzzFingerprint gives fingerprints that are 0, 4 or more bits apart by the first
// byte, and up to 4 bits nearer or further by the second, which gives some a contact too.
func fuzzFingerprint(base, flip byte) singlepass.Fingerprint {
	var fingerprint uint64
	for bit := range 8 {
		fingerprint |= uint64(base>>bit&1) * 0xf << (8 * bit)
	}
	f := bitsOf(fingerprint ^ 1<<(flip%64) ^ uint64(flip>>6)<<(flip%59))
	if flip%3 == 0 {
		f.Contacts = singlepass.NewContacts([]string{string('a' + rune(flip)/3%4)})
	}
	return f
}

func ExampleSpace_Assign() {
	lastSeen := make(map[uint64]int64)
	s := singlepass.NewSpace(hamming.Centres(hamming.NewBTree(3)), singlepass.Rule{Window: time.Hour},
		func(seq uint64) int64 { return lastSeen[seq] })
	for _, fingerprint := range []uint64{0b0000, 0b0111, 0b1111, 0b1101} {
		const at = 1_700_000_000_000
		a := s.Assign(bitsOf(fingerprint), at)
		lastSeen[a.Centre.Seq] = max(lastSeen[a.Centre.Seq], at)
		fmt.Printf("%04b: article %d, cluster %d, joined %t, distance %g\n",
			fingerprint, a.Position, a.Centre.Seq, a.Joined, a.Distance)
	}
	// Output:
	// 0000: article 0, cluster 0, joined false, distance 0
	// 0111: article 1, cluster 0, joined true, distance 3
	// 1111: article 2, cluster 2, joined false, distance 0
	// 1101: article 3, cluster 2, joined true, distance 1
}
