package minhash

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/zeebo/xxh3"

	"github.com/clusterd/clusterd/internal/singlepass"
)

// linear says what an index answers: the nearest live centre, among equals the one with the smallest
// Seq, of those that are within the bound and agree with the query in all rows of a band.
type linear struct {
	bands, rows int
	bound       float64
	centres     []singlepass.Centre
}

func newLinear(hashes int, bound, recall float64) *linear {
	bands, rows := Bands(hashes, 1-bound, recall)
	return &linear{bands, rows, bound, nil}
}

func (l *linear) remove(c singlepass.Centre) bool {
	at := slices.Index(l.centres, c)
	if at >= 0 {
		l.centres = slices.Delete(l.centres, at, at+1)
	}
	return at >= 0
}

func (l *linear) nearest(
	f singlepass.Fingerprint, live func(singlepass.Centre) bool,
) (best singlepass.Centre, distance float64, ok bool) {
	for _, c := range l.centres {
		d := l.distance(f, c.Fingerprint)
		nearer := !ok || d < distance || d == distance && c.Seq < best.Seq
		if d <= l.bound && nearer && l.shareBand(f, c.Fingerprint) && live(c) {
			best, distance, ok = c, d, true
		}
	}
	return best, distance, ok
}

func (l *linear) distance(a, b singlepass.Fingerprint) float64 {
	differ := 0
	for i := range len(a.Sketch) {
		if a.Sketch[i] != b.Sketch[i] {
			differ++
		}
	}
	return float64(differ) / float64(len(a.Sketch))
}

func (l *linear) shareBand(a, b singlepass.Fingerprint) bool {
	for i := range l.bands {
		if a.Sketch[i*l.rows:(i+1)*l.rows] == b.Sketch[i*l.rows:(i+1)*l.rows] {
			return true
		}
	}
	return false
}

func fingerprintOf(signature []byte) singlepass.Fingerprint {
	return singlepass.Fingerprint{Hash: xxh3.Hash(signature), Sketch: string(signature)}
}

// randomSignature is what an article's is like that resembles no other.
func randomSignature(r *rand.Rand, hashes int) []byte {
	signature := make([]byte, hashes)
	for i := range signature {
		signature[i] = byte(r.Uint32())
	}
	return signature
}

// changed is a copy in which up to so many places differ.
func changed(r *rand.Rand, signature []byte, places int) []byte {
	signature = slices.Clone(signature)
	for range places {
		signature[r.IntN(len(signature))] = byte(r.Uint32())
	}
	return signature
}

// sometimes is a live that holds of about this share of centres, by their Seq.
func sometimes(seed uint64, share float64) func(singlepass.Centre) bool {
	return func(c singlepass.Centre) bool {
		return float64(random(seed, c.Seq)>>11)/(1<<53) < share
	}
}

// compare asks both for the nearest, and sees that the index asks of no centre twice whether it lives, nor of
// one that is beyond the bound or shares no band.
func compare(t *testing.T, index *index, oracle *linear, f singlepass.Fingerprint, live func(singlepass.Centre) bool) {
	t.Helper()
	asked := make(map[singlepass.Centre]bool)
	asking := func(c singlepass.Centre) bool {
		if asked[c] || oracle.distance(f, c.Fingerprint) > oracle.bound || !oracle.shareBand(f, c.Fingerprint) {
			t.Fatalf("asked of %x, which cannot be the answer or was asked of before", c)
		}
		asked[c] = true
		return live(c)
	}
	got, distance, ok := index.Nearest(f, asking)
	want, wantDistance, wantOK := oracle.nearest(f, live)
	if got != want || distance != wantDistance || ok != wantOK {
		t.Fatalf("nearest to %x:\n got %x at %v, %t\nwant %x at %v, %t", f, got, distance, ok, want, wantDistance, wantOK)
	}
}
