package v1

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/clusterd/clusterd/internal/serve/http/api"
	"github.com/clusterd/clusterd/internal/serve/http/strict"
)

// try makes a handler of a function whose error is answered as a problem.
func try(handle func(w http.ResponseWriter, r *http.Request) error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := handle(w, r); err != nil {
			fail(w, err)
		}
	})
}

// A refusal is an error that has a status.
type refusal struct {
	status int
	detail string
}

func (e *refusal) Error() string { return e.detail }

// bodyError is that of reading a request.
type bodyError struct{ error }

func (e bodyError) Unwrap() error { return e.error }

// fail answers for an error.
func fail(w http.ResponseWriter, err error) {
	var body bodyError
	if errors.As(err, &body) {
		api.WriteBodyProblem(w, body.error)
		return
	}
	status, detail := StatusOf(err)
	if status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "1")
	}
	api.WriteProblem(w, status, "", detail)
}

// StatusOf returns the status by which an error is answered, and what is said of it. It does not
// return where whoever asked has gone.
func StatusOf(err error) (status int, detail string) {
	var (
		refused   *refusal
		malformed *strict.Error
		invalid   *api.InvalidError
		elsewhere *api.ElsewhereError
	)
	switch {
	case errors.As(err, &refused):
		return refused.status, refused.detail
	case errors.As(err, &malformed):
		return http.StatusBadRequest, malformed.Error()
	case errors.As(err, &invalid):
		return http.StatusUnprocessableEntity, invalid.Error()
	case errors.As(err, &elsewhere):
		return http.StatusMisdirectedRequest, elsewhere.Error()
	case errors.Is(err, api.ErrUnknown):
		return http.StatusNotFound, err.Error()
	case errors.Is(err, context.Canceled):
		panic(http.ErrAbortHandler) // whoever asked has gone
	}
	// It is not ready, or the way to the brokers or the disk fails.
	return http.StatusServiceUnavailable, err.Error()
}

// answer sends a message.
func answer(w http.ResponseWriter, status int, v any) error {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	_ = e.Encode(v) // whoever asked may have gone
	return nil
}
