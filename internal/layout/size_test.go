package layout

import (
	"errors"
	"go/scanner"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// maxPackage is how many lines of code a package may have, without tests, blanks and comments.
const maxPackage = 1500

// larger returns the packages that may have more, and how many.
func larger() map[string]int {
	return map[string]int{
		"internal/article": 1800, // the forms of all messages
		"internal/config":  1600, // one table of keys
		// labels, marks and exceptions: one depends on the other
		"internal/audit/labels": 2100,
		"internal/httpapi/v1":   1600, // one handler for each route
		"internal/pipeline":     1550, // roles, and who works on which partitions
		"internal/replica":      1750,
		"internal/space":        2300, // clusters, labels and stories change in one batch
		"internal/state":        1650, // all kinds of keys
		"internal/text":         2850, // cleaning, folding and segmentation are one way
	}
}

// No package is too large to be one idea. The linter has the limits of functions and files.
func TestPackagesAreSmall(t *testing.T) {
	more := larger()
	for name := range packages(t) {
		lines, limit := codeOf(t, name), maxPackage
		if more[name] > 0 {
			limit = more[name]
			if lines <= maxPackage {
				t.Errorf("%s has %d lines of code: it needs no exception any more", name, lines)
			}
		}
		if lines > limit {
			t.Errorf("%s has %d lines of code, and may have %d: divide it", name, lines, limit)
		}
		delete(more, name)
	}
	for name := range more {
		t.Errorf("%s is an exception, and no package", name)
	}
}

// codeOf counts the lines of a package's code.
func codeOf(t *testing.T, name string) (lines int) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, name, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		source, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		n, err := linesOfCode(source)
		if err != nil {
			t.Errorf("%s: %v", path, err)
		}
		lines += n
	}
	return lines
}

// linesOfCode counts the lines on which there is more than comments.
func linesOfCode(source []byte) (lines int, err error) {
	file := token.NewFileSet().AddFile("", -1, len(source))
	var s scanner.Scanner
	s.Init(file, source, func(_ token.Position, message string) { err = errors.New(message) }, 0)
	for last := 0; ; {
		at, kind, literal := s.Scan()
		if kind == token.EOF {
			return lines, err
		}
		if kind == token.SEMICOLON && literal == "\n" {
			continue // it is not in the source
		}
		first := file.Line(at)
		end := first + strings.Count(literal, "\n")
		lines += end - max(first-1, last)
		last = end
	}
}

func TestLinesOfCode(t *testing.T) {
	const source = "// Package p.\npackage p\n\n/* a\nb */\nvar x = `1\n2\n` // three\n\nfunc f() { " +
		"/* c */ }\n"
	if lines, err := linesOfCode([]byte(source)); err != nil || lines != 5 {
		t.Errorf("%d lines, %v, want 5", lines, err)
	}
}
