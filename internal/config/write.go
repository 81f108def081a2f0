package config

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// YAML returns the configuration as a file that gives it again: every key, in the
// order of Reference. Secrets are masked, and so do not come back.
func (c Config) YAML() []byte {
	var b bytes.Buffer
	writeKeys(&b, c.keys(), func(key, string) {})
	return b.Bytes()
}

// Part returns the keys at paths as YAML, in the order of Reference, to be put into a file.
func (c Config) Part(paths ...string) []byte {
	var b bytes.Buffer
	keys := slices.DeleteFunc(c.keys(),
		func(k key) bool { return !slices.Contains(paths, k.path) })
	writeKeys(&b, keys, func(key, string) {})
	return b.Bytes()
}

const referenceHeader = `# Every key of clusterd with its default. A file needs only the keys it changes.
#
# ${NAME} takes an environment variable, ${NAME:default} one that need not be
# set; $${ is a literal ${. Within [ ] put quotes around it: ["${BROKER}"].
# kafka.sasl.password, kafka.sasl.client_secret, http.token, fingerprint.secret and
# s3.secret_key may be file:PATH. Paths are relative to this file's folder.
# Sizes: 4MiB, 512KiB, 1048576. Durations: 20ms, 1h30m, 7d.

`

// Reference returns the text of configs/reference.yaml: every key, its default, what
// it is for and what is allowed. It parses to Default.
func Reference() []byte {
	c := Default()
	b := bytes.NewBufferString(referenceHeader)
	writeKeys(b, c.keys(), func(k key, indent string) {
		line := indent + "# " + k.doc()
		if k.allowed != "" {
			line += " (" + k.allowed + ")"
		}
		if k.isLive() {
			line += " SIGHUP changes it."
		}
		fmt.Fprintln(b, line)
	})
	return b.Bytes()
}

// writeKeys writes the keys as nested mappings. It calls comment before the line of each key.
func writeKeys(b *bytes.Buffer, keys []key, comment func(k key, indent string)) {
	var open []string // sections that the next key may go on in
	for _, k := range keys {
		sections := sectionsOf(k.path)
		for depth, section := range sections {
			if !slices.Contains(open, section) {
				if depth == 0 && b.Len() > 0 {
					b.WriteByte('\n')
				}
				fmt.Fprintf(b, "%s%s:\n", indentation(depth), leafOf(section))
			}
		}
		open = sections
		indent := indentation(len(sections))
		comment(k, indent)
		fmt.Fprintf(b, "%s%s: %s\n", indent, leafOf(k.path), literal(k))
	}
}

func indentation(depth int) string { return strings.Repeat("  ", depth) }

// literal returns the YAML of the value of a key.
func literal(k key) string {
	items := k.items()
	for i, item := range items {
		items[i] = quote(escape(item))
	}
	if k.list {
		return "[" + strings.Join(items, ", ") + "]"
	}
	return items[0]
}

// quote leaves text bare where YAML takes it for itself in any place, and else
// writes it in double quotes, whose escapes are those of Go for valid UTF-8.
func quote(s string) string {
	if isBare(s) {
		return s
	}
	return strconv.Quote(s)
}

func isBare(s string) bool {
	if s == "" || strings.EqualFold(s, "null") || strings.HasSuffix(s, ":") {
		return false
	}
	for i, r := range s {
		letterOrDigit := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
		inside := i > 0 && strings.ContainsRune(".-_:", r)
		if !letterOrDigit && !inside && r != '/' {
			return false
		}
	}
	return true
}
