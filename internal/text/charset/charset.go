// Package charset turns bytes in any character encoding into UTF-8. In: the bytes of a record or of
// a file, and the name of their encoding, or auto. Out: text without a byte order mark, the name of
// the encoding that it was in, and whether all of it could be read.
//
// What auto takes bytes for is a function of these bytes alone, so that it is the same on every
// machine and at every repetition.
package charset

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/encoding/unicode/utf32"
)

const (
	// Auto is the name that stands for whichever encoding the bytes seem to be in.
	Auto = "auto"
	// UTF8 is the name of the encoding that text is left in.
	UTF8 = "utf-8"
	// Common are names that [Get] knows, for messages.
	Common = "auto, utf-8, gb18030, big5, utf-16, utf-16le, utf-16be, shift_jis, euc-jp, euc-kr, " +
		"windows-1252"

	utf16Any = "utf-16"
)

// An Encoding is how characters stand as bytes. It is safe for concurrent use.
type Encoding struct {
	name     string
	decoding encoding.Encoding // nil: UTF-8, or that is up to the bytes
}

// A Text is what bytes say.
type Text struct {
	// UTF8 is valid, and begins with no byte order mark. U+FFFD stands for what could not be read. It
	// may share memory with the bytes.
	UTF8 []byte
	// From is the encoding in which the bytes were.
	From string
	// Invalid is whether bytes could not be read.
	Invalid bool
}

// Get returns the encoding of a name: auto, or one of the WHATWG Encoding Standard, such as gbk or
// utf-16le. The error says which are common.
func Get(name string) (*Encoding, error) {
	name = strings.ToLower(strings.TrimSpace(name))
	switch name {
	case Auto:
		return &Encoding{name: Auto}, nil
	case utf16Any:
		return &Encoding{name: utf16Any, decoding: utf16le().decoding}, nil
	}
	found, err := htmlindex.Get(name)
	if err != nil {
		return nil, errors.New("must be one of " + Common +
			", or another name of the WHATWG Encoding Standard")
	}
	canonical, err := htmlindex.Name(found)
	switch {
	case err != nil || canonical == "replacement" || canonical == "x-user-defined":
		return nil, fmt.Errorf("cannot be read: must be one of %s", Common)
	case canonical == UTF8:
		return &Encoding{name: UTF8}, nil
	case canonical == "gbk":
		// GB 18030 holds all of GBK and GB 2312, and programs call it by their names.
		return &Encoding{name: "gb18030", decoding: simplifiedchinese.GB18030}, nil
	case canonical == "utf-16le":
		found = utf16le().decoding
	case canonical == "utf-16be":
		found = utf16be().decoding
	}
	return &Encoding{name: canonical, decoding: found}, nil
}

// String returns the name by which [Get] gives the encoding.
func (e *Encoding) String() string { return e.name }

// Text reads bytes. A byte order mark goes before any name. With auto, what is valid UTF-8 is
// UTF-8, unless it is full of NUL bytes as only UTF-16 is.
func (e *Encoding) Text(b []byte) Text {
	if e.decoding == nil && plain(b) {
		return Text{UTF8: trimMarks(b), From: UTF8}
	}
	name, decoding, mark := e.of(b)
	t := decoded(name, decoding, b[mark:])
	t.UTF8 = trimMarks(t.UTF8)
	return t
}

func decoded(name string, decoding encoding.Encoding, b []byte) Text {
	if decoding == nil {
		t := Text{UTF8: b, From: name, Invalid: !utf8.Valid(b)}
		if t.Invalid {
			t.UTF8 = bytes.ToValidUTF8(b, replacement)
		}
		return t
	}
	text, err := decoding.NewDecoder().Bytes(b)
	return Text{UTF8: text, From: name, Invalid: err != nil || bytes.Contains(text, replacement)}
}

// plain reports whether bytes are UTF-8 without anything that is worth a second look, as nearly all
// are.
func plain(b []byte) bool { return valid(b) && bytes.IndexByte(b, 0) < 0 }

// A candidate is an encoding that bytes may be in.
type candidate struct {
	name     string
	decoding encoding.Encoding // nil: UTF-8
	costs    *costs
}

func utf16le() candidate {
	return candidate{"utf-16le", unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM), costsIn().any}
}

func utf16be() candidate {
	return candidate{"utf-16be", unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM), costsIn().any}
}

func gb18030() candidate {
	return candidate{"gb18030", simplifiedchinese.GB18030, costsIn().simplified}
}

func big5() candidate {
	return candidate{"big5", traditionalchinese.Big5, costsIn().traditional}
}

var (
	utf8Mark    = []byte("\ufeff")
	replacement = []byte("\uFFFD")
)

// marked returns what a byte order mark says that bytes are in. That of UTF-32 begins with that of
// UTF-16.
func marked(b []byte) (name string, e encoding.Encoding, mark int) {
	switch {
	case bytes.HasPrefix(b, utf8Mark):
		return UTF8, nil, len(utf8Mark)
	case bytes.HasPrefix(b, []byte("\xff\xfe\x00\x00")):
		return "utf-32le", utf32.UTF32(utf32.LittleEndian, utf32.IgnoreBOM), 4
	case bytes.HasPrefix(b, []byte("\x00\x00\xfe\xff")):
		return "utf-32be", utf32.UTF32(utf32.BigEndian, utf32.IgnoreBOM), 4
	case bytes.HasPrefix(b, []byte("\xff\xfe")):
		return "utf-16le", utf16le().decoding, 2
	case bytes.HasPrefix(b, []byte("\xfe\xff")):
		return "utf-16be", utf16be().decoding, 2
	}
	return "", nil, 0
}

// of returns what bytes are in, and how long their byte order mark is.
func (e *Encoding) of(b []byte) (name string, decoding encoding.Encoding, mark int) {
	if name, decoding, mark = marked(b); mark > 0 {
		return name, decoding, mark
	}
	switch e.name {
	case Auto:
		if plain(b) {
			return UTF8, nil, 0
		}
		others := []candidate{utf16le(), utf16be()}
		if !utf8.Valid(b) {
			others = append(others, gb18030(), big5())
		}
		found := detect(b, candidate{UTF8, nil, costsIn().any}, others)
		return found.name, found.decoding, 0
	case utf16Any:
		found := detect(b, utf16le(), []candidate{utf16be()})
		return found.name, found.decoding, 0
	}
	return e.name, e.decoding, 0
}

// trimMarks takes off byte order marks. Some programs write one before another.
func trimMarks(text []byte) []byte {
	for bytes.HasPrefix(text, utf8Mark) {
		text = text[len(utf8Mark):]
	}
	return text
}
