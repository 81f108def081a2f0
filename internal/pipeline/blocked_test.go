package pipeline

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/clusterd/clusterd/internal/testutil/texts"
	"github.com/clusterd/clusterd/internal/testutil/wait"
)

// alter changes a setting of a topic.
func (b *bench) alter(topic, name, value string) {
	b.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(b.broker.ListenAddrs()...))
	if err != nil {
		b.Fatal(err)
	}
	defer client.Close()
	change := []kadm.AlterConfig{{Op: kadm.SetConfig, Name: name, Value: &value}}
	responses, err := kadm.NewClient(client).AlterTopicConfigs(b.Context(), change, topic)
	if err == nil {
		_, err = responses.On(topic, func(r *kadm.AlterConfigsResponse) error { return r.Err })
	}
	if err != nil {
		b.Fatal(err)
	}
}

// A topic that takes less than one record needs stops the stream in the open: the state, the reason
// and the log name the topic, its setting and the record. When the topic takes it, all goes on, and
// nothing is lost.
func TestATopicThatTakesTooLittle(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		topic func(b *bench) string
		limit string
	}{
		"results":  {func(b *bench) string { return b.config.Output.Topic }, "500"},
		"clusters": {func(b *bench) string { return b.config.Output.ClustersTopic }, "500"},
		// They are cut to what their topic takes, but for their headers.
		"dead letters": {func(b *bench) string { return b.config.Output.DeadLetterTopic }, "200"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := testConfig()
			c.Output.Compression = "none"
			b := newBench(t, c, 1)
			topic := tt.topic(b)
			b.alter(topic, "max.message.bytes", tt.limit)
			values := append(texts.Feed(1, 20), []byte("no article"),
				texts.ArticleJSON("long", strings.Repeat("a long title ", 39), texts.Sentence(77, 60)))
			b.produce(spread(values)...)
			i := b.start()
			i.log.WaitFor(t, "blocked", 1)
			status := i.monitor.Status()
			if status.Ready || status.State != "blocked" {
				t.Errorf("ready %t, state %s", status.Ready, status.State)
			}
			for _, want := range []string{"blocked: space all: topic " + topic +
				" refuses the record of key ", "max.message.bytes", "--entity-name " + topic} {
				if !strings.Contains(status.Reason, want) {
					t.Errorf("reason %q, want %q in it", status.Reason, want)
				}
			}
			for _, topic := range []string{
				c.Output.Topic, c.Output.ClustersTopic,
				c.Output.DeadLetterTopic,
			} {
				info := b.broker.PartitionInfo(topic, 0)
				wait.Until(t, "no transaction to be open in "+topic, func() bool {
					info = b.broker.PartitionInfo(topic, 0)
					return info.LastStableOffset == info.HighWatermark
				})
				if records := b.read(topic); len(records) > 0 {
					t.Errorf("%d records of a refused transaction are in %s", len(records), topic)
				}
			}

			b.alter(topic, "max.message.bytes", "100000")
			b.committed()
			wait.Until(t, "to be ready again", func() bool { return i.monitor.Status().Ready })
			i.end()
			if results, dead := b.results(), b.read(c.Output.DeadLetterTopic); len(results) != 21 ||
				len(dead) != 1 {
				t.Errorf("%d results and %d dead letters of 21 articles and 1 other", len(results), len(dead))
			}
			if n := strings.Count(i.log.String(), "msg=blocked") + strings.Count(i.log.String(),
				`msg="blocked`); n != 1 {
				t.Errorf("it says %d times within a minute that it is blocked", n)
			}
		})
	}
}

// Where the settings of topics are a secret, a refused record is told as well.
func TestATopicThatTakesTooLittleAndDoesNotSay(t *testing.T) {
	c := testConfig()
	c.Output.Compression = "none"
	b := newBench(t, c, 1)
	b.alter(c.Output.Topic, "max.message.bytes", "500")
	b.broker.ControlKey(int16(kmsg.DescribeConfigs),
		func(request kmsg.Request) (kmsg.Response, error, bool) {
			b.broker.KeepControl()
			response := request.ResponseKind().(*kmsg.DescribeConfigsResponse)
			resource := kmsg.NewDescribeConfigsResponseResource()
			resource.ErrorCode = 29 // TOPIC_AUTHORIZATION_FAILED
			response.Resources = append(response.Resources, resource)
			return response, nil, true
		})
	b.produce(spread([][]byte{texts.ArticleJSON("long", strings.Repeat("a long title ", 39),
		texts.Sentence(77, 60))})...)
	i := b.start()
	i.log.WaitFor(t, "blocked", 1)
	if status := i.monitor.Status(); status.State != "blocked" ||
		!strings.Contains(status.Reason, "topic "+c.Output.Topic+" refuses the record") {
		t.Errorf("state %s: %s", status.State, status.Reason)
	}
	i.end() // at once, though it waits
}

// Another's open transaction in the input, or in the clusters topic while it is read back, shows by
// its name.
func TestOpenTransactionsShow(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		topic func(b *bench) string
		state string
	}{
		"input":    {func(b *bench) string { return b.config.Input.Topic }, "live"},
		"clusters": {func(b *bench) string { return b.config.Output.ClustersTopic }, "recovering"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, testConfig(), 1)
			b.client.LongOpen = 100 * time.Millisecond
			topic := tt.topic(b)
			other, err := kgo.NewClient(kgo.SeedBrokers(b.broker.ListenAddrs()...),
				kgo.TransactionalID("other"), kgo.DefaultProduceTopic(topic))
			if err != nil {
				t.Fatal(err)
			}
			defer other.Close()
			if err := other.BeginTransaction(); err != nil {
				t.Fatal(err)
			}
			if err := other.ProduceSync(t.Context(), kgo.StringRecord("open")).FirstErr(); err != nil {
				t.Fatal(err)
			}
			i := b.start()
			wait.Until(t, "the open transaction in the status",
				func() bool { return len(i.monitor.Status().OpenTransactions) > 0 })
			status := i.monitor.Status()
			if open := status.OpenTransactions[0]; status.State != tt.state || open.Topic != topic ||
				open.Offset != 0 || open.Records != 1 || time.Since(open.Since) < b.client.LongOpen {
				t.Errorf("state %s, and open is %+v", status.State, open)
			}
			if want := fmt.Sprintf("an open transaction holds %s/0 back at offset 0",
				topic); !strings.Contains(status.Reason, want) {
				t.Errorf("reason %q, want %q in it", status.Reason, want)
			}
			if name == "input" && status.Lag[0] != 1 {
				t.Errorf("lag %v, want 1", status.Lag)
			}
			i.log.WaitFor(t, "an open transaction holds a partition back", 1)
			if err := other.EndTransaction(t.Context(), kgo.TryAbort); err != nil {
				t.Fatal(err)
			}
			i.log.WaitFor(t, "the open transaction has ended", 1)
			i.log.WaitFor(t, "msg=live", 1)
			wait.Until(t, "it to be ready", func() bool {
				s := i.monitor.Status()
				return s.Ready &&
					s.Reason == "live"
			})
			i.end()
		})
	}
}
