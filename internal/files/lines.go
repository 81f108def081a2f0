package files

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// A lineReader reads lines without their ends, and of a line over the limit only the first limit
// bytes.
type lineReader struct {
	r     *bufio.Reader
	limit int
}

func (l *lineReader) next() ([]byte, error) {
	line := []byte{}
	for {
		part, err := l.r.ReadSlice('\n')
		line = append(line, part[:min(len(part), l.limit+2-len(line))]...)
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF) && len(line) == 0:
			return nil, io.EOF
		case err != nil && !errors.Is(err, io.EOF):
			return nil, err
		default:
			line = bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
			return line[:min(len(line), l.limit)], nil
		}
	}
}
