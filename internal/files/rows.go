package files

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"

	"github.com/clusterd/clusterd/internal/message/article"
)

// A rowSource has an entry for each row of CSV or TSV but the first, which names the columns. A row
// becomes a JSON object, so that it is read as any other.
type rowSource struct {
	in      input
	comma   byte
	time    string // the column that may have Unix times
	columns *columns
	record  bytes.Reader  // the row that is parsed
	buffer  *bufio.Reader // of it
}

func (s *rowSource) next() (Entry, error) {
	for {
		row, line, err := s.row()
		switch {
		case err != nil:
			return Entry{}, err
		case len(bytes.TrimRight(row, "\r")) == 0:
			continue // as all who read CSV do
		}
		cells, rejection := s.cells(row, line)
		if s.columns == nil {
			if rejection != nil {
				return Entry{}, errors.New(rejection.Reason)
			}
			if s.columns, err = newColumns(cells, s.time); err != nil {
				return Entry{}, atLine(line, err)
			}
			continue
		}
		if rejection == nil && len(cells) != s.columns.count {
			rejection = badRow("line %d: the row has %d cells, and the first row has %d", line,
				len(cells), s.columns.count)
		}
		if rejection == nil {
			row = s.columns.object(cells)
		}
		return Entry{Line: line, Value: row, rejection: rejection}, nil
	}
}

func badRow(format string, args ...any) *article.Rejection {
	return &article.Rejection{Class: article.BadRow, Reason: fmt.Sprintf(format, args...)}
}

// row reads up to the end of a row, which is no line feed within quotes. Where quotes are not as
// they should be, it ends with the line, so that the next row is found again.
func (s *rowSource) row() (row []byte, line int, err error) {
	const (
		begin  = iota // of a cell
		plain         // in one without quotes, or behind them
		quoted        // in one
		quote         // behind a quote in one: its end, or half of a quote
	)
	row, line = []byte{}, s.in.line
	for state := begin; ; {
		b, err := s.in.ReadByte()
		switch {
		case errors.Is(err, io.EOF) && len(row) > 0:
			return row, line, nil
		case err != nil:
			return nil, line, err
		case b == '\n' && state != quoted:
			return row, line, nil
		case state == quoted && b == '"':
			state = quote
		case state == quoted:
		case b == '"' && state != plain:
			state = quoted
		case b == s.comma:
			state = begin
		default:
			state = plain
		}
		row = s.in.keep(row, b)
	}
}

// cells parses a row, or says in which line and column what is wrong.
func (s *rowSource) cells(row []byte, line int) ([]string, *article.Rejection) {
	if len(row) >= s.in.limit {
		return nil, &article.Rejection{Class: article.TooLarge, Reason: fmt.Sprintf(
			"line %d: the row that begins here is larger than input.max_bytes, %d bytes; is a quote not "+
				"closed?", line, s.in.limit-1)}
	}
	s.record.Reset(row)
	if s.buffer == nil {
		s.buffer = bufio.NewReader(&s.record)
	}
	s.buffer.Reset(&s.record)
	parser := csv.NewReader(s.buffer)
	parser.Comma, parser.FieldsPerRecord = rune(s.comma), -1
	cells, err := parser.Read()
	if wrong := (*csv.ParseError)(nil); errors.As(err, &wrong) {
		return nil, badRow("line %d, column %d: %v", line+wrong.Line-1, wrong.Column, wrong.Err)
	} else if err != nil {
		return nil, badRow("line %d: %v", line, err)
	}
	return cells, nil
}
