package minhash

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/clusterd/clusterd/internal/testutil/check"
	"github.com/clusterd/clusterd/internal/testutil/golden"
)

func signatureNames() []string { return []string{"fast", "permutation", "functions"} }

func mustSign(t *testing.T, name string, hashes int, shingles []uint64) []byte {
	t.Helper()
	sign, err := signerOf(name)
	if err != nil {
		t.Fatal(err)
	}
	signature := make([]byte, hashes)
	sign(signature, make([]uint64, hashes), slices.Clone(shingles))
	return signature
}

// Signatures are the same on every machine and in every version: they are kept. Whoever changes
// this file has to change the method's Identity too.
func TestSignaturesStay(t *testing.T) {
	var got bytes.Buffer
	for _, name := range signatureNames() {
		for _, size := range []uint64{1, 10, 1000} {
			var shingles []uint64
			for i := range size {
				shingles = append(shingles, i*i)
			}
			fmt.Fprintf(&got, "%s of %d shingles: %x\n", name, size, mustSign(t, name, 64, shingles))
		}
	}
	golden.Check(t, "testdata/signatures.golden", got.Bytes())
}

// The share of equal components is the Jaccard similarity, and a 256th of the rest, on average,
// whether sets have a few shingles or many; and it strays from it no more than independent
// components would.
func TestEstimate(t *testing.T) {
	check.OneGoroutine(t)
	const trials, hashes = 200, 128
	for _, name := range signatureNames() {
		for _, test := range []struct{ both, each int }{ // shingles in both sets, and in each alone
			{0, 1}, {1, 0}, {1, 1}, {3, 1}, {8, 2}, {30, 10}, {80, 10}, {300, 100}, {500, 500},
		} {
			t.Run(fmt.Sprintf("%s/%d of %d", name, test.both, test.both+2*test.each), func(t *testing.T) {
				t.Parallel()
				r := rand.New(rand.NewPCG(uint64(test.both), uint64(test.each)))
				jaccard := float64(test.both) / float64(test.both+2*test.each)
				want := jaccard + (1-jaccard)/256
				var sum, squares float64
				for range trials {
					shingles := make([]uint64, test.both+2*test.each)
					for i := range shingles {
						shingles[i] = r.Uint64()
					}
					a, b := shingles[:test.both+test.each], shingles[test.each:]
					equal := 1 - float64(differing(mustSign(t, name, hashes, a),
						mustSign(t, name, hashes, b)))/hashes
					sum += equal
					squares += (equal - want) * (equal - want)
				}
				// Of a few shingles that borrow, many components stand or fall together.
				most := want * (1 - want) / hashes * 1.4
				if name == "permutation" {
					most = want*(1-want)*(1/float64(test.both+test.each)+1/float64(hashes))*1.5 + 1e-12
				}
				if got := sum / trials; math.Abs(got-want) > 5*math.Sqrt(most/trials)+1e-9 {
					t.Errorf("equal components are %.4f on average, want %.4f", got, want)
				}
				if got := squares / trials; got > most+1e-12 {
					t.Errorf("variance of equal components is %.6f, want at most %.6f", got, most)
				}
			})
		}
	}
}

// How often a shingle occurs, and where, makes no difference.
func TestSignatureOfSet(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	for _, name := range signatureNames() {
		for _, size := range []int{1, 2, 20, 500} {
			set := make([]uint64, size)
			for i := range set {
				set[i] = r.Uint64()
			}
			want := mustSign(t, name, 128, set)
			again := slices.Clone(set)
			for range 5000 {
				again = append(again, set[r.IntN(size)])
			}
			r.Shuffle(len(again), func(i, j int) { again[i], again[j] = again[j], again[i] })
			if got := mustSign(t, name, 128, again); !bytes.Equal(got, want) {
				t.Errorf("%s of %d shingles changes as they are repeated", name, size)
			}
		}
	}
}

// Fast Similarity Sketching as published, with a table of all components and values: what signFast
// must give.
func TestFastAgainstDefinition(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	for range 300 {
		components := 1 + r.IntN(150)
		shingles := make([]uint64, 1+r.IntN(200))
		for i := range shingles {
			shingles[i] = r.Uint64N(300) // some occur again
		}
		got := mustSign(t, "fast", components, shingles)
		if want := fastByDefinition(components, shingles); !bytes.Equal(got, want) {
			t.Fatalf("%d components of %d:\n got %x\nwant %x", components, shingles, got, want)
		}
	}
}

func fastByDefinition(components int, shingles []uint64) []byte {
	type value struct{ round, random uint64 }
	sketch := make(map[int]value)
	for round := range 2 * components {
		for _, s := range shingles {
			h := random(s, uint64(round))
			component, v := int(h>>32*uint64(components)>>32), value{uint64(round), h & math.MaxUint32}
			if round >= components {
				component = round - components
			}
			have, ok := sketch[component]
			if !ok || v.round < have.round || v.round == have.round && v.random < have.random {
				sketch[component] = v
			}
		}
		if len(sketch) == components {
			break
		}
	}
	signature := make([]byte, components)
	for i := range signature {
		signature[i] = byte(sketch[i].random)
	}
	return signature
}

func TestDiffering(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	for range 2000 {
		a := randomSignature(r, r.IntN(40))
		b := slices.Clone(a)
		want := 0
		for i := range b {
			if r.IntN(3) == 0 {
				b[i] ^= 1 << r.IntN(8)
				want++
			}
		}
		if got := differing(a, string(b)); got != want {
			t.Fatalf("%x and %x differ in %d, want %d", a, b, got, want)
		}
		most := r.IntN(40)
		if got := differingUpTo(a, b, most); got != want && (want <= most || got <= most || got > want) {
			t.Fatalf("%x and %x differ in %d up to %d, want %d, or something above the limit", a, b, got,
				most, want)
		}
	}
}
