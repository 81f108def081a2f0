package text

import (
	"errors"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/net/html"

	"github.com/clusterd/clusterd/internal/testutil/check"
)

const (
	sentence = "The committee said on Monday, after a long meeting, that the bridge over the river " +
		"will be closed until the end of May. "
	around = `<nav><a href="/">Home</a> <a href="/news">News</a></nav>`
	aPage  = `<!DOCTYPE html><html><head><title>Bridge</title></head><body>` + around +
		`<article><p>` + sentence + sentence + `</p><p>` + sentence +
		`</p></article><footer>All rights reserved</footer></body></html>`
	aFragment = around + `<article><p>` + sentence + sentence + `</p><p>` + sentence +
		`</p></article><footer>All rights reserved</footer>`
)

func articleCleaner(t testing.TB, html string) *Cleaner {
	t.Helper()
	c, err := NewCleaner(CleanOptions{HTML: html, Extract: "article"})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestIsPage(t *testing.T) {
	for s, want := range map[string]bool{
		"<!DOCTYPE html><p>x":                                true,
		`<!doctype HTML PUBLIC "-//W3C//DTD HTML 4.01//EN">`: true,
		"\ufeff\n <!-- saved --> <HTML lang=zh>":             true,
		"<head><title>x</title></head>":                      true,
		"<body>x":                                            true,
		`<?xml version="1.0"?><html xmlns="x">`:              true,
		"<!DOCTYPE rss><rss>":                                false,
		"<p>x</p>":                                           false,
		"<div><body>":                                        false,
		"see <html>":                                         false,
		"</html>":                                            false,
		"plain":                                              false,
		"":                                                   false,
	} {
		if isPage(s) != want {
			t.Errorf("isPage(%q) is %v", s, !want)
		}
	}
}

func TestExtract(t *testing.T) {
	check.OneGoroutine(t)
	article := strings.TrimSpace(sentence+sentence) + "\n\n" + strings.TrimSpace(sentence)
	for _, c := range []struct {
		name, html, content string
		want                string // words that white space separates; "": as without extracting
	}{
		{"a page", "auto", aPage, article},
		{"always", "always", aPage, article},
		{
			"what is around the article in it", "auto",
			strings.Replace(aPage, "<article>", "<article><p>12 May</p>", 1), article,
		},
		{"never", "never", aPage, ""},
		{"a fragment", "auto", aFragment, ""},
		{"a page without words", "auto", "<html><body><img src=x></body></html>", ""},
		{
			"a page of headlines", "auto",
			"<html><body><a href=/1>Storm</a><a href=/2>Goats</a></body></html>", "",
		},
		{"nested too deeply", "auto", "<html><body>" + strings.Repeat("<div>", 1000) + sentence, ""},
		{"plain text", "auto", sentence, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			want := c.want
			if want == "" {
				want = htmlMode(c.html).plain(c.content, nil)
			}
			got := articleCleaner(t, c.html).plainContent(nil, c.content, nil)
			if strings.Join(strings.Fields(got), " ") != strings.Join(strings.Fields(want), " ") {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

func TestTrimEdges(t *testing.T) {
	long := strings.TrimSpace(sentence)
	for _, c := range []struct{ text, want string }{
		{"12 May\nFile picture\n" + long + "\nNo.\n" + long + "\n\nSource\n", long + "\nNo.\n" + long +
			"\n"},
		{long, long},
		{"二十五个字的一行才算是文章自己的话，这一行正好够长了。\n来源\n", "二十五个字的一行才算是文章自己的话，这一行正好够长了。\n"},
		{"roses\nare red", "roses\nare red"},
		{"", ""},
	} {
		if got := trimEdges(c.text); got != c.want {
			t.Errorf("trimEdges(%q) is %q, want %q", c.text, got, c.want)
		}
	}
}

// checkBounds fails the test where a tree has more nodes or levels than allowed.
func checkBounds(t *testing.T, root *html.Node) {
	t.Helper()
	nodes := 0
	var walk func(n *html.Node, depth int)
	walk = func(n *html.Node, depth int) {
		if nodes++; depth > maxDepth {
			t.Fatalf("the tree is more than %d levels deep", maxDepth)
		}
		for c := range n.ChildNodes() {
			walk(c, depth+1)
		}
	}
	walk(root, 0)
	if nodes > maxNodes+4 { // the document, html, head and body
		t.Errorf("the tree has %d nodes, of which %d are allowed", nodes, maxNodes)
	}
}

// What costs too much is left as it is, and a page that is only long is not.
func TestDearPagesAreNotExtracted(t *testing.T) {
	check.OneGoroutine(t)
	for name, body := range map[string]string{
		"a long text, deeply nested": strings.Repeat("<div>", 100) + strings.Repeat("<p>"+sentence,
			4000),
		"more levels than any page":   strings.Repeat("<div>", maxDepth) + sentence,
		"more elements than any page": strings.Repeat("<br>", maxNodes) + sentence,
		"headings of a page without title": "<h1>" + strings.Repeat(sentence, 100) + "</h1>" +
			strings.Repeat("<h2>x</h2>", 1000) + sentence,
	} {
		if article, ok := mainText("<html><body>" + body); ok {
			t.Errorf("%s: %d bytes are extracted", name, len(article))
		}
	}
	if _, ok := mainText("<html><body>" + strings.Repeat("<p>"+sentence, 8000)); !ok {
		t.Error("a page of 1 MB without more is not extracted")
	}
}

func TestFailingExtractor(t *testing.T) {
	for name, extract := range map[string]func() (string, error){
		"panic":   func() (string, error) { var none []int; return string(rune(none[0])), nil },
		"error":   func() (string, error) { return "x", errors.New("no") },
		"nothing": func() (string, error) { return " \n…", nil },
	} {
		if article, ok := guarded(extract); ok {
			t.Errorf("%s: got %q", name, article)
		}
	}
}

func TestExtractIsInTheIdentityOnlyWhereItIsOn(t *testing.T) {
	for extract, want := range map[string]string{
		"": "norm=1,html=auto", "all": "norm=1,html=auto",
		"article": "norm=1,html=auto,extract=article/" + extractVersion,
	} {
		c, err := NewCleaner(CleanOptions{Extract: extract})
		if err != nil {
			t.Fatal(err)
		}
		if c.Identity() != want {
			t.Errorf("extract %q: identity %s, want %s", extract, c.Identity(), want)
		}
	}
	if _, err := NewCleaner(CleanOptions{Extract: "some"}); err == nil {
		t.Error("extract mode some is accepted")
	}
}

// The identity names the release that is built in.
func TestExtractVersion(t *testing.T) {
	mod, err := os.ReadFile("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	version, _, _ := strings.Cut(strings.TrimPrefix(extractVersion, "readability-"), "+")
	if !strings.Contains(string(mod), "codeberg.org/readeck/go-readability/v2 "+version+"\n") {
		t.Errorf("go.mod has another release of go-readability than %s: the identity must change with it",
			version)
	}
}

// Whatever a page holds, it gives some text, the same each time.
func FuzzMainText(f *testing.F) {
	check.OneGoroutine(f)
	f.Add(aPage)
	f.Add("<html><body><table><tr><td>" + sentence + "<td>x</table>")
	f.Add("<html><body>" + sentence + "<br><br>" + sentence + "<p><b><i></p></b>" + sentence)
	f.Add("<html><noscript><img src=x>" + sentence + "</noscript><svg><style>" + sentence)
	f.Fuzz(func(t *testing.T, page string) {
		article, ok := mainText(page)
		if again, okAgain := mainText(page); again != article || okAgain != ok {
			t.Errorf("got %q, then %q", article, again)
		}
		if ok && !strings.ContainsFunc(article, isLetterOrNumber) {
			t.Errorf("got %q, which has no words", article)
		}
		if utf8.ValidString(page) && !utf8.ValidString(article) {
			t.Errorf("got %q, which is no UTF-8", article)
		}
	})
}
