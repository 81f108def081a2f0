package embedded_test

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kversion"

	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/sink"
	"github.com/clusterd/clusterd/internal/testutil/kafkatest"
)

// bare is kfake alone, with every option that it has to be safe.
type bare struct{ *kfake.Cluster }

func (b bare) Address() string { return b.ListenAddrs()[0] }

func startBare(t *testing.T, dir string) bare {
	t.Helper()
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.DataDir(dir), kfake.SyncWrites(),
		kfake.SeedTopics(1, "in"), kfake.SeedTopics(2, "out"), kfake.MaxVersions(kversion.V3_9_0()),
		kfake.ListenFn(func(network, _ string) (net.Listener, error) {
			return net.Listen(network, anyPort)
		}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cluster.Close)
	return bare{cluster}
}

// Each of these is a fault of kfake that this package works around. A case that fails says that
// kfake has mended the fault. Then the workaround can go.
func TestKfakeAloneLosesRecords(t *testing.T) {
	const first, second = "partitions/out-0/0", "partitions/out-1/0"
	bareCommits := func(t *testing.T) (before, after image) {
		dir := t.TempDir()
		return commits(t, startBare(t, dir), dir)
	}
	for name, tt := range map[string]struct {
		crash func(*testing.T) image
		right string // what a reader should find
	}{
		"a crash between the markers of a commit commits a part of it": {
			crash: func(t *testing.T) image {
				crashed, after := bareCommits(t)
				crashed[first+".dat"], crashed[first+".idx"] = after[first+".dat"], after[first+".idx"]
				return crashed
			},
			right: "a0 a1 @1",
		},
		"a crash before the offsets of a commit commits it without them": {
			crash: func(t *testing.T) image {
				before, crashed := bareCommits(t)
				crashed["groups.log"], crashed["pids.log"] = before["groups.log"], before["pids.log"]
				return crashed
			},
			right: "a0 a1 b0 b1 @2",
		},
		"a crash between a batch and its index commits an open transaction": {
			crash: func(t *testing.T) image {
				crashed, _ := bareCommits(t)
				// An entry is 15 bytes long.
				crashed[second+".idx"] = crashed[second+".idx"][:len(crashed[second+".idx"])-15]
				return crashed
			},
			right: "a0 a1 @1",
		},
		"the next commit brings a transaction back that a crash has aborted": {
			crash: func(t *testing.T) image {
				crashed, _ := bareCommits(t)
				dir := crashed.write(t)
				newProducer(t, startBare(t, dir)).commit("z", 9)
				return imageOf(t, dir)
			},
			right: "a0 a1 z0 z1 @9",
		},
		"offsets behind a torn one are lost in the next crash": {
			crash: func(t *testing.T) image {
				crashed, _ := bareCommits(t)
				crashed["groups.log"] += "\x40\x00\x00\x00torn"
				dir := crashed.write(t)
				p := newProducer(t, startBare(t, dir))
				p.begin("z", 9)
				p.end(kgo.TryCommit)
				return imageOf(t, dir)
			},
			right: "a0 a1 z0 z1 @9",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			crashed := tt.crash(t)
			if got := state(t, startBare(t, maps.Clone(crashed).write(t))); got == tt.right {
				t.Errorf("kfake has mended this: it finds %q", got)
			} else {
				t.Logf("kfake finds %q, and right is %q", got, tt.right)
			}
		})
	}
}

// appender returns what writes the articles that come over HTTP.
func appender(t *testing.T, address string) *sink.Appender {
	t.Helper()
	client := kafkatest.Connect(t, kafka.Options{Brokers: []string{address}})
	a, err := sink.NewAppender(client, slog.New(slog.DiscardHandler), "none")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); a.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-done })
	return a
}

// unwritable makes a folder that kfake cannot write to until the function that it returns is
// called.
func unwritable(t *testing.T, folder string) (mend func()) {
	t.Helper()
	if err := errors.Join(os.RemoveAll(folder), os.MkdirAll(filepath.Dir(folder), 0o700)); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(folder, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := os.Remove(folder); err != nil {
			t.Error(err)
		}
	}
}

var article = []kafka.Record{{Topic: "in", Partition: 0, Value: []byte("an article")}}

// kfake takes a record that it could not write for a repeated one when it is sent again, and
// acknowledges it.
func TestKfakeAloneAcknowledgesWhatItCouldNotWrite(t *testing.T) {
	dir := t.TempDir()
	b := startBare(t, dir)
	mend := unwritable(t, filepath.Join(dir, "partitions", "in-0"))
	time.AfterFunc(50*time.Millisecond, mend)
	_, err := appender(t, b.Address()).Append(t.Context(), article)
	if end := b.PartitionInfo("in", 0).HighWatermark; err != nil || end != 0 {
		t.Errorf("kfake has mended this: error %v, and the partition ends at %d", err, end)
	}
}

// A broker that cannot write stops at once, and acknowledges nothing.
func TestABrokerThatCannotWriteStops(t *testing.T) {
	dir := t.TempDir()
	b := startWithTopics(t, dir)
	mend := unwritable(t, filepath.Join(dir, "partitions", "in-0"))
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	go func() { <-b.Failed(); cancel() }()
	if offsets, err := appender(t, b.Address()).Append(ctx, article); err == nil {
		t.Errorf("the record is acknowledged, at %v", offsets)
	}
	<-b.Failed()
	for _, want := range []string{
		dir, "Nothing that was acknowledged is lost", "start clusterd again", "persist batch",
	} {
		if err := b.Err(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error = %v, want one with %q", err, want)
		}
	}
	b.Close()
	mend()

	b = start(t, anyPort, dir)
	defer b.Close()
	if offsets, err := appender(t, b.Address()).Append(t.Context(), article); err != nil ||
		offsets[0] != 0 {
		t.Errorf("then the record is at %v, %v; want 0", offsets, err)
	}
}

// kfake begins at offset 0 again where all records of a partition are deleted.
func TestKfakeAloneForgetsWhereAPartitionEnds(t *testing.T) {
	dir := t.TempDir()
	b := startBare(t, dir)
	write(t, b, "in", "a", "b", "c")
	if err := b.DeleteRecords("in", 0, 3); err != nil {
		t.Fatal(err)
	}
	b.Close()
	b = startBare(t, dir)
	if end := b.PartitionInfo("in", 0).HighWatermark; end != 0 {
		t.Errorf("kfake has mended this: the partition ends at %d", end)
	}
}
