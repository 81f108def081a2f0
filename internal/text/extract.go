package text

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"codeberg.org/readeck/go-readability/v2"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// extractVersion stands in the identity where articles are extracted: which words are left
// depends on the release of the library.
const extractVersion = "readability-v2.1.1"

// parseExtract tells whether [Options].Extract asks for the article alone.
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

// minArticle is how many characters an article must have for the library to be content with it. With
// fewer it tries again with more of the page around it. Its own 500 are a long article in Chinese.
const minArticle = 100

// mainText returns the text of a page's article, without what its site puts around it. ok is false where
// none is found, or where looking for it would cost too much.
func mainText(page string) (article string, ok bool) {
	if nodes(page) > maxNodes {
		return "", false
	}
	root, err := html.Parse(strings.NewReader(page))
	if err != nil || work(root) > maxWork {
		return "", false
	}
	return guarded(func() (string, error) {
		p := readability.NewParser()
		p.CharThresholds = minArticle
		p.DisableJSONLD = true // metadata, which is not wanted
		found, err := p.ParseAndMutate(root, nil)
		if err != nil {
			return "", err
		}
		var text strings.Builder
		err = found.RenderText(&text)
		return trimEdges(text.String()), err
	})
}

// minLine is how many characters a line must have to be taken for the article's own. It is from how many on
// the library counts a paragraph.
const minLine = 25

// trimEdges drops the short lines before an article's first long one and after its last: what an extractor
// often leaves of a date, a caption or a credit, other on every site. A text without a long line is
// left as it is.
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

// guarded makes a failure of the library, a panic included, a page without an article: one page must not
// end a program that would get it again after every restart.
func guarded(extract func() (string, error)) (article string, ok bool) {
	defer func() {
		if recover() != nil {
			article, ok = "", false
		}
	}()
	article, err := extract()
	return article, err == nil && strings.ContainsFunc(article, isLetterOrNumber)
}

// What a page may cost: its tree some 40 MB, looking for the article about half a second. Pages of
// news sites stay below a tenth of both.
const (
	maxNodes = 1 << 18
	maxWork  = 1 << 25
)

// nodes estimates from above how many nodes the tree of a page has. They can be far more than its tags: the
// formatting elements that are left open are made anew for each paragraph.
func nodes(page string) int {
	n, open := 0, 0
	z := html.NewTokenizer(strings.NewReader(page))
	for n <= maxNodes {
		kind := z.Next()
		if kind == html.ErrorToken {
			break
		}
		n += 1 + open
		if kind != html.StartTagToken && kind != html.EndTagToken {
			continue
		}
		name, _ := z.TagName()
		switch {
		case !isFormatting(atom.Lookup(name)):
		case kind == html.StartTagToken:
			open++
		case open > 0:
			open--
		}
	}
	return n
}

// isFormatting tells whether an element stays in force after the block in which it was opened.
func isFormatting(a atom.Atom) bool {
	switch a {
	case atom.A, atom.B, atom.Big, atom.Code, atom.Em, atom.Font, atom.I, atom.Nobr, atom.S, atom.Small,
		atom.Strike, atom.Strong, atom.Tt, atom.U:
		return true
	}
	return false
}

// work estimates what it costs to look for the article: the library reads the text below each
// element, so that a character counts once for every element it is in.
func work(root *html.Node) int {
	total, depth := 0, 0
	for n := root; n != nil; {
		total += depth
		if n.Type == html.TextNode {
			total += depth * len(n.Data)
		}
		if n.FirstChild != nil {
			n, depth = n.FirstChild, depth+1
			continue
		}
		for n != nil && n.NextSibling == nil {
			n, depth = n.Parent, depth-1
		}
		if n != nil {
			n = n.NextSibling
		}
	}
	return total
}
