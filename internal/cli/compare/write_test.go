package compare

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/clusterd/clusterd/internal/testutil/golden"
	"github.com/clusterd/clusterd/internal/text/diff"
)

// Rows and passages as they are written, whatever the methods make of them.
func TestWriteComparison(t *testing.T) {
	near, far := 2.0, .123456789
	r := Report{
		A:      About{"a.txt", 10, []string{"name:alexis17", "site:shop.example"}},
		B:      About{"b\x1b[2J.txt", 20, []string{"name:alexis17", "number:5550100"}},
		Shared: []string{"name:alexis17"},
		Methods: []Verdict{
			{Method: "simhash", Distance: &near, Threshold: 3, Same: true},
			{Method: "minhash", Distance: &far, Threshold: .0123456},
			{Method: "shingle", Distance: &far, Threshold: .05, Same: true, Contained: true},
			{Method: "simhash+verify", Threshold: 8, Why: "ruled out"},
			{Method: "exact", Why: "nothing to compare"},
		},
		Passages: []diff.Passage{
			{Kind: diff.Same, Text: strings.Repeat("港口大桥今天通车，", 30)},
			{Kind: diff.OnlyA, Text: "first\nand second"},
			{Kind: diff.OnlyB, Text: " \n "},
			{Kind: diff.Same, Text: "\nshort "},
			{Kind: diff.OnlyB, Text: "\x1b[31mred"},
		},
	}
	var b bytes.Buffer
	if err := r.WriteText(&b, false); err != nil {
		t.Fatal(err)
	}
	golden.Check(t, filepath.Join("testdata", "comparison.txt"), b.Bytes())

	var back Report
	object, err := json.Marshal(r)
	if err == nil {
		err = json.Unmarshal(object, &back)
	}
	if err != nil || !reflect.DeepEqual(back, r) {
		t.Errorf("%v: as JSON it is\n%s", err, object)
	}
}

func TestPassagesInColour(t *testing.T) {
	r := Report{Passages: []diff.Passage{
		{Kind: diff.Same, Text: "both"},
		{Kind: diff.OnlyA, Text: "a"},
		{Kind: diff.OnlyB, Text: "b\nc"},
	}}
	var b bytes.Buffer
	if err := r.writePassages(&b, true); err != nil ||
		b.String() != "  both\n\x1b[31m- a\x1b[0m\n\x1b[32m+ b\x1b[0m\n\x1b[32m+ c\x1b[0m\n" {
		t.Errorf("%q, %v", b.String(), err)
	}
}
