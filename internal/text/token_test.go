package text

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/clusterd/clusterd/internal/testutil/check"
)

func TestTokensComeInOrder(t *testing.T) {
	got := shared(t).NewCounter().Tokens("Typhoon 台风", "登陆的北京, typhoon 登陆 北京 harbour 䶮 骉 龘 12 34, 台风")
	var list []string
	for _, token := range got {
		list = append(list, fmt.Sprintf("%s/%d", token.Word, token.Count))
		if token.Hash != 0 {
			t.Errorf("%s has hash %x, want none", token.Word, token.Hash)
		}
	}
	want := "typhoon/2 台风/2 登陆/2 北京/2 harbour/1 䶮/1 骉/1 龘/1 12/1 34/1"
	if got := strings.Join(list, " "); got != want {
		t.Errorf("tokens\n got %s\nwant %s", got, want)
	}
}

func TestWordsComeInOrder(t *testing.T) {
	var list []string
	each := func(token Token) { list = append(list, fmt.Sprintf("%s/%d", token.Word, token.Count)) }
	counter := shared(t).NewCounter()
	counter.Words("Typhoon 台风", "登陆的北京, typhoon 登陆 䶮 harbour 䶮 12, 台风", each)
	want := "typhoon/1 台风/1 登陆/1 北京/1 typhoon/1 登陆/1 䶮/1 harbour/1 䶮/1 12/1 台风/1"
	if got := strings.Join(list, " "); got != want {
		t.Errorf("words\n got %s\nwant %s", got, want)
	}
}

// Words, counted, are the tokens, in the order in which they first occur.
func TestWordsAreTokens(t *testing.T) {
	check.OneGoroutine(t)
	tok := *shared(t)
	tok.hash = func(word string) uint64 { return uint64(len(word)) } // of words that have no number
	texts := randomTexts(sharedOracle(t), 300)
	texts = append(texts, "", manyWords(20_000), "", "台风", strings.Join(texts, " "))
	for _, a := range articles() {
		texts = append(texts, a.text)
	}
	words, counter := tok.NewCounter(), tok.NewCounter()
	for i, text := range texts {
		title := texts[len(texts)-1-i]
		var got []Token
		at := make(map[string]int)
		words.Words(title, text, func(token Token) {
			place, ok := at[string(token.Word)]
			if !ok {
				place = len(got)
				at[string(token.Word)] = place
				got = append(got, Token{token.Word, token.Hash, 0})
			}
			got[place].Count += token.Count
		})
		want := counter.Tokens(title, text)
		if !slices.EqualFunc(got, want, func(a, b Token) bool {
			return string(a.Word) == string(b.Word) && a.Hash == b.Hash && a.Count == b.Count
		}) {
			t.Fatalf("words of %.200q and %.200q\n got %.1000s\nwant %.1000s", title, text,
				tokens(counts(got)), tokens(counts(want)))
		}
	}
}

// A Counter that has counted other texts before counts as a new one.
func TestCounterIsUsedAgain(t *testing.T) {
	check.OneGoroutine(t)
	tok, plain := shared(t), sharedOracle(t)
	counter := tok.NewCounter()
	texts := randomTexts(plain, 300)
	texts = append(texts, "", manyWords(20_000), "", "台风", strings.Join(texts, " "), "typhoon")
	for i, text := range texts {
		title := texts[len(texts)-1-i]
		got := counter.Tokens(title, text)
		if n := len(counts(got)); n != len(got) {
			t.Errorf("%d tokens, of which only %d differ", len(got), n)
		}
		if got, want := counts(got), plain.tokens(title, text); !maps.Equal(got, want) {
			t.Fatalf("tokens of %.200q and %.200q\n got %.1000s\nwant %.1000s", title, text, tokens(got),
				tokens(want))
		}
	}
}

// manyWords returns n different words that no dictionary has.
func manyWords(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "w%d ", i)
	}
	return b.String()
}

// Of so many words without number some pairs have the same key: ten, on average.
func TestWordsOfTheSameKeyAreNotOne(t *testing.T) {
	check.OneGoroutine(t)
	const n = 200_000
	got := shared(t).NewCounter().Tokens("", manyWords(n)+manyWords(n))
	if len(got) != n {
		t.Errorf("%d tokens, want %d", len(got), n)
	}
	for i, token := range got {
		if want := fmt.Sprintf("w%d", i); string(token.Word) != want || token.Count != 2 {
			t.Fatalf("token %d is %s, %d times, want %s, 2 times", i, token.Word, token.Count, want)
		}
	}
}

