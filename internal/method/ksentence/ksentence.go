// Package ksentence takes articles as the same that have the same longest sentences.
package ksentence

import (
	"fmt"

	"github.com/clusterd/clusterd/internal/method/exact"
	"github.com/clusterd/clusterd/internal/method/shingling"
	"github.com/clusterd/clusterd/internal/simhash/keyedhash"
	"github.com/clusterd/clusterd/internal/singlepass"
	"github.com/clusterd/clusterd/internal/text"
)

// Method takes articles as the same that have the same longest sentences in the same order,
// but for white space and punctuation. A fingerprint is the 64-bit xxh3 of these sentences,
// where MD5 was published.
type Method struct {
	exact.Comparer
	cleaner   *text.Cleaner
	sentences int
	hash      *keyedhash.Hash
}

// New returns the method for texts as the cleaner leaves them, by so many of their longest
// sentences, at least 1. With a key, they are hashed by it.
func New(cleaner *text.Cleaner, sentences int, key *keyedhash.Key) (*Method, error) {
	if sentences < 1 {
		return nil, fmt.Errorf("%d sentences: allowed is 1 or more", sentences)
	}
	return &Method{cleaner: cleaner, sentences: sentences, hash: key.For("longest sentences")}, nil
}

// Identity names everything that changes fingerprints.
func (m *Method) Identity() string {
	return fmt.Sprintf("method=ksentence,sentences=%d,%s", m.sentences, m.cleaner.Identity())
}

// NewFingerprinter returns a function that makes the fingerprint of an article; each goroutine
// needs its own. ok is false of an article without a letter or a number.
func (m *Method) NewFingerprinter() func(title, content string) (f singlepass.Fingerprint,
	ok bool) {
	var (
		clean    []byte
		splitter splitter
	)
	return func(title, content string) (singlepass.Fingerprint, bool) {
		clean = m.cleaner.AppendClean(shingling.Reuse(clean), title, content)
		splitter.split(clean)
		longest := splitter.longest(m.sentences)
		return singlepass.Fingerprint{Hash: m.hash.Sum(longest)}, len(longest) > 0
	}
}
