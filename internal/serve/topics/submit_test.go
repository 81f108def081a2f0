package topics

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/serve/http/api"
	"github.com/clusterd/clusterd/internal/testutil/kafkatest"
)

func start(t *testing.T) *Submitter {
	t.Helper()
	cluster := kafkatest.Start(t, 1, kfake.SeedTopics(4, "articles"), kfake.SeedTopics(3, "labels"))
	s, err := NewSubmitter(SubmitOptions{
		Client: kafkatest.Connect(t, kafka.Options{Brokers: cluster.ListenAddrs()}),
		Log:    slog.New(slog.DiscardHandler), InputTopic: "articles", LabelsTopic: "labels",
		Format: article.JSON, Encoding: "auto", MaxBytes: 1000, Compression: "none",
		Fields: article.Fields{
			ID: "id", Title: "title", Content: "post.body", PublishedAt: "at", Source: "site",
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.Run(ctx)
	}()
	t.Cleanup(func() { cancel(); <-done })
	return s
}

// read returns n records of a topic by their addresses.
func read(t *testing.T, s *Submitter, topic string, n int) map[string]*kgo.Record {
	t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(s.Client.Brokers...), kgo.ConsumeTopics(topic),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	found := make(map[string]*kgo.Record)
	for len(found) < n {
		fetched := client.PollFetches(t.Context())
		if err := fetched.Err(); err != nil {
			t.Fatal(err)
		}
		fetched.EachRecord(func(r *kgo.Record) {
			found[fmt.Sprintf("%s/%d/%d", r.Topic, r.Partition, r.Offset)] = r
		})
	}
	return found
}

func TestArticlesAreWhereTheirAddressesSay(t *testing.T) {
	t.Parallel()
	s := start(t)
	addresses, err := s.Articles(t.Context(), []Article{
		{Input{ID: "a", Title: "t", Content: "c"}, AnyPartition},
		{Input{ID: "a", Content: "d"}, AnyPartition},
		{Input{Content: "e"}, 3},
		{Input{Content: "f"}, AnyPartition},
	})
	if err != nil {
		t.Fatal(err)
	}
	found := read(t, s, "articles", 4)
	for i, want := range []string{
		`{"id":"a","post":{"body":"c"},"title":"t"}`, `{"id":"a","post":{"body":"d"}}`,
		`{"post":{"body":"e"}}`, `{"post":{"body":"f"}}`,
	} {
		if r := found[addresses[i].String()]; r == nil || string(r.Value) != want {
			t.Errorf("%s is %+v, want %s", addresses[i], r, want)
		}
	}
	if a, b := addresses[0], addresses[1]; a.Partition != b.Partition || b.Offset <= a.Offset {
		t.Errorf("two of one id are at %s and %s", a, b)
	}
	if addresses[2].Partition != 3 {
		t.Errorf("%s is not in partition 3", addresses[2])
	}
}

func TestLabelsGoWhereTheirFoundersPartitionSays(t *testing.T) {
	t.Parallel()
	s := start(t)
	addresses, err := s.Labels(t.Context(), []Label{
		{ClusterID: "articles/4/7", Value: []byte(`{"label":"spam"}`)},
		{ClusterID: "articles/2/7", Value: []byte(`{"label":"ham"}`)},
		{Value: []byte(`{"action":"resume"}`)},
	})
	if err != nil {
		t.Fatal(err)
	}
	found := read(t, s, "labels", 3)
	for i, want := range []struct {
		partition  int
		key, value string
	}{
		{1, "articles/4/7", `{"label":"spam"}`},
		{2, "articles/2/7", `{"label":"ham"}`},
		{0, "", `{"action":"resume"}`},
	} {
		r := found[addresses[i].String()]
		if r == nil || int(r.Partition) != want.partition || string(r.Key) != want.key ||
			string(r.Value) != want.value {
			t.Errorf("%s is %+v, want %+v", addresses[i], r, want)
		}
	}
}

func TestWhatIsInvalidIsNotWritten(t *testing.T) {
	t.Parallel()
	s := start(t)
	good := Article{Input{Content: "c"}, 0}
	var invalid *api.InvalidError
	for name, bad := range map[string]Article{
		"a partition too high": {Input{Content: "c"}, 4},
		"a partition too low":  {Input{Content: "c"}, -2},
		"what is no JSON":      {Input{Others: map[string][]byte{"a": []byte("x")}}, 0},
		// These would be dead letters.
		"neither title nor content": {Input{ID: "a"}, AnyPartition},
		"too large":                 {Input{Content: strings.Repeat("c", 1000)}, AnyPartition},
		"too deep": {Input{Content: "c", Others: map[string][]byte{
			"a": []byte(strings.Repeat("[", 70) + strings.Repeat("]", 70)),
		}}, AnyPartition},
	} {
		if _, err := s.Articles(t.Context(), []Article{good, bad}); !errors.As(err, &invalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := s.Labels(t.Context(), []Label{{ClusterID: "articles/4"}}); !errors.As(err, &invalid) {
		t.Errorf("an id that is none: %v", err)
	}
	s.LabelsTopic = "none"
	_, err := s.Labels(t.Context(), []Label{{ClusterID: "articles/4/1"}})
	if !errors.Is(err, kafka.ErrNoTopic) {
		t.Errorf("no topic: %v", err)
	}
	addresses, err := s.Articles(t.Context(), []Article{good})
	if err != nil || addresses[0].Offset != 0 {
		t.Errorf("%v, %v: something was written before", addresses, err)
	}
}
