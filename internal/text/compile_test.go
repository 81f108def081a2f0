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

	"github.com/clusterd/clusterd/internal/testutil/check"
	"github.com/clusterd/clusterd/internal/testutil/golden"
)

// compileDictionary encodes words, of which no two are the same and whose frequencies are integers.
func compileDictionary(words []gse.Token) []byte {
	type compiled struct {
		units     []string
		codes     []uint32
		frequency uint64
	}
	var total float64
	var sum checksum
	count := make(map[string]int) // of units
	all := make([]compiled, 0, len(words))
	for i := range words {
		text, frequency := words[i].Text(), words[i].Freq()
		total += frequency
		sum += wordChecksum(text, frequency)
		if strings.ContainsFunc(text, splits) {
			continue // it cannot occur in a run: at&t
		}
		all = append(all, compiled{units: unitsOf(text), frequency: uint64(frequency)})
		for _, unit := range all[len(all)-1].units {
			count[unit]++
		}
	}
	// The most frequent before the others, which keeps the nodes that texts need most near
	// each other.
	units := slices.SortedFunc(maps.Keys(count), func(a, b string) int {
		return cmp.Or(compareTabled(a, b), cmp.Compare(count[b], count[a]), cmp.Compare(a, b))
	})
	encoded := appendVarints(nil, uint64(sum), uint64(total), uint64(len(units)))
	code := make(map[string]uint32, len(units))
	for i, unit := range units {
		encoded = append(appendVarints(encoded, uint64(len(unit))), unit...)
		code[unit] = uint32(firstCode + i)
	}
	for i := range all {
		for _, unit := range all[i].units {
			all[i].codes = append(all[i].codes, code[unit])
		}
	}
	slices.SortFunc(all, func(a, b compiled) int { return slices.Compare(a.codes, b.codes) })

	var entries []byte
	var last []uint32
	b := newTrieBuilder(firstCode+len(units), 0)
	for _, word := range all {
		shared := 0
		for shared < min(len(last), len(word.codes)) && word.codes[shared] == last[shared] {
			shared++
		}
		entries = appendVarints(entries, uint64(shared), uint64(len(word.codes)-shared))
		for _, code := range word.codes[shared:] {
			entries = appendVarints(entries, uint64(code))
		}
		entries = appendVarints(entries, word.frequency)
		b.append(shared, word.codes[shared:], firstWord)
		last = word.codes
	}
	encoded = append(appendVarints(encoded, uint64(len(all)), uint64(len(b.nodes)-b.codes)),
		entries...)
	return appendPlaces(encoded, b)
}

// appendPlaces finds the nodes' places, and appends them.
func appendPlaces(encoded []byte, b *trieBuilder) []byte {
	taken := b.taken()
	b.place(func(codes []uint32, from uint32) (first uint32) {
		first = taken.take(codes, from)
		encoded = appendVarints(encoded, uint64(first-from))
		return first
	})
	return encoded
}

func appendVarints(encoded []byte, values ...uint64) []byte {
	for _, v := range values {
		encoded = binary.AppendUvarint(encoded, v)
	}
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
	check.OneGoroutine(t)
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
		if want := total - float32(math.Log2(words[i].Freq())); l.words[at].cost != want ||
			l.words[at].word == wordNone {
			t.Fatalf("%s costs %g, want %g", text, l.words[at].cost, want)
		}
	}
}
