package singlepass

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// TestRule is the rule by example. Fingerprints are small numbers, so that their
// distances can be read; times are milliseconds.
func TestRule(t *testing.T) {
	type step struct {
		fingerprint uint64
		at          int64
		seq         uint64 // of the cluster it belongs to; equal to its position: founded
		distance    int
		expired     []uint64 // Seqs, in order
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
			{fingerprint: 0, at: 0, seq: 2},
		}},
		{"a late article joins, and founds for one moment", 3, time.Second, []step{
			{fingerprint: 0, at: 9000, seq: 0},
			{fingerprint: 0, at: 1000, seq: 0},
			{fingerprint: 0xff, at: 1000, seq: 2},
			{fingerprint: 0xff, at: 1000, seq: 3, expired: []uint64{2}},
			{fingerprint: 0xff, at: 9000, seq: 4, expired: []uint64{3}},
		}},
		{"the expired come by last seen, then Seq", 0, time.Second, []step{
			{fingerprint: 1, at: 300, seq: 0},
			{fingerprint: 2, at: 100, seq: 1},
			{fingerprint: 3, at: 200, seq: 2},
			{fingerprint: 4, at: 100, seq: 3},
			{fingerprint: 2, at: 250, seq: 1},
			{fingerprint: 5, at: 200, seq: 5},
			{fingerprint: 9, at: 9000, seq: 6, expired: []uint64{3, 2, 5, 1, 0}},
		}},
		{"a freed fingerprint founds a younger cluster", 3, time.Second, []step{
			{fingerprint: 0, at: 0, seq: 0},
			{fingerprint: 0b11, at: 900, seq: 0, distance: 2},
			{fingerprint: 0b11, at: 1901, seq: 2, expired: []uint64{0}},
			{fingerprint: 0, at: 1901, seq: 2, distance: 2},
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
			{fingerprint: 0, at: math.MaxInt64, seq: 2},
			{fingerprint: 0, at: math.MinInt64, seq: 2},
			{fingerprint: 0xff, at: math.MaxInt64, seq: 5},
		}},
		{"the longest window", 3, math.MaxInt64, []step{
			{fingerprint: 0, at: 0, seq: 0},
			{fingerprint: 0, at: 9_223_372_036_854, seq: 0},
			{fingerprint: 0xff, at: 18_446_744_073_708, seq: 2},
			{fingerprint: 0, at: 18_446_744_073_709, seq: 3, expired: []uint64{0}},
		}},
	} {
		eachIndex(t, func(t *testing.T, build func(int) Index) {
			s := NewSpace(build(test.distance), test.window)
			for i, step := range test.steps {
				a, expired := s.Assign(step.fingerprint, step.at)
				if a.Centre.Seq != step.seq || a.Distance != step.distance ||
					a.Joined != (step.seq != uint64(i)) || a.Position != uint64(i) {
					t.Errorf("%s: article %d: %+v, want cluster %d at distance %d", test.name, i, a, step.seq, step.distance)
				}
				if want := test.steps[step.seq].fingerprint; a.Centre.Fingerprint != want {
					t.Errorf("%s: article %d: centre %x, want that of its founder, %x", test.name, i, a.Centre.Fingerprint, want)
				}
				var seqs []uint64
				for _, c := range expired {
					seqs = append(seqs, c.Seq)
				}
				if !slices.Equal(seqs, step.expired) {
					t.Errorf("%s: article %d: expired %v, want %v", test.name, i, seqs, step.expired)
				}
			}
		})
	}
}

// Stream time and the next position come back from the live clusters alone.
func TestRestore(t *testing.T) {
	s := NewSpace(NewBTree(3), time.Second)
	s.Restore(Centre{0xff, 7}, 5000, 12)
	s.Restore(Centre{0, 2}, 4500, 30)
	s.Restore(Centre{0xffff, 9}, 4000, 9)
	if got := s.Len(); got != 3 {
		t.Fatalf("%d centres, want 3", got)
	}
	// 1000 is long past, so this neither moves stream time nor expires anything.
	a, expired := s.Assign(1, 1000)
	want := Assignment{Centre: Centre{0, 2}, Joined: true, Distance: 1, Position: 31}
	if a != want || expired != nil {
		t.Errorf("got %+v, expired %v; want %+v, none", a, expired, want)
	}
	// The new cluster is overdue already, for stream time was restored as 5000.
	s.Assign(0xff0000, 1000)
	a, expired = s.Assign(0xff0000, 5001)
	want = Assignment{Centre: Centre{0xff0000, 33}, Position: 33}
	if a != want || !slices.Equal(expired, []Centre{{0xff0000, 32}, {0xffff, 9}}) {
		t.Errorf("got %+v, expired %v; want %+v and Seqs 32, 9", a, expired, want)
	}
}

