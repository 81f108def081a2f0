package layout

import (
	"encoding/json"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/clusterd/clusterd/internal/message/article"
)

// signature brings name{b,a} and name{} into one form.
func signature(name, labels string) string {
	if labels == "" {
		return name
	}
	list := strings.Split(labels, ",")
	slices.Sort(list)
	return name + "{" + strings.Join(list, ",") + "}"
}

// Each metric is in the table of docs/metrics.md, with its labels and its type, and no other is.
func TestMetricsAreDocumented(t *testing.T) {
	exported, documented := make(map[string]string), make(map[string]string)
	golden := regexp.MustCompile(`(?m)^(\w+)\{([\w,]*)\} (\w+):`)
	names := read(t, "internal/monitor/testdata/metrics.golden")
	for _, m := range golden.FindAllStringSubmatch(names, -1) {
		exported[signature(m[1], m[2])] = m[3]
	}
	row := regexp.MustCompile("(?m)^\\| `(clusterd_\\w+)(?:\\{([\\w,]*)\\})?` \\| (\\w+) \\|")
	for _, m := range row.FindAllStringSubmatch(read(t, "docs/metrics.md"), -1) {
		documented[signature(m[1], m[2])] = m[3]
	}
	if len(exported) < 20 {
		t.Fatalf("only %d metrics found", len(exported))
	}
	for metric, kind := range exported {
		if documented[metric] != kind {
			t.Errorf("docs/metrics.md has %q of %s, want %s", documented[metric], metric, kind)
		}
	}
	for metric := range documented {
		if exported[metric] == "" {
			t.Errorf("docs/metrics.md has %s, and there is no such metric", metric)
		}
	}
}

// Each class of dead letters is in the table of docs/messages.md, and no other is.
func TestDeadLetterClassesAreDocumented(t *testing.T) {
	_, text, _ := strings.Cut(read(t, "docs/messages.md"), "| class | what it was |")
	text, _, _ = strings.Cut(text, "\n\n")
	var documented []article.Class
	for line := range strings.Lines(text) {
		if names := inQuotes(line); strings.HasPrefix(line, "| `") {
			documented = append(documented, article.Class(names[0]))
		}
	}
	want := slices.Concat(article.Classes, article.FingerprintClasses, article.LabelClasses,
		[]article.Class{article.BadDocument, article.BadRow})
	slices.Sort(want)
	slices.Sort(documented)
	if !slices.Equal(documented, want) {
		t.Errorf("docs/messages.md has the classes %q, want %q", documented, want)
	}
}

// Each endpoint of the description is in docs/http.md.
func TestEndpointsAreDocumented(t *testing.T) {
	var description struct {
		Paths map[string]map[string]any
	}
	text := read(t, "internal/serve/http/api/openapi.json")
	if err := json.Unmarshal([]byte(text), &description); err != nil || len(description.Paths) < 10 {
		t.Fatalf("%d paths, %v", len(description.Paths), err)
	}
	document, parameter := read(t, "docs/http.md"), regexp.MustCompile(`\\\{\w+\\\}`)
	for path := range description.Paths {
		pattern := parameter.ReplaceAllString(regexp.QuoteMeta(path), `[\w{}/]+`)
		if !regexp.MustCompile(pattern + "(?m:$|[^\\w/])").MatchString(document) {
			t.Errorf("docs/http.md says nothing of %s", path)
		}
	}
}

// Each field of a result is explained in docs/messages.md.
func TestFieldsOfResultsAreDocumented(t *testing.T) {
	var schema struct{ Properties map[string]any }
	text := read(t, "docs/schemas/result.json")
	if err := json.Unmarshal([]byte(text), &schema); err != nil || len(schema.Properties) < 10 {
		t.Fatalf("%d fields, %v", len(schema.Properties), err)
	}
	known := inQuotes(read(t, "docs/messages.md"))
	for field := range schema.Properties {
		if !slices.Contains(known, field) {
			t.Errorf("docs/messages.md does not explain %s", field)
		}
	}
}

// Each verb that has a help text is in the table of docs/commands.md.
func TestVerbsAreDocumented(t *testing.T) {
	const begin = "cmd/clusterd/testdata/help/clusterd-"
	files, err := filepath.Glob(filepath.Join(root, begin+"*.txt"))
	if err != nil || len(files) < 10 {
		t.Fatalf("%d help texts found: %v", len(files), err)
	}
	commands := read(t, "docs/commands.md")
	for _, file := range files {
		name := strings.TrimSuffix(strings.TrimPrefix(file, filepath.Join(root, begin)), ".txt")
		verb := "clusterd " + strings.ReplaceAll(name, "-", " ")
		if !regexp.MustCompile("(?m)^\\| `" + regexp.QuoteMeta(verb) + "[ `]").MatchString(commands) {
			t.Errorf("docs/commands.md has no row of %s", verb)
		}
	}
}

// The states of an instance are the same in the code, the state diagram and the operators' table.
func TestStatesAreDocumented(t *testing.T) {
	var states []string
	files, err := filepath.Glob(filepath.Join(root, "internal/monitor/*.go"))
	if err != nil {
		t.Fatal(err)
	}
	constant := regexp.MustCompile(`(?m)^\t\w+ +state = "(\w+)"$`)
	for _, file := range files {
		states = append(states, firsts(constant, read(t, strings.TrimPrefix(file, root)))...)
	}
	arrow := regexp.MustCompile(`(?m)^ +(\w+) --> `)
	row := regexp.MustCompile("(?m)^\\| `(\\w+)` \\| (?:yes|no) \\|")
	if len(states) < 5 {
		t.Fatalf("only the states %q found", states)
	}
	slices.Sort(states)
	patterns := map[string]*regexp.Regexp{"DESIGN.md": arrow, "docs/operations.md": row}
	for document, pattern := range patterns {
		documented := firsts(pattern, read(t, document))
		slices.Sort(documented)
		if documented = slices.Compact(documented); !slices.Equal(documented, states) {
			t.Errorf("%s has the states %q, and the code %q", document, documented, states)
		}
	}
}

// firsts returns what the first group of a pattern matches, each time.
func firsts(pattern *regexp.Regexp, text string) (found []string) {
	for _, match := range pattern.FindAllStringSubmatch(text, -1) {
		found = append(found, match[1])
	}
	return found
}
