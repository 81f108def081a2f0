package text

import (
	"bytes"
	"errors"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// A tree has at most so many nodes and levels. Of 133 real pages, of up to 1.6 MB, the largest has 24,000 nodes
// and the deepest 39 levels.
const (
	maxNodes = 1 << 15
	maxDepth = 128
)

// errTreeTooLarge is the error of a page whose tree would have more.
var errTreeTooLarge = errors.New("the page has too many elements, or nests them too deeply")

// parseTree returns the tree of a page, as far as it is needed to find the article: html, head and body, without
// comments, scripts, styles, what is in drawings and frames, and most attributes.
//
// Other than with [html.Parse], the cost is in proportion to the page. Of what is not closed in order, no element
// is made anew (the algorithms called adoption agency and reconstruction of formatting elements).
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

// isQuirks tells whether a doctype is an old one, with which a table may stand in a paragraph.
func isQuirks(doctype string) bool {
	doctype = strings.ToLower(doctype)
	return strings.Contains(doctype, "public") && !strings.Contains(doctype, "xhtml") && !strings.Contains(doctype, "http:")
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

// add puts a node into the innermost open element, or before the table where that is no place for it. It returns
// how deep the node is.
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

// find returns the place of the innermost open element of one of these kinds, or 0 where none is open within the
// bounds. The body, at 0, is never looked for.
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

// pop closes all open elements but the outer n, and of these the innermost that have ended. The body stays open.
func (b *treeBuilder) pop(n int) {
	for n > 1 && b.open[n-1].ended {
		n--
	}
	b.open = b.open[:max(n, 1)]
}

// close closes the innermost open element of one of these kinds, and all in it, and tells whether there was one.
func (b *treeBuilder) close(bounds func(atom.Atom) bool, kinds ...atom.Atom) bool {
	i := b.find(bounds, kinds...)
	if i > 0 {
		b.pop(i)
	}
	return i > 0
}

// closeInline closes the open element at i with all in it, or, where there is a block in it, marks it to end with
// that.
func (b *treeBuilder) closeInline(i int) {
	for _, e := range b.open[i+1:] {
		if isSpecial(e.node.DataAtom) {
			b.open[i].ended = true
			return
		}
	}
	b.pop(i)
}

// inFormula tells whether the innermost open element is part of a formula, where no element holds raw text.
func (b *treeBuilder) inFormula() bool {
	return len(b.open) > 0 && b.find(isSpecial, atom.Math) > 0
}

// start takes in a start tag.
func (b *treeBuilder) start(t tag) {
	switch {
	case b.skips > 0 && t.atom == b.skipped && !t.closed:
		b.skips++
		return
	case b.skips > 0 && (b.skipped != atom.Svg || !isSpecial(t.atom) || isLeftOut(t.atom) || t.atom == atom.Title):
		return
	case b.skips > 0: // nobody has closed the drawing
		b.skips = 0
	}
	b.flush()
	inHead := len(b.open) == 0
	switch {
	case t.atom == atom.Html:
		addAttributes(b.html, t.attr)
	case isIgnored(t.atom):
	case isLeftOut(t.atom), inHead && t.atom == atom.Template:
		b.leaveOut(t)
	case inHead && t.atom == atom.Meta:
		if len(t.attr) > 0 {
			b.addToHead(t, "")
		}
	case inHead && (t.atom == atom.Link || t.atom == atom.Base):
	case t.atom == atom.Body:
		b.ensureBody()
		addAttributes(b.open[0].node, t.attr)
	default:
		b.ensureBody()
		b.startInBody(t)
	}
}

// leaveOut begins to leave out an element. Of a drawing or frame, which is seen, the element itself stays.
func (b *treeBuilder) leaveOut(t tag) {
	if t.atom == atom.Svg || t.atom == atom.Iframe {
		b.ensureBody()
		b.push(t, true)
	}
	if t.atom != atom.Svg || !t.closed {
		b.skipped, b.skips = t.atom, 1
	}
}

// addToHead adds an element with a text, if any, to the head.
func (b *treeBuilder) addToHead(t tag, text string) {
	n := element(t)
	if text != "" {
		n.AppendChild(&html.Node{Type: html.TextNode, Data: text})
	}
	b.head.AppendChild(n)
	if b.nodes += 2; b.nodes > maxNodes {
		b.err = errTreeTooLarge
	}
}

// startInBody takes in a start tag in the body. Elements with optional end tags end where another one begins.
func (b *treeBuilder) startInBody(t tag) {
	a := t.atom
	switch {
	case a == atom.Img && !t.image:
		return
	case isTablePart(a):
		b.startTablePart(t)
		return
	case a == atom.Form:
		b.startForm(t)
		return
	case a == atom.Select && b.close(isScope, atom.Select):
		return
	}
	if b.top().node.DataAtom == atom.Colgroup {
		b.pop(len(b.open) - 1)
	}
	b.endBefore(a)
	b.push(t, isVoid(a) || a == atom.Keygen || t.closed && b.inFormula() || a == atom.Math && t.closed)
}

// endBefore ends the elements that end where one of this kind begins.
func (b *treeBuilder) endBefore(a atom.Atom) {
	switch a {
	case atom.Li:
		b.endItem(atom.Li)
	case atom.Dd, atom.Dt:
		b.endItem(atom.Dd, atom.Dt)
	case atom.Button, atom.Nobr:
		b.close(isScope, a)
	case atom.A:
		if i := b.find(isMarker, atom.A); i > 0 && !b.open[i].ended {
			b.closeInline(i)
		}
	case atom.Input:
		b.close(isScope, atom.Select)
	case atom.Option, atom.Optgroup:
		if top := b.top().node.DataAtom; top == atom.Option || top == atom.Optgroup && a == atom.Optgroup {
			b.pop(len(b.open) - 1)
		}
	case atom.Rb, atom.Rtc, atom.Rp, atom.Rt:
		if top := b.top().node.DataAtom; top == atom.Rb || top == atom.Rp || top == atom.Rt {
			b.pop(len(b.open) - 1)
		}
	case atom.Table:
		if i := b.find(noBounds, atom.Table, atom.Td, atom.Th, atom.Caption); i > 0 && b.open[i].node.DataAtom == atom.Table {
			b.pop(i) // it is not in a cell of it
		}
	}
	if endsParagraph(a) && (a != atom.Table || !b.quirks) {
		b.close(isButtonScope, atom.P)
	}
	if isHeading(a) && isHeading(b.top().node.DataAtom) {
		b.pop(len(b.open) - 1)
	}
}

// endItem ends an item of the list that is open.
func (b *treeBuilder) endItem(kinds ...atom.Atom) {
	b.close(func(a atom.Atom) bool {
		return isSpecial(a) && a != atom.Address && a != atom.Div && a != atom.P
	}, kinds...)
}

// startForm opens a form, unless one is open.
func (b *treeBuilder) startForm(t tag) {
	if b.form != nil {
		return
	}
	b.close(isButtonScope, atom.P)
	b.push(t, false)
	b.form = b.top().node
}

// end takes in an end tag.
func (b *treeBuilder) end(t tag) {
	if b.skips > 0 {
		if t.atom == b.skipped {
			b.skips--
		}
		return
	}
	if len(b.open) == 0 {
		return
	}
	b.flush()
	switch a := t.atom; {
	case a == atom.Body, a == atom.Html, a == atom.Head:
	case a == atom.Br:
		b.push(t, true)
	case a == atom.P:
		if !b.close(isButtonScope, a) {
			b.push(t, true)
		}
	case isHeading(a):
		b.close(isScope, atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6)
	case a == atom.Form:
		b.endForm()
	case a == atom.Li:
		b.close(func(a atom.Atom) bool { return isScope(a) || a == atom.Ol || a == atom.Ul }, a)
	case a == atom.Table || isTablePart(a):
		b.close(isTable, a)
	case isFormatting(a):
		if i := b.find(isScope, a); i > 0 {
			b.closeInline(i)
		}
	case isSpecial(a):
		b.close(isScope, a)
	default:
		b.endOther(t)
	}
}

func (b *treeBuilder) endForm() {
	for i := len(b.open) - 1; i > 0 && b.form != nil; i-- {
		if b.open[i].node == b.form {
			b.open[i].ended = true
			b.pop(len(b.open))
		}
	}
	b.form = nil
}

// endOther closes the innermost open element of that name, if no block is between.
func (b *treeBuilder) endOther(t tag) {
	for i := len(b.open) - 1; i > 0; i-- {
		n := b.open[i].node
		if n.DataAtom == t.atom && (t.atom != 0 || n.Data == t.name) {
			b.pop(i)
			return
		}
		if isSpecial(n.DataAtom) {
			return
		}
	}
}
