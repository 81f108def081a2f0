// Package keyedhash makes hashes that nobody can make who does not know a secret.
//
// Fingerprints by a public hash can be worked out by everybody, so that somebody can look for words
// whose fingerprint falls into a cluster of his choice: 21 words, in a tenth of a second. By a
// keyed hash he cannot even tell what a fingerprint will be.
package keyedhash

import (
	"crypto/hkdf"
	"crypto/pbkdf2"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"unsafe"

	"github.com/dchest/siphash"
	"github.com/zeebo/xxh3"
)

// LeastBytes is how long a secret must be. One made at random of so many bytes cannot be guessed.
const LeastBytes = 16

const (
	// salt is public: it keeps these keys apart from whatever else is derived from the same secret.
	salt = "clusterd fingerprint secret, version 1"
	// rounds make a guess at a weak secret cost some 50 ms. What is published, a checksum and
	// fingerprints, lets everybody try guesses; a start can wait that long.
	rounds = 200_000
)

// A Key is what hashes are derived from. A nil Key is that of no secret.
type Key struct {
	master   []byte
	checksum string
}

// New stretches a secret of at least [LeastBytes] to a Key (PBKDF2 of RFC 8018, over its SHA-256);
// an empty one gives nil. The error says nothing of the secret.
func New(secret string) (*Key, error) {
	if secret == "" {
		return nil, nil
	}
	if len(secret) < LeastBytes {
		return nil, fmt.Errorf("the secret has fewer than %d bytes", LeastBytes)
	}
	hashed := sha256.Sum256([]byte(secret)) // HMAC takes zero bytes at the end of a short key for none
	master, err := pbkdf2.Key(sha256.New, string(hashed[:]), []byte(salt), rounds, sha256.Size)
	if err != nil {
		return nil, err
	}
	k := &Key{master: master}
	k.checksum = hex.EncodeToString(k.derive("checksum", 4))
	return k, nil
}

// derive returns n bytes that tell nothing of those for any other purpose (HKDF-Expand, RFC 5869).
func (k *Key) derive(purpose string, n int) []byte {
	b, err := hkdf.Expand(sha256.New, k.master, purpose, n)
	if err != nil {
		panic(err) // only of lengths that are never asked for
	}
	return b
}

// Checksum tells keys apart, in 8 hexadecimal digits. It is published with every result. Nothing
// follows from it for hashes; it tells a wrong guess at the secret from a right one, as any
// fingerprint does.
func (k *Key) Checksum() string { return k.checksum }

// For returns the hash for a purpose, which is independent of those for others; of a nil Key it is
// nil.
func (k *Key) For(purpose string) *Hash {
	if k == nil {
		return nil
	}
	b := k.derive("hash of "+purpose, 16)
	return &Hash{binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])}
}

// A Hash hashes bytes to 64 bits: SipHash-2-4 (Aumasson and Bernstein, INDOCRYPT 2012), and a nil
// Hash XXH3.
//
// It must be a pseudorandom function, because fingerprints are published: the SimHash of one word
// is the hash of that word. A seed for XXH3 or a mask over SDBM does not do. XXH3 is not made to
// keep its seed, which follows from a few hashes, and has collisions that hold for every seed; of
// SDBM with a mask one hash of a known word gives the mask away, and equal hashes stay equal.
type Hash struct{ k0, k1 uint64 }

// Sum hashes bytes.
func (h *Hash) Sum(b []byte) uint64 {
	if h == nil {
		return xxh3.Hash(b)
	}
	return siphash.Hash(h.k0, h.k1, b)
}

// SumString hashes the bytes of a string, without a copy.
func (h *Hash) SumString(s string) uint64 {
	return h.Sum(unsafe.Slice(unsafe.StringData(s), len(s))) // only read
}
