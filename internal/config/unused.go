package config

import (
	"slices"
	"strings"

	"github.com/clusterd/clusterd/internal/method"
)

// MethodsPage says which method is for what.
const MethodsPage = "https://github.com/clusterd/clusterd/blob/main/docs/methods.md"

// Unused returns why a method does not use a key: which methods it is for, and what this one has in
// place of it. It is empty for a key that the method uses.
func Unused(path, name string) string {
	methods := method.Using(path)
	if len(methods) == 0 || slices.Contains(methods, name) {
		return ""
	}
	text := "is for " + strings.Join(methods, ", ") + " and has no effect on " + name
	var instead []string
	spec, _ := method.SpecOf(name)
	for _, t := range spec.Thresholds {
		instead = append(instead, t.Key)
	}
	if strings.HasPrefix(path, "cluster.") && len(instead) > 0 {
		text += ", which takes " + strings.Join(instead, " and ")
	}
	return text
}

// Given are the keys that a file or --set gives a value.
type Given struct {
	file string
	keys map[string]position
	// byDefault are those of a file of all keys, as 'clusterd config' writes it, whose values are the
	// defaults.
	byDefault map[string]bool
}

// Has reports whether a key is given a value, be it its default.
func (g Given) Has(path string) bool {
	_, ok := g.keys[path]
	return ok
}

// Unused lists the keys that have no effect on a method, sorted by line. They are no mistakes, but
// may show one.
func (g Given) Unused(name string) Errors {
	var unused Errors
	for path, pos := range g.keys {
		if why := Unused(path, name); why != "" && !g.byDefault[path] {
			e := Error{
				File: g.file, Line: pos.line, Column: pos.column, Key: path, Problem: "warning: " + why,
			}
			if pos == (position{}) {
				e.File, e.Key = "--set "+path, ""
			}
			unused = append(unused, e)
		}
	}
	slices.SortFunc(unused, Error.Compare)
	return unused
}

func (d *decoder) givenKeys() Given {
	g := Given{file: d.file, keys: make(map[string]position), byDefault: make(map[string]bool)}
	initial := Default()
	defaults := initial.keys()
	for _, k := range defaults {
		if pos, ok := d.given[k.path]; ok {
			g.keys[k.path] = pos
			g.byDefault[k.path] = slices.Equal(k.items(), d.keys[k.path].items())
		}
	}
	if len(g.keys) < len(defaults) {
		g.byDefault = nil
	}
	return g
}
