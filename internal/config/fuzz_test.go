package config

import (
	"os"
	"strings"
	"testing"
)

// FuzzParse holds that any bytes give either Errors or a configuration that its
// own YAML gives again. Its corpus holds what is right, the table of bad
// configurations what is wrong.
func FuzzParse(f *testing.F) {
	data, err := os.ReadFile(badConfigs)
	if err != nil {
		f.Fatal(err)
	}
	for _, one := range strings.Split(string(data), "=== ")[1:] {
		_, yaml, _ := strings.Cut(one, "\n")
		yaml, _, _ = strings.Cut(yaml, "---- errors\n")
		f.Add([]byte(yaml))
	}
	anyFile := func(string) ([]byte, error) { return []byte("text\n"), nil }
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := Parse(testFile, data, testEnv, anyFile)
		if err != nil {
			checkErrors(t, "fuzz", err)
			return
		}
		checkRoundTrip(t, c)
	})
}

// canary is in no word that errors are made of, nor are two of its letters.
const canary = "QZXJQZXJ"

// unseen holds that no part of the canary is in an error or in what is printed of a configuration.
func unseen(t *testing.T, yaml string) {
	t.Helper()
	c, err := Parse(testFile, []byte(yaml), testEnv, testReadFile)
	said := string(c.YAML())
	if err != nil {
		checkErrors(t, yaml, err)
		said = err.Error()
	}
	for i := range len(canary) - 1 {
		if strings.Contains(strings.ToUpper(said), canary[i:i+2]) {
			t.Fatalf("says %q of a secret:\n%s\nof\n%s", canary[i:i+2], said, yaml)
		}
	}
}

// secretForms are where a secret may stand; the form of the value is up to who writes it.
var secretForms = []string{
	"kafka:\n  sasl:\n    mechanism: plain\n    username: u\n    password: %s\n",
	"kafka:\n  sasl:\n    password: %s\n    mechanism: plain\n    username: u\n",
	"kafka:\n  sasl:\n    mechanism: plain\n    username: u\n    password: |\n      %s\n",
	"kafka:\n  sasl:\n    mechanism: plain\n    username: u\n    password:\n      %s\n",
	"kafka:\n  sasl:\n    mechanism: plain\n    username: u\n    ? password\n    : %s\n",
	"kafka: {sasl: {mechanism: plain, username: u, password: %s}}\n",
	"kafka: {sasl: {password: %s, mechanism: plain, username: u}}\n",
	"http:\n  token: %s\n",
	"http: {token: %s}\nlog: {level: info}\n",
	"http:\n  tokn: %s\n",
	"fingerprint:\n  secret: %s\n  hash: xxh3\n",
	"fingerprint: {secret: \"%s\"}",
	"fingerprint: {secret: '%s'}",
	"fingerprint:\n  secret: a\n  secret: %s\n",
}

// No part of a secret is ever printed, whatever form YAML gives to it, and whatever is wrong with
// it.
func TestSecretInAnyForm(t *testing.T) {
	values := []string{
		canary, "|" + canary, ">" + canary, "|-" + canary, ">9" + canary, "| " + canary, "|2" + canary +
			"\n      x",
		"&" + canary, "&" + canary + " x", "&a " + canary, "*" + canary, "!" + canary, "!!" + canary +
			" x", "!!str " + canary, "!<" + canary,
		"@" + canary, "`" + canary, "%" + canary, "," + canary, "]" + canary, "}" + canary, "[" + canary,
		"{" + canary, "[" + canary + "]", "{" + canary + ": 1}",
		"\"" + canary, "'" + canary, "\"\\Q" + canary, "\"\\x" + canary + "\"", "\"x\" " + canary,
		"'x' " + canary, "a, " + canary, "a," + canary + "," + canary,
		"a}, " + canary, "a}}\n" + canary, "a: " + canary, canary + ": a", canary + ":", "- " + canary,
		"? " + canary, ": " + canary, "#" + canary, "x #" + canary,
		"${" + canary + "}", "${" + canary, "${" + canary + ":}", "$${" + canary + "}" + canary, "|${" +
			canary + "}", "${LATIN1}" + canary, "${" + canary + ":" + canary + "}",
		"file:" + canary, "file:/x/" + canary, "file:${" + canary + "}", "file:${NONE:" + canary + "}",
		"|file:" + canary,
		"\t" + canary, "\t|" + canary, canary + "\x01", canary + "\xe9", "<<: " + canary, "--- " + canary,
		"... " + canary, canary + " " + canary, "null " + canary, "~" + canary,
		"|\n" + canary, "|\n  " + canary, "|\n" + canary + ": x", ">\n        x\n      " + canary,
		"a\n      " + canary, "a\n      " + canary + ": x", "\"a\n      " + canary, "\"a\n" + canary +
			"\"",
		"a." + canary + ".b", "a,passwor" + canary, "a,b." + canary, canary + "\u2028x", canary +
			"\u0085",
	}
	for _, form := range secretForms {
		for _, value := range values {
			unseen(t, strings.Replace(form, "%s", value, 1))
		}
	}
}

// FuzzSecret holds the same of values around the canary.
func FuzzSecret(f *testing.F) {
	for form := range len(secretForms) {
		for _, around := range [][2]string{
			{"", ""},
			{"|", ""},
			{">", "x"},
			{"${", "}"},
			{"a,", ""},
			{"\"", "\\q"},
			{"file:", ""},
			{"&", " x"},
			{"!", ""},
			{"", ": x"},
			{"a}", "{"},
		} {
			f.Add(uint8(form), around[0], around[1])
		}
	}
	f.Fuzz(func(t *testing.T, form uint8, before, after string) {
		if strings.ContainsAny(before+after, "\r\n\u0085\u2028\u2029") {
			return // what comes then may be another key's
		}
		if strings.Contains(before, ":") && !strings.HasPrefix(before, "file:") {
			return // as it may in { }
		}
		for i := range len(canary) - 1 {
			if strings.Contains(strings.ToUpper(before+after), canary[i:i+2]) {
				return
			}
		}
		unseen(t, strings.Replace(secretForms[int(form)%len(secretForms)], "%s", before+canary+after, 1))
	})
}

func BenchmarkParse(b *testing.B) {
	data := Reference()
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		if _, err := Parse(testFile, data, testEnv, testReadFile); err != nil {
			b.Fatal(err)
		}
	}
}
