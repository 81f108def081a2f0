package article_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"testing"

	"github.com/clusterd/clusterd/internal/message/article"
)

// A class that is not in the list has no counter until its first dead letter.
func TestClassesAreAll(t *testing.T) {
	all := slices.Concat(article.Classes, article.FingerprintClasses, article.LabelClasses)
	file, err := parser.ParseFile(token.NewFileSet(), "article.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if kind, ok := spec.Type.(*ast.Ident); !ok || kind.Name != "Class" {
			return true
		}
		value, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
		if err != nil {
			t.Fatal(err)
		}
		found++
		if class := article.Class(value); class != article.BadDocument &&
			class != article.BadRow && !slices.Contains(all, class) {
			t.Errorf("%s is not in Classes", class)
		}
		return true
	})
	if found != len(all)+2 {
		t.Errorf("%d classes are declared, and %d in the list, without %s and %s", found, len(all),
			article.BadDocument, article.BadRow)
	}
}
