package layout

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"
)

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func exists(name string) bool {
	_, err := os.Stat(filepath.Join(root, name))
	return err == nil
}

// documents returns the names of all Markdown files, relative to the module.
func documents(t *testing.T) (names []string) {
	t.Helper()
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/*/*.md"} {
		found, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range found {
			names = append(names, strings.TrimPrefix(path, root+"/"))
		}
	}
	if len(names) < 5 {
		t.Fatalf("only %q found", names)
	}
	return names
}

// testNames returns the names of all tests, benchmarks and fuzz targets, whatever their build tags.
func testNames(t *testing.T) map[string]bool {
	t.Helper()
	names := make(map[string]bool)
	err := filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil {
				names[f.Name.Name] = true
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// testName is a test, benchmark or fuzz target in backticks, alone or at the end of a command.
var testName = regexp.MustCompile(`^(?:Test|Fuzz|Benchmark)[A-Z0-9]\w*$`)

// Each test that a document names is there, so that who reads of a promise finds what holds it.
func TestDocumentsNameTestsThatAreThere(t *testing.T) {
	known, named := testNames(t), 0
	for _, document := range documents(t) {
		for _, quote := range inQuotes(read(t, document)) {
			if !testName.MatchString(quote) {
				continue
			}
			named++
			if !known[quote] {
				t.Errorf("%s names %s, and there is no such test", document, quote)
			}
		}
	}
	if named < 100 {
		t.Errorf("only %d tests are named", named)
	}
}

var (
	repositoryPath = regexp.MustCompile(
		`^(?:cmd|internal|integration|bench|configs|docs|tools|\.ci|\.github)/[\w./-]*$`)
	placeholder = regexp.MustCompile(`\.\.\.|[A-Z]{4}`) // such as internal/PACKAGE
	link        = regexp.MustCompile(`\]\(([^)#:]*)(?:#([^):]+))?\)`)
	heading     = regexp.MustCompile(`(?m)^#+ (.+)$`)
	fencedBlock = regexp.MustCompile("(?sm)^```.*?^```$")
)

// anchors returns the places in a document that a link may lead to, as forges name them.
func anchors(document string) map[string]bool {
	places := make(map[string]bool)
	text := fencedBlock.ReplaceAllString(document, "")
	for _, match := range heading.FindAllStringSubmatch(text, -1) {
		places[strings.Map(func(r rune) rune {
			switch {
			case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
				return unicode.ToLower(r)
			case r == ' ':
				return '-'
			}
			return -1
		}, match[1])] = true
	}
	return places
}

// Each file and directory that a document names, in backticks or by a link, is there, and in the
// file the heading that the link names.
func TestDocumentsNamePathsThatAreThere(t *testing.T) {
	named := 0
	for _, document := range documents(t) {
		text := read(t, document)
		for _, quote := range inQuotes(text) {
			if repositoryPath.MatchString(quote) && !placeholder.MatchString(quote) {
				named++
				if !exists(quote) {
					t.Errorf("%s names %s, which is not there", document, quote)
				}
			}
		}
		for _, match := range link.FindAllStringSubmatch(text, -1) {
			named++
			target := document
			if match[1] != "" {
				target = filepath.Join(filepath.Dir(document), match[1])
			}
			if !exists(target) {
				t.Errorf("%s has a link to %s, which is not there", document, match[1])
			} else if match[2] != "" && !anchors(read(t, target))[match[2]] {
				t.Errorf("%s has a link to %s, which has no heading %s", document, target, match[2])
			}
		}
	}
	if named < 100 {
		t.Errorf("only %d paths are named", named)
	}
}

// Each decision is in the list of decisions.
func TestDecisionsAreListed(t *testing.T) {
	list := read(t, "docs/adr/README.md")
	for _, document := range documents(t) {
		name, ok := strings.CutPrefix(document, "docs/adr/")
		if ok && name != "README.md" && !strings.Contains(list, "]("+name+")") {
			t.Errorf("docs/adr/README.md does not list %s", name)
		}
	}
}

// Each item of what is not obvious names a test that fails where it does not hold.
func TestWhatIsNotObviousIsTested(t *testing.T) {
	text := read(t, "docs/pitfalls.md")
	items := strings.Split(text, "\n- **")[1:]
	if len(items) < 30 {
		t.Errorf("only %d items found", len(items))
	}
	for _, item := range items {
		tested := false
		for _, quote := range inQuotes(item) {
			tested = tested || testName.MatchString(quote)
		}
		if !tested {
			t.Errorf("no test is named for %q", strings.SplitN(item, "**", 2)[0])
		}
	}
}

// A story is one event in many texts. One text in many copies is a cluster.
func TestStoriesAreNoClusters(t *testing.T) {
	misused := regexp.MustCompile(`(?i)bytes a story|story is copied|shares? stories|have a story|` +
		`one article for each story|well-known story|\b(?:one|same) story(?:, two| from)|stories, copies|shows a story`)
	names := append(documents(t), "configs/news.yaml", "configs/comments.yaml", "cmd/clusterd/demo.go",
		"internal/cli/demo/view.go", "internal/cli/demo/sample/sample.go")
	for _, name := range names {
		if found := misused.FindString(read(t, name)); found != "" {
			t.Errorf("%s: %q means a cluster, not an event", name, found)
		}
	}
	if kinds := read(t, "internal/cli/demo/sample/sample.go"); strings.Contains(kinds, `Kind = "story"`) {
		t.Error("the demo calls a single article a story")
	}
}
