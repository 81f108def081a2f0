package daemon

import (
	"net/http"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// spare is how many threads may run Go code, while somebody asks, beside those that work on the
	// stream, which are as many as there are cores. While all are busy, Go looks only every 10 ms
	// whether a request has come in. With some to spare the kernel divides the cores, and the 99th
	// percentile of a check beside a stream on two cores was half as long.
	spare = 2
	// quiet is after how long without a question the stream has all threads again. With more of them
	// than cores its full rate was a tenth lower.
	quiet = 10 * time.Second
)

// A room lets questions be answered while the stream keeps all cores busy.
type room struct {
	cores int // 0: GOMAXPROCS is left as it is
	quiet time.Duration

	asked atomic.Bool // since it was last looked
	mu    sync.Mutex
	given *time.Timer // nil: there is none
}

// newRoom returns a room that leaves alone what GOMAXPROCS or a container's limit says: such a limit
// stops all threads once it is used up.
func newRoom() *room {
	r := &room{quiet: quiet}
	cores := runtime.NumCPU()
	if os.Getenv("GOMAXPROCS") == "" && runtime.GOMAXPROCS(0) == cores {
		r.cores = cores
	}
	return r
}

// giving returns a handler that gives room to requests before they are answered.
func (r *room) giving(next http.Handler) http.Handler {
	if r.cores == 0 {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		r.give()
		next.ServeHTTP(w, request)
	})
}

func (r *room) give() {
	if r.asked.Swap(true) {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.given == nil {
		runtime.GOMAXPROCS(r.cores + spare)
		r.given = time.AfterFunc(r.quiet, r.look)
	}
}

// look takes the room back if nobody has asked since it last looked.
func (r *room) look() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.asked.Swap(false) {
		r.given.Reset(r.quiet)
		return
	}
	runtime.GOMAXPROCS(r.cores)
	r.given = nil
}
