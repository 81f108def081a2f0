package table

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/clusterd/clusterd/internal/config/value"
	"github.com/clusterd/clusterd/internal/secret/redacted"
)

// decoder sets keys from YAML nodes and collects every mistake on the way.
type decoder struct {
	*File
	names    []string        // of keys and sections, in the order of the table
	sections map[string]bool // paths that have keys beneath

	// Of a secret with a comma that is not in quotes the rest is a key of its own.
	afterSecret bool
	secretLine  int // of the last one
}

func newDecoder(keys []Key, f *File) *decoder {
	d := &decoder{File: f, sections: map[string]bool{}}
	for _, k := range keys {
		for _, section := range sectionsOf(k.Path) {
			if !d.sections[section] {
				d.sections[section] = true
				d.names = append(d.names, section)
			}
		}
		d.names = append(d.names, k.Path)
	}
	return d
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
		d.Report(start(root), "", "", "must be a mapping of keys, not "+describe(root))
	}
}

func (d *decoder) mapping(section string, m *ast.MappingNode) {
	for _, entry := range m.Values {
		pos := positionOf(entry.Key.GetToken())
		name, ok := keyName(entry.Key)
		if !ok {
			d.afterSecret, d.secretLine = true, pos.Line // it may be one's
			d.Report(pos, section, "", "has "+describe(entry.Key)+" for a key: write a plain name")
			continue
		}
		path := under(section, name)
		shown := path
		if d.mayBeSecret(path, pos) {
			shown = under(section, redacted.Mask)
		}
		if first, again := d.given[path]; again {
			d.Report(pos, shown, "", fmt.Sprintf("is already given on line %d: keep one", first.Line))
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
func (d *decoder) mayBeSecret(path string, pos Position) bool {
	v, known := d.values[path]
	switch {
	case known && v.Trait() == value.Secret:
		d.afterSecret, d.secretLine = true, pos.Line
	case (known || d.sections[path]) && pos.Line != d.secretLine:
		d.afterSecret = false
	}
	return d.afterSecret && !known && !d.sections[path]
}

// entry sets the key at path, which is shown so.
func (d *decoder) entry(path, shown, name string, pos Position, node ast.Node) {
	v, known := d.values[path]
	switch {
	case strings.Contains(name, "."):
		d.Report(pos, shown, "",
			"unknown key: a dot does not nest; write each part on a line of its own, indented")
	case d.sections[path]:
		d.section(path, pos, node)
	case !known:
		nearest := d.nearest(path)
		if likely, ok := d.values[nearest]; ok && likely.Trait() == value.Secret {
			d.afterSecret, d.secretLine = true, pos.Line
		}
		d.Report(pos, shown, "", "unknown key"+suggestion(nearest))
	case v.IsList():
		d.list(path, pos, v, node)
	default:
		d.scalar(path, pos, v, node)
	}
}

// section allows an empty one, since commenting out all keys of a section is
// common.
func (d *decoder) section(path string, pos Position, node ast.Node) {
	switch node := node.(type) {
	case *ast.NullNode:
	case *ast.MappingNode:
		d.mapping(path, node)
	default:
		d.Report(startOr(node, pos), path, "", "must be a mapping of keys, not "+describe(node))
	}
}

func (d *decoder) list(path string, pos Position, v value.Value, node ast.Node) {
	sequence, ok := node.(*ast.SequenceNode)
	if !ok {
		d.Report(startOr(node, pos), path, "", "must be a list such as [a, b], not "+describe(node))
		return
	}
	v.Clear()
	if len(sequence.Values) < v.MinItems() {
		d.Report(start(sequence), path, "", fmt.Sprintf("must have at least %d item", v.MinItems()))
	}
	for _, item := range sequence.Values {
		d.scalar(path, start(sequence), v, item)
	}
}

// scalar adds the text of node to v. pos is where to point if node has no text.
func (d *decoder) scalar(path string, pos Position, v value.Value, node ast.Node) {
	raw, ok := scalarText(node)
	if !ok {
		problem := "must be a single value, not " + describe(node)
		if _, null := node.(*ast.NullNode); null {
			problem = `has no value: give one, write "" for an empty text, or remove the key for its default`
		}
		d.Report(startOr(node, pos), path, "", problem)
		return
	}
	text, err := d.resolve(raw, v.Trait())
	if err == nil && text == "" && raw != "" && v.Trait() == value.Secret &&
		!strings.HasSuffix(raw, ":}") {
		// A variable or file that a deployment forgot would otherwise turn off what the secret is for.
		err = errors.New(`is empty where it comes from: give it there, or write "" for none`)
	}
	if err != nil {
		d.Report(start(node), path, raw, err.Error())
		return
	}
	if err := v.Add(text); err != nil {
		d.Report(start(node), path, text, err.Error())
	}
}

// resolve turns the text of a scalar into that of the value: it substitutes
// variables, makes a file name absolute, and reads a secret kept in a file.
// Only what the configuration itself says is taken for file:PATH, so that a
// password from the environment may begin with "file:".
func (d *decoder) resolve(raw string, t value.Trait) (string, error) {
	path, inFile := strings.CutPrefix(raw, "file:")
	inFile = inFile && t == value.Secret
	if !inFile {
		path = raw
	}
	text, err := interpolate(path, d.source.Env)
	if variable := (variableError{}); t == value.Secret && errors.As(err, &variable) {
		// the name may be part of a password
		err = errors.New("an environment variable that it names " + variable.problem)
	}
	if err != nil || text == "" && !inFile || t == value.PlainText || t == value.Secret && !inFile {
		return text, err
	}
	text = d.Absolute(text)
	content, err := d.source.ReadFile(text)
	switch failed := (*fs.PathError)(nil); {
	case err == nil:
	case t != value.Secret:
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
