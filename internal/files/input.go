// Package files reads articles from files: one a line, or a document that is one. Files go in,
// [Entry] after Entry comes out, and each is an article or says why it is none.
package files

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/clusterd/clusterd/internal/article"
	"github.com/clusterd/clusterd/internal/charset"
	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/document"
)

// A File has an article a line, or is a document.
type File struct {
	Name     string // for messages; the id of a document's article
	Lines    io.Reader
	Document *io.SectionReader // instead of Lines
}

// An Entry is a line, or a document.
type Entry struct {
	File     string
	Line     int    // from 1; of a document 1
	Offset   int64  // among the entries of all files, from 0
	Value    []byte // the line, in UTF-8 but for damage; of one that is too large, its beginning
	encoding string // what the line was in
	document *io.SectionReader
}

// A Reader reads files one after the other. Next is not safe for concurrent use; Article is.
type Reader struct {
	config   config.Input
	encoding *charset.Encoding
	decoder  article.Decoder
	files    []File
	text     *charset.Reader // of the first of the files
	lines    *lineReader     // of it; nil: not begun
	line     int
	offset   int64
}

// NewReader returns a Reader of articles as the input section of a configuration has them. It holds
// a line at a time, of at most input.max_bytes. Each file is in one encoding, so lines are UTF-8
// when they are decoded.
func NewReader(c config.Input, files []File) (*Reader, error) {
	encoding, err := charset.Get(c.Encoding)
	if err != nil {
		return nil, fmt.Errorf("input.encoding: %q: %w", c.Encoding, err)
	}
	decoder, err := article.NewDecoder(c.Format, article.Fields(c.Fields), c.MaxBytes, charset.UTF8)
	if err != nil {
		return nil, err
	}
	return &Reader{config: c, encoding: encoding, decoder: decoder, files: files}, nil
}

// Copy makes articles carry what results repeat of these fields of lines.
func (r *Reader) Copy(fields []string) { r.decoder = article.Copying(r.decoder, fields) }

// Next returns the next entry; the error is io.EOF behind the last one, and else names the file.
func (r *Reader) Next() (Entry, error) {
	for ; len(r.files) > 0; r.files, r.lines, r.line = r.files[1:], nil, 0 {
		file := r.files[0]
		e := Entry{File: file.Name, Line: r.line + 1, Offset: r.offset, document: file.Document}
		if file.Document != nil {
			if r.line > 0 {
				continue
			}
		} else {
			if r.lines == nil {
				r.text = r.encoding.Reader(file.Lines)
				r.lines = &lineReader{r: bufio.NewReaderSize(r.text, 1<<20), limit: r.config.MaxBytes + 1}
			}
			var err error
			if e.Value, err = r.lines.next(); errors.Is(err, io.EOF) {
				continue
			} else if err != nil {
				return Entry{}, fmt.Errorf("reading %s: %w", file.Name, err)
			}
		}
		if r.text != nil && file.Document == nil {
			e.encoding = r.text.From()
		}
		r.line++
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
func (r *Reader) Article(e Entry) (article.Article, *article.Rejection) {
	if e.document != nil {
		return r.document(e)
	}
	a, rejection := r.decoder.Decode(nil, e.Value, r.Address(e))
	if rejection != nil {
		return article.Article{}, rejection
	}
	if e.encoding != charset.UTF8 {
		a.ReadFrom(e.encoding, e.Value)
	}
	return a, nil
}

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
	return article.Article{
		ID: strings.ToValidUTF8(e.File, "\uFFFD"), Title: d.Title,
		Content: d.Content,
	}, nil
}
