package markup_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/clusterd/clusterd/internal/text/markup"
)

// pieces are what hostile pages are put together from.
var pieces = []string{
	"<", ">", "</", "/>", "<!", "<!-", "<!--", "--", "-->", "--!>", "-", "!", "<!-->", "<?", "<?xml ",
	"</>", "<a", "<p>", "</p >", "<P a=/>", "<p a=x a=/>", "<p a/b c = 'd>' e=\"f>\">", "<p =a>",
	"<p a a=x>", "<p A='&copy=1&copy;&lt&ltx;&ltx=&ltx'>", "<img src=&#65&#x41;&amp>", "='", "=\"",
	" ", "\n", "\r", "\r\n", "\f", "\x00", "&", "&;", "&#", "&#;", "&#x", "&#xg", "&#0;", "&#128;",
	"&#xD800;", "&#99999999999;", "&amp;", "&amp", "&ampx", "&notit;", "&notin;", "&NotEqualTilde;",
	"&nGt;", "&x;", "&aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa;", "=", ";", "#",
	"<script>", "</script>", "<SCRIPT ", "</ScRiPt\n", "</scrip", "</scriptx>", "<script/>",
	"<style>", "</style>", "<title>", "</title>", "<textarea>", "</textarea ", "<iframe>",
	"</iframe>", "<noscript>", "</noscript>", "<noembed>", "<noframes>", "<xmp>", "</xmp>",
	"<plaintext>", "<template>", "<svg>", "<![CDATA[", "]]>", "]", "<!DOCTYPE html>", "<!docTYPE",
	"<!DOC", "<![CDA", "台风", "\u212a", "\u017f", "\xff", "x", "script", "K", "a\x00B",
	"<p a1 a2 a3 a4 a5 a6 a7 a8 a9 a10 a11 a12 a13 a14 a15 a16 a17 A16 a1=/ a18 a18=x />",
	"<p k \u212a=1 K=2 a\x00=3 A\x00=4 a\ufffd=5>",
}

func TestTokensOfMadePages(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	var z markup.Tokenizer
	for range 300_000 {
		var page strings.Builder
		for range 1 + random.IntN(12) {
			page.WriteString(pieces[random.IntN(len(pieces))])
		}
		options := random.IntN(4)
		if err := compare(&z, page.String(), options); err != nil {
			t.Fatal(err)
		}
	}
}

// The pages and fuzz corpora of package text are read as golang.org/x/net/html reads them.
func TestTokensOfPages(t *testing.T) {
	var z markup.Tokenizer
	pages := 0
	for _, pattern := range []string{"pages/*", "articles/*", "fuzz/*/*"} {
		paths, err := filepath.Glob("../testdata/" + pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			info, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			if info.IsDir() {
				continue
			}
			page, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			for options := range 4 {
				if err := compare(&z, string(page), options); err != nil {
					t.Errorf("%s: %v", path, err)
				}
			}
			pages++
		}
	}
	if pages < 10 {
		t.Errorf("only %d pages in the test data of package text", pages)
	}
}

func FuzzTokens(f *testing.F) {
	for _, piece := range pieces {
		f.Add(piece+"<p>台风</p>", 3)
	}
	f.Add("<script><!--<script></script>--></script>a&amp;b", 0)
	f.Add("<title>a<b>&lt;</title><![CDATA[x\x00&lt;]]>", 1)
	var z markup.Tokenizer
	f.Fuzz(func(t *testing.T, page string, options int) {
		if err := compare(&z, page, options); err != nil {
			t.Error(err)
		}
	})
}

// compare reads a page with both tokenizers. Bit 0 of the options allows CDATA sections, bit 1
// lets every element hold tags.
func compare(z *markup.Tokenizer, page string, options int) error {
	want := html.NewTokenizer(strings.NewReader(page))
	want.AllowCDATA(options&1 != 0)
	z.Reset(page)
	z.AllowCDATA(options&1 != 0)
	for i := 0; ; i++ {
		got, wanted := z.Next(), want.Next()
		if got == wanted && got == html.ErrorToken {
			return nil
		}
		g, w := token(got, z, options), token(wanted, plain{want}, options)
		if g != w {
			return fmt.Errorf("%q, options %d: token %d\n got %s\nwant %s", page, options, i, g, w)
		}
	}
}

// A tokenizer is either of the two.
type tokenizer interface {
	Raw() string
	AppendText(dst []byte) []byte
	TagName() (name []byte, hasAttr bool)
	TagAttr() (key, value []byte, more bool)
	NextIsNotRawText()
}

type plain struct{ *html.Tokenizer }

func (p plain) Raw() string                  { return string(p.Tokenizer.Raw()) }
func (p plain) AppendText(dst []byte) []byte { return append(dst, p.Text()...) }

// token describes the token that z is at.
func token(kind html.TokenType, z tokenizer, options int) string {
	description := fmt.Sprintf("%v %q", kind, z.Raw())
	switch kind {
	case html.TextToken:
		description += fmt.Sprintf(" text %q", z.AppendText(nil))
	case html.StartTagToken, html.EndTagToken, html.SelfClosingTagToken:
		name, more := z.TagName()
		description += fmt.Sprintf(" name %q %t", name, more)
		for more {
			var key, value []byte
			key, value, more = z.TagAttr()
			description += fmt.Sprintf(" %q=%q", key, value)
		}
		if options&2 != 0 {
			z.NextIsNotRawText()
		}
	}
	return description
}

// Pages read one after the other need no new memory.
func TestAllocatesNothing(t *testing.T) {
	page := strings.Repeat(`<p class="x">台风&nbsp;登陆<BR/>&#20013;</p><script>x</script>`, 100)
	var z markup.Tokenizer
	var text []byte
	read := func() {
		z.Reset(page)
		text = text[:0]
		for kind := z.Next(); kind != html.ErrorToken; kind = z.Next() {
			switch kind {
			case html.TextToken:
				text = z.AppendText(text)
			case html.StartTagToken, html.EndTagToken, html.SelfClosingTagToken:
				for _, more := z.TagName(); more; {
					_, _, more = z.TagAttr()
				}
			}
		}
	}
	if n := testing.AllocsPerRun(10, read); n != 0 {
		t.Errorf("%v allocations a page", n)
	}
	if len(text) == 0 {
		t.Error("no text")
	}
}
