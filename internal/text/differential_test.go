package text

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/go-ego/gse"

	"github.com/clusterd/clusterd/internal/testutil/check"
	"github.com/clusterd/clusterd/internal/testutil/corpus"
)

type realArticle struct{ Title, Content string }

// realArticles returns one of so many articles of a set, and all of the corpus.
func realArticles(t testing.TB, set corpus.Set, every int) (articles []realArticle) {
	t.Helper()
	if set.Name == "corpus" {
		every = 1
	}
	set.Lines(t, func(n int, line []byte) bool {
		if n%every > 0 {
			return true
		}
		var a realArticle
		if err := json.Unmarshal(line, &a); err != nil {
			t.Fatalf("%s:%d: %v", set.Name, n+1, err)
		}
		articles = append(articles, a)
		return true
	})
	return articles
}

func TestWordsOfRandomTexts(t *testing.T) {
	check.OneGoroutine(t)
	s, plain := &shared(t).NewCounter().segmenter, sharedOracle(t)
	for _, text := range randomTexts(plain, 3000) {
		wantWords(t, s, plain, text)
	}
}

func TestWords(t *testing.T) {
	check.OneGoroutine(t)
	s, plain := &shared(t).NewCounter().segmenter, sharedOracle(t)
	for _, text := range []string{
		"", " ", "。", "\x00", "中\x00国\x00", "\ufffd中\ufffd",
		"t恤", "买t恤衫", "at恤", "a股", "ab股", "5g网络", "4s店", "14s店", "k歌之王", "中k歌之王中", "pc机pc", "γ", "γ中",
		"αγ",
		"é", "éa中é", "中é国", "ы", "中ы7", "a\u0302中", "中\u0302国", "\u0302", "\u0302中", "ẖ", "aẖb", "ẖ中",
		"𠀀", "中𠀀国", "𫘨", "𫘧𫘨", "骅骝𫘧𫘨", "한국어", "タイフーン", "a한b", "٣", "中٣", "䶮", "䶮中䶮䶮",
		"乾隆", "研究生命起源", "的的的", "中华人民共和国中央人民政府",
		"at&t", "c++", "c#", "中c++中",
	} {
		wantWords(t, s, plain, text)
		wantWords(t, s, plain, text+"中国"+text)
	}
	for _, unit := range []string{
		"a", "é", "中", "的", "䶮", "𠀀", "\u0302", "a中", "中a1", "研究生命起源",
		"中国é",
	} {
		for _, more := range []int{-1, 0, 1, 5} {
			n := maxRun/len(unit) + more
			wantWords(t, s, plain, strings.Repeat(unit, n))
			wantWords(t, s, plain, "x"+strings.Repeat(unit, n))
			wantWords(t, s, plain, strings.Repeat(unit, 2*n)+" "+unit)
		}
	}
}

// Small dictionaries have what the large one lacks: words that cost the same, words that cost
// nothing, and of all their units no more than some are words.
func TestWordsOfSmallDictionaries(t *testing.T) {
	check.OneGoroutine(t)
	units := []string{"中", "国", "人", "民", "a", "1", "é", "ẖ", "한", "𠀀", "\u0302", "乾", "。"}
	random := rand.New(rand.NewPCG(5, 6))
	join := func(units []string, n int) string {
		var b strings.Builder
		for range n {
			b.WriteString(units[random.IntN(len(units))])
		}
		return b.String()
	}
	n := newTestNormalizer(t)
	for range 200 {
		var words []string
		var dictionary string
		for range random.IntN(12) {
			word := join(units[:len(units)-1], 1+random.IntN(4))
			words = append(words, word)
			dictionary += fmt.Sprintf("%s %d\n", word, []int{1, 1, 1, 2, 3, maxFrequency}[random.IntN(6)])
		}
		s, plain := smallDictionary(n, dictionary)
		for range 20 {
			wantWords(t, s, plain, n.normalize(join(append(words, units...), random.IntN(20))))
		}
	}
}

// smallDictionary returns a segmenter and an oracle for the lines of a file alone, as far as they
// are good. Every other is a user's, and so is one with a fraction, which no built-in word has.
func smallDictionary(n *normalizer, file string) (*segmenter, *oracle) {
	user, builtIn, all := newUserWords(), newUserWords(), newUserWords()
	lines := 0
	_ = readLines("", strings.NewReader(file), func(line string) error {
		lines++
		seg, frequency := user, 0.
		if fields := strings.Fields(line); len(fields) > 1 {
			frequency, _ = strconv.ParseFloat(fields[1], 64)
		}
		if lines%2 == 0 && frequency == math.Trunc(frequency) {
			seg = builtIn
		}
		_ = addWord(seg, n, line)
		return nil
	})
	for _, seg := range []*gse.Segmenter{user, builtIn} {
		for i := range seg.Dict.Tokens {
			_ = all.AddToken(seg.Dict.Tokens[i].Text(), seg.Dict.Tokens[i].Freq())
		}
	}
	all.CalcToken()
	stop := map[string]struct{}{"国": {}, "人民": {}, "한": {}, "a": {}, "b": {}}
	compiled := decodeDictionary(compileDictionary(builtIn.Dict.Tokens))
	lexicon := newLexicon(compiled, user.Dict, stop)
	return &segmenter{lexicon: lexicon}, &oracle{norm: n, seg: all, stop: stop}
}

func FuzzWords(f *testing.F) {
	check.OneGoroutine(f)
	f.Add("中国人。中a")
	f.Add("5g网络t恤at恤éé中ы7人")
	s, plain := &shared(f).NewCounter().segmenter, sharedOracle(f)
	f.Fuzz(func(t *testing.T, text string) {
		wantWords(t, s, plain, plain.norm.normalize(text))
	})
}

func FuzzWordsOfSmallDictionaries(f *testing.F) {
	check.OneGoroutine(f)
	f.Add("中国 2\n国人 2\n人 1", "中国人。中a")
	f.Add("中国 1\n人民 1\n中国人 1\na中 1000000000\nb中 1000000000\nc中 1000000000", "中国人民")
	n := newTestNormalizer(f)
	f.Fuzz(func(t *testing.T, dictionary, text string) {
		s, plain := smallDictionary(n, dictionary)
		wantWords(t, s, plain, n.normalize(text))
	})
}
