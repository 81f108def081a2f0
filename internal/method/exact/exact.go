// Package exact takes articles as the same that read alike, character by character.
package exact

import (
	"github.com/clusterd/clusterd/internal/method/shingling"
	"github.com/clusterd/clusterd/internal/simhash/keyedhash"
	"github.com/clusterd/clusterd/internal/singlepass"
	"github.com/clusterd/clusterd/internal/text"
)

// Method takes as the same what is the same once it is cleaned, whatever white space it
// has. A fingerprint is the 64-bit xxh3 of that text, so that two different ones of ten million
// texts have the same with a probability of 3 in a million.
type Method struct {
	Comparer
	cleaner *text.Cleaner
	hash    *keyedhash.Hash
}

// New returns the method for texts as the cleaner leaves them. With a key, they are hashed by it.
func New(cleaner *text.Cleaner, key *keyedhash.Key) *Method {
	return &Method{cleaner: cleaner, hash: key.For("text")}
}

// Identity names everything that changes fingerprints.
func (m *Method) Identity() string { return "method=exact," + m.cleaner.Identity() }

// NewFingerprinter returns a function that makes the fingerprint of an article; each goroutine
// needs its own. ok is false of an article without a letter or a number.
func (m *Method) NewFingerprinter() func(title, content string) (f singlepass.Fingerprint,
	ok bool) {
	var clean []byte
	return func(title, content string) (singlepass.Fingerprint, bool) {
		clean = m.cleaner.AppendClean(shingling.Reuse(clean), title, content)
		characters, ok := shingling.WithoutSpace(clean)
		return singlepass.Fingerprint{Hash: m.hash.Sum(characters)}, ok
	}
}
