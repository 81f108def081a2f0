package markup

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"
)

// AppendText appends the text of a text token, in which character references are resolved and line
// breaks are "\n".
func (z *Tokenizer) AppendText(dst []byte) []byte {
	return z.appendResolved(dst, z.text, context{raw: z.isRaw, convertNUL: z.convertNUL})
}

// A context is where a text stands.
type context struct {
	raw        bool // it has no character references
	attribute  bool // it is the value of an attribute
	convertNUL bool // each NUL becomes U+FFFD
}

// appendResolved appends a text as a reader sees it.
func (z *Tokenizer) appendResolved(dst []byte, s string, in context) []byte {
	special := "\r"
	switch {
	case !in.raw && in.convertNUL:
		special = "&\r\x00"
	case !in.raw:
		special = "&\r"
	case in.convertNUL:
		special = "\r\x00"
	}
	for {
		i := strings.IndexAny(s, special)
		if i < 0 {
			return append(dst, s...)
		}
		dst = append(dst, s[:i]...)
		s = s[i:]
		switch s[0] {
		case '\r':
			dst = append(dst, '\n')
			s = strings.TrimPrefix(s[1:], "\n")
		case 0:
			dst = append(dst, "\ufffd"...)
			s = s[1:]
		default:
			n := referenceLen(s)
			if in.attribute && !resolvesInAttribute(s, n) {
				dst = append(dst, s[:n]...)
			} else {
				dst = append(dst, z.resolve(s[:n])...)
			}
			s = s[n:]
		}
	}
}

// referenceLen returns the length of the longest character reference that s, which begins with an
// ampersand, may begin with; 1 where that is none.
func referenceLen(s string) int {
	isPart := func(c byte) bool { return isLetter(c) || '0' <= c && c <= '9' }
	i := 1
	if strings.HasPrefix(s, "&#") {
		i++
		isPart = func(c byte) bool { return '0' <= c && c <= '9' }
		if i < len(s) && lower(s[i]) == 'x' {
			i++
			isPart = func(c byte) bool {
				return '0' <= c && c <= '9' || 'a' <= lower(c) && lower(c) <= 'f'
			}
		}
	}
	for i < len(s) && isPart(s[i]) {
		i++
	}
	if i > 1 && i < len(s) && s[i] == ';' {
		i++
	}
	return i
}

// resolvesInAttribute reports whether the reference of n bytes at the beginning of s is resolved in
// the value of an attribute. A name must be known as a whole there, and without a semicolon no
// equals sign follows: `?a=1&copy=2` stays.
func resolvesInAttribute(s string, n int) bool {
	reference := s[:n]
	if strings.HasPrefix(reference, "&#") {
		return true
	}
	// One that is known is one character, or with a semicolon perhaps two. Where only a part of the
	// name is known more is left.
	most := 2
	if reference[n-1] != ';' {
		if n < len(s) && s[n] == '=' {
			return false
		}
		most = 1
	}
	return utf8.RuneCountInString(html.UnescapeString(reference)) <= most
}

// What is kept of references met before: pages use few, again and again.
const (
	maxReferences = 512
	maxReference  = 40 // bytes; the longest name has 31 letters
)

// resolve returns what a reference stands for: itself where it is unknown.
func (z *Tokenizer) resolve(reference string) string {
	if len(reference) == 1 {
		return reference
	}
	if resolved, ok := z.references[reference]; ok {
		return resolved
	}
	resolved := html.UnescapeString(reference)
	if len(reference) <= maxReference && len(z.references) < maxReferences {
		if z.references == nil {
			z.references = make(map[string]string)
		}
		key := strings.Clone(reference) // not all of the page
		if resolved == reference {
			resolved = key
		}
		z.references[key] = resolved
	}
	return resolved
}
