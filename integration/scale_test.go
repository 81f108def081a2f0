//go:build integration

package integration

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/message/cluster"
)

var (
	scale = flag.Int("clusters", 0, "clusters of TestScale, such as 1000000; 0 passes it over")

	binaryClusters = flag.Bool("binary", false, "whether those are in the binary form")
)

// TestScale measures how long clusterd takes to be live with so many clusters, and how much memory
// it takes then: with the disk lost, after a clean stop, after kill -9, and when a standby takes
// over.
//
//	go test -tags integration -run TestScale -v -timeout 1h ./integration -clusters 10000000 -binary
func TestScale(t *testing.T) {
	if *scale == 0 {
		t.Skip("-clusters says how many")
	}
	w := newWorld(t, 1, "cluster: {index: mih}\n")
	w.timeout = 15 * time.Minute
	w.produce(&kgo.Record{Value: []byte(
		`{"content":"The new bridge over the northern harbour opened to traffic this morning."}`)})
	first := w.start()
	w.done()
	first.stop()
	w.plantClusters(*scale)

	measure := func(what string, i *instance, began time.Time) {
		i.waitFor("msg=live")
		t.Logf("%s: live after %.1f s; %s", what, time.Since(began).Seconds(), i.memory())
	}
	if err := os.RemoveAll(first.dir); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	lost := w.start()
	measure("the disk lost", lost, began)
	w.another()
	t.Logf("after the first article: %s", lost.memory())
	lost.stop()

	began = time.Now()
	clean := w.start()
	measure("clean stop", clean, began)
	w.another()
	clean.kill()

	began = time.Now()
	killed := w.start()
	measure("kill -9", killed, began)
	w.another()

	standby := w.startIn(w.otherDir())
	standby.waitFor("recovered the clusters")
	time.Sleep(2 * time.Second) // until it has joined
	killed.signal(syscall.SIGSTOP)
	began = time.Now()
	measure("takeover from an instance that hangs", standby, began)
	_ = killed.cmd.Process.Kill()
	w.another()
	standby.stop()
}

// plantClusters writes clusters as if clusterd had founded them of so many articles.
func (w *world) plantClusters(n int) {
	w.Helper()
	var made article.Cluster
	if err := json.Unmarshal(w.read(w.clusters, kgo.ReadCommitted())[0].Value, &made); err != nil {
		w.Fatal(err)
	}
	client := w.producer(kgo.MaxBufferedRecords(200_000), kgo.ProducerBatchMaxBytes(1_000_000),
		kgo.ProducerBatchCompression(kgo.Lz4Compression()))
	random := rand.New(rand.NewPCG(1, 2))
	check := func(_ *kgo.Record, err error) {
		if err != nil {
			w.Error(err)
		}
	}
	for i := 1; i <= n; i++ {
		c := made
		c.Seq, c.Fingerprint = uint64(i), article.Fingerprint(random.Uint64())
		c.ClusterID = fmt.Sprintf("%s/0/%d", w.input, i)
		c.Representative = article.Representative{
			ID: fmt.Sprintf("article-%d", i), Title: fmt.Sprintf("港口大桥今天通车 %d: the harbour bridge opens", i),
		}
		value := c.JSON()
		if *binaryClusters {
			value = binaryOf(w.T, value, uint64(i))
		}
		client.Produce(w.Context(), &kgo.Record{
			Topic: w.clusters, Key: []byte(c.ClusterID), Value: value,
			Headers: []kgo.RecordHeader{{
				Key: article.HeaderPosition, Value: strconv.AppendInt(nil, int64(i), 10),
			}},
		}, check)
		client.Produce(w.Context(), &kgo.Record{Topic: w.input}, check)
	}
	if err := client.Flush(w.Context()); err != nil {
		w.Fatal(err)
	}
	offsets := make(kadm.Offsets)
	offsets.AddOffset(w.input, 0, int64(n+1), -1)
	if err := kadm.NewClient(client).CommitAllOffsets(w.Context(), w.group, offsets); err != nil {
		w.Fatal(err)
	}
}

// binaryOf returns a cluster in the other form.
func binaryOf(t *testing.T, value []byte, position uint64) []byte {
	t.Helper()
	wire, err := article.ParseCluster(value)
	if err != nil {
		t.Fatal(err)
	}
	c, identity, err := cluster.Parse([]byte(wire.ClusterID), value, position)
	if err != nil {
		t.Fatal(err)
	}
	return c.AppendBinary(nil, identity)
}

// another sends one more article and waits for its result.
func (w *world) another() {
	w.Helper()
	before := w.ends(w.output)
	w.produce(&kgo.Record{Value: fmt.Appendf(nil,
		`{"content":"An article of its own, number %d, on weather and markets"}`, time.Now().UnixNano())})
	w.eventually("one more result", func() bool {
		for p, end := range w.ends(w.output) {
			if end > before[p] {
				return true
			}
		}
		return false
	})
}

// memory returns what the process takes: resident now, and at most so far.
func (i *instance) memory() string {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", i.cmd.Process.Pid))
	if err != nil {
		i.Fatal(err)
	}
	var parts []string
	for _, line := range strings.Split(string(status), "\n") {
		if name, value, ok := strings.Cut(line, ":"); ok && (name == "VmRSS" || name == "VmHWM") {
			parts = append(parts, name+" "+strings.TrimSpace(value))
		}
	}
	return strings.Join(parts, ", ")
}
