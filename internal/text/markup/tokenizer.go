// Package markup divides HTML into the same tokens as golang.org/x/net/html does, which it is held
// to token by token. It reads a string where that is and uses its memory again, so that reading one
// page after the other allocates nothing.
package markup

import (
	"strings"

	"golang.org/x/net/html"
)

// A Tokenizer divides a string into tokens, which begin and end where those of [html.Tokenizer] do.
// The zero value has nothing to read; see [Tokenizer.Reset]. It is not safe for concurrent use.
type Tokenizer struct {
	s          string
	start, at  int    // of the token, in s: where it begins, and where it ends
	text       string // of a text: as it stands in s
	kind       html.TokenType
	name       []byte // of a tag, in lower case
	attributes []attribute
	returned   int                 // of these
	lastValue  int                 // where that of the last one ends in s; 0 without any
	seen       map[string]struct{} // their names, where there are many
	value      []byte              // of the attribute returned last
	key        []byte
	rawTag     string // the element whose text comes next, in which there are no tags
	isRaw      bool   // the text has no character references
	convertNUL bool
	allowCDATA bool
	references map[string]string // those met before; see Tokenizer.resolve
}

// An attribute is one as it stands in a tag.
type attribute struct{ key, value string }

// Reset lets the tokenizer read s from its beginning, in which CDATA sections are comments.
func (z *Tokenizer) Reset(s string) {
	clear(z.attributes[:cap(z.attributes)]) // they would hold the string before
	*z = Tokenizer{
		s: s, name: z.name[:0], attributes: z.attributes[:0], seen: z.seen, value: z.value[:0],
		key: z.key[:0], references: z.references,
	}
}

// AllowCDATA says whether a CDATA section is a text.
func (z *Tokenizer) AllowCDATA(allow bool) { z.allowCDATA = allow }

// NextIsNotRawText says that the element whose start tag has been read may hold tags, even where
// that of HTML holds none.
func (z *Tokenizer) NextIsNotRawText() { z.rawTag = "" }

// Raw returns the token as it stands in the string.
func (z *Tokenizer) Raw() string { return z.s[z.start:z.at] }

// Next reads the next token. At the end of the string it returns [html.ErrorToken], as it does for
// a tag that does not end.
func (z *Tokenizer) Next() html.TokenType {
	z.start, z.isRaw, z.convertNUL = z.at, false, false
	z.kind = html.ErrorToken
	switch {
	case z.at == len(z.s):
	case z.rawTag != "" && z.readRawText():
		z.kind = html.TextToken
	default:
		z.kind = z.readToken()
	}
	return z.kind
}

// readToken reads a token that is no raw text.
func (z *Tokenizer) readToken() html.TokenType {
	at := beginning(z.s, z.at)
	if at > z.at {
		z.text, z.at = z.s[z.at:at], at
		return html.TextToken
	}
	z.at += len("<a")
	switch c := z.s[at+1]; c {
	case '!':
		return z.readDeclaration()
	case '?':
		z.skipPast('>')
		return html.CommentToken
	case '/':
		return z.readEndTag()
	}
	z.at-- // the first letter of the name
	return z.readStartTag()
}

// beginning returns where the first tag, comment or declaration at or after at begins; the end of
// the string without one.
func beginning(s string, at int) int {
	for {
		i := strings.IndexByte(s[at:], '<')
		if i < 0 || at+i+1 == len(s) {
			return len(s)
		}
		at += i
		switch c := s[at+1]; {
		case isLetter(c), c == '!', c == '?', c == '/':
			return at
		}
		at++
	}
}

func isLetter(c byte) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }

func isSpace(c byte) bool {
	return c == ' ' || c == '\n' || c == '\r' || c == '\t' || c == '\f'
}

// skipPast goes on behind the next c, or to the end.
func (z *Tokenizer) skipPast(c byte) (found bool) {
	i := strings.IndexByte(z.s[z.at:], c)
	if i < 0 {
		z.at = len(z.s)
		return false
	}
	z.at += i + 1
	return true
}

// readDeclaration reads what begins with "<!".
func (z *Tokenizer) readDeclaration() html.TokenType {
	const doctype, cdata = "DOCTYPE", "[CDATA["
	rest := z.s[z.at:]
	switch {
	case strings.HasPrefix(rest, "--"):
		z.at += len("--")
		z.skipComment()
		return html.CommentToken
	case len(rest) == 1: // a comment ends only at a second character or later
		z.at = len(z.s)
		return html.CommentToken
	case len(rest) >= len(doctype) && isName(rest[:len(doctype)], doctype):
		z.at += len(doctype)
		z.skipPast('>')
		return html.DoctypeToken
	case z.allowCDATA && strings.HasPrefix(rest, cdata):
		text, _, found := strings.Cut(rest[len(cdata):], "]]>")
		z.text, z.convertNUL = text, true
		z.at += len(cdata) + len(text)
		if found {
			z.at += len("]]>")
		}
		return html.TextToken
	}
	z.skipPast('>')
	return html.CommentToken
}

// isName reports whether s is a name of ASCII letters, in any case.
func isName(s, name string) bool {
	for i := range len(name) {
		if s[i]|0x20 != name[i]|0x20 {
			return false
		}
	}
	return true
}

// skipComment goes on behind a comment, of which "<!--" has been read.
func (z *Tokenizer) skipComment() {
	for dashes, first := 0, true; z.at < len(z.s); z.at++ {
		switch c := z.s[z.at]; {
		case c == '-':
			dashes++
			continue
		case c == '>' && (dashes >= 2 || first):
			z.at++
			return
		case c == '!' && dashes >= 2:
			switch rest := z.s[z.at+1:]; {
			case strings.HasPrefix(rest, ">"):
				z.at += len("!>")
				return
			case strings.HasPrefix(rest, "-"):
				z.at++
				dashes, first = 1, false
				continue
			case rest != "":
				z.at++
			}
		}
		dashes, first = 0, false
	}
}
