package story

import "github.com/zeebo/xxh3"

// An addresses says which slot holds the story of an address: a hash table with linear probing,
// whose keys are in the entries. A map would hold each key once more.
type addresses struct {
	places  []uint32 // slot+1, 0 where there is none; as many as a power of 2
	stories int
}

func (t *addresses) home(address string) int {
	return int(xxh3.HashString(address) & uint64(len(t.places)-1))
}

func (t *addresses) next(place int) int { return (place + 1) & (len(t.places) - 1) }

// find returns the place of an address, or the free one where it belongs.
func (t *addresses) find(address string, entries []entry) (place int) {
	for place = t.home(address); t.places[place] > 0; place = t.next(place) {
		if entries[t.places[place]-1].address == address {
			break
		}
	}
	return place
}

// slot returns that of an address.
func (t *addresses) slot(address string, entries []entry) (slot uint32, ok bool) {
	if t.stories == 0 || address == "" {
		return 0, false
	}
	place := t.places[t.find(address, entries)]
	return place - 1, place > 0
}

// add enters a slot that holds an address which is not there yet.
func (t *addresses) add(slot uint32, entries []entry) {
	if t.stories++; 4*t.stories > 3*len(t.places) {
		old := t.places
		t.places = make([]uint32, max(8, 2*len(old)))
		for _, place := range old {
			if place > 0 {
				t.places[t.find(entries[place-1].address, entries)] = place
			}
		}
	}
	t.places[t.find(entries[slot].address, entries)] = slot + 1
}

// remove takes out an address that is there, and moves those behind it to where they are found.
func (t *addresses) remove(address string, entries []entry) {
	t.stories--
	free := t.find(address, entries)
	t.places[free] = 0
	for place := t.next(free); t.places[place] > 0; place = t.next(place) {
		moved := t.places[place]
		t.places[place] = 0
		t.places[t.find(entries[moved-1].address, entries)] = moved
	}
}
