package charset

import (
	"bufio"
	"errors"
	"io"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/transform"
)

// A Reader reads a file, which is in one encoding, as UTF-8. What is UTF-8 already comes as it is,
// also where it is damaged.
type Reader struct {
	encoding *Encoding
	file     *bufio.Reader
	out      io.Reader // nil: the encoding is not known yet
	begun    bool
	ascii    int // bytes ahead that are the same in any encoding
	from     string
}

// Reader returns a reader of a file. With auto, the encoding is told from the first 128 KiB, or,
// where 64 KiB of these are ASCII, from what comes then.
func (e *Encoding) Reader(file io.Reader) *Reader {
	return &Reader{encoding: e, file: bufio.NewReaderSize(file, 2*sampled), from: UTF8}
}

// From returns the encoding of what has been read so far.
func (r *Reader) From() string { return r.from }

func (r *Reader) Read(p []byte) (int, error) {
	if r.out == nil && r.ascii == 0 {
		if err := r.look(); err != nil {
			return 0, err
		}
	}
	if r.out != nil {
		return r.out.Read(p)
	}
	n, err := r.file.Read(p[:min(len(p), r.ascii)])
	r.ascii -= n
	return n, err
}

// look finds the encoding, or how many bytes ahead are ASCII.
func (r *Reader) look() error {
	ahead, err := r.file.Peek(2 * sampled)
	whole := errors.Is(err, io.EOF)
	if err != nil && !whole {
		return err
	}
	if !whole {
		ahead = ahead[:wholeCharacters(ahead)]
	}
	if !r.begun {
		r.begun = true
		if name, decoding, mark := marked(ahead); mark > 0 {
			r.settle(name, decoding)
			_, err := r.file.Discard(mark)
			return err
		}
	}
	if r.encoding.name == Auto && len(ahead) > sampled && beyondASCII(ahead[:sampled]) < 0 {
		r.ascii = sampled
		return nil
	}
	name, decoding, _ := r.encoding.of(ahead)
	r.settle(name, decoding)
	return nil
}

func (r *Reader) settle(name string, decoding encoding.Encoding) {
	r.from, r.out = name, r.file
	if decoding != nil {
		r.out = transform.NewReader(r.file, decoding.NewDecoder())
	}
}

// wholeCharacters returns how many bytes there are without a character of UTF-8 that is cut at the
// end.
func wholeCharacters(b []byte) int {
	for i := len(b) - 1; i >= max(0, len(b)-utf8.UTFMax); i-- {
		if utf8.RuneStart(b[i]) {
			if !utf8.FullRune(b[i:]) {
				return i
			}
			break
		}
	}
	return len(b)
}
