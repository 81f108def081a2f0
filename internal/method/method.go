// Package method is the list of ways to tell that two articles are the same. A
// configuration goes in, a [Method] comes out: it makes fingerprints of articles, says how
// far two are apart, and finds the nearest of many. Nothing else in the program knows one
// method from another.
package method

import (
	"fmt"
	"strings"

	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/method/keyedhash"
	"github.com/clusterd/clusterd/internal/singlepass"
)

// A Method is one way to tell that articles are the same. It is safe for concurrent use.
type Method interface {
	// Identity names how fingerprints are made, as name=value pairs joined by commas, the
	// first of them method. Only fingerprints of the same identity can be compared.
	Identity() string
	// NewPrinter returns a function that makes the fingerprint of an article, in memory
	// that it uses again; each goroutine needs its own. ok is false of an article in which
	// there is nothing to compare. The fingerprint is the caller's.
	NewPrinter() func(title, content string) (f singlepass.Fingerprint, ok bool)
	// Distance is how far two fingerprints are apart, in the method's own measure: bits,
	// or 1 less the similarity. It is +Inf where the method rules out that they are of the
	// same article, however near they are.
	Distance(a, b singlepass.Fingerprint) float64
	// Bound is the largest distance at which articles are the same, by the configuration.
	Bound() float64
	// Threshold names the settings of section cluster that decide that articles are the
	// same, as name=value pairs joined by commas; it is empty where none does.
	Threshold() string
	// Check says what is wrong with a fingerprint that was read from outside: the methods and
	// indexes may fail, even panic, on one that this method cannot have made. nil is nothing.
	Check(f singlepass.Fingerprint) error
	// NewIndex returns an empty index of centres at up to this distance; the error says
	// which are allowed.
	NewIndex(bound float64) (singlepass.Index, error)
}

// New returns the method that the configuration names. The first call of a method that takes
// words loads the dictionary, which takes about a second.
func New(c config.Config) (Method, error) {
	for _, m := range methods() {
		if m.name != c.Fingerprint.Method {
			continue
		}
		key, err := keyedhash.New(c.Fingerprint.Secret.Reveal())
		if err != nil {
			return nil, fmt.Errorf("fingerprint.secret: %w", err)
		}
		made, err := m.make(c, key)
		if err != nil {
			return nil, fmt.Errorf("method %s: %w", m.name, err)
		}
		if key != nil {
			made = secretMethod{made, key.Checksum()}
		}
		return made, nil
	}
	return nil, fmt.Errorf("unknown method %q: allowed are %s", c.Fingerprint.Method, strings.Join(Names(), ", "))
}

// Names lists the methods, the default first.
func Names() []string {
	var names []string
	for _, m := range methods() {
		names = append(names, m.name)
	}
	return names
}

type listed struct {
	name string
	make func(config.Config, *keyedhash.Key) (Method, error)
}

// A secretMethod hashes with a secret.
type secretMethod struct {
	Method
	checksum string
}

// Identity also tells by which secret fingerprints are made, without giving it away.
func (m secretMethod) Identity() string { return m.Method.Identity() + ",key=" + m.checksum }

func methods() []listed {
	return []listed{
		{"simhash", newSimHash},
		{"simhash+verify", newVerified},
		{"minhash", newMinHash},
		{"shingle", newShingle},
		{"ksentence", newKSentence},
		{"pinyin", newPinyin},
		{"exact", newExact},
	}
}
