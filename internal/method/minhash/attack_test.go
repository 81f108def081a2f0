package minhash

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/clusterd/clusterd/internal/method/shingling"
	"github.com/clusterd/clusterd/internal/simhash/keyedhash"
	"github.com/clusterd/clusterd/internal/testutil/check"
	"github.com/clusterd/clusterd/internal/text"
)

// shinglesFor looks for shingles that together have this signature: for each component, of those
// that are thrown there in the first round with the byte that is wanted, the one of the smallest
// value. Written one after the other they make shingles that nobody wants, too, most of which do
// not win against the smallest of some thirty.
func shinglesFor(o Options, signature string) string {
	const pool = 1 << 20
	s := newShingler(o)
	t := uint64(len(signature))
	best := make([]uint64, t)
	chosen := make([]string, t)
	fill(best)
	letters := "abcdefghijklmnopqrstuvwxyzαβγδεζ"
	alphabet := []rune(letters)
	var piece []byte
	for i := range pool {
		piece = piece[:0]
		for n, left := i, 0; left < o.Shingles.Size; left++ {
			piece = utf8.AppendRune(piece, alphabet[n%32])
			n /= 32
		}
		shingles, _ := s.shinglesOf("", string(piece))
		r := random(shingles[0], 0)
		place, value := r>>32*t>>32, r&0xffffffff
		if byte(value) == signature[place] && value < best[place] {
			best[place], chosen[place] = value, string(piece)
		}
	}
	return strings.Join(chosen, "")
}

// Whoever can make shingles' hashes writes a text that reads like nothing and has the signature of
// an article of his choice. With a key he cannot, although he knows the signature.
func TestShinglesMadeToJoin(t *testing.T) {
	check.OneGoroutine(t)
	cleaner, err := text.NewCleaner(text.CleanOptions{HTML: "never"})
	if err != nil {
		t.Fatal(err)
	}
	key, err := keyedhash.New("a secret that nobody else has")
	if err != nil {
		t.Fatal(err)
	}
	const article = "The new bridge over the northern harbour opened to traffic this morning after " +
		"four years of work. 新桥今天上午通车。"
	public := Options{
		Shingles: shingling.Shingles{Cleaner: cleaner, Size: 5}, Signature: "fast", Hashes: 128,
		Recall: 1,
	}
	secret := public
	secret.Key = key
	for _, test := range []struct {
		name             string
		attacked, copied Options
		joins            bool
	}{
		{"public", public, public, true},
		{"secret", secret, public, false},
		{"secret, which the attacker has", secret, secret, true},
	} {
		m, err := New(test.attacked)
		if err != nil {
			t.Fatal(err)
		}
		fingerprint := m.NewFingerprinter()
		target, _ := fingerprint("", article)
		made, _ := fingerprint("", shinglesFor(test.copied, target.Sketch))
		if d := m.Distance(target, made); (d <= m.Threshold()) != test.joins || !test.joins && d < .9 {
			t.Errorf("%s: the text made for the article is at distance %v, want it to join: %t", test.name,
				d, test.joins)
		}
	}
}
