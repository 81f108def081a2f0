package story

import (
	"bytes"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
)

// A vector is taken if and only if it is written the same again.
func FuzzParseVector(f *testing.F) {
	f.Add([]byte(""))
	f.Add([]byte("\x00\x00\x00\x01\x00\x07\x00\x00\x00\x02\xff\xff"))
	f.Add([]byte("\x00\x00\x00\x02\x00\x07\x00\x00\x00\x01\x00\x01"))
	f.Add([]byte("\x00\x00\x00\x01\x00\x00"))
	f.Add([]byte("\x00\x00\x00\x01\x00"))
	f.Fuzz(func(t *testing.T, wire []byte) {
		v, err := ParseVector(wire)
		if err != nil {
			if v != "" {
				t.Errorf("%q with an error", v)
			}
			return
		}
		var terms []weighted
		for term, weight := range v.All() {
			if !v.has(term) {
				t.Errorf("term %d is not found", term)
			}
			terms = append(terms, weighted{term, weight})
		}
		if !bytes.Equal([]byte(vectorOf(terms, len(terms))), wire) {
			t.Errorf("%x is written as %x", wire, vectorOf(terms, len(terms)))
		}
		if square := v.square(); square > 0 && cosine(square, square, square) != million {
			t.Errorf("%x is not like itself: %d", wire, cosine(square, square, square))
		}
	})
}

func TestParseVectorRefuses(t *testing.T) {
	entry := func(term, weight byte) []byte { return []byte{0, 0, 0, term, 0, weight} }
	long := make([]byte, 0, (maxEntries+1)*entrySize)
	for i := range maxEntries + 1 {
		long = append(long, 0, 0, byte(i>>8), byte(i), 0, 1)
	}
	for name, wire := range map[string][]byte{
		"a part of an entry": entry(1, 1)[:5],
		"no weight":          entry(1, 0),
		"a term twice":       slices.Concat(entry(1, 1), entry(1, 1)),
		"no order":           slices.Concat(entry(2, 1), entry(1, 1)),
		"too many terms":     long,
	} {
		if v, err := ParseVector(wire); err == nil {
			t.Errorf("%s: %x is taken as %q", name, wire, v)
		}
	}
	if _, err := ParseVector(long[:maxEntries*entrySize]); err != nil {
		t.Error(err)
	}
}

// Logarithms and roots are right to the last bit that they have.
func TestIntegers(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 4))
	for range 100_000 {
		x := 1 + random.Uint64()>>random.IntN(64)
		if got, want := float64(log2(x)), math.Log2(float64(x))*one; got > want+1e-6 || got < want-1.02 {
			t.Fatalf("log2(%d) = %v/%d, want %v", x, got, one, want)
		}
		if got, want := root(x), new(big.Int).Sqrt(new(big.Int).SetUint64(x)).Uint64(); got != want {
			t.Fatalf("root(%d) = %d, want %d", x, got, want)
		}
	}
	for _, x := range []uint64{0, 1, 3, 4, math.MaxUint64, math.MaxUint32 * math.MaxUint32} {
		if got, want := root(x), new(big.Int).Sqrt(new(big.Int).SetUint64(x)).Uint64(); got != want {
			t.Errorf("root(%d) = %d, want %d", x, got, want)
		}
	}
}

// Of vectors of usual weights the cosine is exact. Of those of the largest it is off by little.
func TestCosine(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 5))
	for i := range 20_000 {
		most := uint64(2000)
		if i%2 == 0 {
			most = maxWeight
		}
		vector := func() Vector {
			terms := make([]weighted, 1+random.IntN(1+random.IntN(400)))
			for k := range terms {
				terms[k] = weighted{uint32(3*k + random.IntN(3)), 1 + random.Uint64N(most)}
			}
			return vectorOf(terms, len(terms))
		}
		a, b := vector(), vector()
		dot := a.dot(b)
		got := cosine(dot, a.square(), b.square())
		if back := cosine(b.dot(a), b.square(), a.square()); back != got {
			t.Fatalf("the other way round it is %d, not %d", back, got)
		}
		number := func(x uint64) *big.Int { return new(big.Int).SetUint64(x) }
		want := bigCosine(number(dot), number(a.square()), number(b.square()))
		exact := most < maxWeight
		if exact && got != want || got+2 < want || got > want+2 {
			t.Fatalf("%d, want %d", got, want)
		}
	}
}

// Words that come first count most, and of a giant article no more than its beginning.
func TestWords(t *testing.T) {
	var w Words
	weights := func() map[string]uint64 {
		m := make(map[string]uint64)
		for term, weight := range w.Vector().All() {
			for _, word := range []string{"title", "first", "twice", "late"} {
				if term == termOf([]byte(word)) {
					m[word] = weight
				}
			}
		}
		return m
	}
	w.Reset()
	w.Title([]byte("title"))
	w.Content([]byte("first"))
	for range lead - 1 {
		w.Content([]byte("twice"))
	}
	w.Content([]byte("late"))
	got := weights()
	// 1 + ln 2, 1, and a half; 1 + ln of the sum of 30/(30+i) for i from 1 to 29
	for word, want := range map[string]float64{
		"title": 1 + math.Ln2, "first": 1, "late": .5, "twice": 1 + math.Log(19.9),
	} {
		if math.Abs(float64(got[word])/one-want) > .04 {
			t.Errorf("%s: %v, want %v", word, float64(got[word])/one, want)
		}
	}
	if w.Content([]byte("北京")); w.Han() {
		t.Error("one Chinese word makes an article Chinese")
	}
	for i := range 100_000 {
		w.Title(fmt.Appendf(nil, "t%d", i))
		w.Content(fmt.Appendf(nil, "c%d", i))
	}
	if n := w.Vector().Len(); n < 350 || n > maxTitle+maxContent {
		t.Errorf("a giant article has %d terms", n)
	}
	w.Reset()
	for _, word := range []string{"台风", "登陆", "5g"} {
		w.Title([]byte(word))
	}
	if !w.Han() {
		t.Error("an article is not Chinese")
	}
	if w.Reset(); w.Vector() != "" {
		t.Errorf("nothing has the vector %x", w.Vector())
	}
}
