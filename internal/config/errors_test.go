package config

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/clusterd/clusterd/internal/testutil/golden"
)

const badConfigs = "testdata/bad.txt"

// TestBadConfigs reads badConfigs: configurations, each under a line
// "=== what is wrong" and above a line "---- errors" with what Parse says.
func TestBadConfigs(t *testing.T) {
	data, err := os.ReadFile(badConfigs)
	if err != nil {
		t.Fatal(err)
	}
	cases := strings.Split(string(data), "=== ")[1:]
	if len(cases) < 50 {
		t.Fatalf("%s holds %d cases, want all of them", badConfigs, len(cases))
	}
	var got strings.Builder
	for _, text := range cases {
		name, rest, _ := strings.Cut(text, "\n")
		yaml, _, _ := strings.Cut(rest, "---- errors\n")
		c, err := parse(yaml)
		if err == nil {
			t.Errorf("%s: no error, but %+v", name, c)
			continue
		}
		checkErrors(t, name, err)
		if strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: shows the password: %v", name, err)
		}
		fmt.Fprintf(&got, "=== %s\n%s---- errors\n%s\n\n", name, yaml, err)
	}
	golden.Check(t, badConfigs, []byte(got.String()))
}

// checkErrors holds an error of Parse to what Errors promises.
func checkErrors(t *testing.T, name string, err error) {
	t.Helper()
	var all Errors
	var one Error
	if !errors.As(err, &all) || !errors.As(err, &one) || len(all) == 0 {
		t.Fatalf("%s: %T is not Errors with an Error", name, err)
	}
	lines := strings.Split(err.Error(), "\n")
	if len(lines) != len(all) {
		t.Errorf("%s: %d lines for %d errors:\n%v", name, len(lines), len(all), err)
	}
	for i, e := range all {
		if i > 0 && e.Line < all[i-1].Line {
			t.Errorf("%s: not sorted by line:\n%v", name, err)
		}
		if e.Problem == "" || !strings.HasPrefix(e.Error(), e.File) || !utf8.ValidString(e.Error()) {
			t.Errorf("%s: %#v", name, e)
		}
	}
}

// What no text file can hold, or what is too long for one.
func TestRefusedDocuments(t *testing.T) {
	var keys strings.Builder
	for i := range 200_000 {
		fmt.Fprintf(&keys, "a%d: 1\n", i)
	}
	var block strings.Builder
	for i := range 1000 {
		block.WriteString(strings.Repeat(" ", i) + "a:\n")
	}
	many := func(text string, bytes int) string { return strings.Repeat(text, bytes/len(text)) }
	for name, tt := range map[string]struct{ yaml, want string }{
		"100 MB": {
			many("a", 100<<20), "news.yaml: is larger than 1MiB, the most that a configuration may have",
		},
		"1 MiB of keys": {
			keys.String()[:1<<20],
			"news.yaml:3334:6: has more than 10000 tokens of YAML, the most that a configuration may have",
		},
		"deep flow":    {many("[", 10_000), "news.yaml:1:33: is nested deeper than 32 levels"},
		"deep maps":    {many("{a: ", 8_000), "news.yaml:1:129: is nested deeper than 32 levels"},
		"deep block":   {block.String(), "news.yaml:33:34: is nested deeper than 32 levels"},
		"deep compact": {many("- ", 10_000), "news.yaml:1:65: is nested deeper than 32 levels"},
		"deep unclosed": {
			many("]", 9_000) + many("[", 900), "news.yaml:1:9033: is nested deeper than 32 levels",
		},
		"quotes":  {many(`"`, 1<<20), "news.yaml:1:20001: has more than 10000 tokens"},
		"anchors": {many("&a ", 20_000), "news.yaml:1:15001: has more than 10000 tokens"},
		"not UTF-8": {
			"log:\n  level: caf\xe9\n",
			"news.yaml:2:13: has a byte that is not UTF-8: save the file as UTF-8",
		},
		"UTF-16": {
			"\xff\xfel\x00", "news.yaml:1:1: has a byte that is not UTF-8: save the file as UTF-8",
		},
		"column in runes": {
			"中文\xff", "news.yaml:1:3: has a byte that is not UTF-8: save the file as UTF-8",
		},
		"NUL": {
			"log: \x00", "news.yaml:1:6: has a control character, which YAML does not allow",
		},
		"escape": {
			"log:\n \x1b[2J", "news.yaml:2:2: has a control character, which YAML does not allow",
		},
		"not a number": {
			"cluster: {distance: \"\\e[2J\"}",
			"news.yaml:1:21: cluster.distance: \\x1b[2J: must be a whole number, between 0 and 6",
		},
		"long value": {
			"cluster: {distance: " + many("中", 900) + "}", "news.yaml:1:21: cluster.distance: " +
				many("中", 240) + "…: must be",
		},
		"long topic": {"input: {topic: " + many("a", 250) + "}", "news.yaml:1:16: input.topic: " +
			many("a", 80) + "…: must be at most 249 characters to be a topic's name, not 250"},
		"long unknown key": {many("a", 2000) + ": 1", "news.yaml:1:1: " + many("a", 80) +
			"…: unknown key"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Parse("news.yaml", []byte(tt.yaml), testEnv, testReadFile)
			if err == nil || !strings.HasPrefix(err.Error(), tt.want) {
				t.Fatalf("got  %v\nwant %v", err, tt.want)
			}
			checkErrors(t, name, err)
		})
	}
}

func TestError(t *testing.T) {
	for _, tt := range []struct {
		err  Error
		want string
	}{
		{
			Error{"news.yaml", 12, 13, "cluster.distance", "9", "must be between 0 and 6"},
			"news.yaml:12:13: cluster.distance: 9: must be between 0 and 6",
		},
		{
			Error{"news.yaml", 12, 13, "input.group", "", "must not be empty"},
			"news.yaml:12:13: input.group: must not be empty",
		},
		{
			Error{Key: "input.group", Value: " ", Problem: "must not be empty"},
			`input.group: " ": must not be empty`,
		},
		{Error{File: "news.yaml", Problem: "cannot be read"}, "news.yaml: cannot be read"},
		{Error{Line: 1, Column: 2, Problem: "is wrong"}, "1:2: is wrong"},
		{Error{Problem: "is wrong"}, "is wrong"},
		{Error{File: "a\nb", Key: "\x1b", Value: "\xff中", Problem: "x\ty"}, `a\nb: \x1b: \xff中: x\ty`},
	} {
		if got := tt.err.Error(); got != tt.want {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
}
