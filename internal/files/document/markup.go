package document

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strings"

	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/unicode"

	own "github.com/clusterd/clusterd/internal/text/charset"
)

var (
	utf16BE = unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM)
	utf16LE = unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM)
)

// sniffed is how much of a file is looked at for its character encoding, as browsers do.
const sniffed = 1024

// readHTML reads a page in the encoding that its byte order mark or a meta tag names, or that can
// be told. Else it is Windows-1252, as in browsers.
func readHTML(file io.ReaderAt, size int64, out *limited) error {
	return decode(file, size, out, func(head []byte) (e encoding.Encoding, certain bool, err error) {
		e, name, certain := charset.DetermineEncoding(head, "")
		guessed := name == "utf-8" || name == "windows-1252" // where it finds nothing
		return e, certain || !guessed || bytes.Contains(bytes.ToLower(head), []byte("charset")), nil
	})
}

// readXML reads a document in the encoding that its byte order mark or its declaration names.
func readXML(file io.ReaderAt, size int64, out *limited) error {
	return decode(file, size, out, func(head []byte) (encoding.Encoding, bool, error) {
		if e, err := xmlEncoding(head); e != nil || err != nil {
			return e, true, err
		}
		e, _, certain := charset.DetermineEncoding(head, "")
		return e, certain, nil
	})
}

// decodeXML reads a part in XML or XHTML as UTF-8, from the encoding that its byte order mark, its
// declaration or a meta tag names.
func decodeXML(r io.Reader) (io.Reader, error) {
	buffered := bufio.NewReaderSize(r, sniffed)
	head, err := buffered.Peek(sniffed)
	if err != nil && err != io.EOF {
		return nil, err
	}
	e, err := xmlEncoding(head)
	if err != nil {
		return nil, err
	}
	if e == nil {
		if named, _, certain := charset.DetermineEncoding(head, ""); certain {
			e = named
		}
	}
	if e == nil || e == encoding.Nop || e == unicode.UTF8 {
		return buffered, nil
	}
	return e.NewDecoder().Reader(buffered), nil
}

// xmlEncoding returns the encoding that the first bytes of an XML document name (XML 1.0, appendix
// F), nil where they name none.
func xmlEncoding(head []byte) (encoding.Encoding, error) {
	for begin, e := range map[string]encoding.Encoding{
		"\xfe\xff": utf16BE, "\x00<\x00": utf16BE,
		"\xff\xfe": utf16LE, "<\x00": utf16LE,
		byteOrderMark: unicode.UTF8,
	} {
		if bytes.HasPrefix(head, []byte(begin)) {
			return e, nil
		}
	}
	label := declaredEncoding(head)
	if label == "" {
		return nil, nil
	}
	e, name := charset.Lookup(label)
	switch {
	case e == nil:
		return nil, fmt.Errorf("unknown character encoding %q", label)
	case strings.HasPrefix(name, "utf-16"): // it could not be read
		return unicode.UTF8, nil
	}
	return e, nil
}

// decode reads a file in the encoding that its beginning tells for certain, else in the one that
// files are in; and where that is up to the file, and cannot be told, in the uncertain one.
func decode(
	file io.ReaderAt, size int64, out *limited,
	determine func(head []byte) (e encoding.Encoding, certain bool, err error),
) error {
	if size > int64(out.max) {
		return ErrTooLarge
	}
	all := make([]byte, size)
	if _, err := io.ReadFull(io.NewSectionReader(file, 0, size), all); err != nil {
		return err
	}
	e, certain, err := determine(all[:min(size, sniffed)])
	if err != nil {
		return err
	}
	if !certain {
		text := out.encoding.Text(all)
		if named := out.encoding.String() != own.Auto; named || !text.Invalid || text.From != own.UTF8 {
			_, err := out.Write(text.UTF8)
			return err
		}
	}
	_, err = io.Copy(out, e.NewDecoder().Reader(bytes.NewReader(all)))
	return err
}

// declaredEncoding returns the encoding in an XML declaration, empty where there is none.
func declaredEncoding(head []byte) string {
	declaration, _, found := bytes.Cut(head, []byte("?>"))
	if !found || !bytes.HasPrefix(declaration, []byte("<?xml")) {
		return ""
	}
	_, value, found := bytes.Cut(declaration, []byte("encoding="))
	if !found || len(value) == 0 {
		return ""
	}
	label, _, _ := bytes.Cut(value[1:], value[:1])
	return string(label)
}
