package config

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/clusterd/clusterd/internal/testutil/golden"
)

// TestMain has the tests see what the fields say now, so that one -update writes docs.txt and all
// that follows from it.
func TestMain(m *testing.M) {
	docs = docsOfFields()
	os.Exit(m.Run())
}

// docs.txt is up to date.
func TestDocs(t *testing.T) {
	golden.Check(t, "docs.txt", []byte(docs))
	c := Default()
	for _, k := range c.keys() {
		if k.doc() == "" {
			t.Errorf("%s: its field has no comment", k.path)
		}
	}
}

func docsOfFields() string {
	comments := commentsOf("sections.go", "../method/settings.go")
	var c Config
	byField := make(map[uintptr]string)
	var visit func(section reflect.Value)
	visit = func(section reflect.Value) {
		for i := range section.NumField() {
			if field := section.Field(i); field.Kind() == reflect.Struct {
				visit(field)
			} else {
				name := section.Type().Name() + "." + section.Type().Field(i).Name
				byField[field.Addr().Pointer()] = comments[name]
			}
		}
	}
	visit(reflect.ValueOf(&c).Elem())
	var b strings.Builder
	for _, k := range c.keys() {
		fmt.Fprintf(&b, "%s: %s\n", k.path, byField[k.field.Addr().Pointer()])
	}
	return b.String()
}

// commentsOf returns the comments of the fields of all structs in the files, each on one line, by
// the names of type and field.
func commentsOf(files ...string) map[string]string {
	comments := make(map[string]string)
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
		if err != nil {
			panic(err)
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok {
				return true
			}
			section, ok := spec.Type.(*ast.StructType)
			if !ok {
				return false
			}
			for _, field := range section.Fields.List {
				for _, name := range field.Names {
					text := strings.Join(strings.Fields(field.Doc.Text()), " ")
					comments[spec.Name.Name+"."+name.Name] = text
				}
			}
			return false
		})
	}
	return comments
}
