// Package exact takes articles as the same that read alike, character by character.
package exact

import (
	"unicode"
	"unicode/utf8"

	"github.com/clusterd/clusterd/internal/method/keyedhash"
	"github.com/clusterd/clusterd/internal/singlepass"
	"github.com/clusterd/clusterd/internal/text"
)

// Method takes as the same what is the same once it is cleaned, whatever white space it
// has. A fingerprint is the 64-bit xxh3 of that text, so that two different ones of ten million
// texts have the same with a probability of 3 in a million.
type Method struct {
	Equality
	cleaner *text.Cleaner
	hash    *keyedhash.Hash
}

// New returns the method for texts as the cleaner leaves them. With a key, they are hashed by it.
func New(cleaner *text.Cleaner, key *keyedhash.Key) *Method {
	return &Method{cleaner: cleaner, hash: key.For("text")}
}

// Identity names everything that changes fingerprints.
func (m *Method) Identity() string { return "method=exact," + m.cleaner.Identity() }

// NewPrinter returns a function that makes the fingerprint of an article; each goroutine
// needs its own. ok is false of an article without a letter or a number.
func (m *Method) NewPrinter() func(title, content string) (f singlepass.Fingerprint, ok bool) {
	var clean []byte
	return func(title, content string) (singlepass.Fingerprint, bool) {
		clean = m.cleaner.AppendClean(Reuse(clean), title, content)
		solid, ok := Solid(clean)
		return singlepass.Fingerprint{Hash: m.hash.Sum(solid)}, ok
	}
}

// Reuse returns the memory of b, empty, for the next text; that of a giant one it lets go.
func Reuse(b []byte) []byte {
	if cap(b) > 1<<20 {
		return nil
	}
	return b[:0]
}

// Solid takes the white space out of a text, in place, and reports whether a letter or a
// number is left.
func Solid(s []byte) (solid []byte, ok bool) {
	solid = s[:0]
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRune(s[i:])
		if !unicode.IsSpace(r) {
			ok = ok || unicode.IsLetter(r) || unicode.IsNumber(r)
			solid = append(solid, s[i:i+size]...)
		}
		i += size
	}
	return solid, ok
}
