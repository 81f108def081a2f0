package text

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/clusterd/clusterd/internal/text/markup"
)

// htmlMode is [Options].HTML, checked.
type htmlMode string

const (
	htmlAuto   htmlMode = "auto"
	htmlAlways htmlMode = "always"
	htmlNever  htmlMode = "never"
)

func parseHTMLMode(s string) (htmlMode, error) {
	switch m := htmlMode(s); m {
	case "":
		return htmlAuto, nil
	case htmlAuto, htmlAlways, htmlNever:
		return m, nil
	}
	return "", fmt.Errorf("html mode %q: want auto, always or never", s)
}

// Plain returns the text of s as a reader of it sees it, without markup, as [Options].HTML does by
// default.
func Plain(s string) string { return htmlAuto.plain(s, nil) }

// plain returns the text of s as a reader of it sees it, and adds the links of its markup to found
// unless that is nil.
func (m htmlMode) plain(s string, found *links) string { return m.plainIn(nil, s, found) }

// plainIn is plain in memory of b, if that is not nil: what it returns is valid until that is
// released.
func (m htmlMode) plainIn(b *stripped, s string, found *links) string {
	switch {
	case m == htmlNever:
		return s
	case isXML(s):
		return b.keep(stripXML(b.take(len(s)), s, found))
	case m == htmlAlways, hasTag(s) && isHTML(s):
		return b.keep(stripTags(b.take(len(s)), s, found))
	}
	if !strings.Contains(s, "&") {
		return s
	}
	return b.keep(unescapeReferences(b.take(len(s)), s))
}

// hasTag reports whether anything in s looks like the beginning of a tag or a
// doctype. Without one isHTML need not read s: "1 < 2", "I <3 Beijing".
func hasTag(s string) bool {
	for {
		_, after, found := strings.Cut(s, "<")
		if !found || after == "" {
			return false
		}
		switch c := after[0]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', c == '/', c == '!':
			return true
		}
		s = after
	}
}

// isHTML tells markup from text that merely holds angle brackets. Markup is
// what has a doctype, an end tag of a known element, or a start tag that
// startsHTML.
func isHTML(s string) bool {
	z := tokenize(s)
	defer release(z)
	for {
		kind := z.Next()
		switch kind {
		case html.ErrorToken:
			return false
		case html.DoctypeToken:
			return true
		case html.StartTagToken, html.SelfClosingTagToken, html.EndTagToken:
			// A mere mention of <title> must not hide what follows it.
			z.NextIsNotRawText()
			name, hasAttr := z.TagName()
			element := atom.Lookup(name)
			if kind == html.EndTagToken && isElement(element) {
				return true
			}
			if kind != html.EndTagToken && startsHTML(z, element, hasAttr) {
				return true
			}
		}
	}
}

// startsHTML reports whether a start tag shows that the text is HTML. With
// attributes one must have a value, for `a <p and q> b` has none. Without,
// neither inline elements count (`a<b>c`) nor those whose names serve as
// placeholders (`cp <source>`).
func startsHTML(z *markup.Tokenizer, element atom.Atom, hasAttr bool) bool {
	if !hasAttr {
		return isUnmistakable(element)
	}
	if !isBlock(element) && !isVoid(element) && !isHidden(element) {
		return false
	}
	for more := true; more; {
		var value []byte
		_, value, more = z.TagAttr()
		if len(value) > 0 {
			return true
		}
	}
	return false
}

// stripTags appends the text of markup with character references resolved.
// Block elements and line breaks separate words, inline elements join them
// (`<b>中</b>国` is 中国). Comments, attributes and what no reader sees are
// dropped, but for the links that it adds to found unless that is nil.
func stripTags(text []byte, s string, found *links) []byte {
	var (
		hidden atom.Atom // the element being dropped, while depth > 0
		depth  int       // how often it is open: templates nest
	)
	z := tokenize(s)
	defer release(z)
	for {
		kind := z.Next()
		switch kind {
		case html.ErrorToken: // the end
			return text
		case html.TextToken:
			if depth == 0 {
				text = z.AppendText(text)
			}
		case html.StartTagToken, html.EndTagToken, html.SelfClosingTagToken:
			name, hasAttr := z.TagName()
			element := atom.Lookup(name)
			if hasAttr && depth == 0 {
				found.add(z, element)
			}
			switch {
			case kind == html.SelfClosingTagToken:
				z.NextIsNotRawText() // <script/> is meant to hide nothing
			case !isHidden(element) || depth > 0 && element != hidden:
			case kind == html.StartTagToken:
				hidden = element
				depth++
			case depth > 0:
				depth--
			}
			if isBlock(element) {
				text = append(text, '\n')
			}
		}
	}
}

// maxReference is longer than all character references but numbers with
// needless zeros: the longest name has 31 letters.
const maxReference = 40

// unescapeReferences appends a text without tags, with the known character
// references resolved. Unlike in HTML they must end in a semicolon:
// `?a=1&copy=2` stays.
func unescapeReferences(text []byte, s string) []byte {
	for {
		before, after, found := strings.Cut(s, "&")
		text = append(text, before...)
		if !found {
			return text
		}
		resolved, rest := cutReference(after)
		text = append(text, resolved...)
		s = rest
	}
}

// cutReference resolves the reference at the beginning of s, which follows an
// ampersand. Without a known one it returns the ampersand and all of s.
func cutReference(s string) (resolved, rest string) {
	end := strings.IndexAny(s[:min(len(s), maxReference)], ";&")
	if end < 0 || s[end] != ';' {
		return "&", s
	}
	resolved = html.UnescapeString("&" + s[:end+1])
	// A reference stands for one or two characters. More are an unknown name,
	// or one that only begins with a known name (&notit; is ¬it;).
	if utf8.RuneCountInString(resolved) > 2 {
		return "&", s
	}
	return resolved, s[end+1:]
}
