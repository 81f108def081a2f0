package text

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/clusterd/clusterd/internal/testutil/check"
	"github.com/clusterd/clusterd/internal/testutil/golden"
)

// One load serves all that user files change.
func TestUserFiles(t *testing.T) {
	check.OneGoroutine(t)
	first := write(t, "first.txt", strings.Join([]string{
		"\ufeff# a comment, after a byte order mark",
		"",
		"颱風眼牆 200 n\r",    // traditional, carriage return
		"中国我们",            // no frequency
		"ＡＩ大模型 50",        // full width, capitals
		"5G网络 100",        // begins with letters
		"天气晴朗 1",          // built in with more
		"北京天气 1000000000", // the highest frequency
		"风向标杆 7",
	}, "\n"))
	second := write(t, "second.txt", "风向标杆 9000\n")
	stop := write(t, "stop.txt", "# publishers\n\n新華社\r\n ＵＰＩ \n——\nnew york\n")
	options := Options{
		Dictionaries: []string{first, second}, StopWords: []string{stop},
		CleanOptions: CleanOptions{HTML: "never"},
		Hash:         func(word string) uint64 { return uint64(len(word)) },
	}
	tok, err := New(options)
	if err != nil {
		t.Fatal(err)
	}
	user, err := loadUserWords(options.Dictionaries, tok.norm)
	if err != nil {
		t.Fatal(err)
	}
	texts := randomTexts(sharedOracle(t), 500)
	for i := range texts {
		texts[i] += user.Tokens[i%len(user.Tokens)].Text() + "的"
	}
	plain := sharedOracle(t).with(t, options, texts)

	for _, c := range []struct{ name, text, before, after string }{
		{"a traditional word", "台风眼墙", "台风眼 墙", "台风眼墙"},
		{"a word without frequency beats the two most frequent words", "中国我们", "中国", "中国我们"},
		{"a full width word", "ai大模型", "ai 模型", "ai大模型"},
		{"a word that begins with letters", "用5g网络", "5g 网络", "5g网络"},
		{"but in a longer run of letters it is not found", "lte5g网络", "lte5g 网络", "lte5g 网络"},
		{"the user's frequency counts", "北京天气晴朗", "北京 天气晴朗", "北京天气 晴朗"},
		{"a user's stop word", "新华社 upi 台风", "upi 台风 新华社", "台风"},
		{"a phrase stops nothing", "new york", "new york", "new york"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := tokens(shared(t).Tokens("", c.text)); got != c.before {
				t.Errorf("without user files: %s, want %s", got, c.before)
			}
			if got := tokens(tok.Tokens("", c.text)); got != c.after {
				t.Errorf("with user files: %s, want %s", got, c.after)
			}
		})
	}
	if frequency, _, _ := plain.seg.Dict.Find([]byte("风向标杆")); frequency != 7 {
		t.Errorf("a word in two dictionaries has frequency %g, want the first, 7", frequency)
	}
	counter := tok.NewCounter()
	// of one hash, but not one token
	for _, token := range counter.Tokens("", "台风登陆，typhoon 䶮 的 5g网络") {
		if token.Hash != uint64(len(token.Word)) || token.Count != 1 {
			t.Errorf("%s has hash %d and occurs %d times", token.Word, token.Hash, token.Count)
		}
	}
	for _, text := range texts {
		wantWords(t, &counter.segmenter, plain, text)
		if got, want := counts(counter.Tokens("", text)), plain.tokens("", text); !maps.Equal(got, want) {
			t.Errorf("tokens of %q\n got %s\nwant %s", text, tokens(got), tokens(want))
		}
	}
	if tok.Identity() == shared(t).Identity() ||
		!strings.HasSuffix(tok.Identity(), ",norm=1,html=never") {
		t.Errorf("identity %s, without user files %s", tok.Identity(), shared(t).Identity())
	}
}

