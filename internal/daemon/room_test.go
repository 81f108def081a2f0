package daemon

import (
	"net/http"
	"net/http/httptest"
	"runtime"
	"testing"
	"time"

	"github.com/clusterd/clusterd/internal/testutil/wait"
)

// There are threads to spare from the first question on, and none some time after the last.
func TestRoom(t *testing.T) {
	before := runtime.GOMAXPROCS(0)
	t.Cleanup(func() { runtime.GOMAXPROCS(before) })
	r := &room{cores: before, quiet: 10 * time.Millisecond}
	during := 0
	h := r.giving(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		during = runtime.GOMAXPROCS(0)
	}))
	for range 3 {
		h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/v1/stats", nil))
		if during != before+spare {
			t.Errorf("%d threads may run while a question is answered, want %d", during, before+spare)
		}
		wait.Until(t, "no threads to spare", func() bool { return runtime.GOMAXPROCS(0) == before })
	}
}
