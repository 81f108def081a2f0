package text

import (
	"bytes"
	"errors"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// A tree has at most so many nodes and levels. Of 133 real pages, of up to 1.6 MB, the largest
// has 24,000 nodes and the deepest 39 levels.
const (
	maxNodes = 1 << 15
	maxDepth = 128
)

// errTreeTooLarge is the error of a page whose tree would have more.
var errTreeTooLarge = errors.New("the page has too many elements, or nests them too deeply")

// parseTree returns the tree of a page, as far as it is needed to find the article: html, head
// and body, without comments, scripts, styles, what is in drawings and frames, and most
// attributes.
//
// Other than with [html.Parse], the cost is in proportion to the page. Of what is not closed in
// order, no element is made anew (the algorithms called adoption agency and reconstruction of
// formatting elements).
func parseTree(page string) (*html.Node, error) {
	b := newTreeBuilder()
	z := html.NewTokenizer(strings.NewReader(page))
	for b.err == nil {
		switch kind := z.Next(); kind {
		case html.ErrorToken: // the end: a string gives no other error
			b.ensureBody()
			b.flush()
			return b.doc, b.err
		case html.DoctypeToken:
			b.quirks = isQuirks(string(z.Text()))
		case html.TextToken:
			b.text(z.Text())
		case html.StartTagToken, html.SelfClosingTagToken:
			if b.inFormula() {
				z.NextIsNotRawText()
			}
			b.start(readTag(z, kind))
		case html.EndTagToken:
			b.end(readTag(z, kind))
		}
	}
	return nil, b.err
}

// isQuirks reports whether a doctype is an old one, with which a table may stand in a paragraph.
func isQuirks(doctype string) bool {
	doctype = strings.ToLower(doctype)
	return strings.Contains(doctype, "public") && !strings.Contains(doctype, "xhtml") &&
		!strings.Contains(doctype, "http:")
}

// A treeBuilder makes a tree of the tags and texts of a page in one pass.
type treeBuilder struct {
	doc, html, head *html.Node

	open      []openElement // from the body on; none before the body
	form      *html.Node    // the form that is open, for there is none in another
	nodes     int
	noscripts int
	quirks    bool
	pending   []byte    // text that is not yet in the tree
	skipped   atom.Atom // the element that is left out with all in it, while skips > 0
	skips     int       // how often it is open
	err       error
}

// An openElement is one whose end tag has not come, or not in order.
type openElement struct {
	node  *html.Node
	depth int
	ended bool // its end tag came while a block in it was open, with which it ends
}

func newTreeBuilder() *treeBuilder {
	b := &treeBuilder{doc: &html.Node{Type: html.DocumentNode}, quirks: true}
	b.html, b.head = element(tag{atom: atom.Html}), element(tag{atom: atom.Head})
	b.doc.AppendChild(b.html)
	b.html.AppendChild(b.head)
	return b
}

func element(t tag) *html.Node {
	if t.atom != 0 {
		t.name = t.atom.String()
	}
	return &html.Node{Type: html.ElementNode, DataAtom: t.atom, Data: t.name, Attr: t.attr}
}

func (b *treeBuilder) ensureBody() {
	if len(b.open) == 0 {
		body := element(tag{atom: atom.Body})
		b.html.AppendChild(body)
		b.open = append(b.open, openElement{node: body, depth: 2})
	}
}

func (b *treeBuilder) top() *openElement { return &b.open[len(b.open)-1] }

// text takes in a run of text.
func (b *treeBuilder) text(s []byte) {
	switch {
	case b.skips > 0 && b.skipped == atom.Noscript:
		b.noscript(s)
	case b.skips > 0 && b.skipped == atom.Title:
		b.addToHead(tag{atom: atom.Title}, string(cut(s, maxTitle)))
	case b.skips > 0:
	case len(b.open) > 0 || len(bytes.TrimSpace(s)) > 0:
		b.ensureBody()
		b.pending = append(b.pending, s...)
	}
}

// flush puts the pending text into the tree.
func (b *treeBuilder) flush() {
	if len(b.pending) == 0 {
		return
	}
	s := string(bytes.ReplaceAll(b.pending, []byte{0}, nil))
	b.pending = b.pending[:0]
	top := b.top().node
	if top.DataAtom == atom.Pre && top.FirstChild == nil {
		s = strings.TrimPrefix(s, "\n")
	}
	if s != "" {
		b.add(&html.Node{Type: html.TextNode, Data: s}, strings.TrimSpace(s) == "")
	}
}

// add puts a node into the innermost open element, or before the table where that is no place for
// it. It returns how deep the node is.
func (b *treeBuilder) add(n *html.Node, inTable bool) (depth int) {
	if b.nodes++; b.nodes > maxNodes {
		b.err = errTreeTooLarge
	}
	if top := b.top(); inTable || !isTableFrame(top.node.DataAtom) {
		top.node.AppendChild(n)
		return top.depth + 1
	}
	table := b.open[b.find(noBounds, atom.Table)]
	table.node.Parent.InsertBefore(n, table.node)
	return table.depth
}

// push adds an element and, unless it has no content, opens it.
func (b *treeBuilder) push(t tag, void bool) {
	n := element(t)
	depth := b.add(n, isTablePart(t.atom))
	switch {
	case void:
	case depth >= maxDepth || len(b.open) >= maxDepth:
		b.err = errTreeTooLarge
	default:
		b.open = append(b.open, openElement{node: n, depth: depth})
	}
}

// find returns the place of the innermost open element of one of these kinds, or 0 where none is
// open within the bounds. The body, at 0, is never looked for.
func (b *treeBuilder) find(bounds func(atom.Atom) bool, kinds ...atom.Atom) int {
	for i := len(b.open) - 1; i > 0; i-- {
		a := b.open[i].node.DataAtom
		for _, kind := range kinds {
			if a == kind && !b.open[i].ended {
				return i
			}
		}
		if bounds(a) {
			return 0
		}
	}
	return 0
}

// pop closes all open elements but the outer n, and of these the innermost that have ended. The
// body stays open.
func (b *treeBuilder) pop(n int) {
	for n > 1 && b.open[n-1].ended {
		n--
	}
	b.open = b.open[:max(n, 1)]
}

// close closes the innermost open element of one of these kinds, and all in it, and tells whether
// there was one.
func (b *treeBuilder) close(bounds func(atom.Atom) bool, kinds ...atom.Atom) bool {
	i := b.find(bounds, kinds...)
	if i > 0 {
		b.pop(i)
	}
	return i > 0
}

// closeInline closes the open element at i with all in it, or, where there is a block in it,
// marks it to end with that.
func (b *treeBuilder) closeInline(i int) {
	for _, e := range b.open[i+1:] {
		if isSpecial(e.node.DataAtom) {
			b.open[i].ended = true
			return
		}
	}
	b.pop(i)
}

// inFormula reports whether the innermost open element is part of a formula, where no element
// holds raw text.
func (b *treeBuilder) inFormula() bool {
	return len(b.open) > 0 && b.find(isSpecial, atom.Math) > 0
}
