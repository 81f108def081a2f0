package config

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"

	"github.com/clusterd/clusterd/internal/secret/redacted"
)

// A position is where something stands in a file: line and column from 1, or 0 for nowhere.
type position struct{ line, column int }

func positionOf(tk *token.Token) position {
	return position{tk.Position.Line, tk.Position.Column}
}

// A decoder sets keys from YAML nodes and assignments, checks the rules between them, and collects
// every mistake on the way.
type decoder struct {
	file     string // name in errors
	dir      string // of the file, absolute; file names within are relative to it
	env      func(name string) (string, bool)
	readFile func(path string) ([]byte, error)

	keys     map[string]key
	names    []string        // of keys and sections, in the order of the reference
	sections map[string]bool // paths that have keys beneath

	given  map[string]position // of the name of each key or section of the file
	failed map[string]bool     // keys whose value is wrong already
	// overrides says of a key that another place than the file gives how errors name it.
	overrides map[string]string
	errs      Errors

	// Of a secret with a comma that is not in quotes the rest is a key of its own.
	afterSecret bool
	secretLine  int // of the last one
}

func newDecoder(keys []key, file string) (*decoder, error) {
	dir, err := filepath.Abs(filepath.Dir(file))
	if err != nil {
		return nil, Errors{{File: file, Problem: fmt.Sprintf("its folder cannot be told: %v", err)}}
	}
	d := &decoder{
		file: file, dir: dir, keys: map[string]key{}, sections: map[string]bool{},
		given: map[string]position{}, failed: map[string]bool{}, overrides: map[string]string{},
	}
	for _, k := range keys {
		for _, section := range sectionsOf(k.path) {
			if !d.sections[section] {
				d.sections[section] = true
				d.names = append(d.names, section)
			}
		}
		d.keys[k.path] = k
		d.names = append(d.names, k.path)
	}
	return d, nil
}

// err returns every mistake, sorted by line, as [Errors], or nil.
func (d *decoder) err() error {
	if len(d.errs) == 0 {
		return nil
	}
	slices.SortStableFunc(d.errs, Error.Compare)
	return d.errs
}

// where returns the position of the first of the keys that the file gives.
func (d *decoder) where(paths ...string) position {
	for _, path := range paths {
		if pos, ok := d.given[path]; ok {
			return pos
		}
	}
	return position{}
}

// hasFailed reports whether a mistake was reported of one of the keys.
func (d *decoder) hasFailed(paths ...string) bool {
	return slices.ContainsFunc(paths, func(path string) bool { return d.failed[path] })
}

// report adds a mistake of the key at path, to which text was given. A secret is masked.
func (d *decoder) report(pos position, path, text, problem string) {
	d.failed[path] = true
	e := Error{
		File: d.file, Line: pos.line, Column: pos.column, Key: path, Value: text, Problem: problem,
	}
	if name, ok := d.overrides[path]; ok {
		e = Error{File: name, Value: text, Problem: problem}
	}
	if d.keys[path].secret && text != "" {
		e.Value = redacted.Mask
	}
	d.errs = append(d.errs, e)
}

// absolute returns path, which is relative to the directory of the file, as an absolute one.
func (d *decoder) absolute(path string) string {
	if !filepath.IsAbs(path) {
		path = filepath.Join(d.dir, path)
	}
	return filepath.Clean(path)
}

// override sets keys as if the file had given them so, each of the form KEY=VALUE with a dotted
// path; the last of one key wins. A list is one of YAML, such as [a, b]; any other value is taken
// as it is, without quotes. A secret is refused. Mistakes name the key as the flag gives it.
func (d *decoder) override(flag string, assignments []string) {
	for _, assignment := range assignments {
		path, text, ok := strings.Cut(assignment, "=")
		if !ok {
			// It is not shown: it may be a secret.
			d.errs = append(d.errs, Error{File: flag, Problem: "must be KEY=VALUE, such as log.level=debug"})
			continue
		}
		d.overrides[path] = flag + " " + path
		d.given[path] = position{}
		k, known := d.keys[path]
		switch {
		case !known && d.sections[path]:
			d.report(position{}, path, "", "is a section: name a key in it, such as "+path+".KEY")
		case !known:
			d.report(position{}, path, "", "unknown key"+suggestion(d.nearest(path)))
		case k.secret:
			d.report(position{}, path, "", "a secret is taken from the file alone, better by file:PATH or "+
				"${NAME}: every user of the machine can read a command line")
		case k.list:
			node, err := document([]byte(text))
			if err != nil {
				d.report(position{}, path, "", fmt.Sprintf("column %d: %s", err.Column, err.Problem))
				continue
			}
			if node == nil {
				node = (*ast.NullNode)(nil)
			}
			d.list(k, position{}, node)
		default:
			resolved, err := d.resolve(text, k)
			if err == nil {
				text, err = resolved, k.add(resolved)
			}
			if err != nil {
				d.report(position{}, path, text, err.Error())
			}
		}
	}
}

// sectionsOf returns the paths above a key, outermost first: a, a.b for a.b.c.
func sectionsOf(path string) []string {
	var above []string
	for i, r := range path {
		if r == '.' {
			above = append(above, path[:i])
		}
	}
	return above
}

func (d *decoder) document(root ast.Node) {
	switch root := root.(type) {
	case nil, *ast.NullNode:
	case *ast.MappingNode:
		d.mapping("", root)
	default:
		d.report(start(root), "", "", "must be a mapping of keys, not "+describe(root))
	}
}

