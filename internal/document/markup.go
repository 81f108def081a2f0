package document

import (
	"bytes"
	"fmt"
	"io"

	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding"
)

// sniffed is how much of a file is looked at for its character encoding, as browsers do.
const sniffed = 1024

// readHTML reads a page in the encoding that its byte order mark or a meta tag names, else UTF-8, or
// Windows-1252 where it is not that.
func readHTML(file io.ReaderAt, size int64, out *limited) error {
	return decode(file, size, out, func(head []byte) (encoding.Encoding, error) {
		e, _, _ := charset.DetermineEncoding(head, "")
		return e, nil
	})
}

// readXML reads a document in the encoding that its byte order mark or its declaration names.
func readXML(file io.ReaderAt, size int64, out *limited) error {
	return decode(file, size, out, func(head []byte) (encoding.Encoding, error) {
		label := declaredEncoding(head)
		if label == "" {
			e, _, _ := charset.DetermineEncoding(head, "")
			return e, nil
		}
		if e, _ := charset.Lookup(label); e != nil {
			return e, nil
		}
		return nil, fmt.Errorf("unknown character encoding %q", label)
	})
}

func decode(file io.ReaderAt, size int64, out *limited, determine func(head []byte) (encoding.Encoding, error)) error {
	if size > int64(out.max) {
		return ErrTooLarge
	}
	head := make([]byte, min(size, sniffed))
	if _, err := io.ReadFull(io.NewSectionReader(file, 0, size), head); err != nil {
		return err
	}
	e, err := determine(head)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, e.NewDecoder().Reader(io.NewSectionReader(file, 0, size)))
	return err
}

// declaredEncoding is the encoding in an XML declaration, empty where there is none.
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
