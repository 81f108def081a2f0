package pipeline

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	kafkago "github.com/segmentio/kafka-go"
	"github.com/tidwall/gjson"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/testutil/texts"
)

// Whatever headers a record has, and whatever the topic of results takes: the stream goes on.
func TestHeadersDoNotBlock(t *testing.T) {
	for name, tt := range map[string]struct {
		limit  string // of the topic of results
		silent bool   // the broker does not say it
		bytes  int    // of the header
		kept   bool
	}{
		"megabytes":                     {"1048588", false, 1_000_000, false},
		"a topic that takes little":     {"4000", false, 5000, false},
		"a topic that takes enough":     {"8000", false, 5000, true},
		"a topic that keeps its limit":  {"4000", true, 5000, false},
		"a header that is not too long": {"4000", true, 500, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := testConfig()
			c.Output.Compression = "none"
			b := newBench(t, c, 1).alone()
			b.alter(c.Input.Topic, "max.message.bytes", "2000000")
			b.alter(c.Output.Topic, "max.message.bytes", tt.limit)
			if tt.silent {
				keepSettings(b.broker)
			}
			m := spread([][]byte{texts.ArticleJSON("a", "", texts.Sentence(7, 30))})
			m[0].Headers = []kafkago.Header{
				{Key: "baggage", Value: []byte(strings.Repeat("v", tt.bytes))},
			}
			b.produce(m...)
			i := b.start()
			b.committed()
			i.end()
			results := b.results()
			if len(results) != 1 || (header(results[0].Record, "baggage") != "") != tt.kept {
				t.Fatalf("%d results, want one, with the header: %t", len(results), tt.kept)
			}
			if said := strings.Contains(i.log.String(), " headers of "); said == tt.kept {
				t.Errorf("the log says that headers are left out: %t; log:\n%s", said, i.log)
			}
		})
	}
}

// keepSettings has a broker keep the settings of its topics to itself.
func keepSettings(broker *kfake.Cluster) {
	broker.ControlKey(int16(kmsg.DescribeConfigs),
		func(request kmsg.Request) (kmsg.Response, error, bool) {
			broker.KeepControl()
			response := request.ResponseKind().(*kmsg.DescribeConfigsResponse)
			resource := kmsg.NewDescribeConfigsResponseResource()
			resource.ErrorCode = 29 // TOPIC_AUTHORIZATION_FAILED
			response.Resources = append(response.Resources, resource)
			return response, nil, true
		})
}

// Of the fields that can be left out, results have those that are configured.
func TestResultFields(t *testing.T) {
	t.Parallel()
	all := config.ResultFields()
	for _, fields := range [][]string{nil, all[:1], all[1:], all} {
		c := testConfig()
		c.Output.Fields = fields
		b := newBench(t, c, 1).alone()
		b.produce(kafkago.Message{WriterData: 0, Value: []byte(
			`{"id":"a","content":"` + texts.Sentence(7, 30) + `","published_at":"2026-05-01T10:00:00Z"}`)})
		i := b.start()
		b.committed()
		i.end()
		for _, r := range b.results() {
			var got []string
			for _, field := range all {
				if gjson.GetBytes(r.Value, field).Exists() {
					got = append(got, field)
				}
			}
			if !slices.Equal(got, fields) || r.ArticleID != "a" || r.ClusterID == nil || r.Size != 1 {
				t.Errorf("with fields %q: %s", fields, r.Value)
			}
		}
	}
}

// Results and clusters carry what is configured, and an instance that has lost its disk goes on
// with it.
func TestResultsAndClustersCarryMore(t *testing.T) {
	c := testConfig()
	c.Output.Copy = []string{"url", "meta.tags"}
	c.Signals.Enabled, c.Signals.Window = true, time.Hour
	c.Batch.Records = 2
	b := newBench(t, c, 1).alone()
	text := texts.Sentence(7, 30)
	article := func(n int, publisher, at string) kafkago.Message {
		value, err := json.Marshal(map[string]any{
			"id": fmt.Sprint("a", n), "content": "<p>\n" + text + "</p>", "source": publisher,
			"published_at": at, "url": fmt.Sprint("https://x.example/", n),
			"meta": map[string]any{"tags": []string{"a", "b"}},
		})
		if err != nil {
			t.Fatal(err)
		}
		return kafkago.Message{Value: value, WriterData: 0, Headers: []kafkago.Header{
			{Key: "content-type", Value: []byte("application/avro")}, // which a result is not
			{Key: "__TypeId__", Value: []byte("com.example.Article")},
			{Key: "traceparent", Value: []byte("00-1-2-01")},
			{Key: "ce_id", Value: []byte("7")},
			{Key: "tracestate", Value: []byte("a=b")},
			{Key: "baggage", Value: []byte("c=d")},
		}}
	}
	b.produce(article(1, "one", "2026-05-01T10:00:00Z"), article(2, "two", "2026-05-01T10:30:00Z"),
		article(3, "one", "2026-05-01T09:58:00Z"))
	i := b.start()
	b.committed()
	i.end()
	b.produce(article(4, "", "2026-05-01T11:03:00Z"), article(5, "three", "2026-05-01T11:04:59Z"))
	i = b.start()
	b.committed()
	i.end()
	type carries struct {
		Publisher, Copied, Signals, Headers, Excerpt string
	}
	var got []carries
	for _, r := range b.results() {
		signals, err := json.Marshal(r.Signals)
		if err != nil {
			t.Fatal(err)
		}
		var headers []string
		for _, h := range r.Headers {
			if !strings.HasPrefix(h.Key, "clusterd.") {
				headers = append(headers, h.Key+": "+string(h.Value))
			}
		}
		got = append(got, carries{
			r.Publisher, string(r.Copied), string(signals), strings.Join(headers, ", "),
			r.Representative.Excerpt,
		})
	}
	excerpt := string([]rune(strings.Join(strings.Fields(text), " "))[:120])
	of := func(n int, publisher, signals string) carries {
		return carries{
			publisher, fmt.Sprintf(`{"url":"https://x.example/%d","meta.tags":["a","b"]}`, n),
			signals, "traceparent: 00-1-2-01, tracestate: a=b, baggage: c=d", excerpt,
		}
	}
	want := []carries{
		of(1, "one", `{"publishers":1,"recent":1,"first_seen":"2026-05-01T10:00:00Z",`+
			`"last_seen":"2026-05-01T10:00:00Z"}`),
		of(2, "two", `{"publishers":2,"recent":2,"first_seen":"2026-05-01T10:00:00Z",`+
			`"last_seen":"2026-05-01T10:30:00Z"}`),
		of(3, "one", `{"publishers":2,"recent":3,"first_seen":"2026-05-01T09:58:00Z",`+
			`"last_seen":"2026-05-01T10:30:00Z"}`),
		of(4, "", `{"publishers":2,"recent":2,"first_seen":"2026-05-01T09:58:00Z",`+
			`"last_seen":"2026-05-01T11:03:00Z"}`),
		of(5, "three", `{"publishers":3,"recent":3,"first_seen":"2026-05-01T09:58:00Z",`+
			`"last_seen":"2026-05-01T11:04:59Z"}`),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("results (-want +got):\n%s", diff)
	}
}
