package text

import (
	"fmt"
	"log/slog"
	"strings"
	"unicode/utf8"

	"codeberg.org/readeck/go-readability/v2"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// extractVersion stands in the identity where articles are extracted: which words are left
// depends on the release of the library, and on the tree that it is given. Raise the latter's
// number with every change to that or to what a page may cost.
const extractVersion = "readability-v2.1.1+tree2"

// parseExtract reports whether [Options].Extract asks for the article alone.
func parseExtract(s string) (article bool, err error) {
	switch s {
	case "", "all":
		return false, nil
	case "article":
		return true, nil
	}
	return false, fmt.Errorf("extract mode %q: want all or article", s)
}

// isPage tells a whole page from a fragment of HTML: it begins with HTML's doctype or with an
// html, head or body tag, after nothing but comments and white space.
func isPage(s string) bool {
	s = strings.TrimPrefix(s, "\ufeff")
	z := html.NewTokenizer(strings.NewReader(s))
	for {
		switch z.Next() {
		case html.CommentToken: // or an XML declaration
		case html.DoctypeToken:
			name, _, _ := strings.Cut(string(z.Text()), " ")
			return strings.EqualFold(name, "html")
		case html.TextToken:
			if len(strings.TrimSpace(string(z.Text()))) > 0 {
				return false
			}
		case html.StartTagToken:
			name, _ := z.TagName()
			element := atom.Lookup(name)
			return element == atom.Html || element == atom.Head || element == atom.Body
		default:
			return false
		}
	}
}

// minArticle is how many characters an article must have for the library to be content with it.
// With fewer it tries again with more of the page around it. Its own 500 are a long article in
// Chinese.
const minArticle = 100

// mainText returns the text of a page's article, without what its site puts around it. ok is
// false where none is found, or where looking for it would cost too much: that is decided by
// counting, never by a clock, so that it is the same on every machine.
func mainText(page string) (article string, ok bool) {
	root, err := parseTree(page)
	if err != nil || work(root) > maxWork {
		return "", false
	}
	return guarded(func() (string, error) {
		p := readability.NewParser()
		p.CharThresholds = minArticle
		p.DisableJSONLD = true                   // metadata, which is not wanted
		p.Logger = slog.New(slog.DiscardHandler) // its own formats each element that it looks at
		found, err := p.ParseAndMutate(root, nil)
		if err != nil {
			return "", err
		}
		var text strings.Builder
		err = found.RenderText(&text)
		return trimEdges(text.String()), err
	})
}

// minLine is how many characters a line must have to be taken for the article's own. It is from
// how many on the library counts a paragraph.
const minLine = 25

// trimEdges drops the short lines before an article's first long one and after its last: what an
// extractor often leaves of a date, a caption or a credit, other on every site. A text without a
// long line is left as it is.
func trimEdges(article string) string {
	first, last := -1, -1
	at := 0
	for line := range strings.Lines(article) {
		if utf8.RuneCountInString(strings.TrimSpace(line)) >= minLine {
			if first < 0 {
				first = at
			}
			last = at + len(line)
		}
		at += len(line)
	}
	if first < 0 {
		return article
	}
	return article[first:last]
}

// guarded makes a failure of the library, a panic included, a page without an article: one page
// must not end a program that would get it again after every restart.
func guarded(extract func() (string, error)) (article string, ok bool) {
	defer func() {
		if recover() != nil {
			article, ok = "", false
		}
	}()
	article, err := extract()
	return article, err == nil && strings.ContainsFunc(article, isLetterOrNumber)
}
