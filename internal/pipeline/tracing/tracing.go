// Package tracing sends spans of batches to a collector of OpenTelemetry, by OTLP over HTTP. An
// address goes in, a tracer comes out. What cannot be sent is dropped: nobody waits for a
// collector.
package tracing

import (
	"context"
	"fmt"
	"log/slog"
	"net/url"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

const (
	// flushTime bounds how long the last spans may take.
	flushTime = 3 * time.Second
	// complaint is how often it is logged at most that spans cannot be sent.
	complaint = time.Minute
	// maxResponse is how much of an answer is read, and maxSaid how much of an error is logged, in
	// bytes: whoever answers may be anybody.
	maxResponse = 64 << 10
	maxSaid     = 500
	// path is where collectors take traces, if the address does not say.
	path = "/v1/traces"
	// library names who makes the spans.
	library = "github.com/clusterd/clusterd"
)

// Options say where spans go.
type Options struct {
	Endpoint string  // URL of the collector; with a path, or else its usual one is taken
	Ratio    float64 // share of batches that have a span
	Instance string
	Version  string // of clusterd
	Log      *slog.Logger
}

// A Sender sends spans. A nil one sends none.
type Sender struct{ provider *sdktrace.TracerProvider }

// New returns a sender, or nil without an endpoint. The variables OTEL_EXPORTER_OTLP_HEADERS,
// _CERTIFICATE, _TIMEOUT and OTEL_RESOURCE_ATTRIBUTES hold as the specification says.
func New(ctx context.Context, o Options) (*Sender, error) {
	if o.Endpoint == "" {
		return nil, nil
	}
	u, err := url.Parse(o.Endpoint)
	if err != nil {
		return nil, err
	}
	if u.Path == "" || u.Path == "/" {
		u.Path = path
	}
	exporter, err := otlptracehttp.New(ctx, otlptracehttp.WithEndpointURL(u.String()),
		otlptracehttp.WithMaxResponseSize(maxResponse))
	if err != nil {
		return nil, err
	}
	of, err := resource.New(ctx, resource.WithTelemetrySDK(), resource.WithAttributes(
		attribute.String("service.name", "clusterd"),
		attribute.String("service.version", o.Version),
		attribute.String("service.instance.id", o.Instance),
	), resource.WithFromEnv())
	if err != nil {
		return nil, err
	}
	otel.SetLogger(logr.Discard()) // it would write to standard error
	otel.SetErrorHandler(&complaints{log: o.Log})
	return &Sender{sdktrace.NewTracerProvider(
		sdktrace.WithBatcher(exporter), sdktrace.WithResource(of),
		sdktrace.WithSampler(sdktrace.TraceIDRatioBased(o.Ratio)),
	)}, nil
}

// Tracer returns what makes spans, nil of a nil sender.
func (s *Sender) Tracer() *Tracer {
	if s == nil {
		return nil
	}
	return NewTracer(s.provider.Tracer(library))
}

// Close sends what is left, for some seconds at most.
func (s *Sender) Close(ctx context.Context) {
	if s == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), flushTime)
	defer cancel()
	if err := s.provider.Shutdown(ctx); err != nil {
		otel.Handle(err)
	}
}

// complaints logs from time to time that spans cannot be sent.
type complaints struct {
	log    *slog.Logger
	mutex  sync.Mutex
	logged time.Time // zero: never
	more   int       // since then
}

// Handle implements [otel.ErrorHandler].
func (c *complaints) Handle(err error) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if !c.logged.IsZero() && time.Since(c.logged) < complaint {
		c.more++
		return
	}
	c.log.Warn("spans are not sent, and dropped: check trace.endpoint and that the collector runs",
		"error", fmt.Sprintf("%.*s", maxSaid, err.Error()), "times_before", c.more)
	c.logged, c.more = time.Now(), 0
}
