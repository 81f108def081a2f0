package text

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-ego/gse"
	"github.com/google/go-cmp/cmp"

	"github.com/clusterd/clusterd/internal/testutil/check"
)

func FuzzTokens(f *testing.F) {
	check.OneGoroutine(f)
	f.Add("颱風登陸", "<p>台<b>风</b>&nbsp;２０２４ 年</p>")
	f.Add("<?xml version=\"1.0\"?><rss><title><![CDATA[台风<b>]]></title></rss>",
		"<x xmlns=\"y\">台<em>风")
	f.Add("a<b and c>d", "\ufeffTy\u200bphoon's\x00\xff")
	f.Add("H\u0331\u0301", "😀1️⃣İẞΣ")
	plain := *sharedOracle(f)
	shared(f) // not while an input is timed
	f.Fuzz(func(t *testing.T, title, content string) {
		for _, mode := range []htmlMode{htmlAuto, htmlAlways, htmlNever} {
			tok, plain := withHTML(t, mode), plain
			plain.html = mode
			got := tok.Tokens(title, content)
			for word, n := range got {
				_, stopped := plain.stop[word]
				switch {
				case n < 1:
					t.Errorf("%q occurs %d times", word, n)
				case !utf8.ValidString(word):
					t.Errorf("%q is invalid UTF-8", word)
				case !strings.ContainsFunc(word, isLetterOrNumber):
					t.Errorf("%q has neither letter nor number", word)
				case stopped:
					t.Errorf("%q is a stop word", word)
				case tok.norm.normalize(word) != word:
					t.Errorf("%q normalises to %q", word, tok.norm.normalize(word))
				}
			}
			if diff := cmp.Diff(plain.tokens(title, content), got); diff != "" {
				t.Errorf("the tokens are not those of gse:\n%s", diff)
			}
			if mode == htmlNever {
				if diff := cmp.Diff(got, tok.Tokens("", title+"\n"+content)); diff != "" {
					t.Errorf("joined by a line break the tokens differ:\n%s", diff)
				}
			}
		}
	})
}

// What a user dictionary's lines add can match, or the line is refused.
func FuzzUserDictionary(f *testing.F) {
	f.Add("台风 100 n\n# x\n\n颱風")
	f.Add("\ufeff词\tNaN\r\n")
	f.Add("c++ 1")
	n := newTestNormalizer(f)
	f.Fuzz(func(t *testing.T, file string) {
		seg := &gse.Segmenter{Dict: gse.NewDict(), NotLoadHMM: true}
		err := readLines("FILE", strings.NewReader(file),
			func(line string) error { return addWord(seg, n, line) })
		if err != nil && !strings.HasPrefix(err.Error(), "FILE:") {
			t.Errorf("error without a line: %v", err)
		}
		for i := range seg.Dict.Tokens {
			word, frequency := seg.Dict.Tokens[i].Text(), seg.Dict.Tokens[i].Freq()
			if !isWord(word) || n.normalize(word) != word {
				t.Errorf("word %q can never match", word)
			}
			if !(frequency >= 1 && frequency <= maxFrequency) {
				t.Errorf("word %q has frequency %g", word, frequency)
			}
		}
	})
}
