package crowd_test

import (
	"cmp"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/clusterd/clusterd/internal/method/crowd"
)

// seen says what the rule names, word for word.
func seen(rule crowd.Rule, members map[uint64]string, sketch string, live func(seq uint64) bool) map[uint64]bool {
	all := make(map[uint64]bool)
	for seq := range members {
		if live(seq) {
			all[seq] = true
		}
	}
	if len(all) <= rule.Most {
		return all
	}
	some := make(map[uint64]bool)
	for _, start := range rule.Starts {
		rotated := func(sketch string) string { return sketch[start:] + sketch[:start] }
		order := slices.SortedFunc(maps.Keys(all), func(a, b uint64) int {
			return cmp.Or(strings.Compare(rotated(members[a]), rotated(members[b])), cmp.Compare(a, b))
		})
		at, _ := slices.BinarySearchFunc(order, rotated(sketch), func(seq uint64, to string) int {
			return cmp.Or(strings.Compare(rotated(members[seq]), to), 1) // its place is before those that are the same
		})
		for _, seq := range order[max(0, at-rule.Near):min(len(order), at+rule.Near)] {
			some[seq] = true
		}
	}
	return some
}

// Whatever came and went, and in which order, a query sees what the rule names of the live members.
func TestSee(t *testing.T) {
	for name, rule := range map[string]crowd.Rule{
		"one order":     {Most: 10, Near: 3, Starts: []int{4}},
		"three orders":  {Most: 20, Near: 2, Starts: []int{0, 5, 11}},
		"never whole":   {Most: 0, Near: 1, Starts: []int{0}},
		"always whole":  {Most: 1000, Near: 1, Starts: []int{11}},
		"a long sketch": {Most: 5, Near: 4, Starts: []int{8}},
	} {
		t.Run(name, func(t *testing.T) {
			r, size := rand.New(rand.NewPCG(1, uint64(rule.Near))), 12
			if rule.Most == 5 {
				size = 128
			}
			sketch := func() string {
				made := make([]byte, size)
				for i := range made {
					made[i] = byte(r.IntN(2)) << (7 * (i % 2)) // few values, so that many are the same
				}
				return string(made)
			}
			c, members := crowd.New(rule, size), make(map[uint64]string)
			member := func(seq uint64) crowd.Member {
				return crowd.Member{Sketch: []byte(members[seq]), Seq: seq, Slot: uint32(seq)}
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
				others := c.See([]byte(query), func(slot uint32) bool { return live(uint64(slot)) }, func(slot uint32) {
					if live(uint64(slot)) {
						got[uint64(slot)] = true
					}
				})
				if !maps.Equal(got, want) {
					t.Fatalf("step %d: sees %v, want %v", step, got, want)
				}
				if alive := len(seen(crowd.Rule{Most: 1 << 30}, members, query, live)); others != (alive > rule.Most) {
					t.Fatalf("step %d: others %t, with %d live", step, others, alive)
				}
				if c.Len() != len(members) {
					t.Fatalf("step %d: length %d, want %d", step, c.Len(), len(members))
				}
			}
		})
	}
}
