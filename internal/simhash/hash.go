package simhash

import "github.com/zeebo/xxh3"

func hashes() []option[func(string) uint64] {
	return []option[func(string) uint64]{
		{"sdbm", sdbm},
		{"sdbm-raw", sdbmRaw},
		{"xxh3", xxh3.HashString},
	}
}

// sdbm returns sdbmRaw behind fmix64. The finaliser is a bijection: it spreads the bits
// and adds no collision.
func sdbm(token string) uint64 { return fmix64(sdbmRaw(token)) }

// sdbmRaw returns the hash of the sdbm database library over the bytes c of the token,
// h = c + 65599·h mod 2^64, starting at 0.
func sdbmRaw(token string) uint64 {
	var h uint64
	for i := range len(token) {
		h = uint64(token[i]) + h*65599
	}
	return h
}

// fmix64 applies the 64-bit finaliser of Austin Appleby's MurmurHash3.
func fmix64(h uint64) uint64 {
	h ^= h >> 33
	h *= 0xff51afd7ed558ccd
	h ^= h >> 33
	h *= 0xc4ceb9fe1a85ec53
	h ^= h >> 33
	return h
}
