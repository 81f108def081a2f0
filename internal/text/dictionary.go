package text

import (
	_ "embed"
	"encoding/binary"
	"sync"
)

// builtIn is gse's simplified Chinese dictionary, compiled. Simplified alone, for so is
// normalised text.
//
//go:generate go test -run TestFoldedWords -update
//go:generate go test -run TestBuiltIn -update
//go:embed dictionary.bin
var builtIn []byte

// builtInDictionary decodes it once.
var builtInDictionary = sync.OnceValue(func() *dictionary { return decodeDictionary(builtIn) })

// A dictionary is words with their frequencies, compiled.
//
// Encoded it is, in unsigned varints but for the strings: the checksum, the total of the
// frequencies, the number of units, and each unit with its length before it; the number of
// words, the number of trie nodes that they need, and each word, in ascending order of its
// codes: how many codes it shares with the word before, how many others follow, these, and
// its frequency; then where the nodes are, which would take longest to find: for each call
// that trieBuilder.place makes, how much further on than from the first place is. The codes of
// the units are theirs in order, from firstCode on.
type dictionary struct {
	checksum checksum // of all words, even those that text cannot hold: at&t
	total    float64  // of their frequencies, which are integers
	units    []string
	words    int
	nodes    int    // of a trie of the words, but for the root's children
	encoded  []byte // the words and what follows them
}

// An entry is a word of a dictionary. It is valid until the next one.
type entry struct {
	shared    int // how many codes are those of the entry before
	codes     []uint32
	text      []byte
	frequency float64
}

func decodeDictionary(encoded []byte) *dictionary {
	r := varints(encoded)
	d := &dictionary{checksum: checksum(r.next()), total: float64(r.next())}
	d.units = make([]string, r.next())
	for i := range d.units {
		d.units[i] = string(r.bytes(int(r.next())))
	}
	d.words, d.nodes = int(r.next()), int(r.next())
	d.encoded = r
	return d
}

// fill enters the words into an empty trie, each by the number that it is given.
func (d *dictionary) fill(b *trieBuilder, number func(text string, frequency float64) uint32) {
	places := d.each(func(e entry) {
		b.append(e.shared, e.codes[e.shared:], number(view(e.text), e.frequency))
	})
	b.place(func(_ []uint32, from uint32) uint32 { return from + uint32(places.next()) })
}

// each hands on the words in ascending order of their codes, and returns what follows them.
func (d *dictionary) each(word func(entry)) (rest varints) {
	var (
		r    = varints(d.encoded)
		e    entry
		ends []int // of the units in the text
	)
	for range d.words {
		e.shared = int(r.next())
		e.codes, ends = e.codes[:e.shared], ends[:e.shared]
		e.text = e.text[:0:cap(e.text)]
		if e.shared > 0 {
			e.text = e.text[:ends[e.shared-1]]
		}
		for range r.next() {
			code := uint32(r.next())
			e.codes = append(e.codes, code)
			e.text = append(e.text, d.units[code-firstCode]...)
			ends = append(ends, len(e.text))
		}
		e.frequency = float64(r.next())
		word(e)
	}
	return r
}

// varints is what is left to read of an encoded dictionary.
type varints []byte

func (v *varints) next() uint64 {
	n, size := binary.Uvarint(*v)
	*v = (*v)[size:]
	return n
}

func (v *varints) bytes(n int) []byte {
	b := (*v)[:n]
	*v = (*v)[n:]
	return b
}
