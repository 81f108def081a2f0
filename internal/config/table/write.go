package table

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/clusterd/clusterd/internal/config/value"
)

// Write writes the keys as nested mappings; comment is called where a line about a key may stand.
func Write(b *bytes.Buffer, keys []Key, comment func(k Key, indent string)) {
	var open []string // sections that the next key may go on in
	for _, k := range keys {
		sections := sectionsOf(k.Path)
		for depth, section := range sections {
			if !slices.Contains(open, section) {
				if depth == 0 && b.Len() > 0 {
					b.WriteByte('\n')
				}
				fmt.Fprintf(b, "%s%s:\n", indentation(depth), leafOf(section))
			}
		}
		open = sections
		indent := indentation(len(sections))
		comment(k, indent)
		fmt.Fprintf(b, "%s%s: %s\n", indent, leafOf(k.Path), literal(k.Value))
	}
}

func indentation(depth int) string { return strings.Repeat("  ", depth) }

// literal returns the YAML of a value.
func literal(v value.Value) string {
	items := v.Items()
	for i, item := range items {
		items[i] = quote(escape(item))
	}
	if v.IsList() {
		return "[" + strings.Join(items, ", ") + "]"
	}
	return items[0]
}

// quote leaves text bare where YAML takes it for itself in any place, and else
// writes it in double quotes, whose escapes are those of Go for valid UTF-8.
func quote(s string) string {
	if isBare(s) {
		return s
	}
	return strconv.Quote(s)
}

func isBare(s string) bool {
	if s == "" || strings.EqualFold(s, "null") || strings.HasSuffix(s, ":") {
		return false
	}
	for i, r := range s {
		letterOrDigit := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
		inside := i > 0 && strings.ContainsRune(".-_:", r)
		if !letterOrDigit && !inside && r != '/' {
			return false
		}
	}
	return true
}
