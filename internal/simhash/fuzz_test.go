package simhash

import (
	"encoding/binary"
	"slices"
	"strings"
	"testing"

	"github.com/clusterd/clusterd/internal/text"
)

// FuzzFingerprint compares fingerprints with the naive model for the words of any
// text.
func FuzzFingerprint(f *testing.F) {
	f.Add("")
	f.Add("台风 登陆 沿海 台风 暴雨")
	f.Add("typhoon makes landfall on the coast, typhoon!")
	f.Add("\xff\xfe \x00 𠮷野家 🌀 🌀")
	f.Fuzz(func(t *testing.T, text string) {
		counts := make(map[string]int)
		for token := range strings.FieldsSeq(text) {
			counts[token]++
		}
		for _, hash := range Hashes() {
			for _, weight := range Weights() {
				h, err := New(hash, weight)
				if err != nil {
					t.Fatal(err)
				}
				tokens := tokensOf(h, counts)
				if got, want := h.Fingerprint(tokens), naive(h, tokens); got != want {
					t.Errorf("%s/%s: Fingerprint(%v) = %016x, want %016x", hash, weight, counts, got, want)
				}
			}
		}
	})
}

// FuzzTokens compares fingerprints with the naive model for any tokens, repeated: of
// each 12 bytes, the first 8 are the hash, the next 3 the count, the last the word.
func FuzzTokens(f *testing.F) {
	f.Add([]byte("12345678\x00\x00\x01a"), byte(255))
	f.Add([]byte("abcdefgh\x00\x00\x02\x00\xffbcdefgh\x10\x00\x01\x00"), byte(20))
	f.Fuzz(func(t *testing.T, data []byte, repeats byte) {
		words := []string{"台", "风", "台风", "rain", "𠮷"}
		var tokens []text.Token
		for d := range slices.Chunk(data, 12) {
			if len(d) == 12 {
				tokens = append(tokens, text.Token{
					Word:  []byte(words[int(d[11])%len(words)]),
					Hash:  binary.BigEndian.Uint64(d),
					Count: int(binary.BigEndian.Uint32(d[7:]) & 0xffffff),
				})
			}
		}
		tokens = slices.Repeat(tokens, 1+int(repeats))
		for _, weight := range weights() {
			h := Hasher{weight: weight.f}
			if got, want := h.Fingerprint(tokens), naive(&h, tokens); got != want {
				t.Errorf("%s: Fingerprint(%v) = %016x, want %016x", weight.name, tokens, got, want)
			}
		}
	})
}

// naive applies the rule word for word: token by token, bit by bit.
func naive(h *Hasher, tokens []text.Token) uint64 {
	var sums [64]int64
	for _, token := range tokens {
		if token.Count < 1 {
			continue
		}
		weight := h.weight(token.Word, token.Count)
		for bit := range sums {
			if token.Hash>>bit&1 == 1 {
				sums[bit] += weight
			} else {
				sums[bit] -= weight
			}
		}
	}
	var fingerprint uint64
	for bit, sum := range sums {
		if sum > 0 {
			fingerprint |= 1 << bit
		}
	}
	return fingerprint
}
