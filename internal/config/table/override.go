package table

import (
	"errors"
	"fmt"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/clusterd/clusterd/internal/config/value"
)

// errOverridden is the error of a secret that a command line gives.
var errOverridden = errors.New("a secret is taken from the file alone, better by file:PATH or " +
	"${NAME}: every user of the machine can read a command line")

// Override sets keys as if the file had given them so, each of the form KEY=VALUE with a dotted
// path; the last of one key wins. A list is one of YAML, such as [a, b]; any other value is taken
// as it is, without quotes. A secret is refused. Mistakes name the key as the flag gives it.
func (f *File) Override(keys []Key, flag string, assignments []string) {
	d := newDecoder(keys, f)
	for _, assignment := range assignments {
		path, text, ok := strings.Cut(assignment, "=")
		if !ok {
			// It is not shown: it may be a secret.
			f.errs = append(f.errs, Error{File: flag, Problem: "must be KEY=VALUE, such as log.level=debug"})
			continue
		}
		f.overrides[path] = flag + " " + path
		f.given[path] = Position{}
		v, known := f.values[path]
		switch {
		case !known && d.sections[path]:
			f.Report(Position{}, path, "", "is a section: name a key in it, such as "+path+".KEY")
		case !known:
			f.Report(Position{}, path, "", "unknown key"+suggestion(d.nearest(path)))
		case v.Trait() == value.Secret:
			f.Report(Position{}, path, "", errOverridden.Error())
		case v.IsList():
			d.overrideList(path, v, text)
		default:
			d.overrideScalar(path, v, text)
		}
	}
}

func (d *decoder) overrideList(path string, v value.Value, text string) {
	node, err := document([]byte(text))
	if err != nil {
		d.Report(Position{}, path, "", fmt.Sprintf("column %d: %s", err.Column, err.Problem))
		return
	}
	if node == nil {
		node = (*ast.NullNode)(nil)
	}
	d.list(path, Position{}, v, node)
}

func (d *decoder) overrideScalar(path string, v value.Value, text string) {
	resolved, err := d.resolve(text, v.Trait())
	if err == nil {
		text, err = resolved, v.Add(resolved)
	}
	if err != nil {
		d.Report(Position{}, path, text, err.Error())
	}
}
