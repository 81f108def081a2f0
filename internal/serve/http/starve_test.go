package httpapi

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/clusterd/clusterd/internal/serve/http/access"
)

// crowd is a server with the usual limits, all of which clients exhaust.
type crowd struct {
	*testing.T
	address string
	began   chan struct{}
}

const clients = 8

func clientToken(i int) string { return fmt.Sprintf("%s-%d", canary, i) }

func newCrowd(t *testing.T) *crowd {
	t.Helper()
	var tokens strings.Builder
	for i := range clients {
		fmt.Fprintf(&tokens, "client%d read %s\n", i, clientToken(i))
	}
	file := filepath.Join(t.TempDir(), "tokens")
	if err := os.WriteFile(file, []byte(tokens.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	stopping, stop := context.WithCancel(t.Context())
	log := slog.New(slog.DiscardHandler)
	g, err := access.New(stopping, access.Options{TokensFile: file, Rate: 1000}, log)
	if err != nil {
		t.Fatal(err)
	}
	c := &crowd{T: t, began: make(chan struct{}, 2000)}
	busy := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		c.began <- struct{}{}
		<-r.Context().Done()
	})
	mux := http.NewServeMux()
	mux.Handle("/stream", g.Require(access.Route{Right: access.Read, Stream: true}, busy))
	mux.Handle("/post", g.Require(access.Route{Right: access.Read, Long: true},
		http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})))
	mux.Handle("/check", g.Require(access.Route{Right: access.Read}, busy))
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := newServer(inner, g.Wrap(mux), nil, log, defaultLimits())
	s.stop = stop
	ctx, end := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- s.Run(ctx) }()
	t.Cleanup(func() {
		end()
		if err := <-done; err != nil {
			t.Errorf("Run = %v", err)
		}
	})
	c.address = s.Address()
	return c
}

// take begins a request that does not end.
func (c *crowd) take(path, token string) {
	c.Helper()
	conn := dial(c.T, c.address)
	text := "GET " + path + " HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + token + "\r\n\r\n"
	if _, err := io.WriteString(conn, text); err != nil {
		c.Fatal(err)
	}
	answered := make(chan error, 1)
	go func() {
		_, err := bufio.NewReader(conn).ReadByte()
		answered <- err
	}()
	select {
	case <-c.began:
	case err := <-answered:
		c.Fatalf("%s for %s was answered or cut off: %v", path, token, err)
	}
}

// wants asks, on a connection of its own, and wants a status.
func (c *crowd) wants(path, token string, code int) {
	c.Helper()
	r := request(c.T, "GET", "http://"+c.address+path, "", "Bearer "+token)
	if answer, body := ask(c.T, r); answer.StatusCode != code {
		c.Errorf("%s: %d %s, want %d", path, answer.StatusCode, body, code)
	}
}

// Whether the process is alive is answered with 512 streams open, every place for a request taken,
// and hundreds that say nothing.
func TestLivezCannotBeStarved(t *testing.T) {
	c := newCrowd(t)
	l := defaultLimits()
	const streams, each = 512, 64
	for i := range streams {
		c.take("/stream", clientToken(i/each))
	}
	c.wants("/livez", "", http.StatusOK)
	c.wants("/stream", clientToken(0), http.StatusTooManyRequests) // its own places are taken
	c.wants("/post", clientToken(0), http.StatusOK)                // but not those of others
	c.wants("/post", clientToken(2), http.StatusOK)
	for range l.inHand - streams {
		c.take("/check", clientToken(1))
	}
	c.wants("/check", clientToken(2), http.StatusServiceUnavailable) // all places are
	for range 500 {
		dial(t, c.address)
	}
	for range 20 {
		c.wants("/livez", "", http.StatusOK)
		c.wants("/check", clientToken(2), http.StatusServiceUnavailable)
	}
}
