package api

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
)

func TestWrite(t *testing.T) {
	w := httptest.NewRecorder()
	w.Header().Set("Content-Length", "7")
	WriteProblem(w, 404, "", `there is no <cluster> "a"`)
	want := `{
  "type": "about:blank",
  "title": "Not Found",
  "status": 404,
  "detail": "there is no <cluster> \"a\""
}
`
	if w.Code != 404 || w.Body.String() != want || w.Header().Get("Content-Length") != "" ||
		w.Header().Get("Content-Type") != "application/problem+json" {
		t.Errorf("%d %v %s", w.Code, w.Header(), w.Body)
	}
	w = httptest.NewRecorder()
	WriteProblem(w, 409, "Not now", "")
	if got := w.Body.String(); got != `{
  "type": "about:blank",
  "title": "Not now",
  "status": 409
}
` {
		t.Errorf("%s", got)
	}
}

func TestBody(t *testing.T) {
	for _, tt := range []struct {
		err  error
		code int
	}{
		{fmt.Errorf("reading: %w", &http.MaxBytesError{Limit: 7}), http.StatusRequestEntityTooLarge},
		{fmt.Errorf("reading: %w", os.ErrDeadlineExceeded), http.StatusRequestTimeout},
		{errors.New("unexpected EOF"), http.StatusBadRequest},
	} {
		w := httptest.NewRecorder()
		WriteBodyProblem(w, tt.err)
		if w.Code != tt.code || w.Header().Get("Connection") != "close" {
			t.Errorf("%v: %d %v, want %d", tt.err, w.Code, w.Header(), tt.code)
		}
	}
}
