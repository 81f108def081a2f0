// Package files reads articles from files: one a line, a row or an element of an array, or a
// document that is one. Files go in, [Entry] after Entry comes out, and each is an article or says
// why it is none.
package files

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/files/document"
	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/text/charset"
)

// A File has articles as its kind says, or is a document.
type File struct {
	Name     string // for messages; the id of a document's article
	Lines    io.Reader
	Kind     Kind              // of Lines
	Document *io.SectionReader // instead of Lines

	// again opens what Lines has from its beginning, and returns what closes that; nil of what can be
	// read only once.
	again func() (io.Reader, func())
}

// An Entry is a line, a row, an element of an array, or a document.
type Entry struct {
	File   string
	Line   int   // on which it begins, from 1; of a document 1
	Offset int64 // among the entries of all files, from 0
	// Value is the line or the element, in UTF-8 but for damage; of one that is too large, its
	// beginning; of a row, the JSON object that it stands for.
	Value     []byte
	encoding  string // what the line was in
	kind      Kind
	document  *io.SectionReader
	rejection *article.Rejection // found while the entry was read
}

// A Reader reads files one after the other. Next is not safe for concurrent use; Article is.
type Reader struct {
	config             config.Input
	encoding           *charset.Encoding
	lines, rows, whole article.Decoder
	files              []File
	text               *charset.Reader // of the first of the files
	buffer             *bufio.Reader   // of it
	source             source          // of it; nil: not begun
	offset             int64
}

// NewReader returns a Reader of articles as the input section of a configuration has them. It holds
// an entry at a time, of at most input.max_bytes. Each file is in one encoding, so entries are
// UTF-8 when they are decoded.
func NewReader(c config.Input, files []File) (*Reader, error) {
	encoding, err := charset.Get(c.Encoding)
	if err != nil {
		return nil, fmt.Errorf("input.encoding: %q: %w", c.Encoding, err)
	}
	r := &Reader{config: c, encoding: encoding, files: files}
	for _, d := range []struct {
		decoder *article.Decoder
		format  string
	}{{&r.lines, c.Format}, {&r.rows, article.JSON}, {&r.whole, article.Text}} {
		*d.decoder, err = article.NewDecoder(d.format, article.Fields(c.Fields), c.MaxBytes,
			charset.UTF8)
		if err != nil {
			return nil, err
		}
	}
	return r, nil
}

// Copy makes articles carry what results repeat of these fields of lines.
func (r *Reader) Copy(fields []string) {
	r.lines, r.rows = article.Copying(r.lines, fields), article.Copying(r.rows, fields)
}

// Divide makes lines and rows say of which space they are, by this field; empty is none.
func (r *Reader) Divide(field string) {
	r.lines, r.rows = article.ByField(r.lines, field), article.ByField(r.rows, field)
}

// Next returns the next entry; the error is io.EOF behind the last one, and else names the file and
// the line.
func (r *Reader) Next() (Entry, error) {
	for ; len(r.files) > 0; r.files, r.source = r.files[1:], nil {
		file := r.files[0]
		if r.source == nil {
			r.source = r.open(file)
		}
		e, err := r.source.next()
		if errors.Is(err, io.EOF) {
			continue
		}
		if err != nil {
			return Entry{}, fmt.Errorf("reading %s: %w", file.Name, err)
		}
		e.File, e.Offset, e.kind = file.Name, r.offset, file.Kind
		if e.document == nil {
			e.encoding = r.text.From()
		}
		r.offset++
		return e, nil
	}
	return Entry{}, io.EOF
}

// Address returns that of the entry as if all were records of partition 0 of input.topic.
func (r *Reader) Address(e Entry) article.Address {
	return article.Address{Topic: r.config.Topic, Offset: e.Offset}
}

// Article returns what the entry holds, which may share memory with it, or why it is none.
func (r *Reader) Article(e Entry) (a article.Article, rejection *article.Rejection) {
	switch {
	case e.rejection != nil:
		return article.Article{}, e.rejection
	case e.document != nil:
		return r.document(e)
	case e.kind == CSV || e.kind == TSV:
		a, rejection = r.rows.Decode(nil, e.Value, r.Address(e))
	case r.isWhole(e.kind):
		a, rejection = r.whole.Decode([]byte(idOf(e.File)), e.Value, r.Address(e))
	default:
		a, rejection = r.lines.Decode(nil, e.Value, r.Address(e))
	}
	if rejection != nil {
		return article.Article{}, rejection
	}
	if e.encoding != charset.UTF8 {
		a.ReadFrom(e.encoding, e.Value)
	}
	return a, nil
}

// isWhole reports whether a file of this kind is one text.
func (r *Reader) isWhole(k Kind) bool { return k == Text && r.config.Format != article.Text }

// idOf returns the id of the article that a file is.
func idOf(name string) string { return strings.ToValidUTF8(name, "\uFFFD") }

func (r *Reader) document(e Entry) (article.Article, *article.Rejection) {
	d, err := document.Read(e.File, e.document, e.document.Size(), r.config.MaxBytes, r.encoding)
	reject := func(class article.Class, reason string) (article.Article, *article.Rejection) {
		return article.Article{}, &article.Rejection{Class: class, Reason: reason}
	}
	switch {
	case errors.Is(err, document.ErrTooLarge):
		return reject(article.TooLarge, fmt.Sprintf("%v: input.max_bytes is %d", err, r.config.MaxBytes))
	case errors.Is(err, document.ErrEmpty):
		return reject(article.Empty, err.Error())
	case err != nil:
		return reject(article.BadDocument, err.Error())
	}
	return article.Article{ID: idOf(e.File), Title: d.Title, Content: d.Content}, nil
}
