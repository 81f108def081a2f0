package config

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/clusterd/clusterd/internal/config/table"
)

// YAML returns the configuration as a file that gives it again: every key, in the
// order of Reference. Secrets are masked, and so do not come back.
func (c Config) YAML() []byte {
	var b bytes.Buffer
	table.Write(&b, c.keys(), func(table.Key, string) {})
	return b.Bytes()
}

// Part returns the keys at paths as YAML, in the order of Reference, to be put into a file.
func (c Config) Part(paths ...string) []byte {
	var b bytes.Buffer
	keys := slices.DeleteFunc(c.keys(),
		func(k table.Key) bool { return !slices.Contains(paths, k.Path) })
	table.Write(&b, keys, func(table.Key, string) {})
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
	table.Write(b, c.keys(), func(k table.Key, indent string) {
		line := indent + "# " + k.Doc
		if limits := k.Value.Limits(); limits != "" {
			line += " (" + limits + ")"
		}
		if k.Live {
			line += " SIGHUP changes it."
		}
		fmt.Fprintln(b, line)
	})
	return b.Bytes()
}