// A stream makes articles: fingerprints like those of centres seen before, and
// event times that mostly advance but also tie, fall back, and leap.
type stream struct {
	r    *rand.Rand
	next source
	seen []Centre
	at   int64
}

func (s *stream) article() (fingerprint uint64, at int64) {
	fingerprint = s.next(s.r, s.seen)
	s.seen = append(s.seen, Centre{Fingerprint: fingerprint})
	if len(s.seen) > 100 {
		s.seen = s.seen[50:]
	}
	switch s.r.IntN(10) {
	case 0:
		return fingerprint, s.at - s.r.Int64N(3000)
	case 1:
		s.at += s.r.Int64N(1500)
	case 2, 3, 4, 5, 6:
		s.at += s.r.Int64N(20)
	}
	return fingerprint, s.at
}

// eachStream runs f as a subtest for streams of every kind, distance and window.
func eachStream(t *testing.T, f func(t *testing.T, s *stream, m *model)) {
	t.Helper()
	for name, next := range sources() {
		for _, window := range []time.Duration{0, time.Nanosecond, 100 * time.Millisecond, time.Second} {
			for _, distance := range []int{0, 3, MaxDistance} {
				t.Run(fmt.Sprintf("%s/%v/%d", name, window, distance), func(t *testing.T) {
					r := rand.New(rand.NewPCG(uint64(window), uint64(distance)))
					f(t, &stream{r: r, next: next}, &model{distance: distance, window: window})
				})
			}
		}
	}
}

func TestSpaceEqualsModel(t *testing.T) {
	eachStream(t, func(t *testing.T, articles *stream, m *model) {
		s := NewSpace(NewBTree(m.distance), m.window)
		for range 400 {
			fingerprint, at := articles.article()
			compareAssign(t, s, m, fingerprint, at)
		}
	})
}

// A Space that is rebuilt from the live clusters at any point goes on as if nothing
// had happened.
func TestRestartChangesNothing(t *testing.T) {
	eachStream(t, func(t *testing.T, articles *stream, m *model) {
		s := NewSpace(NewBTree(m.distance), m.window)
		restarts := 0
		for range 400 {
			if articles.r.IntN(40) == 0 {
				s = m.restored(NewBTree(m.distance), articles.r.Shuffle)
				restarts++
			}
			fingerprint, at := articles.article()
			compareAssign(t, s, m, fingerprint, at)
		}
		if restarts == 0 {
			t.Fatal("the stream had no restart")
		}
	})
}

// FuzzSpace reads bytes as a distance, a window and then operations of three bytes,
// an article each or a restart, and compares a Space with the model.
func FuzzSpace(f *testing.F) {
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) < 2 {
			return
		}
		m := &model{
			distance: int(data[0]) % (MaxDistance + 1),
			window:   time.Duration(data[1]) * time.Millisecond,
		}
		s := NewSpace(NewBTree(m.distance), m.window)
		r := rand.New(rand.NewPCG(uint64(data[0]), uint64(data[1])))
		var at int64
		for op := data[2:]; len(op) >= 3 && m.articles < 500; op = op[3:] {
			if op[0] == 255 {
				s = m.restored(NewBTree(m.distance), r.Shuffle)
				continue
			}
			at += int64(int8(op[0])) // 127 forward to 128 back
			compareAssign(t, s, m, fuzzFingerprint(op[1], op[2]), at)
		}
	})
}

// fuzzFingerprint gives fingerprints that are 0, 4 or more bits apart by the first
// byte, and up to 4 bits nearer or further by the second.
func fuzzFingerprint(base, flip byte) uint64 {
	var fingerprint uint64
	for bit := range 8 {
		fingerprint |= uint64(base>>bit&1) * 0xf << (8 * bit)
	}
	return fingerprint ^ 1<<(flip%64) ^ uint64(flip>>6)<<(flip%59)
}

func ExampleSpace_Assign() {
	s := NewSpace(NewBTree(3), time.Hour)
	for _, fingerprint := range []uint64{0b0000, 0b0111, 0b1111, 0b1101} {
		a, _ := s.Assign(fingerprint, 1_700_000_000_000)
		fmt.Printf("%04b: article %d, cluster %d, joined %t, distance %d\n",
			fingerprint, a.Position, a.Centre.Seq, a.Joined, a.Distance)
	}
	// Output:
	// 0000: article 0, cluster 0, joined false, distance 0
	// 0111: article 1, cluster 0, joined true, distance 3
	// 1111: article 2, cluster 2, joined false, distance 0
	// 1101: article 3, cluster 2, joined true, distance 1
}
