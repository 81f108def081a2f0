package sample

import (
	"strings"
	"sync"
)

// variant writes s as another region's site would: the simplified characters
// that have one common traditional form in that form, and ASCII letters and
// digits at full width.
func variant(s string) string {
	traditional := traditional()
	return strings.Map(func(r rune) rune {
		switch {
		case '0' <= r && r <= '9', 'A' <= r && r <= 'Z', 'a' <= r && r <= 'z':
			return r + ('！' - '!')
		case r < '一':
			return r
		}
		if t, ok := traditional[r]; ok {
			return t
		}
		return r
	}, s)
}

// traditional returns the traditional form of the characters in traditional.txt, which has
// a simplified character and its traditional form in each word.
var traditional = sync.OnceValue(func() map[rune]rune {
	text, err := data.ReadFile("traditional.txt")
	if err != nil {
		panic(err)
	}
	m := make(map[rune]rune)
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		for pair := range strings.FieldsSeq(line) {
			characters := []rune(pair)
			m[characters[0]] = characters[1]
		}
	}
	return m
})
