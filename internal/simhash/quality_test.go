package simhash

import (
	"math/bits"
	"math/rand/v2"
	"testing"

	"github.com/clusterd/clusterd/internal/testutil/check"
)

func TestTextTwiceHasTheSameFingerprintUnderTF(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	for _, hash := range Hashes() {
		h, err := New(hash, "tf")
		if err != nil {
			t.Fatal(err)
		}
		for range 50 {
			counts := bag(r, 40)
			want := fingerprint(h, counts)
			for token := range counts {
				counts[token] *= 2
			}
			if got := fingerprint(h, counts); got != want {
				t.Errorf("%s: got %016x for the text twice, want %016x", hash, got, want)
			}
		}
	}
}

func TestSimilarTextsAreNear(t *testing.T) {
	check.OneGoroutine(t)
	r := rand.New(rand.NewPCG(6, 6))
	for _, hash := range []string{"sdbm", "xxh3"} {
		for _, weight := range Weights() {
			h, err := New(hash, weight)
			if err != nil {
				t.Fatal(err)
			}
			var edited, unrelated int
			const texts = 200
			for range texts {
				counts := bag(r, 200)
				before := fingerprint(h, counts)
				unrelated += Distance(before, fingerprint(h, bag(r, 200)))
				for token := range counts {
					delete(counts, token)
					break
				}
				edited += Distance(before, fingerprint(h, counts))
			}
			if edited > 4*texts || unrelated < 28*texts || unrelated > 36*texts {
				t.Errorf("%s/%s: mean distance %.1f after one of 200 tokens went, want at most 4; %.1f "+
					"between unrelated texts, want 28 to 36",
					hash, weight, float64(edited)/texts, float64(unrelated)/texts)
			}
		}
	}
}

// The hashes of two-character words that begin alike must fill all 64 bits evenly
// and independently. Raw SDBM does not, which is why it is not the default.
func TestAvalanche(t *testing.T) {
	const (
		even   = 58 // of at most 64, less what a sample of 4,096 costs
		uneven = 48
	)
	for _, test := range []struct {
		name      string
		low, high float64
	}{
		{"sdbm", even, 64},
		{"xxh3", even, 64},
		{"sdbm-raw", 1, uneven},
	} {
		r := rand.New(rand.NewPCG(8, 8))
		hash := hashNamed(t, test.name)
		sample := make([]uint64, 4096)
		for i := range sample {
			sample[i] = hash(string([]rune{'台', character(r)}))
		}
		if got := effectiveDimensions(sample); got < test.low || got > test.high {
			t.Errorf("%s: %.1f effective dimensions of 64, want %v to %v", test.name, got, test.low,
				test.high)
		}
	}
}

// effectiveDimensions returns the participation ratio of the 64 bits, (tr C)² / tr C²,
// where C is their covariance: 64 for independent fair bits.
func effectiveDimensions(sample []uint64) float64 {
	n := float64(len(sample))
	var mean [64]float64
	var both [64][64]float64
	for _, h := range sample {
		for i := range 64 {
			mean[i] += float64(h>>i&1) / n
			for j := range 64 {
				both[i][j] += float64((h>>i)&(h>>j)&1) / n
			}
		}
	}
	var trace, traceOfSquare float64
	for i := range 64 {
		trace += both[i][i] - mean[i]*mean[i]
		for j := range 64 {
			covariance := both[i][j] - mean[i]*mean[j]
			traceOfSquare += covariance * covariance
		}
	}
	return trace * trace / traceOfSquare
}

// Every bit of the input must reach about half of the output.
func TestFmix64FlipsHalfTheBits(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	const samples = 1000
	for bit := range 64 {
		var flipped int
		for range samples {
			h := r.Uint64()
			flipped += bits.OnesCount64(fmix64(h) ^ fmix64(h^1<<bit))
		}
		if mean := float64(flipped) / samples; mean < 30 || mean > 34 {
			t.Errorf("input bit %d flips %.1f output bits, want 30 to 34", bit, mean)
		}
	}
}
