package httpapi

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"slices"
	"sync"

	"github.com/clusterd/clusterd/internal/serve/http/access"
	"github.com/clusterd/clusterd/internal/serve/http/api"
)

// connections is a listener that keeps at most so many connections. For one more it closes the one
// that has gone longest without a request that is whole, so that nobody is shut out by those who
// connect and say nothing.
type connections struct {
	net.Listener
	most int
	// inHand is how many may have a request in hand beside /livez. It is less than most, so that there
	// is always room for whoever asks whether the process is alive.
	inHand int

	mutex  sync.Mutex
	idle   []*connection // without a whole request in hand; the first has been so for longest
	busy   int           // those with one
	served int           // of these, those that are no question for /livez
}

// writeBuffer is what the system holds of answers that a client does not read, and of it twice as
// much on Linux. It would else be some megabytes for each.
const writeBuffer = 64 << 10

// connection is one of them.
type connection struct {
	net.Conn
	of     *connections
	closed bool // guarded by of
}

// Accept waits for the next connection. Where all others have a request in hand, it closes the new
// one and waits on: their answers are on the way, and whoever asks tries again.
func (c *connections) Accept() (net.Conn, error) {
	for {
		conn, err := c.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if tcp, ok := conn.(*net.TCPConn); ok {
			_ = tcp.SetWriteBuffer(writeBuffer) // without it the system's own limit holds
		}
		accepted := &connection{Conn: conn, of: c}
		if c.take(accepted) {
			return accepted, nil
		}
		_ = conn.Close()
	}
}

// take makes room for a connection, and reports whether there is any.
func (c *connections) take(accepted *connection) bool {
	c.mutex.Lock()
	if c.busy >= c.most {
		c.mutex.Unlock()
		return false
	}
	var oldest *connection
	if c.busy+len(c.idle) >= c.most {
		oldest = c.idle[0]
		c.idle = c.idle[1:]
	}
	c.idle = append(c.idle, accepted)
	c.mutex.Unlock()
	if oldest != nil {
		_ = oldest.Close()
	}
	return true
}

// Close gives the connection's place back.
func (c *connection) Close() error {
	c.of.mutex.Lock()
	c.closed = true
	c.of.forget(c)
	c.of.mutex.Unlock()
	return c.Conn.Close()
}

// forget takes a connection out of the idle ones, and reports whether it was one of them.
func (c *connections) forget(conn *connection) bool {
	at := slices.Index(c.idle, conn)
	if at < 0 {
		return false
	}
	c.idle = slices.Delete(c.idle, at, at+1)
	return true
}

// answering keeps a connection from being closed for another one while its request is answered. It
// answers /livez whatever else is in hand.
func (c *connections) answering(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn, _ := r.Context().Value(connectionKey{}).(*connection)
		if !c.begin(conn) {
			panic(http.ErrAbortHandler) // it has just been closed
		}
		defer c.end(conn)
		if r.URL.Path == livez {
			alive(w, r)
			return
		}
		if !c.serve() {
			access.Protect(w.Header())
			w.Header().Set("Connection", "close")
			w.Header().Set("Retry-After", "1")
			api.WriteProblem(w, http.StatusServiceUnavailable, "",
				"too many requests are in hand: try again in a second")
			return
		}
		defer c.giveBack()
		next.ServeHTTP(w, r)
	})
}

// serve takes one of the places for requests in hand, and reports whether there was one.
func (c *connections) serve() bool {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.served >= c.inHand {
		return false
	}
	c.served++
	return true
}

// giveBack gives such a place back.
func (c *connections) giveBack() {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.served--
}

func (c *connections) begin(conn *connection) bool {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if !c.forget(conn) {
		return false
	}
	c.busy++
	return true
}

func (c *connections) end(conn *connection) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.busy--
	if !conn.closed {
		c.idle = append(c.idle, conn)
	}
}

// connectionKey is the key of a request's connection in its context.
type connectionKey struct{}

// remember implements http.Server's ConnContext.
func remember(ctx context.Context, conn net.Conn) context.Context {
	if encrypted, ok := conn.(*tls.Conn); ok {
		conn = encrypted.NetConn()
	}
	return context.WithValue(ctx, connectionKey{}, conn)
}
