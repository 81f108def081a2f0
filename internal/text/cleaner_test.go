package text

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestCleaner(t *testing.T) {
	for _, test := range []struct{ name, html, title, content, want string }{
		{"nothing", "", "", "", "\n"},
		{"a title alone", "", "Typhoon", "", "typhoon\n"},
		{"a content alone", "", "", "台风 登陆", "\n台风 登陆"},
		{"case, width and variant", "", "ＴＹＰＨＯＯＮ", "颱風登陸，Ａ", "typhoon\n台风登陆,a"},
		{"mark-up where it is", "auto", "a < b", "<p>台风<b>登</b>陆</p><p>港口</p>", "a < b\n\n台风登陆\n\n港口\n"},
		{"mark-up left", "never", "a &amp; b", "<p>台风</p>", "a &amp; b\n<p>台风</p>"},
		{"references", "", "a &amp; b", "", "a & b\n"},
	} {
		c, err := NewCleaner(CleanOptions{HTML: test.html})
		if err != nil {
			t.Fatal(err)
		}
		got := string(c.AppendClean([]byte("before:"), test.title, test.content))
		if want := "before:" + test.want; got != want {
			t.Errorf("%s: %q, want %q", test.name, got, want)
		}
	}
	if _, err := NewCleaner(CleanOptions{HTML: "sometimes"}); err == nil ||
		!strings.Contains(err.Error(), "auto, always or never") {
		t.Errorf("NewCleaner of an unknown mode: error %v, want one that names the known", err)
	}
}

func TestCleanTextIsValid(t *testing.T) {
	c, err := NewCleaner(CleanOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, broken := range []string{"\xff", "台\xe5\x8f", "<p>\xc0\x80</p>", "\xed\xa0\x80"} {
		if got := c.AppendClean(nil, broken, broken); !utf8.Valid(got) {
			t.Errorf("%q is made %q", broken, got)
		}
	}
}

// Tokens depend on how texts are cleaned, and their identity says how.
func TestIdentityOfCleaner(t *testing.T) {
	for mode, want := range map[string]string{
		"": "norm=1,html=auto", "auto": "norm=1,html=auto", "always": "norm=1,html=always",
		"never": "norm=1,html=never",
	} {
		c, err := NewCleaner(CleanOptions{HTML: mode})
		if err != nil {
			t.Fatal(err)
		}
		if got := c.Identity(); got != want {
			t.Errorf("html %q: identity %q, want %q", mode, got, want)
		}
	}
	tok := shared(t)
	if whole, part := tok.Identity(), tok.Cleaner.Identity(); !strings.HasSuffix(whole, ","+part) {
		t.Errorf("the identity of a Tokenizer is %q, which does not end in %q", whole, part)
	}
}

func TestCleanerDoesNotAllocate(t *testing.T) {
	c := shared(t).Cleaner
	text := article(2000)
	dst := c.AppendClean(nil, "台风登陆", text)
	want := bytes.Clone(dst)
	if n := testing.AllocsPerRun(20, func() { dst = c.AppendClean(dst[:0], "台风登陆", text) }); n != 0 {
		t.Errorf("%v allocations into memory that suffices, want none", n)
	}
	if !bytes.Equal(dst, want) {
		t.Errorf("cleaned again: %q, want %q", dst, want)
	}
}
