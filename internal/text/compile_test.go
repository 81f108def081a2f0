package text

import (
	"cmp"
	"encoding/binary"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/go-ego/gse"

	"github.com/clusterd/clusterd/internal/testutil/golden"
)

// compileDictionary encodes words, of which no two are the same and whose frequencies are integers.
func compileDictionary(words []gse.Token) []byte {
	var total float64
	var sum checksum
	count := make(map[string]int) // of units
	texts := make([]string, 0, len(words))
	frequencies := make(map[string]uint64)
	for i := range words {
		text, frequency := words[i].Text(), words[i].Freq()
		total += frequency
		sum += wordChecksum(text, frequency)
		if strings.ContainsFunc(text, splits) {
			continue // it cannot occur in a run: at&t
		}
		texts = append(texts, text)
		frequencies[text] = uint64(frequency)
		for _, unit := range unitsOf(text) {
			count[unit]++
		}
	}
	// The most frequent before the others, which keeps the nodes that texts need most near
	// each other.
	units := slices.SortedFunc(maps.Keys(count), func(a, b string) int {
		return cmp.Or(compareTabled(a, b), cmp.Compare(count[b], count[a]), cmp.Compare(a, b))
	})
	encoded := binary.AppendUvarint(nil, uint64(sum))
	encoded = binary.AppendUvarint(encoded, uint64(total))
	encoded = binary.AppendUvarint(encoded, uint64(len(units)))
	code := make(map[string]uint32, len(units))
	for i, unit := range units {
		encoded = binary.AppendUvarint(encoded, uint64(len(unit)))
		encoded = append(encoded, unit...)
		code[unit] = uint32(firstCode + i)
	}
	codes := make(map[string][]uint32, len(texts))
	for _, text := range texts {
		for _, unit := range unitsOf(text) {
			codes[text] = append(codes[text], code[unit])
		}
	}
	slices.SortFunc(texts, func(a, b string) int { return slices.Compare(codes[a], codes[b]) })

	var entries []byte
	var last []uint32
	b := newTrieBuilder(firstCode+len(units), 0)
	for _, text := range texts {
		codes, shared := codes[text], 0
		for shared < min(len(last), len(codes)) && codes[shared] == last[shared] {
			shared++
		}
		entries = binary.AppendUvarint(entries, uint64(shared))
		entries = binary.AppendUvarint(entries, uint64(len(codes)-shared))
		for _, code := range codes[shared:] {
			entries = binary.AppendUvarint(entries, uint64(code))
		}
		entries = binary.AppendUvarint(entries, frequencies[text])
		b.append(shared, codes[shared:], firstWord)
		last = codes
	}
	encoded = binary.AppendUvarint(encoded, uint64(len(texts)))
	encoded = binary.AppendUvarint(encoded, uint64(len(b.nodes)-b.codes))
	encoded = append(encoded, entries...)
	taken := b.taken()
	b.place(func(codes []uint32, from uint32) (first uint32) {
		first = taken.take(codes, from)
		encoded = binary.AppendUvarint(encoded, uint64(first-from))
		return first
	})
	return encoded
}

func unitsOf(text string) (units []string) {
	for unit := ""; text != ""; {
		unit, text = cutUnit(text)
		units = append(units, unit)
	}
	return units
}

// The built-in dictionary is gse's, with the folded words.
func TestBuiltIn(t *testing.T) {
	plain := sharedOracle(t)
	golden.Check(t, "dictionary.bin", compileDictionary(plain.seg.Dict.Tokens))

	total := float32(math.Log2(plain.seg.Dict.TotalFreq()))
	l := shared(t).lexicon
	words := plain.seg.Dict.Tokens
	var codes []uint32
	for i := range words {
		text := words[i].Text()
		if strings.ContainsFunc(text, splits) {
			continue
		}
		codes = l.appendCodes(codes[:0], text)
		at := codes[0]
		for _, code := range codes[1:] {
			child := l.words[at].base + code
			if l.words[child].check != at {
				t.Fatalf("%s is no word", text)
			}
			at = child
		}
		// As gse computes its distance.
		if want := total - float32(math.Log2(words[i].Freq())); l.words[at].cost != want || l.words[at].word == wordNone {
			t.Fatalf("%s costs %g, want %g", text, l.words[at].cost, want)
		}
	}
}
