package config

import (
	"errors"
	"fmt"
	"os"
	"reflect"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// Edit returns the text of a configuration file in which keys have other values, given as KEY=VALUE
// as [LoadSet] takes them. Comments, variables and names of files stay as they are, so the text is
// for the same folder. It also returns what the text says. An error is [Errors], or says that the
// file must be edited by hand.
func Edit(path string, set []string) ([]byte, Config, error) {
	want, _, err := LoadSet(path, set)
	if err != nil {
		return nil, Config{}, err
	}
	data, err := readBounded(path)
	if err != nil {
		return nil, Config{}, err
	}
	c := Default()
	text, err := editAll(c.keys(), data, set)
	if err != nil {
		return nil, Config{}, err
	}
	got, err := Parse(path, text, os.LookupEnv, os.ReadFile)
	if err != nil || !reflect.DeepEqual(got, want) {
		return nil, Config{}, errors.New(
			"the file is written in a way that cannot be edited here: edit a copy of it by hand")
	}
	return text, got, nil
}

// editAll returns a document in which keys have other values, given as KEY=VALUE with a dotted
// path. All else stays, comments too. It checks neither keys nor values: decode what comes out.
func editAll(keys []key, data []byte, assignments []string) ([]byte, error) {
	for _, assignment := range assignments {
		path, text, _ := strings.Cut(assignment, "=")
		for _, k := range keys {
			if k.path == path && (k.secret || !k.list) {
				text = quote(text)
			}
		}
		edited, err := edit(data, strings.Split(path, "."), text)
		if err != nil {
			return nil, fmt.Errorf("%s cannot be set in the file: %w", path, err)
		}
		data = edited
	}
	return data, nil
}

// edit gives one key another value: in its place, or else at the end of the innermost section that
// is there.
func edit(data []byte, path []string, text string) ([]byte, error) {
	file, err := parser.ParseBytes(data, parser.ParseComments)
	if err != nil {
		return nil, err
	}
	if len(file.Docs) == 0 || file.Docs[0].Body == nil || file.Docs[0].Body.Type() == ast.CommentType {
		return append(data, nested(path, text)...), nil
	}
	at := "$"
	for i, name := range path {
		inner, err := yaml.PathString(at + "." + name)
		if err != nil {
			return nil, err
		}
		node, err := inner.FilterFile(file)
		missing := err != nil || node == nil || node.Type() == ast.NullType
		last := i == len(path)-1
		switch {
		case last && err == nil && node != nil:
			err = inner.ReplaceWithReader(file, strings.NewReader(text))
			return []byte(file.String()), err
		case missing && err == nil && node != nil: // a section without a key
			err = inner.ReplaceWithReader(file, strings.NewReader(nested(path[i+1:], text)))
			return []byte(file.String()), err
		case missing:
			outer, err := yaml.PathString(at)
			if err == nil {
				err = outer.MergeFromReader(file, strings.NewReader(nested(path[i:], text)))
			}
			return []byte(file.String()), err
		}
		at += "." + name
	}
	return nil, nil
}

// nested returns the YAML of one key in its sections.
func nested(path []string, text string) string {
	var b strings.Builder
	for depth, name := range path {
		b.WriteString(indentation(depth) + name + ":")
		if depth == len(path)-1 {
			b.WriteString(" " + text)
		}
		b.WriteString("\n")
	}
	return b.String()
}
