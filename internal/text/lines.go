package text

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"
)

// readFile calls entry with the lines of a file. See readLines.
func readFile(path string, entry func(line string) error) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return readLines(path, f, entry)
}

// readLines calls entry with each line that is neither blank nor a comment,
// without the white space around it. An error names name and the line.
func readLines(name string, r io.Reader, entry func(line string) error) error {
	lines := bufio.NewScanner(r)
	number := 0
	for lines.Scan() {
		number++
		line := strings.TrimSpace(lines.Text())
		if number == 1 {
			line = strings.TrimPrefix(line, "\uFEFF")
		}
		if !utf8.ValidString(line) {
			return fmt.Errorf("%s:%d: not UTF-8; convert the file, as with: iconv -f GB18030 -t UTF-8", name,
				number)
		}
		if line == "" || line[0] == '#' {
			continue
		}
		if err := entry(line); err != nil {
			return fmt.Errorf("%s:%d: %w", name, number, err)
		}
	}
	if err := lines.Err(); errors.Is(err, bufio.ErrTooLong) {
		return fmt.Errorf("%s:%d: line longer than %d bytes", name, number+1, bufio.MaxScanTokenSize)
	} else if err != nil {
		return fmt.Errorf("reading %s: %w", name, err)
	}
	return nil
}
