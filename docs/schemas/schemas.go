// Package schemas holds the JSON Schemas (draft 2020-12) of what clusterd reads and writes, and a
// description of its topics (AsyncAPI 3.0).
package schemas

import "embed"

// Files are the schemas, NAME.json, and asyncapi.yaml.
//
//go:embed *.json asyncapi.yaml
var Files embed.FS
