// Package httpapi serves what a [monitor.Monitor] knows over HTTP, /livez, /readyz and /metrics,
// and the routes that it is given. It trusts nobody who asks: each request is bounded in time and
// size, and so is their number.
package httpapi

import (
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/clusterd/clusterd/internal/monitor"
	"github.com/clusterd/clusterd/internal/serve/http/access"
	v1 "github.com/clusterd/clusterd/internal/serve/http/v1"
)

// limits bound what one who asks, or many, can take.
type limits struct {
	header      time.Duration // until a request's header is there
	read        time.Duration // until all of a request is there
	write       time.Duration // from then until the answer is sent
	idle        time.Duration // between requests of a connection
	grace       time.Duration // for requests in hand, once the server is to end
	headerBytes int
	// at once, each with one request at a time; for one more, the one that is idle for longest goes
	connections int
	inHand      int // of them, with a request beside /livez
}

func defaultLimits() limits {
	return limits{
		header: 5 * time.Second, read: 10 * time.Second, write: 15 * time.Second, idle: 30 * time.Second,
		grace:       3 * time.Second,
		headerBytes: 16 << 10, connections: 1536, inHand: 1280,
	}
}

// Server listens, or does not where nothing is to be served.
type Server struct {
	listener net.Listener // nil: nothing is served
	server   *http.Server
	guard    *access.Guard
	grace    time.Duration
	stop     context.CancelFunc // ends what waits and streams
}

// Options say where the server listens, and to whom it answers.
type Options struct {
	Access   access.Options // and where it listens; an empty Listen: nothing is served
	Listener net.Listener   // listens there already; nil: Listen does
	CertFile string         // with KeyFile: PEM files for TLS; empty: plain HTTP
	KeyFile  string
	Routes   []v1.Route // beside /livez, /readyz and /metrics
}

// Listen begins to listen. Run must be called, and serves. An error says which key to change.
func Listen(ctx context.Context, o Options, m *monitor.Monitor, log *slog.Logger) (*Server, error) {
	return listen(ctx, o, m, log, defaultLimits())
}

func listen(
	ctx context.Context, o Options, m *monitor.Monitor, log *slog.Logger, l limits,
) (*Server, error) {
	if o.Access.Listen == "" {
		return &Server{}, nil
	}
	encryption, err := encryption(o, log)
	if err != nil {
		return nil, err
	}
	stopping, stop := context.WithCancel(context.WithoutCancel(ctx))
	guard, err := access.New(stopping, o.Access, log)
	if err != nil {
		stop()
		return nil, err
	}
	listener := o.Listener
	if listener == nil {
		listener, err = new(net.ListenConfig).Listen(ctx, "tcp", o.Access.Listen)
	}
	if err != nil {
		stop()
		return nil, fmt.Errorf(
			`http.listen: %w: give another host:port, or "" to serve neither health nor metrics`, err,
		)
	}
	mux := newMux(guard, m, o.Routes)
	s := newServer(listener, guard.Wrap(mux), encryption, log, l)
	s.server.Handler = measured(m, mux, s.server.Handler)
	s.guard, s.stop = guard, stop
	return s, nil
}

// newServer returns a server that asks the handler all but whether it is alive.
func newServer(
	listener net.Listener, h http.Handler, encryption *tls.Config, log *slog.Logger, l limits,
) *Server {
	bounded := &connections{Listener: listener, most: l.connections, inHand: l.inHand}
	server := &http.Server{
		Handler: bounded.answering(h), ConnContext: remember, TLSConfig: encryption,
		ReadHeaderTimeout: l.header, ReadTimeout: l.read, WriteTimeout: l.write, IdleTimeout: l.idle,
		MaxHeaderBytes: l.headerBytes,
		ErrorLog:       slog.NewLogLogger(log.Handler(), slog.LevelWarn),
		Protocols:      new(http.Protocols),
	}
	// A connection has one request at a time: what bounds them counts connections.
	server.Protocols.SetHTTP1(true)
	return &Server{listener: bounded, grace: l.grace, server: server, stop: func() {}}
}

// Address returns the host:port that is listened on, "" for none.
func (s *Server) Address() string {
	if s.listener == nil {
		return ""
	}
	return s.listener.Addr().String()
}

// SetRate changes how many requests a second a client may make; 0 is no limit.
func (s *Server) SetRate(limit int) {
	if s.guard != nil {
		s.guard.SetRate(limit)
	}
}

// Run serves until ctx ends, then finishes the requests in hand, some seconds at most, and returns
// nil. With nothing to serve it returns at once.
func (s *Server) Run(ctx context.Context) error {
	if s.listener == nil {
		return nil
	}
	finished := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(finished)
		s.stop()
		grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.grace)
		defer cancel()
		if s.server.Shutdown(grace) != nil {
			_ = s.server.Close() // whoever still reads has had the time
		}
	})
	defer s.stop()
	err := s.serve()
	if stop() {
		return fmt.Errorf("http.listen: serving %s: %w", s.Address(), err)
	}
	<-finished
	return nil
}

func (s *Server) serve() error {
	if s.server.TLSConfig != nil {
		return s.server.ServeTLS(s.listener, "", "") // the files are in TLSConfig
	}
	return s.server.Serve(s.listener)
}
