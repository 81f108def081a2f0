package markup

import (
	"bytes"

	"golang.org/x/net/html"
)

// readStartTag reads a start tag, whose name begins at z.at.
func (z *Tokenizer) readStartTag() html.TokenType {
	if !z.readTag(true) {
		return html.ErrorToken
	}
	switch string(z.name) {
	case "iframe":
		z.rawTag = "iframe"
	case "noembed":
		z.rawTag = "noembed"
	case "noframes":
		z.rawTag = "noframes"
	case "noscript":
		z.rawTag = "noscript"
	case "plaintext":
		z.rawTag = "plaintext"
	case "script":
		z.rawTag = "script"
	case "style":
		z.rawTag = "style"
	case "textarea":
		z.rawTag = "textarea"
	case "title":
		z.rawTag = "title"
	case "xmp":
		z.rawTag = "xmp"
	}
	// In <p a=/> the slash is the attribute's value.
	if z.s[z.at-2] == '/' && z.lastValue != z.at-1 {
		return html.SelfClosingTagToken
	}
	return html.StartTagToken
}

// readEndTag reads what begins with "</", which is a text at the end.
func (z *Tokenizer) readEndTag() html.TokenType {
	switch {
	case z.at == len(z.s):
		z.text = z.s[z.start:]
		return html.TextToken
	case !isLetter(z.s[z.at]):
		z.skipPast('>')
		return html.CommentToken
	case !z.readTag(false):
		return html.ErrorToken
	}
	return html.EndTagToken
}

// readTag reads a tag from its name on, and reports whether it ends. Only those attributes are
// kept that are to be, and of those with one name the first.
func (z *Tokenizer) readTag(keep bool) (ends bool) {
	z.attributes, z.returned, z.lastValue = z.attributes[:0], 0, 0
	from := z.at
	for z.at < len(z.s) && !isSpace(z.s[z.at]) && z.s[z.at] != '/' && z.s[z.at] != '>' {
		z.at++
	}
	z.name = appendLower(z.name[:0], z.s[from:z.at])
	if z.at < len(z.s) && isSpace(z.s[z.at]) {
		z.at++
	}
	for z.skipSpace() {
		if z.s[z.at] == '>' {
			z.at++
			return true
		}
		key := z.readKey()
		value, end := z.readValue()
		if keep && key != "" && z.isNew(key) {
			z.attributes = append(z.attributes, attribute{key, value})
			z.lastValue = end
		}
	}
	return false
}

// skipSpace goes on to what is no white space, and reports whether there is any.
func (z *Tokenizer) skipSpace() bool {
	for z.at < len(z.s) && isSpace(z.s[z.at]) {
		z.at++
	}
	return z.at < len(z.s)
}

// readKey reads the name of an attribute, which may begin with an equals sign.
func (z *Tokenizer) readKey() string {
	from := z.at
	for ; z.at < len(z.s); z.at++ {
		c := z.s[z.at]
		if isSpace(c) || c == '/' || c == '>' || c == '=' && z.at > from {
			break
		}
	}
	return z.s[from:z.at]
}

// readValue reads the value of an attribute, if one follows, and returns where it ends.
func (z *Tokenizer) readValue() (value string, end int) {
	end = z.at
	if !z.skipSpace() {
		return "", end
	}
	switch z.s[z.at] {
	case '/':
		z.at++
		return "", end
	case '=':
		z.at++
	default:
		return "", end
	}
	if !z.skipSpace() {
		return "", end
	}
	switch quote := z.s[z.at]; quote {
	case '>':
		return "", end
	case '\'', '"':
		z.at++
		from := z.at
		if !z.skipPast(quote) {
			return "", z.at // the tag does not end
		}
		return z.s[from : z.at-1], z.at - 1
	}
	from := z.at
	for z.at < len(z.s) && !isSpace(z.s[z.at]) && z.s[z.at] != '>' {
		z.at++
	}
	return z.s[from:z.at], z.at
}

// fewAttributes are compared one by one: nearly all tags have fewer.
const fewAttributes = 16

// isNew reports whether the tag has no attribute of that name yet.
func (z *Tokenizer) isNew(key string) bool {
	if len(z.attributes) < fewAttributes {
		for _, a := range z.attributes {
			if equalLower(a.key, key) {
				return false
			}
		}
		return true
	}
	if len(z.attributes) == fewAttributes {
		z.seen = make(map[string]struct{})
		for _, a := range z.attributes {
			z.seen[string(appendLower(nil, a.key))] = struct{}{}
		}
	}
	name := string(appendLower(nil, key))
	_, seen := z.seen[name]
	z.seen[name] = struct{}{}
	return !seen
}

// TagName returns the name of a tag in lower case, and whether it has attributes. It is valid until
// the next call of [Tokenizer.Next].
func (z *Tokenizer) TagName() (name []byte, hasAttr bool) {
	z.name = replaceNUL(z.name)
	return z.name, len(z.attributes) > 0
}

// TagAttr returns the next attribute of a start tag, its name in lower case and the character
// references in its value resolved, and whether there are more. They are valid until the next call.
func (z *Tokenizer) TagAttr() (key, value []byte, more bool) {
	if z.returned == len(z.attributes) {
		return nil, nil, false
	}
	a := z.attributes[z.returned]
	z.returned++
	z.key = replaceNUL(appendLower(z.key[:0], a.key))
	z.value = z.appendResolved(z.value[:0], a.value, context{attribute: true, convertNUL: true})
	return z.key, z.value, z.returned < len(z.attributes)
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		c += 'a' - 'A'
	}
	return c
}

// appendLower appends s with the letters of ASCII in lower case.
func appendLower(dst []byte, s string) []byte {
	for i := range len(s) {
		dst = append(dst, lower(s[i]))
	}
	return dst
}

// equalLower reports whether appendLower makes the same of a and b.
func equalLower(a, b string) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range len(a) {
		if lower(a[i]) != lower(b[i]) {
			return false
		}
	}
	return true
}

// replaceNUL replaces each NUL by U+FFFD.
func replaceNUL(name []byte) []byte {
	if bytes.IndexByte(name, 0) < 0 {
		return name
	}
	return bytes.ReplaceAll(name, []byte{0}, []byte("\ufffd"))
}
