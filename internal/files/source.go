package files

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/clusterd/clusterd/internal/message/article"
)

// A source reads the entries of one file: their lines, values and rejections. The error is io.EOF
// behind the last one, and else names the line.
type source interface {
	next() (Entry, error)
}

// bufferSize is how much of a file is read at a time.
const bufferSize = 1 << 20

// open returns the source that a file of this kind, or with this beginning, needs.
func (r *Reader) open(file File) source {
	if file.Document != nil {
		return &documentSource{file.Document}
	}
	limit := r.config.MaxBytes + 1 // of one that is too large, as much is needed to tell
	r.text = r.encoding.Reader(file.Lines)
	if r.isWhole(file.Kind) {
		return &wholeSource{r.text, limit}
	}
	if r.buffer == nil {
		r.buffer = bufio.NewReaderSize(nil, bufferSize)
	}
	r.buffer.Reset(r.text)
	in := input{Reader: r.buffer, limit: limit, line: 1}
	switch {
	case file.Kind == CSV:
		in.skipMark()
		return &rowSource{in: in, comma: ',', time: r.config.Fields.PublishedAt}
	case file.Kind == TSV:
		in.skipMark()
		return &rowSource{in: in, comma: '\t', time: r.config.Fields.PublishedAt}
	case r.config.Format == article.JSON && in.isArray():
		in.skipMark()
		return &arraySource{in: in}
	}
	return &lineSource{lines: lineReader{r: r.buffer, limit: limit}}
}

// An input is a file that is read byte by byte.
type input struct {
	*bufio.Reader
	limit int // bytes of an entry that are kept
	line  int // of the next byte
}

// ReadByte reads the next byte, and counts lines.
func (in *input) ReadByte() (byte, error) {
	b, err := in.Reader.ReadByte()
	if b == '\n' && err == nil {
		in.line++
	}
	if err != nil && !errors.Is(err, io.EOF) {
		err = atLine(in.line, err)
	}
	return b, err
}

// keep appends a byte of an entry, unless there is more of it than is kept.
func (in *input) keep(entry []byte, b byte) []byte {
	if len(entry) < in.limit {
		entry = append(entry, b)
	}
	return entry
}

func atLine(line int, err error) error { return fmt.Errorf("line %d: %w", line, err) }

var byteOrderMark = []byte("\ufeff")

// skipMark takes the byte order mark off the beginning.
func (in *input) skipMark() {
	if b, _ := in.Peek(len(byteOrderMark)); bytes.Equal(b, byteOrderMark) {
		_, _ = in.Discard(len(b)) // they are there
	}
}

// isArray reports whether the first character is that of a JSON array. It reads no further than
// that, since more of a pipe may be long in coming.
func (in *input) isArray() bool {
	const most = 4096
	for n := 1; n <= most; n++ {
		b, err := in.Peek(n)
		if err != nil {
			return false
		}
		rest := bytes.TrimLeft(bytes.TrimPrefix(b, byteOrderMark), " \t\r\n")
		if len(rest) > 0 && !bytes.HasPrefix(byteOrderMark, b) {
			return rest[0] == '['
		}
	}
	return false
}

// A documentSource has one entry, a document.
type documentSource struct{ document *io.SectionReader }

func (s *documentSource) next() (Entry, error) {
	if s.document == nil {
		return Entry{}, io.EOF
	}
	e := Entry{Line: 1, document: s.document}
	s.document = nil
	return e, nil
}

// A wholeSource has one entry, all that there is.
type wholeSource struct {
	text  io.Reader // nil: it was read
	limit int
}

func (s *wholeSource) next() (Entry, error) {
	if s.text == nil {
		return Entry{}, io.EOF
	}
	value, err := io.ReadAll(io.LimitReader(s.text, int64(s.limit)))
	s.text = nil
	if err != nil {
		return Entry{}, atLine(1+bytes.Count(value, []byte("\n")), err)
	}
	return Entry{Line: 1, Value: value}, nil
}

// A lineSource has an entry a line.
type lineSource struct {
	lines lineReader
	line  int
}

func (s *lineSource) next() (Entry, error) {
	value, err := s.lines.next()
	s.line++
	if err != nil && !errors.Is(err, io.EOF) {
		err = atLine(s.line, err)
	}
	return Entry{Line: s.line, Value: value}, err
}
