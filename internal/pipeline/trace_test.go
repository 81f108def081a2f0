package pipeline

import (
	"fmt"
	"testing"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/clusterd/clusterd/internal/pipeline/tracing"
)

const traceparent = "00-0af7651916cd43dd8448eb211c80319c-%016x-01"

// There is a span of each batch, linked to those of its records; one that is not committed says
// why.
func TestBatchesAreTraced(t *testing.T) {
	t.Parallel()
	spans := tracetest.NewInMemoryExporter()
	provider := sdktrace.NewTracerProvider(sdktrace.WithSyncer(spans))
	b := newBench(t, testConfig(), 1).alone()
	b.tracer = tracing.NewTracer(provider.Tracer("test"))
	b.broker.Fault(kfake.Fault{
		Keys: []kmsg.Key{kmsg.TxnOffsetCommit}, Err: kerr.InvalidCommitOffsetSize, Count: 1,
	})
	values := feed(11, 60)
	messages := spread(values)
	for i := range messages {
		messages[i].Headers = []kafkago.Header{
			{Key: "traceparent", Value: fmt.Appendf(nil, traceparent, i+1)},
		}
	}
	i := b.start()
	b.produce(messages...)
	b.committed()
	i.end()
	linked, failed, articles := make(map[string]bool), 0, 0
	stages := make(map[string]int)
	for _, span := range spans.GetSpans() {
		if span.Name != "process "+b.config.Input.Topic {
			stages[span.Name]++
			continue
		}
		if span.Status.Code == codes.Error {
			failed++
			if span.Status.Description == "" {
				t.Error("a span does not say what failed")
			}
			continue
		}
		for _, link := range span.Links {
			linked[link.SpanContext.SpanID().String()] = true
		}
		for _, a := range span.Attributes {
			if a.Key == "clusterd.new" || a.Key == "clusterd.joined" || a.Key == "clusterd.unclustered" ||
				a.Key == "clusterd.dead_letters" {
				articles += int(a.Value.AsInt64())
			}
		}
	}
	// The batch behind it may have been assigned, and was taken back too.
	if failed < 1 || failed > 2 || articles != len(values) || len(linked) != len(values) {
		t.Errorf("%d spans of what failed, want 1 or 2; %d articles, %d links; want %d of each", failed,
			articles, len(linked), len(values))
	}
	if stages["assign"] == 0 || stages["commit"] == 0 || stages["store"] == 0 {
		t.Errorf("stages %v", stages)
	}
}
