package files

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
)

// modelLines returns the lines of data by the plain statement: what is between line feeds, without
// one carriage return at the end, and no more than limit bytes of it.
func modelLines(data []byte, limit int) []string {
	var lines []string
	parts := strings.Split(string(data), "\n")
	for i, part := range parts {
		if i == len(parts)-1 && part == "" {
			break // what follows the last line feed is a line only if there is something
		}
		// Of a longer line only the beginning is looked at.
		if len(part) <= limit+1 {
			part = strings.TrimSuffix(part, "\r")
		}
		lines = append(lines, part[:min(len(part), limit)])
	}
	return lines
}

func FuzzLineReader(f *testing.F) {
	f.Add([]byte("a\nb\r\n\n\r\nc"), 3, 16)
	f.Add([]byte("abcd\r\nabcde\nabcdef"), 4, 16)
	f.Add([]byte("abcdefghijklmnopqrstuvwxyz\nx"), 20, 16)
	f.Add([]byte("\r"), 0, 16)
	f.Add([]byte("0123456789abcde\r\n0123456789abcdef\r"), 15, 16)
	f.Fuzz(func(t *testing.T, data []byte, limit, buffer int) {
		if limit < 0 || limit > 1<<20 || buffer < 16 || buffer > 1<<16 {
			t.Skip()
		}
		want := modelLines(data, limit)
		lines := lineReader{r: bufio.NewReaderSize(bytes.NewReader(data), buffer), limit: limit}
		for i := 0; ; i++ {
			got, err := lines.next()
			if errors.Is(err, io.EOF) {
				if i != len(want) {
					t.Fatalf("%d lines, want %d", i, len(want))
				}
				return
			}
			if err != nil || got == nil {
				t.Fatalf("line %d = %q, %v", i, got, err)
			}
			if i >= len(want) || string(got) != want[i] {
				t.Fatalf("line %d = %q, want %q", i, got, want[min(i, len(want)-1)])
			}
		}
	})
}
