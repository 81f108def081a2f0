package text

import (
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// start takes in a start tag.
func (b *treeBuilder) start(t tag) {
	switch {
	case b.skips > 0 && t.atom == b.skipped && !t.closed:
		b.skips++
		return
	case b.skips > 0 && (b.skipped != atom.Svg || !isSpecial(t.atom) || isLeftOut(t.atom) ||
		t.atom == atom.Title):
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

// leaveOut begins to leave out an element. Of a drawing or frame, which is seen, the element
// itself stays.
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

// startInBody takes in a start tag in the body. Elements with optional end tags end where another
// one begins.
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
		if top := b.top().node.DataAtom; top == atom.Option || top == atom.Optgroup &&
			a == atom.Optgroup {
			b.pop(len(b.open) - 1)
		}
	case atom.Rb, atom.Rtc, atom.Rp, atom.Rt:
		if top := b.top().node.DataAtom; top == atom.Rb || top == atom.Rp || top == atom.Rt {
			b.pop(len(b.open) - 1)
		}
	case atom.Table:
		if i := b.find(noBounds, atom.Table, atom.Td, atom.Th, atom.Caption); i > 0 &&
			b.open[i].node.DataAtom == atom.Table {
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
