package verbs

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"

	"github.com/clusterd/clusterd/internal/cli/snapshot"
	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/message/checkpoint"
	"github.com/clusterd/clusterd/internal/space/replica"
	"github.com/clusterd/clusterd/internal/space/state"
	"github.com/clusterd/clusterd/internal/testutil/check"
	"github.com/clusterd/clusterd/internal/testutil/kafkatest"
)

var quiet = slog.New(slog.DiscardHandler)

// broker starts a Kafka cluster with this id and the topics of the default configuration, and
// returns a configuration for it.
func broker(t *testing.T, id string) config.Config {
	t.Helper()
	c := config.Default()
	k := kafkatest.Start(t, 1, kfake.ClusterID(id), kfake.SeedTopics(1, c.Input.Topic),
		kfake.SeedTopics(2, c.Output.ClustersTopic, "other-clusters"),
		kfake.SeedTopics(3, "three-clusters"))
	c.Kafka.Brokers = k.ListenAddrs()
	c.State.Dir = filepath.Join(t.TempDir(), "state")
	return c
}

// of returns what a copy of the one space would be, as of these offsets.
func of(t *testing.T, c config.Config, change func(*state.Copy)) snapshot.Manifest {
	t.Helper()
	dir, err := state.OpenDir(t.TempDir(), quiet)
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	to, err := snapshot.OpenTarget(t.TempDir(), snapshot.S3{})
	if err != nil {
		t.Fatal(err)
	}
	m, err := export(t.Context(), &c, to, "", quiet)
	if err != nil {
		t.Fatal(err)
	}
	if change != nil {
		change(&m.Spaces[0].Copy)
	}
	return *m
}

// A snapshot is taken if recovery would go on from it, and else it is said why not.
func TestFit(t *testing.T) {
	c := broker(t, "kafka-a")
	record := func(s *state.Copy) *checkpoint.Record {
		id := s.Identity
		return &checkpoint.Record{
			Input: id.Input, Group: id.Group, Scope: "topic", Space: "all", Pipeline: id.Pipeline,
			Threshold: "distance=3", Window: "0s",
		}
	}
	for name, tt := range map[string]struct {
		config func(*config.Config)
		copy   func(*state.Copy)
		want   string // empty: it is taken
	}{
		"as it is": {},
		"another Kafka cluster": {
			copy: func(s *state.Copy) { s.Identity.Kafka = "kafka-b" },
			want: "the Kafka cluster was kafka-b and is kafka-a",
		},
		"another topic": {
			config: func(c *config.Config) { c.Output.ClustersTopic = "other-clusters" },
			want:   "output.clusters_topic was clusters and is other-clusters",
		},
		"another number of partitions": {
			copy: func(s *state.Copy) { s.Identity.Partitions = 3 },
			want: "the number of its partitions was 3 and is 2",
		},
		"another group": {
			config: func(c *config.Config) { c.Input.Group = "other" },
			want:   "input.group was clusterd and is other",
		},
		"another method": {
			config: func(c *config.Config) { c.Fingerprint.Method = "minhash" }, want: "minhash",
		},
		"another scope": {
			config: func(c *config.Config) { c.Cluster.Scope = "partition" },
			want:   `it has space "all", which the configuration has not (cluster.scope)`,
		},
		"another distance": {
			config: func(c *config.Config) { c.Cluster.Distance = 2 },
			copy:   func(s *state.Copy) { s.Meta.Checkpoint = record(s) },
			want:   "cluster.distance was 3 and is 2",
		},
		"the same distance": {copy: func(s *state.Copy) { s.Meta.Checkpoint = record(s) }},
		"a topic made anew": {
			copy: func(s *state.Copy) { s.Meta.Offsets = map[int]int64{1: 7} },
			want: "clusters/1 ends at offset 0, and it has clusters up to offset 7",
		},
		"old, but nothing was written since": {
			copy: func(s *state.Copy) { s.Meta.Written = time.Now().AddDate(-1, 0, 0) },
		},
	} {
		t.Run(name, func(t *testing.T) {
			m, c := of(t, c, tt.copy), c
			if tt.config != nil {
				tt.config(&c)
			}
			dir, err := state.OpenDir(c.State.Dir, quiet)
			if err != nil {
				t.Fatal(err)
			}
			defer dir.Close()
			all, err := newSpaces(t.Context(), &c, dir, quiet)
			if err != nil {
				t.Fatal(err)
			}
			defer all.close()
			err = all.fit(t.Context(), &m, quiet)
			if tt.want == "" && err != nil {
				t.Error(err)
			}
			if tt.want != "" {
				check.ErrorHas(t, err, tt.want)
			}
			if errors.Is(err, replica.ErrStale) {
				t.Errorf("only time has passed: %v", err)
			}
		})
	}
}

// What import refuses leaves the disk alone, and so does --if-missing where there is nothing to
// take.
func TestImportOfNothing(t *testing.T) {
	c := broker(t, "kafka-a")
	empty, err := snapshot.OpenTarget(filepath.Join(t.TempDir(), "none"), snapshot.S3{})
	if err != nil {
		t.Fatal(err)
	}
	check.ErrorHas(t, importing{}.run(t.Context(), &c, empty, quiet),
		"it has no snapshot that is whole")
	if err := (importing{ifMissing: true}).run(t.Context(), &c, empty, quiet); err != nil {
		t.Error(err)
	}
	entries, err := os.ReadDir(c.State.Dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), "space-") {
			t.Errorf("%s has %s", c.State.Dir, e.Name())
		}
	}
}

// Where the clusters topic is not there, an export says so, and waits for nobody.
func TestExportWithoutTopic(t *testing.T) {
	c := broker(t, "kafka-a")
	c.Output.ClustersTopic = "nowhere"
	to, err := snapshot.OpenTarget(t.TempDir(), snapshot.S3{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = export(t.Context(), &c, to, "", quiet)
	check.ErrorHas(t, err, "nowhere")
}

func TestTargets(t *testing.T) {
	for name, want := range map[string]string{
		"": "an empty name", "gs://bucket/x": "gs is neither",
		"s3://bucket/a//b": "empty parts", "s3://bucket/../b": "dots",
	} {
		_, err := snapshot.OpenTarget(name,
			snapshot.S3{Endpoint: "https://s3.example.com", AccessKey: "a"})
		check.ErrorHas(t, err, want)
	}
	_, err := snapshot.OpenTarget("s3://bucket",
		snapshot.S3{Endpoint: "s3.example.com", AccessKey: "a"})
	check.ErrorHas(t, err, "no URL of a server")
}
