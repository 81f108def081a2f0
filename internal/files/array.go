package files

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/clusterd/clusterd/internal/message/article"
)

// whiteSpace is what JSON may have between its parts.
const whiteSpace = " \t\r\n"

// An arraySource has an entry for each element of a JSON array, or of several behind one another.
// Whether an element is JSON it leaves to the decoder: it only finds where one ends.
type arraySource struct {
	in     input
	begins int  // line of the array; 0 outside of one
	more   bool // a comma was read, so that an element must follow
}

func (s *arraySource) next() (Entry, error) {
	for {
		b, err := s.space()
		if err != nil {
			return s.end(nil, s.in.line, err)
		}
		switch {
		case s.begins == 0 && b == '[':
			s.begins, s.more = s.in.line, false
		case s.begins == 0:
			return s.behind(b)
		case b == ']' && !s.more:
			s.begins = 0
		default:
			return s.element(b)
		}
	}
}

// space returns the first byte that is no white space.
func (s *arraySource) space() (byte, error) {
	for {
		if b, err := s.in.ReadByte(); err != nil || !strings.ContainsRune(whiteSpace, rune(b)) {
			return b, err
		}
	}
}

// element reads the element that begins with a byte, and what ends it.
func (s *arraySource) element(b byte) (Entry, error) {
	line, value := s.in.line, []byte{}
	depth, text, escaped := 0, false, false
	for {
		switch {
		case text:
			text, escaped = escaped || b != '"', !escaped && b == '\\'
		case b == '"':
			text = true
		case depth == 0 && (b == ',' || b == ']'):
			if s.more = b == ','; !s.more {
				s.begins = 0
			}
			return Entry{Line: line, Value: bytes.TrimRight(value, whiteSpace)}, nil
		case b == '{' || b == '[':
			depth++
		case (b == '}' || b == ']') && depth > 0:
			depth--
		}
		value = s.in.keep(value, b)
		var err error
		if b, err = s.in.ReadByte(); err != nil {
			return s.end(value, line, err)
		}
	}
}

// end says what it is that the file ends.
func (s *arraySource) end(value []byte, line int, err error) (Entry, error) {
	if s.begins == 0 || !errors.Is(err, io.EOF) {
		return Entry{}, err
	}
	reason := fmt.Sprintf("the file ends within the array that begins on line %d", s.begins)
	s.begins = 0
	return Entry{
		Line: line, Value: value, rejection: &article.Rejection{Class: article.BadJSON, Reason: reason},
	}, nil
}

// behind takes what follows an array, and is none, for one entry that is no article.
func (s *arraySource) behind(b byte) (Entry, error) {
	line, value := s.in.line, s.in.keep(nil, b)
	for {
		b, err := s.in.ReadByte()
		if errors.Is(err, io.EOF) {
			return Entry{Line: line, Value: value, rejection: &article.Rejection{
				Class: article.BadJSON, Reason: "the array has ended, and what follows is no other one",
			}}, nil
		}
		if err != nil {
			return Entry{}, err
		}
		value = s.in.keep(value, b)
	}
}
