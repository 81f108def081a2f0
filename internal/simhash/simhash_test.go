package simhash

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"unicode"

	"github.com/clusterd/clusterd/internal/testutil/check"
	"github.com/clusterd/clusterd/internal/text"
)

// eachHasher runs f as a subtest for every pair of a token hash and a weight.
func eachHasher(t *testing.T, f func(t *testing.T, hash, weight string, h *Hasher)) {
	t.Helper()
	for _, hash := range Hashes() {
		for _, weight := range Weights() {
			t.Run(hash+"/"+weight, func(t *testing.T) {
				h, err := New(hash, weight)
				if err != nil {
					t.Fatal(err)
				}
				f(t, hash, weight, h)
			})
		}
	}
}

// word returns a token of two characters, Chinese four times out of five.
func word(r *rand.Rand) string {
	if r.IntN(5) == 0 {
		return string([]rune{rune('a' + r.IntN(26)), rune('a' + r.IntN(26))})
	}
	return string([]rune{character(r), character(r)})
}

// character returns one of the characters U+4E00 to U+9FA5 (CJK unified ideographs).
func character(r *rand.Rand) rune { return rune(0x4e00 + r.IntN(0x9fa5-0x4e00+1)) }

// bag returns n different tokens; most occur once, few often.
func bag(r *rand.Rand, n int) map[string]int {
	counts := make(map[string]int, n)
	for len(counts) < n {
		counts[word(r)] = 1 + int(r.ExpFloat64()*1.5)
	}
	return counts
}

// tokensOf returns the tokens of counts in no particular order.
func tokensOf(h *Hasher, counts map[string]int) []text.Token {
	var tokens []text.Token
	for word, count := range counts {
		tokens = append(tokens, text.Token{Word: []byte(word), Hash: h.Hash(word), Count: count})
	}
	return tokens
}

func fingerprint(h *Hasher, counts map[string]int) uint64 {
	return h.Fingerprint(tokensOf(h, counts))
}

func TestNames(t *testing.T) {
	if got, want := Hashes(), []string{"sdbm", "sdbm-raw", "xxh3"}; !slices.Equal(got, want) {
		t.Errorf("Hashes() = %q, want %q", got, want)
	}
	if got, want := Weights(), []string{"log", "tf", "set", "tfidf"}; !slices.Equal(got, want) {
		t.Errorf("Weights() = %q, want %q", got, want)
	}
}

func TestNewRefusesUnknownNames(t *testing.T) {
	for _, test := range []struct{ hash, weight, want string }{
		{"md5", "log", `simhash: unknown token hash "md5": allowed are sdbm, sdbm-raw, xxh3`},
		{"", "log", `simhash: unknown token hash "": allowed are sdbm, sdbm-raw, xxh3`},
		{"SDBM", "log", `simhash: unknown token hash "SDBM": allowed are sdbm, sdbm-raw, xxh3`},
		{"sdbm", "idf", `simhash: unknown token weight "idf": allowed are log, tf, set, tfidf`},
		{"sdbm", "", `simhash: unknown token weight "": allowed are log, tf, set, tfidf`},
	} {
		h, err := New(test.hash, test.weight)
		if err == nil || err.Error() != test.want {
			t.Errorf("New(%q, %q): error %v, want %s", test.hash, test.weight, err, test.want)
		}
		if h != nil {
			t.Errorf("New(%q, %q) returned a Hasher beside the error", test.hash, test.weight)
		}
	}
}

func TestFingerprintWithoutTokensIsZero(t *testing.T) {
	eachHasher(t, func(t *testing.T, _, _ string, h *Hasher) {
		for _, counts := range []map[string]int{nil, {}, {"台风": 0}, {"台风": -1, "rain": -1 << 62}} {
			if got := fingerprint(h, counts); got != 0 {
				t.Errorf("Fingerprint(%v) = %016x, want 0", counts, got)
			}
		}
	})
}

func TestFingerprintOfOneTokenIsItsHash(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	eachHasher(t, func(t *testing.T, hash, _ string, h *Hasher) {
		for range 100 {
			token, count := word(r), 1+r.IntN(1000)
			if got, want := fingerprint(h, map[string]int{token: count}),
				hashNamed(t, hash)(token); got != want {
				t.Errorf("%q, %d times: got %016x, want its hash %016x", token, count, got, want)
			}
		}
	})
}

// Where two tokens weigh the same, the bits in which they differ sum to zero, so
// that only the bits set in both remain.
func TestZeroSumGivesZeroBit(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	eachHasher(t, func(t *testing.T, hash, _ string, h *Hasher) {
		for range 100 {
			a, b, count := word(r)+"x", word(r)+"x", 1+r.IntN(9) // in no table
			want := hashNamed(t, hash)(a) & hashNamed(t, hash)(b)
			if got := fingerprint(h, map[string]int{a: count, b: count}); got != want {
				t.Errorf("%q and %q, %d times each: got %016x, want %016x", a, b, count, got, want)
			}
		}
	})
}

