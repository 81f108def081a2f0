package document

import (
	"fmt"
	"io"
	"net/url"
	"path"
	"strings"

	"golang.org/x/net/html"

	"github.com/clusterd/clusterd/internal/text"
)

// readEPUB appends the text of an e-book's chapters in reading order (EPUB 3: container, package
// document, spine).
func readEPUB(a *archive, out *limited) error {
	var book string
	err := a.each("META-INF/container.xml", func(t tag) error {
		if t.name == "rootfile" && book == "" {
			book = t.attr("full-path")
		}
		return nil
	})
	if err != nil {
		return err
	}
	chapters, err := spine(a, book)
	if err != nil {
		return err
	}
	for _, id := range chapters.ids {
		markup, err := a.chapter(chapters.paths[id])
		if err != nil {
			return err
		}
		if _, err := io.WriteString(out, text.Plain(markup)+"\n"); err != nil {
			return err
		}
	}
	return nil
}

// chapter returns a part with a page.
func (a *archive) chapter(name string) (string, error) {
	r, err := a.open(name)
	if err != nil {
		return "", err
	}
	defer func() { _ = r.Close() }() // only read from
	decoded, err := decodeXML(r)
	if err != nil {
		return "", fmt.Errorf("part %q: %w", name, err)
	}
	var markup limited
	markup.max = a.maxChapter
	// The size that the archive names saves copying, and is not relied on.
	markup.text.Grow(int(min(a.parts[name].UncompressedSize64, uint64(a.maxChapter))))
	_, err = io.Copy(&markup, decoded)
	return strings.TrimPrefix(markup.text.String(), byteOrderMark), err
}

// spine returns a book's chapters. In the book's package document they come after all that there is
// in it.
func spine(a *archive, book string) (list, error) {
	var chapters list
	err := a.each(book, func(t tag) error {
		if t.name == "itemref" && t.kind != html.EndTagToken {
			return chapters.add(a, t.attr("idref"))
		}
		return nil
	})
	if err != nil {
		return list{}, err
	}
	err = a.each(book, func(t tag) error {
		if t.name == "item" && t.kind != html.EndTagToken {
			target, err := url.PathUnescape(t.attr("href"))
			if err != nil {
				return fmt.Errorf("part %q: %w", book, err)
			}
			chapters.locate(t.attr("id"), path.Join(path.Dir(book), target))
		}
		return nil
	})
	return chapters, err
}
