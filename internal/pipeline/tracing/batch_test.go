package tracing

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/trace"

	"github.com/clusterd/clusterd/internal/kafka"
)

const traceparent = "00-0af7651916cd43dd8448eb211c80319c-%016x-01"

// A record is of the span that its header names, and of none where that is anything else.
func TestParent(t *testing.T) {
	good := fmt.Sprintf(traceparent, 7)
	for _, tt := range []struct {
		name    string
		headers []kafka.Header
		want    string // its span; empty: none
	}{
		{"none", nil, ""},
		{"one", []kafka.Header{{Key: "traceparent", Value: []byte(good)}}, "0000000000000007"},
		{
			"as others write it",
			[]kafka.Header{{Key: "Traceparent", Value: []byte(good)}},
			"0000000000000007",
		},
		{"with a state", []kafka.Header{
			{Key: "traceparent", Value: []byte(good)}, {Key: "tracestate", Value: []byte("a=1")},
		}, "0000000000000007"},
		{"with a state that is none", []kafka.Header{
			{Key: "traceparent", Value: []byte(good)},
			{Key: "tracestate", Value: []byte(strings.Repeat("\xff=,", 1000))},
		}, "0000000000000007"},
		{"empty", []kafka.Header{{Key: "traceparent"}}, ""},
		{"no span", []kafka.Header{{Key: "traceparent", Value: fmt.Appendf(nil, traceparent, 0)}}, ""},
		{"rubbish", []kafka.Header{{Key: "traceparent", Value: []byte("\x00\xff-00-")}}, ""},
		{
			"very long",
			[]kafka.Header{{Key: "traceparent", Value: []byte(good + strings.Repeat("0", 1<<20))}},
			"",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := ""
			if of := new(Tracer).Parent(t.Context(), &kafka.Record{Headers: tt.headers}); of != nil {
				got = of.SpanID().String()
			}
			if got != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}

// Links are to different spans, and bounded.
func TestLinksTo(t *testing.T) {
	parents := make([]*Parent, 3*maxLinks)
	for i := range parents {
		if i%3 > 0 { // two records of each span, one of none
			of := trace.NewSpanContext(trace.SpanContextConfig{
				TraceID: trace.TraceID{1}, SpanID: trace.SpanID{1, byte(i / 3), byte(i / 3 >> 8)},
			})
			parents[i] = &of
		}
	}
	if links, more := linksTo(slices.Values(parents)); len(links) != maxLinks || more != 0 {
		t.Errorf("%d links and %d more, want %d and 0", len(links), more, maxLinks)
	}
	other := trace.NewSpanContext(trace.SpanContextConfig{
		TraceID: trace.TraceID{2}, SpanID: trace.SpanID{1, 1},
	})
	parents[0] = &other
	if links, more := linksTo(slices.Values(parents)); len(links) != maxLinks || more != 1 {
		t.Errorf("%d links and %d more, want %d and 1", len(links), more, maxLinks)
	}
}

// Where nobody traces, it costs no memory.
func TestNoTracerCostsNothing(t *testing.T) {
	var none *Tracer
	ctx, r := t.Context(), &kafka.Record{Headers: []kafka.Header{{Key: "traceparent"}}}
	if n := testing.AllocsPerRun(100, func() {
		if none.Parent(ctx, r) != nil {
			t.Error("there is a parent")
		}
		_, span := none.Start(ctx, Batch{})
		span.Stage(ctx, "assign")()
		span.End(Outcome{}, nil)
	}); n > 0 {
		t.Errorf("%g allocations", n)
	}
}
