package files

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/clusterd/clusterd/internal/message/article"
)

// maxColumnName is how many bytes the name of a column may have, since each row repeats it.
const maxColumnName = 256

// columns make JSON objects of rows. A column of a dotted name, such as meta.id, stands in an
// object of its own, as input.fields has it.
type columns struct {
	count int
	parts []part
	tail  string
}

// A part is the text before a cell, and which one it is.
type part struct {
	before string
	cell   int
	number bool // the cell may be a number
}

// A column is a cell, or those below a name.
type column struct {
	cell  int
	names []string // of those below it, in their order
	below map[string]*column
}

func newColumns(names []string, time string) (*columns, error) {
	root := &column{below: map[string]*column{}}
	for i, name := range names {
		if len(name) > maxColumnName {
			return nil, fmt.Errorf("column %d: its name has %d bytes, and at most %d are allowed: does "+
				"the first line name the columns?", i+1, len(name), maxColumnName)
		}
		keys := strings.Split(name, ".")
		if len(keys) > article.MaxDepth {
			return nil, fmt.Errorf("column %d: its name has more than %d dots", i+1, article.MaxDepth-1)
		}
		root.add(keys, i)
	}
	c := &columns{count: len(names)}
	c.flatten(root, "", names, time)
	return c, nil
}

// add places a cell. Where two have one name, the first counts, as it does in JSON.
func (c *column) add(keys []string, cell int) {
	below, known := c.below[keys[0]]
	if !known {
		below = &column{cell: cell}
		if len(keys) > 1 {
			below.below = map[string]*column{}
		}
		c.names = append(c.names, keys[0])
		c.below[keys[0]] = below
	}
	if len(keys) > 1 && below.below != nil {
		below.add(keys[1:], cell)
	}
}

// flatten turns an object into parts.
func (c *columns) flatten(object *column, path string, names []string, time string) {
	c.tail += "{"
	for i, name := range object.names {
		if i > 0 {
			c.tail += ","
		}
		below := object.below[name]
		c.tail += string(appendText(nil, name)) + ":"
		if below.below != nil {
			c.flatten(below, path+name+".", names, time)
			continue
		}
		c.parts = append(c.parts, part{c.tail, below.cell, path+name == time})
		c.tail = ""
	}
	c.tail += "}"
}

// object returns the JSON object of a row.
func (c *columns) object(cells []string) []byte {
	size := len(c.tail)
	for _, p := range c.parts {
		size += len(p.before) + len(cells[p.cell]) + len(`""`)
	}
	out := make([]byte, 0, size)
	for _, p := range c.parts {
		out = append(out, p.before...)
		if cell := cells[p.cell]; p.number && isNumber(cell) {
			out = append(out, cell...)
		} else {
			out = appendText(out, cell)
		}
	}
	return append(out, c.tail...)
}

func isNumber(s string) bool {
	return s != "" && (s[0] == '-' || s[0] >= '0' && s[0] <= '9') && json.Valid([]byte(s))
}

// appendText appends a JSON string. Bytes that are no UTF-8 stay, for the decoder to note.
func appendText(out []byte, s string) []byte {
	out = append(out, '"')
	for i := range len(s) {
		switch b := s[i]; {
		case b == '"' || b == '\\':
			out = append(out, '\\', b)
		case b < ' ':
			out = fmt.Appendf(out, `\u%04x`, b)
		default:
			out = append(out, b)
		}
	}
	return append(out, '"')
}
