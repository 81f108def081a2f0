package text

import (
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// maxWork is what looking for an article may cost, in steps of some 25 ns for each time that the
// library tries. Of 133 real pages, of up to 1.6 MB, the dearest takes 11 million steps.
const maxWork = 1 << 24

// Steps of the library, as measured, where they are more than one.
const (
	stepsPerNode  = 4   // for each element that a node is in
	stepsPerCopy  = 40  // of a node
	stepsPerWrite = 4   // of a byte as markup, for each element that it is in
	stepsPerWords = 120 // of a byte of a title or heading: into words, and these into a set
	stepsPerValue = 8   // of a byte of an attribute
)

// work bounds what it costs to look for the article in a tree.
func work(root *html.Node) int {
	w := worker{}
	w.walk(root, ancestors{})
	title := w.title
	if w.h1 == 1 { // it is taken for the title of a page that has none, or a bad one
		title = max(title, w.h1Text)
	}
	return w.steps + w.headings*title*stepsPerWords
}

// A worker counts the steps of the library.
type worker struct {
	steps      int
	title      int // the bytes of the longest title of the page
	headings   int // how many elements are compared with the title
	h1, h1Text int // how many there are of the first kind, and how many bytes in them
}

// ancestors are those of a node: how many there are, and of which kinds.
type ancestors struct {
	all      int
	copied   int // in a block, and put into a paragraph with all in them
	objects  int // what is in them is written as markup, to look for videos
	headings int // of the first two kinds
	h1       int
	head     int
}

// walk counts the steps for a node, with all in it. The library reads the text below each
// element, so that a character counts once for every element it is in.
func (w *worker) walk(n *html.Node, a ancestors) {
	w.steps += a.all*stepsPerNode + a.copied*stepsPerCopy
	for _, attr := range n.Attr {
		w.steps += len(attr.Val) * stepsPerValue
		if n.DataAtom == atom.Meta {
			w.title = max(w.title, len(attr.Val))
		}
	}
	if n.Type == html.TextNode {
		w.steps += len(n.Data) * (a.all*(1+a.objects*stepsPerWrite) + a.headings*stepsPerWords)
		w.title = max(w.title, a.head*len(n.Data))
		w.h1Text += a.h1 * len(n.Data)
		return
	}
	a.all++
	switch n.DataAtom {
	case atom.Object:
		a.objects++
	case atom.H1:
		w.h1++
		a.h1 = 1
		fallthrough
	case atom.H2:
		w.headings++
		a.headings++
	case atom.Head:
		a.head = 1
	default:
		if n.Parent != nil && n.Parent.DataAtom == atom.Div && !isBlock(n.DataAtom) {
			a.copied++
		}
	}
	for c := range n.ChildNodes() {
		w.walk(c, a)
	}
}