func TestCounterDoesNotAllocate(t *testing.T) {
	check.OneGoroutine(t)
	tok := *shared(t)
	tok.hash = func(word string) uint64 { return uint64(len(word)) }
	counter := tok.NewCounter()
	texts := []string{
		"华为发布Mate 60手机，支持5G网络；穿T恤炒A股，é 𠀀 䶮 骉 ы7", "颱風登陸臺灣。ＡＢＣ",
		strings.Join(strings.Fields(manyWords(200)), "，中"), strings.Repeat("研究生命起源", 5000),
	}
	for _, a := range articles() {
		if a.name != "html" {
			texts = append(texts, a.text)
		}
	}
	random := rand.New(rand.NewPCG(7, 8))
	random.Shuffle(len(texts), func(i, j int) { texts[i], texts[j] = texts[j], texts[i] })
	length := 0
	count := func() {
		for _, text := range texts {
			counter.Tokens("台风登陆", text)
			counter.Words("台风登陆", text, func(token Token) { length += len(token.Word) })
		}
	}
	count()
	if n := testing.AllocsPerRun(20, count); n != 0 {
		t.Errorf("%v allocations for %d texts, want none", n, len(texts))
	}
}

func TestCounterLetsGoOfGiants(t *testing.T) {
	check.OneGoroutine(t)
	counter := shared(t).NewCounter()
	giants := []string{strings.Repeat("台风，", 2*maxKeptText/len("台风，")), manyWords(2 * maxKeptTokens)}
	for _, giant := range giants {
		counter.Tokens("", giant)
		got := counter.Tokens("", "台风登陆")
		if want := "台风 登陆"; tokens(counts(got)) != want {
			t.Errorf("after a giant: %s, want %s", tokens(counts(got)), want)
		}
		if cap(counter.text) > maxKeptText || cap(counter.tokens) > maxKeptTokens ||
			cap(counter.table.slots) > 4*maxKeptTokens {
			t.Errorf("a Counter holds %d bytes, %d tokens and %d slots", cap(counter.text),
				cap(counter.tokens), cap(counter.table.slots))
		}
	}
}

func TestTrie(t *testing.T) {
	check.OneGoroutine(t)
	random := rand.New(rand.NewPCG(9, 10))
	for _, codes := range []int{2, 3, 10, 300} {
		word := func() []uint32 {
			w := make([]uint32, 1+random.IntN(4))
			for i := range w {
				w[i] = uint32(1 + random.IntN(codes-1))
			}
			return w
		}
		b := newTrieBuilder(codes, 0)
		number := make(map[string]uint32)
		var inOrder [][]uint32
		for range 1000 {
			inOrder = append(inOrder, word())
		}
		slices.SortFunc(inOrder, slices.Compare)
		inOrder = slices.CompactFunc(inOrder, slices.Equal)
		var last []uint32
		for i, w := range inOrder {
			shared := 0
			for shared < min(len(last), len(w)) && last[shared] == w[shared] {
				shared++
			}
			number[fmt.Sprint(w)] = uint32(1 + i)
			b.append(shared, w[shared:], uint32(1+i))
			last = w
		}
		for i := range uint32(2000) {
			w := word()
			place := b.add(w)
			if *place != number[fmt.Sprint(w)] {
				t.Fatalf("%d codes: %v is word %d, want %d", codes, w, *place, number[fmt.Sprint(w)])
			}
			if *place == 0 {
				*place, number[fmt.Sprint(w)] = 2000+i, 2000+i
			}
		}
		trie := b.build()
		for range 20_000 {
			w := word()
			at, found := w[0], true
			for _, code := range w[1:] {
				child := trie[at].base + code
				if found = trie[child].check == at; !found {
					break
				}
				at = child
			}
			var got node
			if found {
				got = trie[at]
			}
			want := number[fmt.Sprint(w)]
			if got.word != want {
				t.Fatalf("%d codes: %v is word %d, want %d", codes, w, got.word, want)
			}
			if found && trie[trie[at].base].check == at {
				t.Fatalf("%d codes: %v has a child by code 0", codes, w)
			}
		}
		if free := len(slices.DeleteFunc(slices.Clone(trie[codes:]),
			func(n node) bool { return n.check != 0 })); free > len(trie)/10+2*codes {
			t.Errorf("%d codes: %d of %d nodes are free", codes, free, len(trie))
		}
	}
}
