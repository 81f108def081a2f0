package text

import (
	"bytes"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// isXML tells a document in XML that is not HTML: a feed, or news in NITF or NewsML. It begins
// with an XML declaration, or its first element names its namespace. Where that is an element of
// HTML, it is HTML.
func isXML(s string) bool {
	if s == "" || s[0] > '<' && s[0] != "\ufeff"[0] {
		return false // as nearly all, quickly
	}
	s = strings.TrimLeft(s, "\ufeff \t\r\n")
	if !strings.HasPrefix(s, "<") {
		return false
	}
	declared := strings.HasPrefix(s, "<?xml ") || strings.HasPrefix(s, "<?xml\t") ||
		strings.HasPrefix(s, "<?xml\n")
	z := html.NewTokenizer(strings.NewReader(s))
	for {
		switch z.Next() {
		case html.CommentToken, html.DoctypeToken: // the declaration is a comment too
		case html.TextToken:
			// A doctype with declarations of its own ends in "]>".
			if len(bytes.Trim(z.Text(), " \t\r\n]>")) > 0 {
				return false
			}
		case html.StartTagToken, html.SelfClosingTagToken:
			name, hasAttr := z.TagName()
			return !isElement(atom.Lookup(name)) && (declared || hasAttr && hasNamespace(z))
		default:
			return false
		}
	}
}

// hasNamespace reports whether an attribute of a start tag declares a namespace.
func hasNamespace(z *html.Tokenizer) bool {
	for {
		key, value, more := z.TagAttr()
		if len(value) > 0 && (string(key) == "xmlns" || bytes.HasPrefix(key, []byte("xmlns:"))) {
			return true
		}
		if !more {
			return false
		}
	}
}

// stripXML returns the character data of an XML document, CDATA sections included. All elements
// separate words but those that in HTML are inline. What stands between two that separate is
// plain text or HTML, which feeds hold as character data.
//
// It adds links to found as stripTags does.
//
// The document need not be well-formed, so it is HTML's tokenizer that reads it.
func stripXML(s string, found *links) string {
	var text, run strings.Builder
	text.Grow(len(s))
	end := func() {
		if run.Len() > 0 {
			text.WriteString(plainRun(run.String(), found))
			text.WriteByte('\n')
			run.Reset()
		}
	}
	z := html.NewTokenizer(strings.NewReader(s))
	z.AllowCDATA(true)
	for {
		switch z.Next() {
		case html.ErrorToken: // the end: a string gives no other error
			end()
			return text.String()
		case html.TextToken:
			if section, ok := bytes.CutPrefix(z.Raw(), []byte("<![CDATA[")); ok {
				run.Write(bytes.TrimSuffix(section, []byte("]]>"))) // no character references
			} else {
				run.Write(z.Text())
			}
		case html.StartTagToken, html.EndTagToken, html.SelfClosingTagToken:
			z.NextIsNotRawText() // only in HTML is <title> special
			name, hasAttr := z.TagName()
			element := atom.Lookup(name)
			if !isInline(element) {
				end()
			}
			if hasAttr {
				found.add(z, element)
			}
		}
	}
}

// plainRun is the text of character data.
func plainRun(s string, found *links) string {
	if hasTag(s) && isHTML(s) {
		return stripTags(s, found)
	}
	return s
}
