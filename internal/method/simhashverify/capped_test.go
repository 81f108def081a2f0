package simhashverify

import (
	"cmp"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/clusterd/clusterd/internal/simhash"
	"github.com/clusterd/clusterd/internal/singlepass"
	"github.com/clusterd/clusterd/internal/testutil/check"
)

// bounded returns what an index answers where very many share a quarter, word for word and from the
// live centres alone: it goes through the quarters that are near the query's, from the nearest on,
// and of capped ones takes the neighbours in each order.
func (p *plain) bounded(
	f singlepass.Fingerprint, live func(singlepass.Centre) bool,
) (singlepass.Centre, float64, bool) {
	best, cappedSeen := singlepass.NewNearest[singlepass.Centre](p.distance, nil), 0
	byQuarter := make(map[[2]int][]singlepass.Centre)
	for _, c := range p.have {
		if live == nil || live(c) {
			for table := range quarters {
				at := [2]int{table, int(quarter(c.Hash, table))}
				byQuarter[at] = append(byQuarter[at], c)
			}
		}
	}
	for phase := 0; phase <= p.distance && best.Cutoff() >= phase && cappedSeen < maxCapped; phase++ {
		table, own := phase%quarters, int(quarter(f.Hash, phase%quarters))
		for flip := range 1 << 16 {
			if bits.OnesCount(uint(flip)) != phase/quarters || cappedSeen == maxCapped {
				continue
			}
			seen := byQuarter[[2]int{table, own ^ flip}]
			if len(seen) > bucketCap {
				seen = neighboursOf(seen, f, table)
				cappedSeen++
			}
			for _, c := range seen {
				if p.s.Agree(c.Sketch, f.Sketch) {
					best.Offer(c, c.Seq, simhash.Distance(c.Hash, f.Hash))
				}
			}
		}
	}
	c, distance, ok := best.Result()
	return c, float64(distance), ok
}

func neighboursOf(
	all []singlepass.Centre, f singlepass.Fingerprint, table int,
) (seen []singlepass.Centre) {
	type placed struct {
		rotated string
		singlepass.Centre
	}
	order := make([]placed, len(all))
	for start := 4 * table; start < components/8; start += apart {
		rotated := func(f singlepass.Fingerprint) string {
			key := keyOf(f)
			return string(key[start:]) + string(key[:start])
		}
		for i, c := range all {
			order[i] = placed{rotated(c.Fingerprint), c}
		}
		slices.SortFunc(order, func(a, b placed) int {
			return cmp.Or(strings.Compare(a.rotated, b.rotated), cmp.Compare(a.Seq, b.Seq))
		})
		at, _ := slices.BinarySearchFunc(order, rotated(f), func(c placed, to string) int {
			return cmp.Or(strings.Compare(c.rotated, to), 1)
		})
		for _, c := range order[max(0, at-neighbours):min(len(order), at+neighbours)] {
			seen = append(seen, c.Centre)
		}
	}
	return seen
}

// floods returns fingerprints of texts whose SimHashes are near and whose sketches are not.
func floods() map[string]func(r *rand.Rand, have []singlepass.Centre) singlepass.Fingerprint {
	sketched := func(r *rand.Rand, have []singlepass.Centre, hash uint64) singlepass.Fingerprint {
		f := stream(r, nil)
		if len(have) > 0 && r.IntN(4) == 0 { // a copy of one that was before
			near := have[r.IntN(len(have))]
			s := parse(near.Sketch)
			for range r.IntN(components / 12) {
				s[r.IntN(len(s))] ^= 1 << r.IntN(64)
			}
			f.Sketch, hash = s.String(), near.Hash^hash&flipped(r, 3)
		}
		f.Hash = hash
		return f
	}
	return map[string]func(r *rand.Rand, have []singlepass.Centre) singlepass.Fingerprint{
		"the same 64 bits": func(r *rand.Rand,
			have []singlepass.Centre,
		) singlepass.Fingerprint {
			return sketched(r, have, 0)
		},
		"a few bits apart": func(r *rand.Rand, have []singlepass.Centre) singlepass.Fingerprint {
			return sketched(r, have, flipped(r, r.IntN(6)))
		},
		"a quarter the same": func(r *rand.Rand, have []singlepass.Centre) singlepass.Fingerprint {
			return sketched(r, have, r.Uint64()<<16)
		},
	}
}

