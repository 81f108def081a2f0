package tracing

import (
	"bytes"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel"
	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/protobuf/proto"
)

var some = Batch{Topic: "articles", Parents: slices.Values([]*Parent{})}

// Spans come to the collector's usual path, or to that of the address, and say who sends them.
func TestSpansAreSent(t *testing.T) {
	for _, tt := range []struct{ path, want string }{{"", "/v1/traces"}, {"/otlp/x", "/otlp/x"}} {
		got := make(chan string, 8)
		server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(r.Body)
			var request collector.ExportTraceServiceRequest
			if err == nil {
				err = proto.Unmarshal(body, &request)
			}
			if err != nil {
				t.Error(err)
				return
			}
			for _, of := range request.ResourceSpans {
				for _, a := range of.Resource.Attributes {
					if a.Key == "service.name" {
						got <- r.URL.Path + " " + a.Value.GetStringValue() + " " + of.ScopeSpans[0].Spans[0].Name
					}
				}
			}
		}))
		s, err := New(t.Context(), Options{
			Endpoint: server.URL + tt.path, Ratio: 1, Version: "1", Log: slog.New(slog.DiscardHandler),
		})
		if err != nil {
			t.Fatal(err)
		}
		_, span := s.Tracer().Start(t.Context(), some)
		span.End(Outcome{}, nil)
		s.Close(t.Context())
		server.Close()
		if said := <-got; said != tt.want+" clusterd process articles" {
			t.Errorf("%q, want %q", said, tt.want)
		}
	}
}

// Without an endpoint there is nothing.
func TestOff(t *testing.T) {
	s, err := New(t.Context(), Options{})
	if s != nil || err != nil || s.Tracer() != nil {
		t.Errorf("%v, %v", s, err)
	}
	s.Close(t.Context())
}

// A collector that is away, or hangs, holds nobody up, and is complained of once.
func TestNobodyWaits(t *testing.T) {
	stop := make(chan struct{})
	hangs := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-stop }))
	defer hangs.Close()
	defer close(stop)
	for name, endpoint := range map[string]string{"away": "http://127.0.0.1:1", "hangs": hangs.URL} {
		t.Run(name, func(t *testing.T) {
			var log bytes.Buffer
			s, err := New(t.Context(), Options{
				Endpoint: endpoint, Ratio: 1, Log: slog.New(slog.NewTextHandler(&log, nil)),
			})
			if err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			for range 10_000 { // more than are kept
				_, span := s.Tracer().Start(t.Context(), some)
				span.End(Outcome{}, nil)
			}
			s.Close(t.Context())
			if took := time.Since(began); took > 2*flushTime {
				t.Errorf("it took %s", took)
			}
			for range 3 {
				otel.Handle(http.ErrHandlerTimeout)
			}
			if n := strings.Count(log.String(), "spans are not sent"); n != 1 {
				t.Errorf("%d complaints: %s", n, &log)
			}
		})
	}
}
