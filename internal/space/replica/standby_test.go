package replica

import (
	"maps"
	"testing"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/testutil/kafkatest"
)

// A standby that was there before the first cluster finds those that are read when it takes over:
// its index is loaded, and so it cannot be passed by.
func TestStandbyFromTheBeginning(t *testing.T) {
	r := testReplica(t, 0)
	cluster := kafkatest.Start(t, 1, kfake.SeedTopics(3, r.Topic))
	r.Client = kafkatest.Connect(t, kafka.Options{Brokers: cluster.ListenAddrs()})
	r.FetchBytes, r.partitions = 1<<20, []int{0, 1, 2}
	catchUp := func() {
		t.Helper()
		if err := r.CatchUp(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	catchUp()

	writer, err := kgo.NewClient(kgo.SeedBrokers(cluster.ListenAddrs()...),
		kgo.RecordPartitioner(kgo.ManualPartitioner()))
	if err != nil {
		t.Fatal(err)
	}
	defer writer.Close()
	c := testCluster(1, 7)
	said := liveRecord(c, r.Options.Space.Pipeline)
	record := &kgo.Record{
		Topic: r.Topic, Partition: int32(said.Partition), Key: said.Key, Value: said.Value,
		Timestamp: wallClock,
		Headers:   []kgo.RecordHeader{{Key: article.HeaderPosition, Value: said.Headers[0].Value}},
	}
	if err := writer.ProduceSync(t.Context(), record).FirstErr(); err != nil {
		t.Fatal(err)
	}

	catchUp()
	if n, next := r.space.Len(), r.space.State().Next; n != 1 || next != c.Position+1 {
		t.Errorf("%d clusters, the next position is %d; want 1 and %d", n, next, c.Position+1)
	}
	if got := r.Monitor.Counts().Clusters; !maps.Equal(got, map[string]int{"all": 1}) {
		t.Errorf("the monitor knows of %v clusters, want 1", got)
	}
	r.Close()
	if got := r.Monitor.Counts().Clusters; len(got) != 0 {
		t.Errorf("the monitor knows of %v clusters of a replica that is closed", got)
	}
}
