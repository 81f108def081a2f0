package config

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"

	"github.com/clusterd/clusterd/internal/redacted"
)

// source is what a configuration is read from, beside its own text.
type source struct {
	file     string
	dir      string // of file, absolute
	env      func(string) (string, bool)
	readFile func(string) ([]byte, error)
}

// decoder sets keys from YAML nodes and collects every mistake on the way.
type decoder struct {
	source
	values   map[string]value
	names    []string                   // of keys and sections, in the order of the table
	sections map[string]bool            // paths that have keys beneath
	given    map[string]*token.Position // where each key or section of the file has its name
	failed   map[string]bool            // keys whose value is wrong already
	errs     Errors

	// Of a secret with a comma that is not in quotes the rest is a key of its own.
	afterSecret bool
	secretLine  int // of the last one
}

func newDecoder(c *Config, from source) *decoder {
	d := &decoder{
		source:   from,
		values:   map[string]value{},
		sections: map[string]bool{},
		given:    map[string]*token.Position{},
		failed:   map[string]bool{},
	}
	for _, k := range c.keys() {
		for _, section := range sectionsOf(k.path) {
			if !d.sections[section] {
				d.sections[section] = true
				d.names = append(d.names, section)
			}
		}
		d.values[k.path] = k.value
		d.names = append(d.names, k.path)
	}
	return d
}

// sectionsOf gives the paths above a key, outermost first: a, a.b for a.b.c.
func sectionsOf(path string) []string {
	var above []string
	for i, r := range path {
		if r == '.' {
			above = append(above, path[:i])
		}
	}
	return above
}

func (d *decoder) report(pos *token.Position, path, text, problem string) {
	d.failed[path] = true
	e := Error{File: d.file, Key: path, Value: text, Problem: problem}
	if pos != nil {
		e.Line, e.Column = pos.Line, pos.Column
	}
	if v, ok := d.values[path]; ok && v.trait() == secret && text != "" {
		e.Value = redacted.Mask
	}
	d.errs = append(d.errs, e)
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
		pos := entry.Key.GetToken().Position
		name, ok := keyName(entry.Key)
		if !ok {
			d.afterSecret, d.secretLine = true, pos.Line // it may be one's
			d.report(pos, section, "", "has "+describe(entry.Key)+" for a key: write a plain name")
			continue
		}
		path := under(section, name)
		shown := path
		if d.mayBeSecret(path, pos) {
			shown = under(section, redacted.Mask)
		}
		if first, again := d.given[path]; again {
			d.report(pos, shown, "", fmt.Sprintf("is already given on line %d: keep one", first.Line))
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

// mayBeSecret tells whether a key may be what is left of a secret before it: one that is unknown, on the line of the secret
// or on a later one before the next known key.
func (d *decoder) mayBeSecret(path string, pos *token.Position) bool {
	v, known := d.values[path]
	switch {
	case known && v.trait() == secret:
		d.afterSecret, d.secretLine = true, pos.Line
	case (known || d.sections[path]) && pos.Line != d.secretLine:
		d.afterSecret = false
	}
	return d.afterSecret && !known && !d.sections[path]
}

// entry sets the key at path, which is shown so.
func (d *decoder) entry(path, shown, name string, pos *token.Position, node ast.Node) {
	v, known := d.values[path]
	switch {
	case strings.Contains(name, "."):
		d.report(pos, shown, "", "unknown key: a dot does not nest; write each part on a line of its own, indented")
	case d.sections[path]:
		d.section(path, pos, node)
	case !known:
		nearest := d.nearest(path)
		if likely, ok := d.values[nearest]; ok && likely.trait() == secret {
			d.afterSecret, d.secretLine = true, pos.Line
		}
		d.report(pos, shown, "", "unknown key"+suggestion(nearest))
	case v.isList():
		d.list(path, pos, v, node)
	default:
		d.scalar(path, pos, v, node)
	}
}

// section allows an empty one, since commenting out all keys of a section is
// common.
func (d *decoder) section(path string, pos *token.Position, node ast.Node) {
	switch node := node.(type) {
	case *ast.NullNode:
	case *ast.MappingNode:
		d.mapping(path, node)
	default:
		d.report(startOr(node, pos), path, "", "must be a mapping of keys, not "+describe(node))
	}
}

func (d *decoder) list(path string, pos *token.Position, v value, node ast.Node) {
	sequence, ok := node.(*ast.SequenceNode)
	if !ok {
		d.report(startOr(node, pos), path, "", "must be a list such as [a, b], not "+describe(node))
		return
	}
	v.clear()
	if len(sequence.Values) < v.least() {
		d.report(start(sequence), path, "", fmt.Sprintf("must have at least %d item", v.least()))
	}
	for _, item := range sequence.Values {
		d.scalar(path, start(sequence), v, item)
	}
}

// scalar adds the text of node to v. pos is where to point if node has no text.
func (d *decoder) scalar(path string, pos *token.Position, v value, node ast.Node) {
	raw, ok := scalarText(node)
	if !ok {
		problem := "must be a single value, not " + describe(node)
		if _, null := node.(*ast.NullNode); null {
			problem = `has no value: give one, write "" for an empty text, or remove the key for its default`
		}
		d.report(startOr(node, pos), path, "", problem)
		return
	}
	text, err := d.resolve(raw, v.trait())
	if err == nil && text == "" && raw != "" && v.trait() == secret && !strings.HasSuffix(raw, ":}") {
		// A variable or file that a deployment forgot would otherwise turn off what the secret is for.
		err = errors.New(`is empty where it comes from: give it there, or write "" for none`)
	}
	if err != nil {
		d.report(start(node), path, raw, err.Error())
		return
	}
	if err := v.add(text); err != nil {
		d.report(start(node), path, text, err.Error())
	}
}

// resolve turns the text of a scalar into that of the value: it substitutes
// variables, makes a file name absolute, and reads a secret kept in a file.
// Only what the configuration itself says is taken for file:PATH, so that a
// password from the environment may begin with "file:".
func (d *decoder) resolve(raw string, t trait) (string, error) {
	path, inFile := strings.CutPrefix(raw, "file:")
	inFile = inFile && t == secret
	if !inFile {
		path = raw
	}
	text, err := interpolate(path, d.env)
	if variable := (variableError{}); t == secret && errors.As(err, &variable) {
		err = errors.New("an environment variable that it names " + variable.problem) // the name may be part of a password
	}
	if err != nil || text == "" && !inFile || t == plainText || t == secret && !inFile {
		return text, err
	}
	text = d.absolute(text)
	content, err := d.readFile(text)
	switch failed := (*fs.PathError)(nil); {
	case err == nil:
	case t != secret:
		return "", fmt.Errorf("cannot read the file: %w", err)
	case errors.As(err, &failed):
		return "", fmt.Errorf("cannot read the file that it names, as seen from %s: %w", d.dir, failed.Err) // a password may begin with file:
	default:
		return "", errors.New("cannot read the file that it names")
	}
	if inFile {
		return strings.TrimSuffix(strings.TrimSuffix(string(content), "\n"), "\r"), nil
	}
	return text, nil
}

// absolute takes a path relative to the folder of the configuration file.
func (d *decoder) absolute(path string) string {
	if !filepath.IsAbs(path) {
		path = filepath.Join(d.dir, path)
	}
	return filepath.Clean(path)
}
