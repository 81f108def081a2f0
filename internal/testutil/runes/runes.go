// Package runes goes through the characters of Unicode, for tests of what becomes of each.
package runes

import (
	"unicode"
	"unicode/utf8"
)

// All calls f with each rune but surrogates, and with some of the planes that hold no characters.
func All(f func(r rune)) {
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if empty := r >= 0x40000 && r < 0xE0000 || r >= 0xF0000; utf8.ValidRune(r) &&
			(!empty || r%256 == 0) {
			f(r)
		}
	}
}
