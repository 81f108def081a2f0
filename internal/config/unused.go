package config

import (
	"slices"
	"strings"

	"github.com/goccy/go-yaml/token"
)

// methodsOf lists the methods that a key or a section is for; nil is all of them.
func methodsOf(path string) []string {
	for _, of := range []struct {
		path    string
		methods []string
	}{
		{"fingerprint.hash", []string{"simhash", "simhash+verify"}},
		{"fingerprint.weight", []string{"simhash", "simhash+verify"}},
		{"fingerprint.features", []string{"simhash", "simhash+verify"}},
		{"fingerprint.idf", []string{"simhash", "simhash+verify"}},
		{"fingerprint.shingle", []string{"minhash", "shingle"}},
		{"fingerprint.signature", []string{"minhash"}},
		{"fingerprint.hashes", []string{"minhash"}},
		{"fingerprint.sentences", []string{"ksentence"}},
		{"fingerprint.pinyin", []string{"pinyin"}},
		{"cluster.distance", []string{"simhash"}},
		{"cluster.verified_distance", []string{"simhash+verify"}},
		{"cluster.similarity", []string{"simhash+verify", "minhash", "shingle", "pinyin"}},
		{"cluster.recall", []string{"minhash"}},
		{"cluster.index", []string{"simhash"}},
	} {
		if path == of.path || strings.HasPrefix(path, of.path+".") {
			return of.methods
		}
	}
	return nil
}

// Unused says why a method does not use a key, "" for one that it uses: of which methods it is, and what this one has
// in place of it.
func Unused(path, method string) string {
	methods := methodsOf(path)
	if methods == nil || slices.Contains(methods, method) {
		return ""
	}
	text := "is for " + strings.Join(methods, ", ") + " and has no effect on " + method
	var instead []string
	for _, threshold := range []string{"cluster.distance", "cluster.verified_distance", "cluster.similarity"} {
		if threshold != path && slices.Contains(methodsOf(threshold), method) {
			instead = append(instead, threshold)
		}
	}
	if strings.HasPrefix(path, "cluster.") && len(instead) > 0 {
		text += ", which takes " + strings.Join(instead, " and ")
	}
	return text
}

// Given are the keys that a file gives a value.
type Given struct {
	file string
	keys map[string]*token.Position
	// byDefault are those of a file of all keys, as 'clusterd config' writes it, whose values are the defaults.
	byDefault map[string]bool
}

// Unused lists the keys that have no effect on a method, sorted by line. They are no mistakes, but may show one.
func (g Given) Unused(method string) Errors {
	var unused Errors
	for path, pos := range g.keys {
		if why := Unused(path, method); why != "" && !g.byDefault[path] {
			unused = append(unused, Error{File: g.file, Line: pos.Line, Column: pos.Column, Key: path, Problem: "warning: " + why})
		}
	}
	slices.SortFunc(unused, Error.compare)
	return unused
}

func (d *decoder) givenKeys(c *Config) Given {
	g := Given{file: d.file, keys: make(map[string]*token.Position), byDefault: make(map[string]bool)}
	initial := Default()
	defaults := initial.keys()
	for i, k := range c.keys() {
		pos, ok := d.given[k.path]
		if !ok {
			continue
		}
		g.keys[k.path] = pos
		g.byDefault[k.path] = slices.Equal(k.value.items(), defaults[i].value.items())
	}
	if len(g.keys) < len(defaults) {
		g.byDefault = nil
	}
	return g
}
