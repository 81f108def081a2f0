package capped_test

import (
	"cmp"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/clusterd/clusterd/internal/method/capped"
)

// seen returns what the rule names, word for word.
func seen(
	rule capped.Rule, members map[uint64]string, sketch string, live func(seq uint64) bool,
) map[uint64]bool {
	all := make(map[uint64]bool)
	for seq := range members {
		if live(seq) {
			all[seq] = true
		}
	}
	if len(all) <= rule.Cap {
		return all
	}
	some := make(map[uint64]bool)
	for _, start := range rule.Rotations {
		rotated := func(sketch string) string { return sketch[start:] + sketch[:start] }
		order := slices.SortedFunc(maps.Keys(all), func(a, b uint64) int {
			return cmp.Or(strings.Compare(rotated(members[a]), rotated(members[b])), cmp.Compare(a, b))
		})
		at, _ := slices.BinarySearchFunc(order, rotated(sketch), func(seq uint64, to string) int {
			// its place is before those that are the same
			return cmp.Or(strings.Compare(rotated(members[seq]), to), 1)
		})
		for _, seq := range order[max(0, at-rule.Neighbours):min(len(order), at+rule.Neighbours)] {
			some[seq] = true
		}
	}
	return some
}

// Whatever came and went, and in which order, a query sees what the rule names of the live members.
func TestSee(t *testing.T) {
	for name, rule := range map[string]capped.Rule{
		"one order":     {Cap: 10, Neighbours: 3, Rotations: []int{4}},
		"three orders":  {Cap: 20, Neighbours: 2, Rotations: []int{0, 5, 11}},
		"never whole":   {Cap: 0, Neighbours: 1, Rotations: []int{0}},
		"always whole":  {Cap: 1000, Neighbours: 1, Rotations: []int{11}},
		"a long sketch": {Cap: 5, Neighbours: 4, Rotations: []int{8}},
	} {
		t.Run(name, func(t *testing.T) {
			r, size := rand.New(rand.NewPCG(1, uint64(rule.Neighbours))), 12
			if rule.Cap == 5 {
				size = 128
			}
			sketch := func() string {
				made := make([]byte, size)
				for i := range made {
					made[i] = byte(r.IntN(2)) << (7 * (i % 2)) // few values, so that many are the same
				}
				return string(made)
			}
			members := make(map[uint64]string)
			c := capped.New(rule, func(slot uint32) []byte { return []byte(members[uint64(slot)]) })
			member := func(seq uint64) capped.Member {
				return capped.Member{Sketch: []byte(members[seq]), Seq: seq, Slot: uint32(seq)}
			}
			for step := range 600 {
				if seq := r.Uint64N(200); members[seq] == "" {
					members[seq] = sketch()
					c.Insert(member(seq))
				} else if r.IntN(3) == 0 {
					c.Remove(member(seq))
					if _, there := c.Find(member(seq)); there {
						t.Fatalf("%d is there after it was removed", seq)
					}
					delete(members, seq)
				}
				share := 1 + r.Uint64N(4)
				live := func(seq uint64) bool { return seq%share == 0 }
				query := sketch()
				if share == 1 && len(members) > 0 {
					query = members[slices.Min(slices.Collect(maps.Keys(members)))]
				}
				want, got := seen(rule, members, query, live), make(map[uint64]bool)
				slots, others := c.See([]byte(query),
					func(_ uint32, seq uint64) bool { return live(seq) }, nil)
				for _, slot := range slots {
					if live(uint64(slot)) {
						got[uint64(slot)] = true
					}
				}
				if !maps.Equal(got, want) {
					t.Fatalf("step %d: sees %v, want %v", step, got, want)
				}
				if alive := len(seen(capped.Rule{Cap: 1 << 30}, members, query,
					live)); others != (alive > rule.Cap) {
					t.Fatalf("step %d: others %t, with %d live", step, others, alive)
				}
				if c.Len() != len(members) {
					t.Fatalf("step %d: length %d, want %d", step, c.Len(), len(members))
				}
			}
		})
	}
}

// A bucket of thousands that grows and shrinks, over the edges of blocks and to nothing, answers by
// the rule.
func TestThousands(t *testing.T) {
	rule := capped.Rule{Cap: 32, Neighbours: 8, Rotations: []int{3, 9}}
	r, members := rand.New(rand.NewPCG(2, 2)), make(map[uint64]string)
	c := capped.New(rule, func(slot uint32) []byte { return []byte(members[uint64(slot)]) })
	sketch := func() string {
		made := make([]byte, 12)
		for i := range made {
			made[i] = byte(r.IntN(3))
		}
		return string(made)
	}
	check := func() {
		t.Helper()
		query, share := sketch(), 1+r.Uint64N(3)
		live := func(seq uint64) bool { return seq%share == 0 }
		want, got := seen(rule, members, query, live), make(map[uint64]bool)
		slots, _ := c.See([]byte(query), func(_ uint32, seq uint64) bool { return live(seq) }, nil)
		for _, slot := range slots {
			if live(uint64(slot)) {
				got[uint64(slot)] = true
			}
		}
		all := 0
		c.All(func(slot uint32) {
			if _, there := members[uint64(slot)]; there {
				all++
			}
		})
		if !maps.Equal(got, want) || all != len(members) || c.Len() != len(members) {
			t.Fatalf("sees %v, want %v; %d of %d, length %d", got, want, all, len(members), c.Len())
		}
	}
	for _, size := range []int{3000, 700, 2000, 0, 300, 0} {
		for step := 0; len(members) != size; step++ {
			seq := r.Uint64N(10_000)
			_, there := members[seq]
			if grow := len(members) < size; grow == there {
				continue
			} else if grow {
				members[seq] = sketch()
			}
			m := capped.Member{Sketch: []byte(members[seq]), Seq: seq, Slot: uint32(seq)}
			if there {
				c.Remove(m)
				delete(members, seq)
			} else {
				c.Insert(m)
			}
			if slot, found := c.Find(m); found == there || found && slot != m.Slot {
				t.Fatalf("%d is found: %t at %d", seq, found, slot)
			}
			if step%100 == 0 {
				check()
			}
		}
		check()
	}
}
