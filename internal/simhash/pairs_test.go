package simhash

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/clusterd/clusterd/internal/simhash/keyedhash"
	"github.com/clusterd/clusterd/internal/testutil/check"
	"github.com/clusterd/clusterd/internal/text"
)

var loadTokenizer = sync.OnceValues(func() (*text.Tokenizer,
	error,
) {
	return text.New(text.Options{Hash: sdbm})
})

func newCounter(t testing.TB) *text.Counter {
	t.Helper()
	tokenizer, err := loadTokenizer()
	if err != nil {
		t.Fatal(err)
	}
	return tokenizer.NewCounter()
}

func newPairs(t testing.TB) *Pairs { return NewPairs(newCounter(t), nil) }

// list writes tokens as words, and pairs by the words that they are of.
func list(tokens []text.Token) string {
	pairs := make(map[uint64]string)
	for _, a := range tokens {
		for _, b := range tokens {
			pairs[pairHash(a.Hash, b.Hash)] = fmt.Sprintf("%s+%s", a.Word, b.Word)
		}
	}
	var all []string
	for _, token := range tokens {
		name := string(token.Word)
		if token.Word == nil {
			name = pairs[token.Hash]
		}
		all = append(all, fmt.Sprintf("%s/%d", name, token.Count))
	}
	return strings.Join(all, " ")
}

func TestPairs(t *testing.T) {
	check.OneGoroutine(t)
	pairs := newPairs(t)
	for _, test := range []struct{ title, content, want string }{
		{"", "", ""},
		{"", "，的", ""},
		{"", "typhoon", "typhoon/1"},
		{"", "typhoon harbour", "typhoon/1 typhoon+harbour/1 harbour/1"},
		{"typhoon", "harbour", "typhoon/1 typhoon+harbour/1 harbour/1"},
		{"", "typhoon, the harbour", "typhoon/1 typhoon+harbour/1 harbour/1"},
		{"", "typhoon typhoon typhoon", "typhoon/3 typhoon+typhoon/2"},
		{"", "台风 港口 台风 港口", "台风/2 台风+港口/2 港口/2 港口+台风/1"},
	} {
		if got := list(pairs.Tokens(test.title, test.content)); got != test.want {
			t.Errorf("%q, %q: %s, want %s", test.title, test.content, got, test.want)
		}
	}
}

func TestPairsTellOrder(t *testing.T) {
	h, err := New("sdbm", "log")
	if err != nil {
		t.Fatal(err)
	}
	pairs := newPairs(t)
	const forth, back = "typhoon harbour market bridge", "bridge market harbour typhoon"
	a, b := h.Fingerprint(pairs.Tokens("", forth)), h.Fingerprint(pairs.Tokens("", back))
	if a == b {
		t.Errorf("both ways round the fingerprint is %016x", a)
	}
	if words := newCounter(t); h.Fingerprint(words.Tokens("", forth)) != h.Fingerprint(words.Tokens("",
		back)) {
		t.Error("the words alone tell order")
	}
}

// However often it is used again, a Pairs counts as the definition says.
func TestPairsEqualDefinition(t *testing.T) {
	r := rand.New(rand.NewPCG(15, 15))
	pairs, words := newPairs(t), newCounter(t)
	for range 200 {
		var b strings.Builder
		for range r.IntN(200) {
			fmt.Fprintf(&b, "%s%s", []string{"台风", "港口", "w1", "w2", "，", "的", "龘"}[r.IntN(7)],
				[]string{"", " "}[r.IntN(2)])
		}
		want := make(map[uint64]int)
		var order []uint64
		count := func(hash uint64) {
			if want[hash]++; want[hash] == 1 {
				order = append(order, hash)
			}
		}
		var last *uint64
		words.Words("", b.String(), func(token text.Token) {
			if last != nil {
				count(pairHash(*last, token.Hash))
			}
			count(token.Hash)
			last = &token.Hash
		})
		var got []uint64
		for _, token := range pairs.Tokens("", b.String()) {
			got = append(got, token.Hash)
			if token.Count != want[token.Hash] {
				t.Fatalf("%q: %016x is counted %d times, want %d", b.String(), token.Hash, token.Count,
					want[token.Hash])
			}
		}
		if !slices.Equal(got, order) {
			t.Fatalf("%q: features %x, want %x", b.String(), got, order)
		}
	}
}

func TestPairsDoNotAllocate(t *testing.T) {
	pairs := newPairs(t)
	content := strings.Repeat("台风 typhoon 港口 登陆 harbour，", 20)
	pairs.Tokens("", content)
	if n := testing.AllocsPerRun(20, func() { pairs.Tokens("", content) }); n != 0 {
		t.Errorf("%v allocations, want none", n)
	}
}

func TestPairsLetGoOfGiants(t *testing.T) {
	pairs := newPairs(t)
	var b strings.Builder
	for i := range 2 * maxKept {
		fmt.Fprintf(&b, "w%d ", i)
	}
	pairs.Tokens("", b.String())
	if got := list(pairs.Tokens("", "typhoon")); got != "typhoon/1" {
		t.Errorf("after a giant: %s", got)
	}
	if n := cap(pairs.features); n > maxKept {
		t.Errorf("it holds %d features", n)
	}
}

func BenchmarkPairs(b *testing.B) {
	pairs, words := newPairs(b), newCounter(b)
	r := rand.New(rand.NewPCG(16, 16))
	var content strings.Builder
	for range 200 {
		content.WriteString(word(r))
	}
	b.SetBytes(int64(content.Len()))
	b.ReportAllocs()
	b.Run("words", func(b *testing.B) {
		for b.Loop() {
			words.Tokens("", content.String())
		}
	})
	b.Run("pairs", func(b *testing.B) {
		for b.Loop() {
			pairs.Tokens("", content.String())
		}
	})
}

// The hash of a pair does not follow from those of its words by what everybody knows.
func TestPairsWithKey(t *testing.T) {
	check.OneGoroutine(t)
	tokenizer, err := loadTokenizer()
	if err != nil {
		t.Fatal(err)
	}
	key, err := keyedhash.New("a secret that nobody else has")
	if err != nil {
		t.Fatal(err)
	}
	hashes := func(key *keyedhash.Key) (all []uint64) {
		for _, token := range NewPairs(tokenizer.NewCounter(), key).Tokens("",
			"typhoon harbour typhoon harbour") {
			if token.Word == nil {
				all = append(all, token.Hash)
			}
		}
		return all
	}
	public, secret := hashes(nil), hashes(key)
	if len(public) != 2 || len(secret) != 2 || secret[0] == secret[1] ||
		slices.Contains(public, secret[0]) || slices.Contains(public, secret[1]) {
		t.Errorf("pairs have hashes %x, with a key %x", public, secret)
	}
}