func TestWeightDecides(t *testing.T) {
	frequent, others := "暴雨", []string{"typhoon", "港口"}
	for weight, owns := range map[string]int{
		"set": 1 << 30, // never: every token weighs the same
		"tf":  3,       // 3 > 1 + 1
		"log": 4,       // ln(1 + 4) > ln(1 + 1) + ln(1 + 1) = ln(1 + 3)
	} {
		h, err := New("sdbm", weight)
		if err != nil {
			t.Fatal(err)
		}
		for _, count := range []int{1, 2, 3, 4, 50} {
			got := fingerprint(h, map[string]int{frequent: count, others[0]: 1, others[1]: 1})
			if (got == sdbm(frequent)) != (count >= owns) {
				t.Errorf("%s: the token that occurs %d times owns the fingerprint: %t, want %t",
					weight, count, got == sdbm(frequent), count >= owns)
			}
		}
	}
}

// A sum of floats would show it.
func TestFingerprintDoesNotDependOnOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	eachHasher(t, func(t *testing.T, _, _ string, h *Hasher) {
		tokens := tokensOf(h, bag(r, 60))
		want := naive(h, tokens)
		for range 50 {
			r.Shuffle(len(tokens), func(i, j int) { tokens[i], tokens[j] = tokens[j], tokens[i] })
			if got := h.Fingerprint(tokens); got != want {
				t.Fatalf("got %016x, want %016x", got, want)
			}
		}
	})
}

// Many tokens of one weight, of many weights, and of both, in runs and mixed; with
// weights that wrap, which is beyond what Fingerprint promises, but the same.
func TestFingerprintOfAnyTokens(t *testing.T) {
	check.OneGoroutine(t)
	r := rand.New(rand.NewPCG(13, 13))
	countBelow := func(n int) func() int { return func() int { return 1 + r.IntN(n) } }
	eachHasher(t, func(t *testing.T, _, _ string, h *Hasher) {
		for name, count := range map[string]func() int{
			"one weight":    countBelow(1),
			"few weights":   countBelow(6),
			"many weights":  countBelow(300),
			"mostly one":    func() int { return 1 + r.IntN(50)/49*r.IntN(1000) },
			"huge weights":  func() int { return 1 << r.IntN(45) },
			"wrapped to 0":  func() int { return []int{1 << 48, 1 + r.IntN(100)}[r.IntN(2)] },
			"any count":     func() int { return int(r.Uint64() >> r.IntN(64)) },
			"not there too": func() int { return r.IntN(4) - 2 },
		} {
			for _, n := range []int{1, 2, 3, 10, 254, 255, 256, 257, 510, 511, 3000} {
				tokens := make([]text.Token, n)
				for i := range tokens {
					characters := []rune(word(r))[:1+r.IntN(2)]
					tokens[i] = text.Token{Word: []byte(string(characters)), Hash: r.Uint64(), Count: count()}
				}
				if got, want := h.Fingerprint(tokens), naive(h, tokens); got != want {
					t.Errorf("%s, %d tokens: got %016x, want %016x", name, n, got, want)
				}
			}
		}
	})
}

// A text beside its complement: all sums are zero but for what one token adds.
func TestFingerprintAtTies(t *testing.T) {
	r := rand.New(rand.NewPCG(14, 14))
	eachHasher(t, func(t *testing.T, _, _ string, h *Hasher) {
		for _, n := range []int{1, 127, 128, 300} {
			var tokens []text.Token
			for _, token := range tokensOf(h, bag(r, n)) {
				tokens = append(tokens, token)
				token.Hash = ^token.Hash
				tokens = append(tokens, token)
			}
			if got := h.Fingerprint(tokens); got != 0 {
				t.Errorf("%d tokens and their complements: got %016x, want 0", n, got)
			}
			last := text.Token{Word: []byte("台"), Hash: r.Uint64(), Count: 1}
			if got := h.Fingerprint(append(tokens, last)); got != last.Hash {
				t.Errorf("%d tokens, their complements and one more: got %016x, want its hash %016x", n, got,
					last.Hash)
			}
		}
	})
}

func TestLogWeights(t *testing.T) {
	w := newLogWeights()
	for count := 1; count < 1000; count++ {
		for word, han := range map[string]bool{"台": true, "台风": false, "rain": false} {
			if got, want := w.weight([]byte(word), count), logWeight(count, han); got != want {
				t.Errorf("weight of %q, %d times: %d, want %d", word, count, got, want)
			}
		}
	}
}

func TestIsHanCharacter(t *testing.T) {
	check.OneGoroutine(t)
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if got, want := isHanCharacter([]byte(string(r))), unicode.Is(unicode.Han, r); got != want {
			t.Errorf("%q (%U): %t, want %t", r, r, got, want)
		}
	}
	for _, word := range []string{"", "台风", "台a", "a台", "台\xff", "\xe5\x8f", "\xff", "台风登陆"} {
		if isHanCharacter([]byte(word)) {
			t.Errorf("%q is taken for a single Chinese character", word)
		}
	}
}

