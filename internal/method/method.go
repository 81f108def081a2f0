// Package method is the list of ways to tell that two articles are the same. A
// configuration's [Settings] go in, a [Method] comes out: it makes fingerprints of articles, says
// how far two are apart, and finds the nearest of many. What the rest of the program may know of a
// method is in its [Spec].
package method

import (
	"fmt"
	"strings"

	"github.com/clusterd/clusterd/internal/simhash/keyedhash"
	"github.com/clusterd/clusterd/internal/singlepass"
)

// A Method is one way to tell that articles are the same. It is safe for concurrent use.
type Method interface {
	// Identity names how fingerprints are made, as name=value pairs joined by commas, the
	// first of them method. Only fingerprints of the same identity can be compared.
	Identity() string
	// NewFingerprinter returns a function that makes the fingerprint of an article, in memory
	// that it uses again; each goroutine needs its own. ok is false of an article in which
	// there is nothing to compare. The fingerprint is the caller's.
	NewFingerprinter() func(title, content string) (f singlepass.Fingerprint, ok bool)
	// Distance returns how far two fingerprints are apart, in the method's own measure: bits,
	// or 1 less the similarity. It is +Inf where the method rules out that they are of the
	// same article, however near they are.
	Distance(a, b singlepass.Fingerprint) float64
	// Threshold returns the largest distance at which articles are the same, by the settings.
	Threshold() float64
	// ThresholdSettings names the settings of section cluster that decide that articles are the
	// same, as name=value pairs joined by commas; it is empty where none does.
	ThresholdSettings() string
	// Check returns what is wrong with a fingerprint that was read from outside, nil for nothing:
	// the methods and indexes may fail, even panic, on one that this method cannot have made.
	Check(f singlepass.Fingerprint) error
	// NewIndex returns an empty index that finds the nearest of the centres that are the [Same] as a
	// query, with this distance as the threshold; the error says which distances are allowed.
	NewIndex(threshold float64) (singlepass.Index, error)
}

// Same reports whether a method takes two articles as the same. Most do where their distance is at
// most the threshold. Others have a rule of their own: by cluster.containment articles may be the
// same above it, and by cluster.long_similarity they may not be within it.
func Same(m Method, a, b singlepass.Fingerprint) bool {
	for wrapped, ok := m.(wrapper); ok; wrapped, ok = m.(wrapper) {
		m = wrapped.unwrap()
	}
	if rule, ok := m.(interface {
		Same(a, b singlepass.Fingerprint) bool
	}); ok {
		return rule.Same(a, b)
	}
	return m.Distance(a, b) <= m.Threshold()
}

// Near returns what says how far an article is from a centre and whether it may join it, as this
// index of the method finds it among few centres: at most 32. An index may miss some that are the
// [Same].
func Near(
	m Method, index singlepass.Index,
) func(article, centre singlepass.Fingerprint) (distance float64, ok bool) {
	if x, ok := index.(interface {
		Near(article, centre singlepass.Fingerprint) (distance float64, ok bool)
	}); ok {
		return x.Near
	}
	return func(a, centre singlepass.Fingerprint) (float64, bool) {
		return m.Distance(a, centre), Same(m, a, centre)
	}
}

// A wrapper is a method that adds to another.
type wrapper interface{ unwrap() Method }

// New returns the method that the settings name. The first call of a method that takes
// words loads the dictionary, which takes about a second.
func New(s Settings) (Method, error) {
	spec, ok := SpecOf(s.Fingerprint.Method)
	if !ok {
		return nil, fmt.Errorf("unknown method %q: allowed are %s", s.Fingerprint.Method,
			strings.Join(Names(), ", "))
	}
	key, err := keyedhash.New(s.Fingerprint.Secret.Reveal())
	if err != nil {
		return nil, fmt.Errorf("fingerprint.secret: %w", err)
	}
	m, err := spec.newMethod(s, key)
	if err != nil {
		return nil, fmt.Errorf("method %s: %w", spec.Name, err)
	}
	if key != nil {
		m = secretMethod{m, key.Checksum()}
	}
	if s.Contacts.Join {
		return withContacts(m, s)
	}
	return m, nil
}

// A secretMethod hashes with a secret.
type secretMethod struct {
	Method
	checksum string
}

func (m secretMethod) unwrap() Method { return m.Method }

// Identity also names by which secret fingerprints are made, without giving it away.
func (m secretMethod) Identity() string { return m.Method.Identity() + ",key=" + m.checksum }
