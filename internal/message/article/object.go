// object.go finds what stands at keys of a JSON object. In go a text and paths; out comes
// whether the text is valid JSON, an object and not nested too deeply, and the values at the paths.
// Nearly always that takes one pass over the text, and no memory.

package article

import (
	"strings"

	"github.com/tidwall/gjson"
)

// MaxJSONDepth is how deeply the text may be nested.
const MaxJSONDepth = 64

// A JSONPath is where a value stands: keys from the outermost object on, joined by dots.
type JSONPath struct {
	Name  string // as the user wrote it
	Query string // in the form that gjson looks up
	plain bool   // it is a key of the outermost object, and needs no looking up
}

// NewJSONPath returns the path of a name.
func NewJSONPath(name string) JSONPath {
	components := strings.Split(name, ".")
	for i, c := range components {
		components[i] = gjson.Escape(c)
	}
	return JSONPath{Name: name, Query: strings.Join(components, "."), plain: len(components) == 1}
}

// FindJSON sets found, which is empty and has a place for each path, to what stands at the paths:
// its type, how it is written and, of a string, what it says. It reports whether the text is valid
// JSON, an object, and nested at most [MaxJSONDepth] levels deep; where it is not, found says
// nothing. Where keys are double, the first counts. The values share memory with the text.
func FindJSON(text string, paths []JSONPath, found []gjson.Result) (ok bool) {
	s := scan{text}
	if !s.object(paths, found) {
		return false
	}
	for i := range paths {
		if at := &paths[i]; !at.plain {
			found[i] = gjson.Get(text, at.Query)
		}
	}
	return true
}

// JSONDepth returns the deepest nesting of objects and arrays in a text, which need not be valid
// JSON. It does not recurse, and stops counting just past [MaxJSONDepth].
func JSONDepth(text []byte) int {
	depth, deepest, inString := 0, 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case inString:
			if c == '\\' {
				i++
			} else if c == '"' {
				inString = false
			}
		case c == '"':
			inString = true
		case c == '{' || c == '[':
			if depth++; depth > deepest {
				if deepest = depth; deepest > MaxJSONDepth {
					return deepest
				}
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return deepest
}
