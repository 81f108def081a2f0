package migrate

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kfake"

	"github.com/clusterd/clusterd/internal/cli/migrate/beside"
	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/sink"
	"github.com/clusterd/clusterd/internal/testutil/kafkatest"
)

// spaceOn returns the space of a configuration on a cluster.
func spaceOn(t *testing.T, cluster *kfake.Cluster) beside.Space {
	t.Helper()
	file := filepath.Join(t.TempDir(), "clusterd.yaml")
	text := fmt.Sprintf("kafka: {brokers: [%q]}\ninput: {topic: articles}\n"+
		"output: {topic: results, clusters_topic: clusters, dead_letter_topic: letters}\n"+
		"labels: {topic: labels}\n", cluster.ListenAddrs()[0])
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := config.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	return beside.Space{
		Config: c, File: file, Log: slog.New(slog.DiscardHandler),
		Client: kafkatest.Connect(t, kafka.Options{Brokers: c.Kafka.Brokers}),
	}
}

// fill writes to a space what an instance would: articles and labels outside of transactions,
// results and offsets in one, behind one that was aborted.
func fill(t *testing.T, s *beside.Space) {
	t.Helper()
	for _, topic := range []string{"articles", "labels"} {
		w := s.Client.NewWriter(topic)
		for n := range 5 {
			if err := w.Write(t.Context(), fmt.Appendf(nil, "%s %d", topic, n)); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	ids, _, err := s.Owned(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	p, err := s.Producer(t.Context(), ids[0], "results")
	if err != nil {
		t.Fatal(err)
	}
	for n := range 3 {
		if err := p.Fence(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := p.Commit(t.Context(), sink.Batch{
			Records: []kafka.Record{{
				Topic: "results", Partition: 1, Key: []byte("key"), Value: fmt.Append(nil, "result ", n),
				Headers: []kafka.Header{{Key: "name", Value: []byte("value")}},
				Time:    time.UnixMilli(1_700_000_000_000 + int64(n)),
			}},
			Offsets: []sink.Offset{{Topic: "articles", Partition: 1, Offset: int64(n)}},
		}); err != nil {
			t.Fatal(err)
		}
	}
}

// contents are the committed records of a space and its offsets, as text.
func contents(t *testing.T, s *beside.Space) (all []string) {
	t.Helper()
	for _, topic := range []string{"articles", "labels", "results"} {
		first, end, err := s.Offsets(t.Context(), topic)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Read(t.Context(), topic, first, end, func(r *kafka.Record) error {
			at := ""
			if topic != "results" {
				at = fmt.Sprint(r.Offset)
			}
			all = append(all, fmt.Sprintf("%s/%d/%s at %d: %s %s %v", topic, r.Partition, at,
				r.Time.UnixMilli(), r.Key, r.Value, r.Headers))
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(all)
	commits, err := s.Commits(t.Context(), "articles")
	if err != nil {
		t.Fatal(err)
	}
	return append(all, fmt.Sprint(commits))
}

func TestMove(t *testing.T) {
	t.Parallel()
	from := spaceOn(t, kafkatest.Start(t, 1, kfake.SeedTopics(2, "articles", "results", "clusters",
		"letters"), kfake.SeedTopics(1, "labels")))
	to := spaceOn(t, kafkatest.Start(t, 2))
	fill(t, &from)
	if err := Move(t.Context(), from, to, func(string) {}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(contents(t, &from), contents(t, &to)); diff != "" {
		t.Errorf("-old +new\n%s", diff)
	}
	settings, err := to.Client.TopicConfig(t.Context(), "clusters")
	if err != nil || settings.CleanupPolicy != "compact" {
		t.Errorf("the new topic of clusters has cleanup.policy %q, %v", settings.CleanupPolicy, err)
	}
}

func TestMoveRefuses(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		prepare func(*testing.T, *kfake.Cluster, *kfake.Cluster, *beside.Space)
		want    string
	}{
		"a topic that is there": {
			func(t *testing.T, _, to *kfake.Cluster, _ *beside.Space) {
				if err := to.CreateTopic("results", 1, nil); err != nil {
					t.Fatal(err)
				}
			},
			"topic results is on the new brokers already, and nothing was copied",
		},
		"the folder of another configuration": {
			func(_ *testing.T, _, _ *kfake.Cluster, s *beside.Space) { s.Input.Topic = "comments" },
			"there is no topic comments",
		},
		"articles that retention has deleted": {
			func(t *testing.T, from, _ *kfake.Cluster, _ *beside.Space) {
				for p := range int32(2) {
					if end := from.PartitionInfo("articles", p).HighWatermark; end > 1 {
						if err := from.DeleteRecords("articles", p, 1); err != nil {
							t.Fatal(err)
						}
					}
				}
			},
			"the record at offset 1 of partition",
		},
		"a role": {
			func(_ *testing.T, _, _ *kfake.Cluster, s *beside.Space) { s.Role = config.AssignOnly },
			"role is assign",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			old := kafkatest.Start(t, 1, kfake.SeedTopics(2, "articles", "results", "clusters", "letters"),
				kfake.SeedTopics(1, "labels"))
			fresh := kafkatest.Start(t, 1)
			from, to := spaceOn(t, old), spaceOn(t, fresh)
			fill(t, &from)
			tt.prepare(t, old, fresh, &from)
			if err := Move(t.Context(), from, to, func(string) {}); err == nil ||
				!strings.Contains(err.Error(), tt.want) {
				t.Errorf("error = %v, want %q", err, tt.want)
			}
		})
	}
}
