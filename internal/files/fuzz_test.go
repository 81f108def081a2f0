package files

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/clusterd/clusterd/internal/config"
)

const fuzzedBytes = 1024 // input.max_bytes

// fuzzed reads data, and holds what every kind promises: entries are bounded, lines grow, and no
// error is without a line.
func fuzzed(t *testing.T, kind Kind, data []byte) (values []string, clean bool) {
	c := config.Default().Input
	c.MaxBytes, c.Encoding = fuzzedBytes, "utf-8"
	r := newReader(t, c, []File{{Name: "f", Kind: kind, Lines: bytes.NewReader(data)}})
	clean = true
	for last := 1; ; {
		e, err := r.Next()
		if errors.Is(err, io.EOF) {
			return values, clean
		}
		if err != nil {
			if !strings.Contains(err.Error(), "reading f: line ") {
				t.Fatal(err)
			}
			return values, false
		}
		if e.Line < last || e.Line > 1+bytes.Count(data, []byte("\n")) {
			t.Fatalf("line %d behind %d", e.Line, last)
		}
		if last = e.Line; kind == Lines && len(e.Value) > fuzzedBytes+1 {
			t.Fatalf("%d bytes", len(e.Value))
		}
		_, _ = r.Article(e) // it may be none
		clean = clean && e.rejection == nil
		values = append(values, string(e.Value))
	}
}

// What encoding/csv reads as a whole is read the same row by row.
func FuzzRows(f *testing.F) {
	for _, seed := range []string{
		"id,content\r\na,\"b\n\"\"c\"\n\n", "a\n\"", "a,b\nx\"y,1\n", "\ufeffa.b,a.c,a\n1,2,3",
		"a,a\n,\n",
		"a\n\"x\"y\n\"z\"\n", "\"\na\"\n\r\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got, clean := fuzzed(t, CSV, data)
		if len(data) > fuzzedBytes || bytes.HasPrefix(data, byteOrderMark) || !clean {
			return
		}
		rows, err := csv.NewReader(bytes.NewReader(data)).ReadAll()
		if err != nil {
			t.Fatalf("encoding/csv: %v; read as %q", err, got)
		}
		if want := max(0, len(rows)-1); len(got) != want {
			t.Fatalf("%d rows, want %d", len(got), want)
		}
		for i, value := range got {
			var object map[string]any
			if err := json.Unmarshal([]byte(value), &object); err != nil {
				t.Fatalf("%q: %v", value, err)
			}
			for j, name := range rows[0] {
				first := object[name]
				if !strings.Contains(name, ".") && first != nil && j == indexOf(rows[0], name) {
					if text, ok := first.(string); ok && text != strings.ToValidUTF8(rows[i+1][j], "\uFFFD") &&
						!strings.Contains(text, "\uFFFD") {
						t.Fatalf("%q is %q, want %q", name, text, rows[i+1][j])
					}
				}
			}
		}
	})
}

func indexOf(all []string, name string) int {
	for i, one := range all {
		if one == name || strings.HasPrefix(one, name+".") {
			return i
		}
	}
	return -1
}

// What encoding/json reads as an array is read the same element by element.
func FuzzArray(f *testing.F) {
	for _, seed := range []string{
		`[{"content":"a],\"b"}, {"x":[1,{"y":"]"}]} ]`, "[]", "[1,", "[\"\\", "[}{]", " [ 1 ] [2]x", "[[[]]]",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got, _ := fuzzed(t, Lines, data)
		var want []json.RawMessage
		trimmed := bytes.TrimLeft(data, whiteSpace)
		if len(data) > fuzzedBytes || !bytes.HasPrefix(trimmed, []byte("[")) ||
			json.Unmarshal(data, &want) != nil {
			return
		}
		if len(got) != len(want) {
			t.Fatalf("%d elements, want %d: %q", len(got), len(want), got)
		}
		for i, value := range got {
			if value != string(want[i]) {
				t.Fatalf("element %d is %q, want %q", i, value, want[i])
			}
		}
	})
}
