package pinyin

import (
	"fmt"
	"unicode/utf8"

	gopinyin "github.com/mozillazg/go-pinyin"
	"github.com/zeebo/xxh3"
	"golang.org/x/text/unicode/norm"
)

// letters says with which letter each character counts, by its code point; 0 is none. A
// Han character counts with the first letter of its most usual reading, from a to z; a letter
// from a to z counts as itself and is written in upper case, since it is measured against
// another language. All else counts for nothing.
type letters struct{ of []byte }

func newLetters() *letters {
	l := &letters{of: make([]byte, 'z'+1)}
	for r := 'a'; r <= 'z'; r++ {
		l.of[r] = byte(r - 'a' + 'A')
	}
	for r, readings := range gopinyin.PinyinDict {
		if missing := r + 1 - len(l.of); missing > 0 {
			l.of = append(l.of, make([]byte, missing)...)
		}
		l.of[r] = norm.NFD.String(readings)[0] // the first letter, without its tone
	}
	return l
}

// checksum returns that of all readings, which another release of the library may have changed.
func (l *letters) checksum() string { return fmt.Sprintf("%08x", uint32(xxh3.Hash(l.of))) }

// append appends the letters of a cleaned text.
func (l *letters) append(dst, clean []byte) []byte {
	for i := 0; i < len(clean); {
		r, size := utf8.DecodeRune(clean[i:])
		if int(r) < len(l.of) && l.of[r] != 0 {
			dst = append(dst, l.of[r])
		}
		i += size
	}
	return dst
}
