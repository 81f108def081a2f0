package story

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Stories that somebody merged and takes apart again, in any order, are as before.
func TestLeaveUndoesJoin(t *testing.T) {
	undone := 0
	for seed := range uint64(40) {
		articles := &stream{Rand: rand.New(rand.NewPCG(seed, 10))}
		s := New(small(articles.Rand))
		for range 60 {
			s.Assign(articles.article())
		}
		before := sorted(s)
		last := make(map[string]int64)
		for _, story := range before {
			last[story.Address] = story.LastSeen
		}
		any := func() string { return before[articles.IntN(len(before))].Address }
		var joined [][2]string
		for range 6 {
			if older, younger, ok := s.Join(any(), any()); ok {
				joined = append(joined, [2]string{older, younger})
			}
		}
		articles.Shuffle(len(joined), func(i, k int) { joined[i], joined[k] = joined[k], joined[i] })
		for _, two := range joined {
			left, from, ok := s.Leave(two[0], two[1])
			if !ok || left != two[1] || !slices.Contains(from, two[0]) {
				t.Fatalf("seed %d: %s leaves %s: %s %s %v", seed, two[1], two[0], left, from, ok)
			}
			undone++
		}
		after := sorted(s)
		for i := range after {
			if was := last[after[i].Address]; after[i].LastSeen < was {
				t.Errorf("seed %d: %s was last seen at %d, and before at %d", seed, after[i].Address,
					after[i].LastSeen, was)
			}
			after[i].LastSeen = last[after[i].Address] // it stays what the whole had
		}
		if diff := cmp.Diff(before, after); diff != "" {
			t.Fatalf("seed %d: (-before +after):\n%s", seed, diff)
		}
		consistent(t, s)
	}
	if undone < 100 {
		t.Errorf("%d joins were undone, so little is tested", undone)
	}
}

// Only what somebody made one can be taken apart.
func TestLeaveRefuses(t *testing.T) {
	s := New(Defaults())
	for i, address := range []string{"t/0/1", "t/0/2", "t/0/3", "t/0/4"} {
		if err := s.Put(Story{Address: address, Seq: uint64(i), Clusters: 1}); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Put(Story{Address: "t/0/5", Seq: 5, Clusters: 1, Into: "t/0/1"}); err != nil {
		t.Fatal(err)
	}
	s.Join("t/0/1", "t/0/2")
	for what, two := range map[string][2]string{
		"one story":                   {"t/0/1", "t/0/1"},
		"two that are apart":          {"t/0/1", "t/0/3"},
		"two that are apart, a part":  {"t/0/2", "t/0/3"},
		"one that is not there":       {"t/0/1", "t/0/9"},
		"what the rule made one":      {"t/0/1", "t/0/5"},
		"a part, by its own address":  {"t/0/2", "t/0/2"},
		"one that is not there twice": {"t/0/9", "t/0/9"},
	} {
		if left, from, ok := s.Leave(two[0], two[1]); ok {
			t.Errorf("%s: %s leaves %s", what, left, from)
		}
	}
	// The story that the rule made part of the first counts as the first.
	if left, _, ok := s.Leave("t/0/5", "t/0/2"); !ok || left != "t/0/2" {
		t.Errorf("%s, %v", left, ok)
	}
}
