package singlepass

import (
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
)

// The index answers as a plain map of all centres does, whichever of them expire and come back:
// the oldest live one that has a contact.
func TestContactIndex(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	x := newContactIndex(new(sync.Mutex), func(holder) bool { return true })
	plain, horizon := make(map[uint64]Centre), uint64(0)
	live := func(seq uint64) bool { return seq >= horizon }
	names := []string{"a", "b", "c", "d"}
	next, several, passed := uint64(0), 0, 0
	for range 5_000 {
		switch r.IntN(10) {
		case 0, 1, 2:
			c := Centre{Seq: next}
			next++
			c.Contacts = NewContacts(names[:r.IntN(len(names)+1)])
			plain[c.Seq] = c
			x.insert(c)
		case 3, 4:
			if seqs := slices.Sorted(maps.Keys(plain)); len(seqs) > 0 {
				c := plain[seqs[r.IntN(len(seqs))]]
				delete(plain, c.Seq)
				x.remove(c)
			}
		case 5: // the horizon goes on, or back, as when assignments are undone
			if r.IntN(4) > 0 {
				horizon = min(next, horizon+r.Uint64N(10))
			} else {
				horizon -= min(horizon, r.Uint64N(10))
				x.restore()
			}
		default:
			name := names[r.IntN(len(names))]
			seq, ok := x.oldest(name, live)
			want, known := oldestOf(plain, name, live)
			if ok != known || ok && seq != want {
				t.Fatalf("the oldest with %s is %d, %t; want %d, %t", name, seq, ok, want, known)
			}
			several += len(x.centres)
			passed += len(x.passed)
		}
	}
	if several == 0 || passed == 0 {
		t.Errorf("%d contacts of several centres, %d passed over: the test shows little", several, passed)
	}
	for _, c := range plain {
		x.remove(c)
	}
	if n := len(x.centres) + len(x.single) + len(x.passed); n != 0 {
		t.Errorf("without centres %d entries are left: %v", n, x)
	}
	if seq, ok := x.oldest("a", nil); ok {
		t.Errorf("without centres the oldest is %d", seq)
	}
}

func oldestOf(centres map[uint64]Centre, contact string, live func(uint64) bool) (uint64, bool) {
	for _, seq := range slices.Sorted(maps.Keys(centres)) {
		has := slices.Contains(slices.Collect(centres[seq].Contacts.All()), contact)
		if has && live(seq) {
			return seq, true
		}
	}
	return 0, false
}
