package minhash

import (
	"math"
	"slices"
)

// A signer writes the signature of a set of shingles, of which there is at least one and which may
// occur more than once. components is room for as many values as the signature has bytes. The
// shingles may be reordered.
//
// Of the value of each component a signature keeps 8 bits (Li and König, "b-Bit Minwise Hashing",
// WWW 2010).
type signer func(signature []byte, components, shingles []uint64)

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

// empty is the value of a component that has none yet, above all others.
const empty = math.MaxUint64

// signFast makes signatures by Fast Similarity Sketching (Dahlgaard, Knudsen and Thorup, FOCS
// 2017). In each of the first t rounds, t being the number of components, every shingle is thrown
// at a random component with a random value; in round t+i all go to component i. A component keeps
// the least value of the first round that hit it, and it is over when all components have one. A
// long text is done after a round, and a short one after as many as it takes to fill all
// components: two sets agree in a component with the probability of their Jaccard similarity,
// whatever their size.
func signFast(signature []byte, components, shingles []uint64) {
	t := uint64(len(components))
	fill(components)
	left := len(components)
	for round := uint64(0); left > 0 && round < t; round++ {
		if round > 0 {
			shingles = distinct(shingles, round, len(components))
		}
		left -= throw(components, shingles, round)
	}
	for i := range components {
		if components[i] != empty {
			continue // what comes now is above it
		}
		for _, s := range shingles {
			components[i] = min(components[i], (t+uint64(i))<<32|random(s, t+uint64(i))&math.MaxUint32)
		}
	}
	for i, v := range components {
		signature[i] = byte(v)
	}
}

// throw throws every shingle at a component, each with the round as the high half of its value, and
// returns how many components were hit for the first time.
func throw(components, shingles []uint64, round uint64) (hit int) {
	t, high := uint64(len(components)), round<<32
	for _, s := range shingles {
		r := random(s, round)
		at := &components[r>>32*t>>32]
		hit += int(*at >> 63) // only empty has this bit: a branch here would be foreseen badly
		*at = min(*at, high|r&math.MaxUint32)
	}
	return hit
}

// distinct drops shingles that occur again, once many of them have been thrown in vain. Without
// that a long text of few shingles, such as a million dashes, would take hundreds of rounds.
func distinct(shingles []uint64, rounds uint64, components int) []uint64 {
	const enough = 16 // times the components; a set of different ones takes about ln components
	thrown := rounds * uint64(len(shingles))
	if limit := uint64(enough * components); thrown < limit || thrown-uint64(len(shingles)) >= limit {
		return shingles
	}
	slices.Sort(shingles)
	return slices.Compact(shingles)
}

// signPermutation makes signatures by one permutation hashing (Li, Owen and Zhang, NIPS 2012): one
// round of throws. A component that was not hit borrows from one that was, by optimal densification
// (Shrivastava, ICML 2017): from the first of a sequence of random components, which is its own and
// the same for all sets.
//
// The byte depends on the component too. Else the components that borrow from the same one would
// agree by chance all together, and with them whole texts of a few characters.
func signPermutation(signature []byte, components, shingles []uint64) {
	fill(components)
	throw(components, shingles, 0)
	t := uint64(len(components))
	for i := range components {
		from := uint64(i)
		for attempt := uint64(0); components[from] == empty; attempt++ {
			from = random(uint64(i), attempt) >> 32 * t >> 32
		}
		signature[i] = byte(random(components[from], uint64(i)))
	}
}

// signFunctions makes signatures by MinHash with a hash function for each component (Broder 1997).
func signFunctions(signature []byte, components, shingles []uint64) {
	fill(components)
	for _, s := range shingles {
		for i := range components {
			components[i] = min(components[i], random(s, uint64(i)))
		}
	}
	for i, v := range components {
		signature[i] = byte(v)
	}
}

func fill(components []uint64) {
	for i := range components {
		components[i] = empty
	}
}

// random returns the number at a component of the sequence that SplitMix64 (Steele, Lea and Flood,
// OOPSLA 2014) makes of a seed.
func random(seed, component uint64) uint64 {
	x := seed + (component+1)*0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
