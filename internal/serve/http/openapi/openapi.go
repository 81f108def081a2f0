// Package openapi holds the description of the HTTP interface, an OpenAPI 3.1 document in JSON,
// and serves it. Tests of package v1 hold the two together.
package openapi

import (
	_ "embed" // the description
	"net/http"
)

// JSON is the description.
//
//go:embed openapi.json
var JSON []byte

// Handler serves the description.
func Handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(JSON) // whoever asked may have gone
	})
}
