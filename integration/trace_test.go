//go:build integration

package integration

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"
	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/protobuf/proto"
)

// A collector gets a span of each batch, with links to the spans that its records come from; one
// that hangs holds nothing up.
func TestTraces(t *testing.T) {
	t.Parallel()
	var records, links atomic.Int64
	stop := make(chan struct{})
	var hangs atomic.Bool
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if hangs.Load() {
			<-stop
			return
		}
		body, err := io.ReadAll(r.Body)
		var request collector.ExportTraceServiceRequest
		if err == nil {
			err = proto.Unmarshal(body, &request)
		}
		if err != nil {
			t.Error(err)
		}
		for _, of := range request.ResourceSpans {
			for _, scope := range of.ScopeSpans {
				for _, span := range scope.Spans {
					links.Add(int64(len(span.Links)))
					for _, a := range span.Attributes {
						if a.Key == "messaging.batch.message_count" {
							records.Add(a.Value.GetIntValue())
						}
					}
				}
			}
		}
	}))
	defer server.Close()
	defer close(stop)
	w := newWorld(t, 2, noLinger+fmt.Sprintf("trace: {endpoint: %q}\n", server.URL))
	i := w.start()
	i.waitLive()
	const n = 50
	var all []*kgo.Record
	for k := range n {
		all = append(all, &kgo.Record{
			Topic: w.input, Value: fmt.Appendf(nil, `{"content":"The ferry of %d o'clock is late."}`, k),
			Headers: []kgo.RecordHeader{{
				Key:   "traceparent",
				Value: fmt.Appendf(nil, "00-0af7651916cd43dd8448eb211c80319c-%016x-01", k+1),
			}},
		})
	}
	w.produce(all...)
	w.eventually("all spans", func() bool { return records.Load() == n && links.Load() == n })
	hangs.Store(true)
	w.produce(all...)
	w.done()
	i.stop()
	w.audit()
}