// Whatever came and went, a query sees what the definition says, which is of live centres alone,
// and what it is compared with is bounded.
func TestFloods(t *testing.T) {
	check.OneGoroutine(t)
	for name, next := range floods() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(40, 40))
			p := &plain{s: newSketcher(t, 0), distance: 6}
			index := p.s.NewIndex(p.distance)
			found := 0
			for seq := range uint64(1200) {
				c := singlepass.Centre{Fingerprint: next(r, p.have), Seq: seq}
				p.have = append(p.have, c)
				index.Insert(c)
				if at := r.IntN(len(p.have)); r.IntN(4) == 0 {
					if !index.Remove(p.have[at]) {
						t.Fatalf("%d is not there to remove", p.have[at].Seq)
					}
					p.have = slices.Delete(p.have, at, at+1)
				}
				if seq%50 > 0 || seq < 500 {
					continue
				}
				salt, f := r.Uint64()|1, next(r, p.have)
				for _, live := range []func(singlepass.Centre) bool{
					nil,
					func(c singlepass.Centre) bool { return c.Seq*salt>>32%4 > 0 },
					func(c singlepass.Centre) bool { return c.Seq*salt>>32%4 == 0 },
				} {
					var asking *singlepass.Live
					if live != nil {
						asking = &singlepass.Live{Asked: live, Sure: func(seq uint64) bool {
							return seq%3 > 0 && live(singlepass.Centre{Seq: seq})
						}}
					}
					got, distance, ok := index.Nearest(f, asking)
					want, wantDistance, wantOK := p.bounded(f, live)
					if got != want || distance != wantDistance || ok != wantOK {
						t.Fatalf("%d: nearest is %d at %v, %t; want %d at %v, %t", seq, got.Seq, distance, ok,
							want.Seq, wantDistance, wantOK)
					}
					if ok {
						found++
					}
				}
			}
			if found < 5 {
				t.Errorf("%d found: the test shows little", found)
			}
		})
	}
}

// Expired centres that are nearer in every order hide no live one, whether the index has to ask of
// it or not.
func TestExpiredNeighboursArePassedOver(t *testing.T) {
	r := rand.New(rand.NewPCG(42, 42))
	s := newSketcher(t, 0)
	for sure := range uint64(2) {
		index, query := s.NewIndex(6), stream(r, nil)
		near := query
		changed := parse(query.Sketch)
		changed[len(changed)-1] ^= 1
		near.Sketch = changed.String()
		index.Insert(singlepass.Centre{Fingerprint: near, Seq: 1})
		for seq := uint64(2); seq < 1000; seq++ {
			c := singlepass.Centre{Fingerprint: query, Seq: seq} // expired
			if seq%2 == 1 {
				c.Sketch = stream(r, nil).Sketch
			}
			index.Insert(c)
		}
		lives := func(seq uint64) bool { return seq%2 == 1 }
		c, _, ok := index.Nearest(query, &singlepass.Live{
			Asked: func(c singlepass.Centre) bool { return lives(c.Seq) },
			Sure:  func(seq uint64) bool { return seq%4 == 1+2*sure && lives(seq) },
		})
		if !ok || c.Seq != 1 {
			t.Errorf("sure of every fourth: found %d, %t; want 1", c.Seq, ok)
		}
	}
}

// What queries are compared with does not grow with the number of centres, and the oldest live one
// with the same fingerprint is found among any number.
func TestFloodCandidates(t *testing.T) {
	check.OneGoroutine(t)
	for name, next := range floods() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(41, 41))
			index := newSketcher(t, 0).NewIndex(8)
			var some []singlepass.Centre
			for seq := range uint64(10_000) {
				c := singlepass.Centre{Fingerprint: next(r, nil), Seq: seq}
				index.Insert(c)
				if seq%100 == 0 {
					some = append(some, c)
				}
			}
			for _, c := range some {
				index.Insert(singlepass.Centre{Fingerprint: c.Fingerprint, Seq: c.Seq + 1_000_000})
				if got, _, ok := index.Nearest(c.Fingerprint, nil); !ok || got != c {
					t.Fatalf("nearest to %d is %d, %t", c.Seq, got.Seq, ok)
				}
			}
			before := index.Candidates()
			for range 200 {
				index.Nearest(next(r, nil), nil)
			}
			most := uint64(maxCapped*2*neighbours*len(rule(0).Rotations) + 192*bucketCap/4)
			if got := (index.Candidates() - before) / 200; got > most {
				t.Errorf("%d candidates a query, want %d at most", got, most)
			} else {
				t.Logf("%d candidates a query", got)
			}
		})
	}
}
