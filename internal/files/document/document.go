// Package document reads files that hold one article each: web pages, XML, and what office programs
// and e-books keep in a zip archive. In go a file's name and bytes, out comes its text. How markup
// is read that stands alone in a file is up to who compares the text.
package document

import (
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/clusterd/clusterd/internal/text/charset"
)

// A Document is a file's text.
type Document struct {
	// Title is the first line of an office document or e-book. What their metadata call the title is
	// often the template's. It is empty where the content is markup, which has its title in it.
	Title string
	// Content is the rest: plain text, a line for each paragraph; or the whole file, where that is
	// markup.
	Content string
}

var (
	// ErrTooLarge is the error of a file in which there is more text than allowed, or far more
	// markup.
	ErrTooLarge = errors.New("there is too much text in it")
	// ErrEmpty is the error of a file without text.
	ErrEmpty = errors.New("there is no text in it")
)

// A reader appends the text of a file.
type reader func(file io.ReaderAt, size int64, out *limited) error

// A format is how files with these extensions are read.
type format struct {
	extensions []string
	read       reader
	markup     bool // the text is the file as it is
}

func formats() []format {
	return []format{
		{[]string{".html", ".htm", ".xhtml"}, readHTML, true},
		{[]string{".xml"}, readXML, true},
		{[]string{".docx"}, zipped(readDocx), false},
		{[]string{".pptx"}, zipped(readPptx), false},
		{[]string{".odt", ".odp"}, zipped(readOpenDocument), false},
		{[]string{".epub"}, zipped(readEPUB), false},
	}
}

// Extensions returns the endings of the names of files that are documents, in lower case.
func Extensions() []string {
	var all []string
	for _, f := range formats() {
		all = append(all, f.extensions...)
	}
	return all
}

// Is reports by the name of a file whether it is a document. Upper and lower case are the same.
func Is(name string) bool { return slices.Contains(Extensions(), extension(name)) }

func extension(name string) string { return strings.ToLower(path.Ext(name)) }

// byteOrderMark is what some programs begin a text with.
const byteOrderMark = "\ufeff"

// Read reads a document of this many bytes, the format of which its name tells. Its text is UTF-8
// of at most maxBytes bytes; one with more is [ErrTooLarge], one with none [ErrEmpty]. Every other
// error says what is broken. A page or an XML document that does not say what encoding it is in, is
// in this one.
func Read(
	name string, file io.ReaderAt, size int64, maxBytes int, encoding *charset.Encoding,
) (Document, error) {
	formats := formats()
	has := func(f format) bool { return slices.Contains(f.extensions, extension(name)) }
	i := slices.IndexFunc(formats, has)
	if i < 0 {
		return Document{}, fmt.Errorf("unknown kind of document: %q", extension(name))
	}
	out := &limited{max: maxBytes, encoding: encoding}
	if err := formats[i].read(file, size, out); err != nil {
		return Document{}, err
	}
	valid := strings.ToValidUTF8(out.text.String(), "\uFFFD")
	content := strings.TrimSpace(strings.TrimPrefix(valid, byteOrderMark))
	if content == "" {
		return Document{}, ErrEmpty
	}
	if len(content) > maxBytes {
		return Document{}, ErrTooLarge // by what stands for bytes that are no UTF-8
	}
	if formats[i].markup {
		return Document{Content: content}, nil
	}
	title, rest, _ := strings.Cut(content, "\n")
	return Document{Title: strings.TrimSpace(title), Content: strings.TrimSpace(rest)}, nil
}

// A limited is a text that may grow to max bytes.
type limited struct {
	text     strings.Builder
	max      int
	encoding *charset.Encoding // of files that do not say
}

func (l *limited) Write(p []byte) (int, error) {
	if l.text.Len()+len(p) > l.max {
		return 0, ErrTooLarge
	}
	return l.text.Write(p)
}
