package method_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/clusterd/clusterd/internal/method"
	"github.com/clusterd/clusterd/internal/simhash"
	"github.com/clusterd/clusterd/internal/testutil/check"
)

// hashesOfWords returns the hashes of 30,000 made-up words, w0 and so on, in a copy of clusterd
// that the attacker has. The SimHash of one word is its hash.
func hashesOfWords(m method.Method) []uint64 {
	fingerprint, hashes := m.NewFingerprinter(), make([]uint64, 30_000)
	for i := range hashes {
		f, _ := fingerprint("", fmt.Sprintf("w%d", i))
		hashes[i] = f.Hash
	}
	return hashes
}

// nearWords looks for words that together have a fingerprint near the target. The 21 nearest to the
// target agree with it in some 47 of 64 bits each, and in nearly all where they vote.
func nearWords(hashes []uint64, target uint64) string {
	type candidate struct {
		word     string
		distance int
	}
	words := make([]candidate, len(hashes))
	for i, hash := range hashes {
		words[i] = candidate{fmt.Sprintf("w%d", i), simhash.Distance(hash, target)}
	}
	slices.SortFunc(words, func(a, b candidate) int { return cmp.Compare(a.distance, b.distance) })
	var text strings.Builder
	for _, w := range words[:21] {
		text.WriteString(w.word + " ")
	}
	return text.String()
}

// Whoever knows how fingerprints are made can write 21 words that join a cluster of his choice,
// which a secret prevents although he sees the fingerprint of the cluster.
func TestWordsMadeToJoin(t *testing.T) {
	check.OneGoroutine(t)
	public, guessed, secret := ofSecret(t, "simhash", ""), ofSecret(t, "simhash", otherSecret),
		ofSecret(t, "simhash", aSecret)
	hashes := make(map[method.Method][]uint64)
	for _, m := range []method.Method{public, guessed, secret} {
		hashes[m] = hashesOfWords(m)
	}
	for i, target := range pages(4) {
		for _, test := range []struct {
			name             string
			attacked, copied method.Method
			joins            bool
		}{
			{"public", public, public, true},
			{"secret", secret, public, false},
			{"secret, another is guessed", secret, guessed, false},
			{"secret, which the attacker has", secret, secret, true},
		} {
			fingerprint := test.attacked.NewFingerprinter()
			centre, _ := fingerprint(target.title, target.content)
			made, _ := fingerprint("", nearWords(hashes[test.copied], centre.Hash))
			if d := test.attacked.Distance(centre, made); (d <= test.attacked.Threshold()) != test.joins {
				t.Errorf("%s: the words made for article %d are at distance %v, want them to join: %t",
					test.name, i, d, test.joins)
			}
		}
	}
}
