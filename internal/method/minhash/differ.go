package minhash

import "math/bits"

// differing returns in how many components two signatures differ, which have equally many.
func differing[S, T string | []byte](a S, b T) int { return differingUpTo(a, b, len(a)) }

// differingUpTo returns what differing does, but may stop counting above most.
func differingUpTo[S, T string | []byte](a S, b T, most int) (n int) {
	i := 0
	for ; i+64 <= len(a); i += 64 {
		var each uint64 // of each byte, in how many of eight words it differs
		for j := i; j < i+64; j += 8 {
			each += unequal(word(a, j), word(b, j)) >> 7
		}
		if n += int(each * 0x0101010101010101 >> 56); n > most {
			return n
		}
	}
	for ; i+8 <= len(a); i += 8 {
		n += bits.OnesCount64(unequal(word(a, i), word(b, i)))
	}
	for ; i < len(a); i++ {
		if a[i] != b[i] {
			n++
		}
	}
	return n
}

// unequal returns the top bit of each byte in which two words differ.
func unequal(a, b uint64) uint64 {
	const low = 0x7f7f7f7f7f7f7f7f
	x := a ^ b
	return (x&low + low | x) &^ low
}

// word returns eight bytes, the first of them lowest.
func word[S string | []byte](s S, i int) uint64 {
	e := s[i : i+8]
	return uint64(e[0]) | uint64(e[1])<<8 | uint64(e[2])<<16 | uint64(e[3])<<24 |
		uint64(e[4])<<32 | uint64(e[5])<<40 | uint64(e[6])<<48 | uint64(e[7])<<56
}
