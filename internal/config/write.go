package config

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// YAML is the configuration as a file that gives it again: every key, in the
// order of Reference. Secrets are masked, and so do not come back.
func (c Config) YAML() []byte {
	var b bytes.Buffer
	writeKeys(&b, c.keys(), func(key, string) {})
	return b.Bytes()
}

const referenceHeader = `# Every key of clusterd with its default. A file needs only the keys it changes.
#
# ${NAME} takes an environment variable, ${NAME:default} one that need not be
# set; $${ is a literal ${. Within [ ] put quotes around it: ["${BROKER}"].
# kafka.sasl.password, http.token and fingerprint.secret may be file:PATH. Paths
# are relative to this file's folder.
# Sizes: 4MiB, 512KiB, 1048576. Durations: 20ms, 1h30m, 7d.
`

// Reference is the text of configs/reference.yaml: every key, its default, what
// it is for and what is allowed. It parses to Default.
func Reference() []byte {
	c := Default()
	b := bytes.NewBufferString(referenceHeader)
	writeKeys(b, c.keys(), func(k key, indent string) {
		line := indent + "# " + k.doc
		if limits := k.value.limits(); limits != "" {
			line += " (" + limits + ")"
		}
		fmt.Fprintln(b, line)
	})
	return b.Bytes()
}

// writeKeys writes the keys as nested mappings; comment is called where a line
// about a key may stand.
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
		fmt.Fprintf(b, "%s%s: %s\n", indent, leafOf(k.path), literal(k.value))
	}
}

func indentation(depth int) string { return strings.Repeat("  ", depth) }

// literal is the YAML of a value.
func literal(v value) string {
	items := v.items()
	for i, item := range items {
		items[i] = quote(escape(item))
	}
	if v.isList() {
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
		indicator := i == 0 && strings.ContainsRune(".-_:", r)
		if indicator || notTopicRune(r) && r != '/' && r != ':' {
			return false
		}
	}
	return true
}
