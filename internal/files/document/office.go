package document

import (
	"bytes"
	"fmt"
	"path"
	"slices"
	"strings"

	"golang.org/x/net/html"
)

// A vocabulary says where in an XML document its text is. Names are without prefix, in lower case.
type vocabulary struct {
	text   []string          // elements whose character data is text, with all in them
	skip   []string          // elements that are passed over with all in them
	breaks map[string]string // elements that stand for white space or a sign
	ends   []string          // elements with a line end after them
}

// appendText appends the text of a part.
func (v *vocabulary) appendText(a *archive, name string, out *limited) error {
	inText, skipped := 0, 0
	return a.each(name, func(t tag) error {
		begins, ends := t.kind == html.StartTagToken, t.kind == html.EndTagToken
		switch {
		case t.kind == html.TextToken:
			if inText > 0 && skipped == 0 {
				// only layout of the XML
				_, err := out.Write(bytes.ReplaceAll(t.text, []byte("\n"), []byte(" ")))
				return err
			}
			return nil
		case slices.Contains(v.skip, t.name):
			skipped = nested(skipped, begins, ends)
			return nil
		case slices.Contains(v.text, t.name):
			inText = nested(inText, begins, ends)
		}
		if skipped > 0 {
			return nil
		}
		var err error
		if s := v.breaks[t.name]; s != "" && !ends {
			_, err = out.Write([]byte(s))
		}
		if slices.Contains(v.ends, t.name) && !begins {
			_, err = out.Write([]byte("\n"))
		}
		return err
	})
}

// nested counts how many elements are open.
func nested(open int, begins, ends bool) int {
	switch {
	case begins:
		return open + 1
	case ends && open > 0:
		return open - 1
	}
	return open
}

// readDocx appends the text of a Word document (ECMA-376 WordprocessingML), without headers,
// footers and notes, as it is after all tracked changes.
func readDocx(a *archive, out *limited) error {
	main, err := officeDocument(a)
	if err != nil {
		return err
	}
	word := vocabulary{
		text:   []string{"t"},
		skip:   []string{"ppr", "fallback", "movefrom"},
		breaks: map[string]string{"tab": "\t", "br": "\n", "cr": "\n", "nobreakhyphen": "-"},
		ends:   []string{"p"},
	}
	return word.appendText(a, main, out)
}

// readPptx appends the text of the slides of a presentation (ECMA-376 PresentationML) in the order
// in which they are shown, without notes.
func readPptx(a *archive, out *limited) error {
	main, err := officeDocument(a)
	if err != nil {
		return err
	}
	var slides list
	err = a.each(main, func(t tag) error {
		if t.name == "sldid" && t.kind != html.EndTagToken {
			return slides.add(a, t.attr("r:id"))
		}
		return nil
	})
	if err != nil {
		return err
	}
	err = relationships(a, main, func(id, _, target string) { slides.locate(id, target) })
	if err != nil {
		return err
	}
	slide := vocabulary{
		text:   []string{"t"},
		skip:   []string{"fallback", "fld"},
		breaks: map[string]string{"br": "\n", "tab": "\t"},
		ends:   []string{"p"},
	}
	for _, id := range slides.ids {
		if err := slide.appendText(a, slides.paths[id], out); err != nil {
			return err
		}
	}
	return nil
}

// readOpenDocument appends the text of an OpenDocument text or presentation, without notes and
// annotations, as it is after all tracked changes.
func readOpenDocument(a *archive, out *limited) error {
	open := vocabulary{
		text:   []string{"p", "h"},
		skip:   []string{"tracked-changes", "annotation", "note", "notes"},
		breaks: map[string]string{"tab": "\t", "line-break": "\n", "s": " "},
		ends:   []string{"p", "h"},
	}
	return open.appendText(a, "content.xml", out)
}

// officeDocument returns the path of the main part of an Office document.
func officeDocument(a *archive) (string, error) {
	var main string
	err := relationships(a, "", func(_, kind, target string) {
		if main == "" && strings.HasSuffix(kind, "/officeDocument") {
			main = target
		}
	})
	if err == nil && main == "" {
		err = fmt.Errorf("its main part %w", errMissing)
	}
	return main, err
}

// relationships hands on where a part leads (ECMA-376 part 2), each with its id, its kind and the
// path of the part there. No part stands for the whole document.
func relationships(a *archive, part string, visit func(id, kind, target string)) error {
	dir, file := path.Split(part)
	return a.each(dir+"_rels/"+file+".rels", func(t tag) error {
		if t.name == "relationship" && t.kind != html.EndTagToken {
			target, absolute := strings.CutPrefix(t.attr("target"), "/")
			if !absolute {
				target = path.Join(dir, target)
			}
			visit(t.attr("id"), t.attr("type"), target)
		}
		return nil
	})
}
