package text

import (
	"bytes"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// noscript adds the image that a browser without scripts shows, unless the page shows it anyway.
// Pages that load images late by a script have them there, and how many images are among the text
// tells articles from menus.
func (b *treeBuilder) noscript(s []byte) {
	if b.noscripts++; b.noscripts > maxNoscripts || len(s) > maxNoscript || len(b.open) == 0 {
		return
	}
	image, ok := singleImage(s)
	if !ok || isTableFrame(b.top().node.DataAtom) {
		return
	}
	b.flush()
	previous := b.top().node.LastChild
	if previous != nil && previous.Type == html.TextNode && strings.TrimSpace(previous.Data) == "" {
		previous = previous.PrevSibling
	}
	if !isSingleImage(previous) && !image.tiny {
		b.push(image, true)
	}
}

// How many elements for browsers without scripts are looked at, and how many bytes of each. The
// markup of an image has less.
const (
	maxNoscripts = 1 << 10
	maxNoscript  = 4 << 10
)

// singleImage returns the tag of the image that is all there is in s.
func singleImage(s []byte) (image tag, ok bool) {
	images := 0
	z := html.NewTokenizer(bytes.NewReader(s))
	for {
		switch kind := z.Next(); kind {
		case html.ErrorToken:
			return image, images == 1
		case html.TextToken:
			if len(bytes.TrimSpace(z.Text())) > 0 {
				return tag{}, false
			}
		case html.StartTagToken, html.SelfClosingTagToken:
			if t := readTag(z, kind); t.atom == atom.Img {
				image = t
				images++
			}
		}
	}
}

// isSingleImage reports whether an element is an image, or holds nothing else.
func isSingleImage(n *html.Node) bool {
	for range maxDepth {
		if n == nil || n.Type != html.ElementNode {
			return false
		}
		if n.DataAtom == atom.Img {
			return true
		}
		var only *html.Node
		for c := range n.ChildNodes() {
			if only != nil && c.Type == html.ElementNode || c.Type == html.TextNode &&
				strings.TrimSpace(c.Data) != "" {
				return false
			}
			if c.Type == html.ElementNode {
				only = c
			}
		}
		n = only
	}
	return false
}
