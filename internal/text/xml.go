package text

import (
	"bytes"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/clusterd/clusterd/internal/text/markup"
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
	z := tokenize(s)
	defer release(z)
	for {
		switch z.Next() {
		case html.CommentToken, html.DoctypeToken: // the declaration is a comment too
		case html.TextToken:
			// A doctype with declarations of its own ends in "]>".
			if len(bytes.Trim(z.AppendText(nil), " \t\r\n]>")) > 0 {
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
func hasNamespace(z *markup.Tokenizer) bool {
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

// stripXML appends the character data of an XML document, CDATA sections included. All elements
// separate words but those that in HTML are inline. What stands between two that separate is
// plain text or HTML, which feeds hold as character data.
//
// It adds links to found as stripTags does.
//
// The document need not be well-formed, so it is HTML's tokenizer that reads it.
func stripXML(text []byte, s string, found *links) []byte {
	var run []byte
	end := func() {
		if len(run) > 0 {
			text = append(appendPlainRun(text, view(run), found), '\n')
			run = run[:0]
		}
	}
	z := tokenize(s)
	defer release(z)
	z.AllowCDATA(true)
	for {
		switch z.Next() {
		case html.ErrorToken: // the end
			end()
			return text
		case html.TextToken:
			if section, ok := strings.CutPrefix(z.Raw(), "<![CDATA["); ok {
				run = append(run, strings.TrimSuffix(section, "]]>")...) // no character references
			} else {
				run = z.AppendText(run)
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

// appendPlainRun appends the text of character data.
func appendPlainRun(text []byte, s string, found *links) []byte {
	if hasTag(s) && isHTML(s) {
		return stripTags(text, s, found)
	}
	return append(text, s...)
}