func TestSetIgnoresCounts(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	for _, hash := range Hashes() {
		h, err := New(hash, "set")
		if err != nil {
			t.Fatal(err)
		}
		for range 50 {
			counts := bag(r, 40)
			want := fingerprint(h, counts)
			for token := range counts {
				counts[token] = 1 + r.IntN(1000)
			}
			if got := fingerprint(h, counts); got != want {
				t.Errorf("%s: got %016x after the counts changed, want %016x", hash, got, want)
			}
		}
	}
}

func TestDistance(t *testing.T) {
	for _, test := range []struct {
		a, b uint64
		want int
	}{
		{0, 0, 0},
		{0, 1, 1},
		{1 << 63, 1, 2},
		{0, ^uint64(0), 64},
		{0xff00ff00ff00ff00, 0x00ff00ff00ff00ff, 64},
		{0xdeadbeefdeadbeef, 0xdeadbeefdeadbee0, 4},
	} {
		if got := Distance(test.a, test.b); got != test.want {
			t.Errorf("Distance(%x, %x) = %d, want %d", test.a, test.b, got, test.want)
		}
	}
}

func TestDistanceIsAMetric(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	for range 10_000 {
		a := r.Uint64()
		b, c := a^r.Uint64()&r.Uint64(), a^r.Uint64()&r.Uint64()&r.Uint64()
		if (Distance(a, b) == 0) != (a == b) || Distance(a, a) != 0 {
			t.Fatalf("distance zero and equality disagree for %x, %x", a, b)
		}
		if Distance(a, b) != Distance(b, a) {
			t.Fatalf("not symmetric: %x, %x", a, b)
		}
		if Distance(a, c) > Distance(a, b)+Distance(b, c) {
			t.Fatalf("triangle inequality broken: %x, %x, %x", a, b, c)
		}
	}
}

func TestHasherIsSafeForConcurrentUse(t *testing.T) {
	r := rand.New(rand.NewPCG(10, 10))
	counts := bag(r, 50)
	h, err := New("sdbm", "log")
	if err != nil {
		t.Fatal(err)
	}
	want := fingerprint(h, counts)
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 20 {
				if got := fingerprint(h, counts); got != want {
					t.Errorf("got %016x, want %016x", got, want)
				}
			}
		})
	}
	group.Wait()
}

func TestFingerprintDoesNotAllocate(t *testing.T) {
	counts := bag(rand.New(rand.NewPCG(11, 11)), 50)
	counts["often"] = 1000
	eachHasher(t, func(t *testing.T, _, _ string, h *Hasher) {
		tokens := tokensOf(h, counts)
		if n := testing.AllocsPerRun(20, func() { h.Fingerprint(tokens) }); n != 0 {
			t.Errorf("%v allocations, want none", n)
		}
	})
}

func hashNamed(t *testing.T, name string) func(string) uint64 {
	t.Helper()
	return named(t, name, hashes())
}

func named[F any](t *testing.T, name string, from []option[F]) F {
	t.Helper()
	f, ok := choose(name, from)
	if !ok {
		t.Fatalf("no option %q", name)
	}
	return f
}

func ExampleHasher_Fingerprint() {
	h, err := New("sdbm", "log")
	if err != nil {
		fmt.Println(err)
		return
	}
	counts := map[string]int{"台风": 3, "登陆": 2, "沿海": 2, "暴雨": 4, "预警": 1, "港口": 1, "typhoon": 2}
	before := fingerprint(h, counts)
	counts["暴雨"]++
	delete(counts, "港口")
	after := fingerprint(h, counts)
	fmt.Printf("%016x %016x distance %d\n", before, after, Distance(before, after))
	// Output: 084756ee6d454da0 084556ee49550da0 distance 5
}

func BenchmarkFingerprint(b *testing.B) {
	for _, n := range []int{20, 200, 2000} {
		counts := bag(rand.New(rand.NewPCG(12, 12)), n)
		for _, weight := range Weights() {
			h, err := New("sdbm", weight)
			if err != nil {
				b.Fatal(err)
			}
			tokens := tokensOf(h, counts)
			for _, of := range []option[func() uint64]{
				{weight, func() uint64 { return h.Fingerprint(tokens) }},
				{weight + "/naive", func() uint64 { return naive(h, tokens) }},
			} {
				b.Run(fmt.Sprintf("%d tokens/%s", n, of.name), func(b *testing.B) {
					b.ReportAllocs()
					for b.Loop() {
						of.f()
					}
					b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/token")
				})
			}
		}
	}
}

func BenchmarkHash(b *testing.B) {
	for _, hash := range hashes() {
		b.Run(hash.name, func(b *testing.B) {
			word := "台风"
			b.SetBytes(int64(len(word)))
			for b.Loop() {
				hash.f(word)
			}
		})
	}
}
