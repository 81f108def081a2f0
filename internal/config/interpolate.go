package config

import (
	"errors"
	"strings"
	"unicode/utf8"
)

// interpolate replaces ${NAME} by the environment variable NAME, and by the
// text after the first colon in ${NAME:default} where NAME is not set; a
// variable set to nothing is set. $${ becomes ${. What is put in is not looked
// at again.
func interpolate(s string, env func(string) (string, bool)) (string, error) {
	var b strings.Builder
	for {
		before, after, found := strings.Cut(s, "${")
		if !found {
			b.WriteString(s)
			return b.String(), nil
		}
		if literal, ok := strings.CutSuffix(before, "$"); ok {
			b.WriteString(literal + "${")
			s = after
			continue
		}
		reference, rest, closed := strings.Cut(after, "}")
		if !closed {
			return "", errors.New("has ${ without }: write $${ for a literal ${")
		}
		text, err := expand(reference, env)
		if err != nil {
			return "", err
		}
		b.WriteString(before + text)
		s = rest
	}
}

func expand(reference string, env func(string) (string, bool)) (string, error) {
	name, fallback, hasDefault := strings.Cut(reference, ":")
	if !isVariable(name) {
		// The reference is not shown: it may be part of a password.
		return "", errors.New("has ${ } without the name of a variable: write ${NAME}, " +
			"${NAME:default}, or $${ for a literal ${")
	}
	text, set := env(name)
	switch {
	case set && !utf8.ValidString(text):
		return "", variableError{name, "is not UTF-8"}
	case set:
		return text, nil
	case hasDefault:
		return fallback, nil
	}
	return "", variableError{name, "is not set: set it, or write ${NAME:default}"}
}

// variableError is what is wrong with an environment variable.
type variableError struct{ name, problem string }

func (e variableError) Error() string { return "environment variable " + e.name + " " + e.problem }

func isVariable(name string) bool {
	for i, r := range name {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r == '_'
		if !letter && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return name != ""
}

// escape returns the text of which interpolate makes s.
func escape(s string) string { return strings.ReplaceAll(s, "${", "$${") }
