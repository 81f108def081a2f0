package minhash

import (
	"math"
	"slices"
)

// A signer writes the signature of a set of shingles, of which there is at least one and which may occur
// more than once. places is room for as many values as the signature has bytes. The shingles may be
// reordered.
//
// Of the value of each place a signature keeps 8 bits (Li and König, "b-Bit Minwise Hashing", WWW 2010).
type signer func(signature []byte, places, shingles []uint64)

func signerOf(name string) (signer, error) {
	switch name {
	case "fast":
		return signFast, nil
	case "permutation":
		return signPermutation, nil
	case "functions":
		return signFunctions, nil
	default:
		return nil, unknown("signature", name, "fast", "permutation", "functions")
	}
}

// empty is the value of a place that has none yet, above all others.
const empty = math.MaxUint64

// signFast is Fast Similarity Sketching (Dahlgaard, Knudsen and Thorup, FOCS 2017). In each of the first t
// rounds, t being the number of places, every shingle is thrown at a random place with a random value; in
// round t+i all go to place i. A place keeps the least value of the first round that hit it, and it is
// over when all places have one. A long text is done after a round, and a short one after as many as
// it takes to fill all places: two sets agree in a place with the probability of their Jaccard similarity,
// whatever their size.
func signFast(signature []byte, places, shingles []uint64) {
	t := uint64(len(places))
	fill(places)
	left := len(places)
	for round := uint64(0); left > 0 && round < t; round++ {
		if round > 0 {
			shingles = distinct(shingles, round, len(places))
		}
		left -= throw(places, shingles, round)
	}
	for i := range places {
		if places[i] != empty {
			continue // what comes now is above it
		}
		for _, s := range shingles {
			places[i] = min(places[i], (t+uint64(i))<<32|random(s, t+uint64(i))&math.MaxUint32)
		}
	}
	for i, v := range places {
		signature[i] = byte(v)
	}
}

// throw throws every shingle at a place, each with the round as the high half of its value, and returns how
// many places were hit for the first time.
func throw(places, shingles []uint64, round uint64) (hit int) {
	t, high := uint64(len(places)), round<<32
	for _, s := range shingles {
		r := random(s, round)
		at := &places[r>>32*t>>32]
		hit += int(*at >> 63) // only empty has this bit: a branch here would be foreseen badly
		*at = min(*at, high|r&math.MaxUint32)
	}
	return hit
}

// distinct drops shingles that occur again, once many of them have been thrown in vain. Without that a
// long text of few shingles, such as a million dashes, would take hundreds of rounds.
func distinct(shingles []uint64, rounds uint64, places int) []uint64 {
	const enough = 16 // times the places; a set of different ones takes about ln places
	thrown := rounds * uint64(len(shingles))
	if limit := uint64(enough * places); thrown < limit || thrown-uint64(len(shingles)) >= limit {
		return shingles
	}
	slices.Sort(shingles)
	return slices.Compact(shingles)
}

// signPermutation is one permutation hashing (Li, Owen and Zhang, NIPS 2012): one round of throws. A place
// that was not hit borrows from one that was, by optimal densification (Shrivastava, ICML 2017): from the
// first of a sequence of random places, which is its own and the same for all sets.
//
// The byte depends on the place too. Else the places that borrow from the same one would
// agree by chance all together, and with them whole texts of a few characters.
func signPermutation(signature []byte, places, shingles []uint64) {
	fill(places)
	throw(places, shingles, 0)
	t := uint64(len(places))
	for i := range places {
		from := uint64(i)
		for attempt := uint64(0); places[from] == empty; attempt++ {
			from = random(uint64(i), attempt) >> 32 * t >> 32
		}
		signature[i] = byte(random(places[from], uint64(i)))
	}
}

// signFunctions is MinHash with a hash function for each place (Broder 1997).
func signFunctions(signature []byte, places, shingles []uint64) {
	fill(places)
	for _, s := range shingles {
		for i := range places {
			places[i] = min(places[i], random(s, uint64(i)))
		}
	}
	for i, v := range places {
		signature[i] = byte(v)
	}
}

func fill(places []uint64) {
	for i := range places {
		places[i] = empty
	}
}

// random returns the number at a place of the sequence that SplitMix64 (Steele, Lea and Flood, OOPSLA
// 2014) makes of a seed.
func random(seed, place uint64) uint64 {
	x := seed + (place+1)*0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
