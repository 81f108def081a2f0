package v1

import (
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/clusterd/clusterd/internal/serve/http/strict"
)

// The types of bodies.
const (
	typeJSON  = "application/json"
	typeText  = "text/plain"
	typeLines = "application/x-ndjson"
)

// body reads the body of a request, all of it, which is of one of these types. It is never
// unpacked.
func body(r *http.Request, types ...string) (value []byte, contentType string, err error) {
	if encoding := r.Header.Get("Content-Encoding"); encoding != "" {
		return nil, "", &refusal{
			http.StatusUnsupportedMediaType, "Content-Encoding: the body must come as it is, unpacked",
		}
	}
	contentType, parameters, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	known := false
	for _, t := range types {
		known = known || t == contentType
	}
	charset := parameters["charset"]
	if err != nil || !known || charset != "" && !strings.EqualFold(charset, "utf-8") {
		return nil, "", &refusal{
			http.StatusUnsupportedMediaType,
			"Content-Type: must be " + strings.Join(types, " or ") + ", in UTF-8",
		}
	}
	value, err = io.ReadAll(r.Body)
	if err != nil {
		return nil, "", bodyError{err}
	}
	if !utf8.Valid(value) {
		return nil, "", &strict.Error{Reason: "the body is not UTF-8"}
	}
	return value, contentType, nil
}

// noQuery refuses parameters where there are none.
func noQuery(r *http.Request) error {
	if r.URL.RawQuery == "" {
		return nil
	}
	return &strict.Error{Field: "the address", Reason: "there are no parameters here"}
}

// ClusterID returns the id of the cluster that an address names.
func ClusterID(r *http.Request) string {
	if id := r.PathValue("id"); id != "" {
		return id
	}
	return fmt.Sprintf("%s/%s/%s", r.PathValue("topic"), r.PathValue("partition"),
		r.PathValue("offset"))
}
