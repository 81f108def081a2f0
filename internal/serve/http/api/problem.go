package api

import (
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"strconv"
)

// ProblemType is that of problem details.
const ProblemType = "application/problem+json"

// A Problem is what an answer says of why a request failed, as problem details of RFC 9457.
type Problem struct {
	Type   string `json:"type"` // about:blank: the status says what kind it is
	Title  string `json:"title"`
	Status int    `json:"status"`
	Detail string `json:"detail,omitempty"`
}

// WriteProblem answers with a status of 400 or more. The detail says what is wrong with this
// request and what to do about it, and must hold no secret. An empty title is the status' own text.
func WriteProblem(w http.ResponseWriter, status int, title, detail string) {
	if title == "" {
		title = http.StatusText(status)
	}
	h := w.Header()
	h.Del("Content-Length") // of the answer that this one replaces
	h.Set("Content-Type", ProblemType)
	w.WriteHeader(status)
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	// Whoever asked may have gone.
	_ = e.Encode(Problem{Type: "about:blank", Title: title, Status: status, Detail: detail})
}

// WriteBodyProblem answers for an error of reading a request's body: 413 where it is too large, 408
// where it came too slowly, else 400.
func WriteBodyProblem(w http.ResponseWriter, err error) {
	w.Header().Set("Connection", "close") // rather than read what may follow
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		WriteTooLarge(w, large.Limit)
	case errors.Is(err, os.ErrDeadlineExceeded):
		WriteProblem(w, http.StatusRequestTimeout, "",
			"the body did not come in time: send it faster, or less")
	default:
		WriteProblem(w, http.StatusBadRequest, "", "the body ended before it was whole")
	}
}

// WriteTooLarge answers for a body of more bytes than a route takes.
func WriteTooLarge(w http.ResponseWriter, limit int64) {
	detail := "the body must have at most " + strconv.FormatInt(limit, 10) + " bytes"
	if limit == 0 {
		detail = "a request must have no body here"
	}
	WriteProblem(w, http.StatusRequestEntityTooLarge, "", detail)
}
