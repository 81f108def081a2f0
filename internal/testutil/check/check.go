// Package check has assertions that the tests of several packages make.
package check

import (
	"strings"
	"testing"
)

// ErrorHas holds err to parts of its text. Without an error it ends the test.
func ErrorHas(t testing.TB, err error, parts ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want one with %q", parts)
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("error %q, want %q in it", err, part)
		}
	}
}
