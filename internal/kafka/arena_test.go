package kafka

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"
)

// What arenas keep stays as it is until they are reset, whatever is kept beside it.
func TestArenasKeep(t *testing.T) {
	random := rand.New(rand.NewPCG(19, 1))
	var arenas Arenas
	for range 20 {
		arenas.Reset()
		type kept struct{ got, want []byte }
		var all []kept
		var lists, wanted [][]Header
		for range 50 {
			arena := arenas.Take()
			for range random.IntN(40) {
				want := bytes.Repeat([]byte{byte(random.Uint32())}, random.IntN(1500))
				if random.IntN(100) == 0 {
					want = bytes.Repeat(want, 50)
				}
				got := arena.Keep(func(b []byte) []byte { return append(b, want...) })
				all = append(all, kept{got, want})
				list := arena.Headers(random.IntN(5))
				for n := cap(list); n > 0; n-- {
					list = append(list, Header{Value: want})
				}
				lists, wanted = append(lists, list), append(wanted, slices.Clone(list))
			}
			arenas.Give(arena)
		}
		for i, k := range all {
			if !bytes.Equal(k.got, k.want) || cap(k.got) != len(k.got) {
				t.Fatalf("kept %d bytes with room for %d, want %d", len(k.got), cap(k.got), len(k.want))
			}
			if !slices.EqualFunc(lists[i], wanted[i], func(a, b Header) bool {
				return bytes.Equal(a.Value, b.Value)
			}) {
				t.Fatalf("headers %v, want %v", lists[i], wanted[i])
			}
		}
	}
}

// The second batch of a size takes no memory.
func TestArenasAreUsedAgain(t *testing.T) {
	var arenas Arenas
	value := make([]byte, 700)
	batch := func() {
		arenas.Reset()
		for range 100 {
			arena := arenas.Take()
			for range 30 {
				arena.Keep(func(b []byte) []byte { return append(b, value...) })
				arena.Headers(3)
			}
			arenas.Give(arena)
		}
	}
	batch()
	if n := testing.AllocsPerRun(10, batch); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
