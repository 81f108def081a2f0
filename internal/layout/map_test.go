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
	root   = "../.."
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

// A row is one of a table of DESIGN.md: the names in backticks of its first and last cell.
type row struct {
	names []string
	last  string // the whole cell
	rule  []string
}

var (
	fence  = regexp.MustCompile("(?s)```.*?```")
	quoted = regexp.MustCompile("`([^`\n]+)`")
)

// table reads the rows of the table under a heading of DESIGN.md, in which last is the heading
// of the last column.
func table(t *testing.T, heading, last string) []row {
	t.Helper()
	_, text, ok := strings.Cut(read(t, "DESIGN.md"), "\n"+heading+"\n")
	if !ok {
		t.Fatalf("DESIGN.md has no %q", heading)
	}
	text, _, _ = strings.Cut(text, "\n#")
	if !strings.Contains(text, "| "+last+" |\n") {
		t.Fatalf("the last column under %q is not %q", heading, last)
	}
	var rows []row
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "| `") {
			continue
		}
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		cell := strings.TrimSpace(cells[len(cells)-1])
		rows = append(rows, row{names: inQuotes(cells[0]), last: cell, rule: inQuotes(cell)})
	}
	if len(rows) == 0 {
		t.Fatalf("no rows under %q", heading)
	}
	return rows
}

// inQuotes returns what stands in backticks, but in no block of code.
func inQuotes(text string) []string {
	return firsts(quoted, fence.ReplaceAllString(text, ""))
}

// Each package has one row of the map, and each row names what is there.
func TestEachPackageIsOnTheMap(t *testing.T) {
	packages, rows := packages(t), make(map[string]int)
	for _, r := range table(t, "## Map", "may not import") {
		for _, name := range r.names {
			rows[name]++
			if _, ok := packages[name]; !ok && (!strings.HasSuffix(name, "/") || !exists(name)) {
				t.Errorf("the map has %s, which is no package and, with a slash at its end, no directory", name)
			}
		}
	}
	for name := range packages {
		if rows[name] != 1 {
			t.Errorf("package %s is on the map %d times", name, rows[name])
		}
	}
}

// No package imports, itself or by way of another, what its row forbids.
func TestNoPackageImportsWhatTheMapForbids(t *testing.T) {
	imports := packages(t)
	for _, r := range table(t, "## Map", "may not import") {
		forbidden := r.forbidden(t, imports)
		for _, name := range r.names {
			for reached, way := range reach(imports, name) {
				if forbidden(reached) {
					t.Errorf("%s may not import %s, and does: %s", name, reached, strings.Join(way, " imports "))
				}
			}
		}
	}
}

// forbidden returns what the last cell of the row forbids: "–" nothing, "all" every package of this
// module, "all but" a list every other one, and a list what it names. In a list, a/... is a and all
// below it.
func (r row) forbidden(t *testing.T, packages map[string][]string) func(string) bool {
	t.Helper()
	but := strings.HasPrefix(r.last, "all but ")
	switch {
	case r.last == "–", r.last == "all":
		return func(string) bool { return r.last == "all" }
	case len(r.rule) == 0:
		t.Errorf("%s: %q is neither –, nor all, nor a list", r.names, r.last)
	}
	for _, pattern := range r.rule {
		known := false
		for name := range packages {
			known = known || matches(pattern, name)
		}
		if !known {
			t.Errorf("%s: there is no package %s", r.names, pattern)
		}
	}
	return func(name string) bool {
		named := slices.ContainsFunc(r.rule, func(pattern string) bool { return matches(pattern, name) })
		return named != but
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
				t.Errorf("%s imports %s, which may be only in %s", name, r.names, r.last)
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
