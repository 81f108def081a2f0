package tracing

import (
	"context"
	"iter"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/space"
)

const (
	// maxLinks is how many spans a batch is linked to at most, as the specification has it.
	maxLinks = 128
	// maxTraceparent and maxTracestate are how long the headers may be that are looked at, in bytes.
	maxTraceparent = 64
	maxTracestate  = 512
)

// A Tracer makes a span of each batch. A nil one makes none, and costs nothing.
type Tracer struct{ tracer trace.Tracer }

// NewTracer returns what makes spans by a tracer of OpenTelemetry.
func NewTracer(t trace.Tracer) *Tracer { return &Tracer{t} }

// A Parent is the span that a record comes from.
type Parent = trace.SpanContext

// Parent returns the span that a record comes from, by its header traceparent; nil where there is
// none that can be read.
func (t *Tracer) Parent(ctx context.Context, r *kafka.Record) *Parent {
	if t == nil {
		return nil
	}
	carrier := headers{r}
	if carrier.Get("traceparent") == "" {
		return nil
	}
	of := trace.SpanContextFromContext(propagation.TraceContext{}.Extract(ctx, carrier))
	if !of.IsValid() {
		return nil
	}
	return &of
}

// Headers returns the headers by which [Tracer.Parent] finds the span in another record; none of
// nil.
func Headers(ctx context.Context, of *Parent) []kafka.Header {
	if of == nil {
		return nil
	}
	var r kafka.Record
	propagation.TraceContext{}.Inject(trace.ContextWithSpanContext(ctx, *of),
		headers{&r})
	return r.Headers
}

// headers are those of a record that say what trace it is of.
type headers struct{ *kafka.Record }

// Get implements [propagation.TextMapCarrier]. What is too long to be meant is not there.
func (h headers) Get(key string) string {
	most := maxTraceparent
	if key == "tracestate" {
		most = maxTracestate
	}
	for _, one := range h.Headers {
		if strings.EqualFold(one.Key, key) && len(one.Value) <= most {
			return string(one.Value)
		}
	}
	return ""
}

// Set implements [propagation.TextMapCarrier].
func (h headers) Set(key, value string) {
	h.Headers = append(h.Headers, kafka.Header{Key: key, Value: []byte(value)})
}

// Keys implements [propagation.TextMapCarrier].
func (headers) Keys() []string { return nil }

// A Batch says what a span is of.
type Batch struct {
	Topic, Group, Space string
	Records, Partitions int
	LabelRecords        int
	Parents             iter.Seq[*Parent] // of its records; nil of one that has none
}

// A Span is that of a batch. A nil one does nothing.
type Span struct {
	tracer trace.Tracer
	span   trace.Span
}

// Start begins the span of a batch, which is linked to the spans that its records come from.
func (t *Tracer) Start(ctx context.Context, b Batch) (context.Context, *Span) {
	if t == nil {
		return ctx, nil
	}
	links, more := linksTo(b.Parents)
	ctx, span := t.tracer.Start(ctx, "process "+b.Topic, trace.WithNewRoot(),
		trace.WithSpanKind(trace.SpanKindConsumer), trace.WithLinks(links...), trace.WithAttributes(
			attribute.String("messaging.system", "kafka"),
			attribute.String("messaging.operation.name", "process"),
			attribute.String("messaging.operation.type", "process"),
			attribute.String("messaging.destination.name", b.Topic),
			attribute.String("messaging.consumer.group.name", b.Group),
			attribute.Int("messaging.batch.message_count", b.Records),
			attribute.String("clusterd.space", b.Space),
			attribute.Int("clusterd.partitions", b.Partitions),
			attribute.Int("clusterd.label_records", b.LabelRecords),
			attribute.Int("clusterd.links_left_out", more),
		))
	return ctx, &Span{t.tracer, span}
}

// linksTo returns a link to each of the parents, and how many are left out.
func linksTo(parents iter.Seq[*Parent]) (links []trace.Link, more int) {
	type id struct { // of two traces, spans may have the same one
		trace trace.TraceID
		span  trace.SpanID
	}
	seen := make(map[id]bool)
	for of := range parents {
		if of == nil || seen[id{of.TraceID(), of.SpanID()}] {
			continue
		}
		seen[id{of.TraceID(), of.SpanID()}] = true
		if len(links) == maxLinks {
			more++
			continue
		}
		links = append(links, trace.Link{SpanContext: *of})
	}
	return links, more
}

// Stage begins a span of a part of the work, which end ends.
func (s *Span) Stage(ctx context.Context, name string) (end func()) {
	if s == nil {
		return func() {}
	}
	_, span := s.tracer.Start(ctx, name)
	return func() { span.End() }
}

// An Outcome says how many records became what.
type Outcome struct {
	space.Counts
	DeadLetters int
}

// End ends the span, with what became of the records, and why the batch was not committed; nil
// where it was.
func (s *Span) End(o Outcome, err error) {
	if s == nil {
		return
	}
	if err != nil {
		s.span.SetStatus(codes.Error, err.Error())
	}
	s.span.SetAttributes(
		attribute.Int("clusterd.new", o.New), attribute.Int("clusterd.joined", o.Joined),
		attribute.Int("clusterd.unclustered", o.Unclustered),
		attribute.Int("clusterd.dead_letters", o.DeadLetters),
	)
	s.span.End()
}
