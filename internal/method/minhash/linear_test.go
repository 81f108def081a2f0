package minhash

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/zeebo/xxh3"

	"github.com/clusterd/clusterd/internal/method/jaccard"
	"github.com/clusterd/clusterd/internal/singlepass"
)

// linear says what an index answers: the nearest live centre, among equals the one with the
// smallest Seq, of those that are the same by the threshold and the rule, and that the query sees
// in one of the bands.
type linear struct {
	hashes, bands, rows int
	threshold           float64
	rule                jaccard.Rule
	centres             []singlepass.Centre
}

// newLinear returns the oracle of an index.
func newLinear(x *index, threshold float64) *linear {
	return &linear{
		hashes: x.hashes, bands: x.bands, rows: x.rows, threshold: threshold, rule: x.rule,
	}
}

// joins reports whether fingerprints at this distance are the same.
func (l *linear) joins(a, b singlepass.Fingerprint, distance float64) bool {
	return l.rule.Joins(distance, l.threshold, sizeIn(a.Sketch, l.hashes),
		sizeIn(b.Sketch, l.hashes))
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
	for _, c := range l.seen(f, live) {
		d := l.distance(f, c.Fingerprint)
		nearer := !ok || d < distance || d == distance && c.Seq < best.Seq
		if nearer && l.joins(f, c.Fingerprint, d) {
			best, distance, ok = c, d, true
		}
	}
	return best, distance, ok
}

// seen returns the live centres that a query sees: of each band all that agree in it, and where
// these are too many, its neighbours in the order of what follows the band, round to its end.
func (l *linear) seen(
	f singlepass.Fingerprint, live func(singlepass.Centre) bool,
) (seen []singlepass.Centre) {
	var sharing []singlepass.Centre
	for band := range l.bands {
		sharing = sharing[:0]
		from := band * l.rows
		shared := f.Sketch[from : from+l.rows]
		for _, c := range l.centres {
			if strings.HasPrefix(c.Sketch[from:], shared) && live(c) {
				sharing = append(sharing, c)
			}
		}
		if len(sharing) > bucketCap {
			end := (band + 1) * l.rows
			order := func(a, b singlepass.Centre) int {
				if after := strings.Compare(a.Sketch[end:l.hashes], b.Sketch[end:l.hashes]); after != 0 {
					return after
				}
				return cmp.Or(strings.Compare(a.Sketch[:end], b.Sketch[:end]), cmp.Compare(a.Seq, b.Seq))
			}
			slices.SortFunc(sharing, order)
			at, _ := slices.BinarySearchFunc(sharing, singlepass.Centre{Fingerprint: f}, order)
			sharing = sharing[max(0, at-neighbours):min(len(sharing), at+neighbours)]
		}
		seen = append(seen, sharing...)
	}
	return seen
}

func (l *linear) distance(a, b singlepass.Fingerprint) float64 {
	differ := 0
	for i := range l.hashes {
		if a.Sketch[i] != b.Sketch[i] {
			differ++
		}
	}
	return float64(differ) / float64(l.hashes)
}

func (l *linear) agree(a, b singlepass.Fingerprint, band int) bool {
	return a.Sketch[band*l.rows:(band+1)*l.rows] == b.Sketch[band*l.rows:(band+1)*l.rows]
}

// isCrowded reports whether so many share a band with a query that it may not see all.
func (l *linear) isCrowded(f singlepass.Fingerprint) bool {
	for band := range l.bands {
		n := 0
		for _, c := range l.centres {
			if l.agree(f, c.Fingerprint, band) {
				n++
			}
		}
		if n > bucketCap {
			return true
		}
	}
	return false
}

func (l *linear) shareBand(a, b singlepass.Fingerprint) bool {
	for band := range l.bands {
		if l.agree(a, b, band) {
			return true
		}
	}
	return false
}

func fingerprintOf(signature []byte) singlepass.Fingerprint {
	return singlepass.Fingerprint{Hash: xxh3.Hash(signature), Sketch: string(signature)}
}

// randomSignature returns what an article's is like that resembles no other.
func randomSignature(r *rand.Rand, hashes int) []byte {
	signature := make([]byte, hashes)
	for i := range signature {
		signature[i] = byte(r.Uint32())
	}
	return signature
}

// changed returns a copy in which up to so many places differ.
func changed(r *rand.Rand, signature []byte, places int) []byte {
	signature = slices.Clone(signature)
	for range places {
		signature[r.IntN(len(signature))] = byte(r.Uint32())
	}
	return signature
}

// sometimes returns a live that holds of about this share of centres, by their Seq.
func sometimes(seed uint64, share float64) func(singlepass.Centre) bool {
	return func(c singlepass.Centre) bool {
		return float64(random(seed, c.Seq)>>11)/(1<<53) < share
	}
}

// compare asks both for the nearest, and sees that the index asks of no centre twice whether it
// lives, nor of one that is beyond the threshold, unless many share a band; and of none that shares
// no band.
func compare(
	t *testing.T, index *index, oracle *linear, f singlepass.Fingerprint,
	live func(singlepass.Centre) bool,
) {
	t.Helper()
	asked, many := make(map[singlepass.Centre]bool), oracle.isCrowded(f)
	asking := func(c singlepass.Centre) bool {
		c.Sketch = strings.Clone(c.Sketch)
		needless := asked[c] ||
			!oracle.joins(f, c.Fingerprint, oracle.distance(f, c.Fingerprint))
		if needless && !many || !oracle.shareBand(f, c.Fingerprint) {
			t.Fatalf("asked of %x, which cannot be the answer or was asked of before", c)
		}
		asked[c] = true
		return live(c)
	}
	sure := func(seq uint64) bool { return seq%3 > 0 && live(singlepass.Centre{Seq: seq}) }
	got, distance, ok := index.Nearest(f, &singlepass.Live{Asked: asking, Sure: sure})
	want, wantDistance, wantOK := oracle.nearest(f, live)
	if got != want || distance != wantDistance || ok != wantOK {
		t.Fatalf("nearest to %x:\n got %x at %v, %t\nwant %x at %v, %t", f, got, distance, ok, want,
			wantDistance, wantOK)
	}
}
