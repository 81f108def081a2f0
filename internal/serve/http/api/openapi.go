package api

import (
	_ "embed" // the description
	"net/http"
)

// Description is an OpenAPI 3.1 document in JSON. Tests of package v1 compare it with the routes
// and the messages.
//
//go:embed openapi.json
var Description []byte

// DescriptionHandler serves the description.
func DescriptionHandler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(Description) // whoever asked may have gone
	})
}