func (d *decoder) mapping(section string, m *ast.MappingNode) {
	for _, entry := range m.Values {
		pos := positionOf(entry.Key.GetToken())
		name, ok := keyName(entry.Key)
		if !ok {
			d.afterSecret, d.secretLine = true, pos.line // it may be one's
			d.report(pos, section, "", "has "+describe(entry.Key)+" for a key: write a plain name")
			continue
		}
		path := under(section, name)
		shown := path
		if d.mayBeSecret(path, pos) {
			shown = under(section, redacted.Mask)
		}
		if first, again := d.given[path]; again {
			d.report(pos, shown, "", fmt.Sprintf("is already given on line %d: keep one", first.line))
			continue
		}
		d.given[path] = pos
		d.entry(path, shown, name, pos, entry.Value)
	}
}

func under(section, name string) string {
	if section == "" {
		return name
	}
	return section + "." + name
}

// mayBeSecret reports whether a key may be what is left of a secret before it: one that is unknown,
// on the line of the secret or on a later one before the next known key.
func (d *decoder) mayBeSecret(path string, pos position) bool {
	k, known := d.keys[path]
	switch {
	case known && k.secret:
		d.afterSecret, d.secretLine = true, pos.line
	case (known || d.sections[path]) && pos.line != d.secretLine:
		d.afterSecret = false
	}
	return d.afterSecret && !known && !d.sections[path]
}

// entry sets the key at path, which is shown so.
func (d *decoder) entry(path, shown, name string, pos position, node ast.Node) {
	k, known := d.keys[path]
	switch {
	case strings.Contains(name, "."):
		d.report(pos, shown, "",
			"unknown key: a dot does not nest; write each part on a line of its own, indented")
	case d.sections[path]:
		d.section(path, pos, node)
	case !known:
		nearest := d.nearest(path)
		if d.keys[nearest].secret {
			d.afterSecret, d.secretLine = true, pos.line
		}
		d.report(pos, shown, "", "unknown key"+suggestion(nearest))
	case k.list:
		d.list(k, pos, node)
	default:
		d.scalar(k, pos, node)
	}
}

// section allows an empty one, since commenting out all keys of a section is
// common.
func (d *decoder) section(path string, pos position, node ast.Node) {
	switch node := node.(type) {
	case *ast.NullNode:
	case *ast.MappingNode:
		d.mapping(path, node)
	default:
		d.report(startOr(node, pos), path, "", "must be a mapping of keys, not "+describe(node))
	}
}

func (d *decoder) list(k key, pos position, node ast.Node) {
	sequence, ok := node.(*ast.SequenceNode)
	if !ok {
		d.report(startOr(node, pos), k.path, "", "must be a list such as [a, b], not "+describe(node))
		return
	}
	k.field.SetZero()
	if least := k.tag.Get("least"); least == "1" && len(sequence.Values) == 0 {
		d.report(start(sequence), k.path, "", "must have at least 1 item")
	}
	for _, item := range sequence.Values {
		d.scalar(k, start(sequence), item)
	}
}

// scalar adds the text of node to k. pos is where to point if node has no text.
func (d *decoder) scalar(k key, pos position, node ast.Node) {
	raw, ok := scalarText(node)
	if !ok {
		problem := "must be a single value, not " + describe(node)
		if _, null := node.(*ast.NullNode); null {
			problem = `has no value: give one, write "" for an empty text, or remove the key for its default`
		}
		d.report(startOr(node, pos), k.path, "", problem)
		return
	}
	text, err := d.resolve(raw, k)
	if err == nil && text == "" && raw != "" && k.secret &&
		!strings.HasSuffix(raw, ":}") {
		// A variable or file that a deployment forgot would otherwise turn off what the secret is for.
		err = errors.New(`is empty where it comes from: give it there, or write "" for none`)
	}
	if err != nil {
		d.report(start(node), k.path, raw, err.Error())
		return
	}
	if err := k.add(text); err != nil {
		d.report(start(node), k.path, text, err.Error())
	}
}

// resolve turns the text of a scalar into that of the value: it substitutes
// variables, makes a file name absolute, and reads a secret kept in a file.
// Only what the configuration itself says is taken for file:PATH, so that a
// password from the environment may begin with "file:".
func (d *decoder) resolve(raw string, k key) (string, error) {
	path, inFile := strings.CutPrefix(raw, "file:")
	inFile = inFile && k.secret
	if !inFile {
		path = raw
	}
	text, err := interpolate(path, d.env)
	if variable := (variableError{}); k.secret && errors.As(err, &variable) {
		// the name may be part of a password
		err = errors.New("an environment variable that it names " + variable.problem)
	}
	if err != nil || text == "" && !inFile || !k.file && !inFile {
		return text, err
	}
	text = d.absolute(text)
	content, err := d.readFile(text)
	switch failed := (*fs.PathError)(nil); {
	case err == nil:
	case !k.secret:
		return "", fmt.Errorf("cannot read the file: %w", err)
	case errors.As(err, &failed):
		// a password may begin with file:
		return "", fmt.Errorf("cannot read the file that it names, as seen from %s: %w", d.dir,
			failed.Err)
	default:
		return "", errors.New("cannot read the file that it names")
	}
	if inFile {
		return strings.TrimSuffix(strings.TrimSuffix(string(content), "\n"), "\r"), nil
	}
	return text, nil
}
