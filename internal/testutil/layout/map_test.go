// Package layout holds the documents to the code: the map of DESIGN.md to the packages and their
// imports, and what documents name to what is there. It has tests only.
package layout

import (
	"errors"
	"go/build"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const (
	root   = "../../.."
	module = "github.com/clusterd/clusterd/"
)

// packages maps each package of this module to what its code, without its tests, imports. Both
// are relative to the module: "internal/text"; other modules' packages have their whole path.
// It reads the files itself: the results of a test that calls go list are cached for too long.
func packages(t *testing.T) map[string][]string {
	t.Helper()
	context, found := build.Default, make(map[string][]string)
	context.BuildTags = []string{"integration", "failpoints", "long"}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch name := strings.TrimPrefix(path, root+"/"); {
		case err != nil || !d.IsDir() || path == root:
			return err
		case d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") || exists(name+"/go.mod"):
			return fs.SkipDir
		default:
			p, err := context.ImportDir(path, 0)
			var none *build.NoGoError
			if errors.As(err, &none) {
				return nil
			}
			found[name] = nil
			for _, imported := range p.Imports {
				found[name] = append(found[name], strings.TrimPrefix(imported, module))
			}
			return err
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// A row is one of a table of DESIGN.md: the names in backticks of its first cell, and of the cell
// that is the rule.
type row struct {
	names []string
	rule  []string
}

var (
	fence  = regexp.MustCompile("(?s)```.*?```")
	quoted = regexp.MustCompile("`([^`\n]+)`")
)

// table reads the rows of the table under a heading of DESIGN.md. The column that is the rule has
// this heading.
func table(t *testing.T, heading, rule string) []row {
	t.Helper()
	_, text, ok := strings.Cut(read(t, "DESIGN.md"), "\n"+heading+"\n")
	if !ok {
		t.Fatalf("DESIGN.md has no %q", heading)
	}
	text, _, _ = strings.Cut(text, "\n#")
	var rows []row
	column := -1
	for line := range strings.Lines(text) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "| "), " | ")
		if column < 0 {
			column = slices.Index(cells, rule)
		}
		if strings.HasPrefix(line, "| `") && column >= 0 {
			rows = append(rows, row{names: inQuotes(cells[0]), rule: inQuotes(cells[column])})
		}
	}
	if len(rows) == 0 {
		t.Fatalf("no rows under %q with a column %q", heading, rule)
	}
	return rows
}

// inQuotes returns what stands in backticks, but in no block of code.
func inQuotes(text string) []string {
	return firsts(quoted, fence.ReplaceAllString(text, ""))
}

// folder returns the row of the map that a package belongs to: internal/text of internal/text/fold.
func folder(name string, rows []row) int {
	return slices.IndexFunc(rows, func(r row) bool { return within(r.names[0], name) })
}

// Each package is in a folder of the map, and each row names a folder that is there.
func TestEachPackageIsOnTheMap(t *testing.T) {
	rows := table(t, "## Map", "what it does")
	for _, r := range rows {
		if len(r.names) == 0 || !exists(r.names[0]) {
			t.Errorf("the map has %q, which is not there", r.names)
		}
	}
	for name := range packages(t) {
		if folder(name, rows) < 0 {
			t.Errorf("the map has no folder of package %s", name)
		}
	}
}

// A folder imports only folders above it, so imports between folders form no cycle.
func TestFoldersImportThoseAbove(t *testing.T) {
	rows := table(t, "## Map", "what it does")
	for name, imports := range packages(t) {
		for _, imported := range imports {
			if from, to := folder(name, rows), folder(imported, rows); to > from {
				t.Errorf("%s imports %s, and the map has %s below it", name, imported, rows[to].names[0])
			}
		}
	}
}

// No package imports, itself or by way of another, what the second table forbids.
func TestNoPackageImportsWhatTheMapForbids(t *testing.T) {
	imports := packages(t)
	for _, r := range table(t, "### Packages that stay apart",
		"may not import, neither itself nor by way of another") {
		found := false
		for name := range imports {
			if !matches(r.names[0], name) {
				continue
			}
			found = true
			for reached, way := range reach(imports, name) {
				if slices.ContainsFunc(r.rule, func(p string) bool { return matches(p, reached) }) {
					t.Errorf("%s may not import %s, and does: %s", name, reached, strings.Join(way, " imports "))
				}
			}
		}
		if !found {
			t.Errorf("there is no package %s", r.names[0])
		}
	}
}

// matches reports whether a package is what a pattern means. The pattern may leave internal/ out.
func matches(pattern, name string) bool {
	name = strings.TrimPrefix(name, "internal/")
	pattern = strings.TrimPrefix(pattern, "internal/")
	family, isFamily := strings.CutSuffix(pattern, "/...")
	return name == pattern || isFamily && (name == family || strings.HasPrefix(name, family+"/"))
}

// reach returns the packages of this module that a package imports, itself or by way of others,
// each with the way there.
func reach(imports map[string][]string, from string) map[string][]string {
	ways, open := make(map[string][]string), [][]string{{from}}
	for len(open) > 0 {
		way := open[0]
		open = open[1:]
		for _, next := range imports[way[len(way)-1]] {
			if _, ours := imports[next]; ours && ways[next] == nil {
				ways[next] = append(slices.Clone(way), next)
				open = append(open, ways[next])
			}
		}
	}
	return ways
}

// A library that has a row is imported by the packages that the row names, and by no others.
func TestModulesStayWhereTheMapPutsThem(t *testing.T) {
	imports := packages(t)
	for _, r := range table(t, "### Libraries with a place of their own", "only in") {
		used := make(map[string]bool)
		for name, list := range imports {
			foreign := slices.ContainsFunc(list, func(imported string) bool {
				return slices.ContainsFunc(r.names, func(lib string) bool { return within(lib, imported) })
			})
			if !foreign {
				continue
			}
			match := func(pattern string) bool { return matches(pattern, name) }
			i := slices.IndexFunc(r.rule, match)
			if i < 0 {
				t.Errorf("%s imports %s, which may be only in %s", name, r.names, r.rule)
				continue
			}
			used[r.rule[i]] = true
		}
		for _, pattern := range r.rule {
			if !used[pattern] {
				t.Errorf("%s does not import %s any more", pattern, r.names)
			}
		}
	}
}

// within reports whether an imported package is of a library, given by the beginning of its path.
func within(library, imported string) bool {
	return imported == library || strings.HasPrefix(imported, library+"/")
}
