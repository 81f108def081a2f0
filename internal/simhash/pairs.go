package simhash

import (
	"encoding/binary"

	"github.com/clusterd/clusterd/internal/simhash/keyedhash"
	"github.com/clusterd/clusterd/internal/text"
)

// maxKept is how many features a Pairs keeps memory for. A giant article must not hold its own for
// as long as the Pairs lives.
const maxKept = 1 << 14

// Words hands on the words of a text in order, each with its hash, as [text.Counter.Words] does.
type Words interface {
	Words(title, content string, each func(text.Token))
}

// A Pairs counts the words of one text after the other and the pairs of words that follow each
// other, in memory that it uses again. It is not safe for concurrent use.
type Pairs struct {
	words    Words
	keyed    *keyedhash.Hash // nil: pairHash
	features []text.Token
	at       map[uint64]int32 // a feature's place among them, by its hash
	last     uint64           // hash of the word before
	each     func(text.Token) // add, bound once: what an interface is given is allocated
}

// NewPairs returns a Pairs of these words, which must be used for nothing else. The hashes of
// pairs are made with the key if there is one.
func NewPairs(words Words, key *keyedhash.Key) *Pairs {
	p := &Pairs{words: words, keyed: key.For("token pair"), at: make(map[uint64]int32)}
	p.each = p.add
	return p
}

// Tokens returns the words of a title and a content, as [text.Counter.Tokens] does, and
// each pair of neighbours as a token of its own, which has no Word. Between neighbours there may be
// stop words and punctuation. What has the same hash is taken as the same.
//
// What it returns is valid until the next call.
func (p *Pairs) Tokens(title, content string) []text.Token {
	if len(p.features) > maxKept {
		p.features, p.at = nil, make(map[uint64]int32)
	}
	p.features = p.features[:0]
	clear(p.at)
	p.words.Words(title, content, p.each)
	return p.features
}

func (p *Pairs) add(word text.Token) {
	if len(p.features) > 0 {
		p.count(text.Token{Hash: p.hash(p.last, word.Hash), Count: 1})
	}
	p.count(word)
	p.last = word.Hash
}

func (p *Pairs) count(feature text.Token) {
	if at, ok := p.at[feature.Hash]; ok {
		p.features[at].Count++
		return
	}
	p.at[feature.Hash] = int32(len(p.features))
	p.features = append(p.features, feature)
}

// hash returns a hash that is keyed even of words that are: what a word hashes to, who sees the
// fingerprint of that word alone knows.
func (p *Pairs) hash(first, second uint64) uint64 {
	if p.keyed == nil {
		return pairHash(first, second)
	}
	var both [16]byte
	binary.LittleEndian.PutUint64(both[:], first)
	binary.LittleEndian.PutUint64(both[8:], second)
	return p.keyed.Sum(both[:])
}

// pairHash returns a hash that tells which of the words is the first. The factor is odd, so that
// nothing of its hash is lost.
func pairHash(first, second uint64) uint64 {
	const factor = 0x9e3779b97f4a7c15
	return fmix64(first*factor + second)
}
