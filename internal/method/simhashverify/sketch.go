// Package simhashverify tells which of the articles whose SimHashes are near are the same. SimHash
// weighs words, and at a distance at which it finds nearly all copies it also finds articles that
// merely share a subject or a template. A second look at their characters tells these apart: a
// title and a content go in, a sketch of 64 bytes comes out, and the sketches of two articles say
// how much of their text is the same.
//
// The index of [Sketcher.NewIndex] finds the nearest centre by SimHash among those whose sketches
// agree.
package simhashverify

import (
	"encoding/binary"
	"fmt"
	"math/bits"

	"github.com/clusterd/clusterd/internal/method/jaccard"
	"github.com/clusterd/clusterd/internal/method/minhash"
	"github.com/clusterd/clusterd/internal/method/shingling"
	"github.com/clusterd/clusterd/internal/simhash/keyedhash"
	"github.com/clusterd/clusterd/internal/text"
)

// DefaultSimilarity is the minimum similarity of articles that are the same where none is
// configured.
const DefaultSimilarity = 0.78

const (
	// components is how many bits a sketch has. The estimate of a similarity of .75 has a standard
	// error of .03, for which a signature of a byte a place takes three times as much.
	components = 512
	// shingle is how many characters a shingle has.
	shingle = 5
)

// A Sketcher makes sketches and says which agree. It is safe for concurrent use.
//
// A sketch has a bit for each place of a MinHash signature of the shingles of an article (Li and
// König, "b-Bit Minwise Hashing", WWW 2010). Two articles whose shingles have a Jaccard similarity
// of s agree in a place of the signature with the probability s and else in its bit with one half,
// so they differ in a bit with (1-s)/2.
type Sketcher struct {
	signatures *minhash.Method
	differ     int // bits that may differ
}

// NewSketcher returns a Sketcher of articles as the Cleaner cleans them. Sketches agree whose
// estimated similarity is at least this, above 0 and up to 1; 0 is [DefaultSimilarity]. With a key,
// shingles are hashed by it.
func NewSketcher(cleaner *text.Cleaner, similarity float64, key *keyedhash.Key) (*Sketcher, error) {
	similarity, err := jaccard.MinSimilarity(similarity, DefaultSimilarity)
	if err != nil {
		return nil, err
	}
	signatures, err := minhash.New(minhash.Options{
		Shingles:  shingling.Shingles{Cleaner: cleaner, Size: shingle},
		Signature: "fast", Hashes: components, Similarity: similarity, Recall: 1, Key: key,
	})
	if err != nil {
		return nil, err
	}
	const tolerance = 1e-9 // what floats make of a product must not cost a bit
	return &Sketcher{signatures, int((1-similarity)/2*components + tolerance)}, nil
}

// Identity names everything that changes sketches but for the cleaning, as name=value pairs joined
// by commas.
func (s *Sketcher) Identity() string {
	return fmt.Sprintf("shingle=%d,bits=%d", shingle,
		components)
}

// NewSketchFunc returns a function that makes the sketch of an article, in memory that it uses
// again; each goroutine needs its own. ok is false of an article without a letter or a number.
func (s *Sketcher) NewSketchFunc() func(title, content string) (sketch string, ok bool) {
	signature := s.signatures.NewFingerprinter()
	return func(title, content string) (string, bool) {
		f, ok := signature(title, content)
		if !ok {
			return "", false
		}
		var made sketch
		for i := range components {
			made[i/64] |= uint64(f.Sketch[i]&1) << (i % 64)
		}
		return made.String(), true
	}
}

// Agree reports whether two sketches are similar enough.
func (s *Sketcher) Agree(a, b string) bool { return parse(a).differing(parse(b)) <= s.differ }

// Check returns an error for a sketch that has another length than those that are made here, of
// which [Sketcher.Agree] and the index must not be asked.
func (s *Sketcher) Check(made string) error {
	if len(made) != components/8 {
		return fmt.Errorf("the sketch has %d bytes; one of simhash+verify has %d", len(made),
			components/8)
	}
	return nil
}

// A sketch has its bits in eight words.
type sketch [components / 64]uint64

// String returns the sketch as fingerprints have it: 64 bytes, the first bit lowest in the first.
func (s sketch) String() string {
	made := make([]byte, 0, components/8)
	for _, word := range s {
		made = binary.LittleEndian.AppendUint64(made, word)
	}
	return string(made)
}

// parse takes apart what String made.
func parse(made string) (s sketch) {
	for i := range s {
		s[i] = binary.LittleEndian.Uint64([]byte(made[8*i:][:8]))
	}
	return s
}

func (s sketch) differing(from sketch) (n int) {
	for i, word := range s {
		n += bits.OnesCount64(word ^ from[i])
	}
	return n
}
