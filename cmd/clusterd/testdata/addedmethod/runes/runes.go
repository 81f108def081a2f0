// Package runes compares articles by the characters that occur in them. It is the method that a test
// adds.
package runes

import (
	"github.com/zeebo/xxh3"

	"github.com/clusterd/clusterd/internal/method/jaccard"
	"github.com/clusterd/clusterd/internal/singlepass"
)

// A Method compares sets of characters.
type Method struct{ jaccard.Comparer }

// New returns the method.
func New(similarity float64) (*Method, error) {
	comparer, err := jaccard.NewComparer(similarity, .9)
	return &Method{comparer}, err
}

// Identity names the method.
func (*Method) Identity() string { return "method=runes,version=1" }

// NewFingerprinter returns a function that makes the set of an article's characters.
func (m *Method) NewFingerprinter() func(title, content string) (f singlepass.Fingerprint, ok bool) {
	var set jaccard.Builder
	return func(title, content string) (singlepass.Fingerprint, bool) {
		for _, r := range title + content {
			set.Add(xxh3.HashString(string(r)))
		}
		return m.Fingerprint(set.Set()), title+content != ""
	}
}
