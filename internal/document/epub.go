package document

import (
	"fmt"
	"io"
	"net/url"
	"path"

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
	for _, chapter := range chapters {
		r, err := a.open(chapter)
		if err != nil {
			return err
		}
		markup, err := io.ReadAll(r)
		_ = r.Close() // only read from
		if err != nil {
			return err
		}
		if _, err := io.WriteString(out, text.Plain(string(markup))+"\n"); err != nil {
			return err
		}
	}
	return nil
}

// spine returns the paths of a book's chapters.
func spine(a *archive, book string) ([]string, error) {
	var order []string
	items := make(map[string]string) // paths by ids
	err := a.each(book, func(t tag) error {
		switch {
		case t.kind == html.EndTagToken:
		case t.name == "item":
			target, err := url.PathUnescape(t.attr("href"))
			if err != nil {
				return fmt.Errorf("part %q: %w", book, err)
			}
			items[t.attr("id")] = path.Join(path.Dir(book), target)
		case t.name == "itemref":
			order = append(order, t.attr("idref"))
		}
		return nil
	})
	for i, id := range order {
		order[i] = items[id]
	}
	return order, err
}
