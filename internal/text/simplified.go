package text

import (
	_ "embed"
	"fmt"
	"strings"
	"unicode/utf8"
)

//go:embed opencc/TSCharacters.txt
var openccTS string

// firstHan begins the Chinese characters but for a few signs: Extension A stands
// before all other blocks.
const firstHan = 0x3400

// readSimplified returns the simplified character of each traditional one.
func readSimplified() (map[rune]rune, error) {
	simplified := make(map[rune]rune)
	for i, row := range strings.Split(strings.TrimSpace(openccTS), "\n") {
		if err := addTraditional(simplified, row); err != nil {
			return nil, fmt.Errorf("opencc/TSCharacters.txt:%d: %w", i+1, err)
		}
	}
	// OpenCC has a chain (薴 → 苧 → 苎), which would make normalised text change
	// when normalised once more.
	for from, to := range simplified {
		if next, ok := simplified[to]; ok {
			simplified[from] = next
		}
	}
	return simplified, nil
}

// addTraditional enters a row of OpenCC's table: a character, then candidates,
// of which the first is the likeliest.
func addTraditional(simplified map[rune]rune, row string) error {
	fields := strings.Fields(row)
	if len(fields) < 2 || utf8.RuneCountInString(fields[0]) != 1 ||
		utf8.RuneCountInString(fields[1]) != 1 {
		return fmt.Errorf("want a character and its candidates, have %q", row)
	}
	from, _ := utf8.DecodeRuneInString(fields[0])
	to, _ := utf8.DecodeRuneInString(fields[1])
	if from < firstHan {
		return fmt.Errorf("character %q lies before %U", from, firstHan)
	}
	simplified[from] = to
	return nil
}