func TestIdentity(t *testing.T) {
	n := newTestNormalizer(t)
	dict := func(lines ...string) checksum {
		seg := newUserWords()
		for _, line := range lines {
			if err := addWord(seg, n, line); err != nil {
				t.Fatal(err)
			}
		}
		return newLexicon(&dictionary{}, seg.Dict, nil).checksum
	}
	stop := func(content string) map[string]struct{} {
		words, err := loadStopWords([]string{write(t, "stop.txt", content)}, n)
		if err != nil {
			t.Fatal(err)
		}
		return words
	}
	base := identity(dict("台风 2", "登陆"), stop("台风\n登陆"), &Cleaner{html: htmlAuto})
	for _, c := range []struct {
		name, identity string
		same           bool
	}{
		{"order of words", identity(dict("登陆", "台风 2"), stop("登陆\n台风"), &Cleaner{html: htmlAuto}), true},
		{"spelling of words", identity(dict("颱風 2.0 n", "登陸 1000"), stop("# c\n颱風\n\n登陸\n登陆"),
			&Cleaner{html: htmlAuto}), true},
		{
			"another word", identity(dict("台风 2", "登陆", "天气"), stop("台风\n登陆"), &Cleaner{html: htmlAuto}),
			false,
		},
		{
			"another frequency", identity(dict("台风 3", "登陆"), stop("台风\n登陆"), &Cleaner{html: htmlAuto}),
			false,
		},
		{"another stop word", identity(dict("台风 2", "登陆"), stop("台风"), &Cleaner{html: htmlAuto}), false},
		{
			"another HTML mode", identity(dict("台风 2", "登陆"), stop("台风\n登陆"), &Cleaner{html: htmlNever}),
			false,
		},
		{"the article of a page", identity(dict("台风 2", "登陆"), stop("台风\n登陆"),
			&Cleaner{html: htmlAuto, article: true}), false},
	} {
		if (c.identity == base) != c.same {
			t.Errorf("%s: %s and %s, want them the same: %v", c.name, base, c.identity, c.same)
		}
	}
}

// foldedWords is what normalised text needs of gse's dictionary.
func TestFoldedWords(t *testing.T) {
	check.OneGoroutine(t)
	file, err := os.ReadFile(foldedWords)
	if err != nil {
		t.Fatal(err)
	}
	plain := sharedOracle(t)
	own := bytes.Count(file, []byte("\n")) - 1 // less the comment
	builtIn := plain.seg.Dict.Tokens[own:]
	has := make(map[string]bool, len(builtIn))
	for i := range builtIn {
		has[builtIn[i].Text()] = true
	}
	folded := make(map[string]float64)
	for i := range builtIn {
		word := plain.norm.normalize(builtIn[i].Text())
		if !has[word] && isWord(word) {
			folded[word] = max(folded[word], builtIn[i].Freq())
		}
	}
	got := "# Written by go test -run TestFoldedWords -update.\n"
	for _, word := range slices.Sorted(maps.Keys(folded)) {
		got += fmt.Sprintf("%s %g\n", word, folded[word])
	}
	golden.Check(t, foldedWords, []byte(got))
}

// The words that runs may tear apart.
func TestWordsThatSplit(t *testing.T) {
	check.OneGoroutine(t)
	var got []string
	words := sharedOracle(t).seg.Dict.Tokens
	for i := range words {
		if word := words[i].Text(); !isWord(word) {
			got = append(got, word)
		}
	}
	slices.Sort(got)
	if want := "at&t c# c++"; strings.Join(slices.Compact(got), " ") != want {
		t.Errorf("words of the dictionary that split: %q, want %s", got, want)
	}
}

func TestStopWords(t *testing.T) {
	n, err := newNormalizer()
	if err != nil {
		t.Fatal(err)
	}
	stop, err := loadStopWords(nil, n)
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{"的", "我们", "但是", "the", "t", "ll"} {
		if _, ok := stop[word]; !ok {
			t.Errorf("%q is no stop word", word)
		}
	}
	for word := range stop {
		if !isWord(word) || n.normalize(word) != word {
			t.Errorf("stop word %q can be no token", word)
		}
		if strings.ContainsAny(word, "0123456789") {
			t.Errorf("stop word %q is a number", word)
		}
	}
}
