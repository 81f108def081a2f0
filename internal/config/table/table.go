// Package table reads and writes YAML by a table of keys.
//
// In: a table, each of whose keys is bound to a variable, the bytes of one YAML document, a way to
// look up environment variables and a way to read files. Out: the variables, set, and where the
// document gives each key; or [Errors], which holds every mistake at once with line and column.
// Which keys there are, and what their values mean together, it does not know.
package table

import (
	"fmt"
	"path/filepath"
	"slices"

	"github.com/goccy/go-yaml/token"

	"github.com/clusterd/clusterd/internal/config/value"
	"github.com/clusterd/clusterd/internal/secret/redacted"
)

// A Key is one row of a table: a scalar or a list.
type Key struct {
	Path  string      // dotted
	Value value.Value // bound to its variable
	Doc   string      // one line, for the reference
	Live  bool        // a running daemon can change it
}

// A Source is what a document is read with, beside its own text.
type Source struct {
	File     string // name in errors; file names within are relative to its directory
	Env      func(name string) (string, bool)
	ReadFile func(path string) ([]byte, error)
}

// A Position is where something stands in a file: line and column from 1, or 0 for nowhere.
type Position struct{ Line, Column int }

func positionOf(tk *token.Token) Position {
	return Position{tk.Position.Line, tk.Position.Column}
}

// A File is a document that was decoded: where it gives which key, and what is wrong with it.
type File struct {
	source Source
	dir    string // of the file, absolute
	values map[string]value.Value
	given  map[string]Position // of the name of each key or section of the file
	failed map[string]bool     // keys whose value is wrong already
	// overrides says of a key that another place than the file gives how errors name it.
	overrides map[string]string
	errs      Errors
}

// Decode sets the values of the keys that data gives. It fails with [Errors] where data is not one
// YAML document; all other mistakes are in the file's errors, to which rules between keys may add.
func Decode(keys []Key, data []byte, from Source) (*File, error) {
	dir, err := filepath.Abs(filepath.Dir(from.File))
	if err != nil {
		return nil, Errors{{File: from.File, Problem: fmt.Sprintf("its folder cannot be told: %v", err)}}
	}
	root, syntax := document(data)
	if syntax != nil {
		syntax.File = from.File
		return nil, Errors{*syntax}
	}
	f := &File{
		source: from,
		dir:    dir,
		values: map[string]value.Value{},
		given:  map[string]Position{},
		failed: map[string]bool{},

		overrides: map[string]string{},
	}
	for _, k := range keys {
		f.values[k.Path] = k.Value
	}
	newDecoder(keys, f).document(root)
	return f, nil
}

// Err returns every mistake, sorted by line, as [Errors], or nil.
func (f *File) Err() error {
	if len(f.errs) == 0 {
		return nil
	}
	slices.SortStableFunc(f.errs, Error.Compare)
	return f.errs
}

// Given returns where the file gives the key or section at path, and whether it does.
func (f *File) Given(path string) (Position, bool) {
	pos, ok := f.given[path]
	return pos, ok
}

// Where returns the position of the first of the keys that the file gives.
func (f *File) Where(paths ...string) Position {
	for _, path := range paths {
		if pos, ok := f.given[path]; ok {
			return pos
		}
	}
	return Position{}
}

// Failed reports whether a mistake was reported of one of the keys.
func (f *File) Failed(paths ...string) bool {
	return slices.ContainsFunc(paths, func(path string) bool { return f.failed[path] })
}

// Report adds a mistake of the key at path, to which text was given. A secret is masked.
func (f *File) Report(pos Position, path, text, problem string) {
	f.failed[path] = true
	e := Error{
		File: f.source.File, Line: pos.Line, Column: pos.Column, Key: path, Value: text, Problem: problem,
	}
	if name, ok := f.overrides[path]; ok {
		e = Error{File: name, Value: text, Problem: problem}
	}
	if v, ok := f.values[path]; ok && v.Trait() == value.Secret && text != "" {
		e.Value = redacted.Mask
	}
	f.errs = append(f.errs, e)
}

// Absolute returns path, which is relative to the directory of the file, as an absolute one.
func (f *File) Absolute(path string) string {
	if !filepath.IsAbs(path) {
		path = filepath.Join(f.dir, path)
	}
	return filepath.Clean(path)
}
