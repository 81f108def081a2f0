//go:build integration

package integration

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/clusterd/clusterd/internal/testutil/texts"
)

// Kafka Connect itself runs the connector of docs/downstream.md. It writes each cluster and each
// tombstone of a cluster. It writes neither clusterd's own records nor records that were aborted.
func TestConnect(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2, noLinger+"cluster: {window: 1h}\nlabels: {topic: LABELS}\n"+
		"stories: {topic: STORIES, window: 1h}\n")
	i := w.start()
	i.waitLive()
	for n := range 30 {
		text := texts.Sentence(uint64(n/3), 20) // three of each
		w.comment(fmt.Sprint("first-", n), text, time.Duration(n)*time.Second)
	}
	w.done()
	c := w.connect("")
	c.writesAll()
	// All that was there expires, clusters and stories.
	w.comment("late", "Does anybody know when the swimming pool opens again after the holidays?",
		2*time.Hour)
	w.comment("later", "Does anybody know when the swimming pool opens after the holidays at last?",
		2*time.Hour)
	w.done()
	if n := w.tombstones("story:"); n == 0 {
		t.Error("no story has expired: the test shows less")
	}
	c.writesAll()
	i.stop()
	w.abort(w.clusters, `{"cluster_id":"ghost","size":1}`)
	c.writesAll()
	w.audit()
}

// The stories of an earlier clusterd are not JSON. They stop the connector, unless it has the lines
// that docs/downstream.md adds for such a topic.
func TestConnectOnRecordsOfBefore(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1, "")
	w.createTopic(w.clusters, 1, "cleanup.policy", "compact")
	story, err := os.ReadFile("../internal/message/cluster/testdata/binary-stories.txt")
	if err != nil {
		t.Fatal(err)
	}
	var position uint64
	var key string
	var value []byte
	if _, err := fmt.Sscanf(string(story), "%s %d %x", &key, &position, &value); err != nil {
		t.Fatal(err)
	}
	w.writeCluster(&kgo.Record{Key: []byte("articles/0/0"), Value: []byte(
		`{"cluster_id":"articles/0/0","size":2}`)})
	w.writeCluster(&kgo.Record{Key: []byte(key), Value: value})
	w.writeCluster(&kgo.Record{Key: []byte("articles/0/1"), Value: []byte(
		`{"cluster_id":"articles/0/1","size":3}`)})
	strict := w.connect("")
	w.eventually("the failure of the connector", func() bool { return strict.state() == "FAILED" })
	w.connect(guide(t, "docs/downstream.md")[1]).writesAll()
}

// A connector runs in a worker of Kafka Connect.
type connector struct {
	*world
	*process
	name string
	file string // the connector writes it
	rest string // address of the worker
}

// guide returns the blocks of properties of a document.
func guide(t *testing.T, name string) (blocks []string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", name))
	if err != nil {
		t.Fatal(err)
	}
	for _, block := range fenced.FindAllStringSubmatch(string(text), -1) {
		if block[1] == "properties" {
			blocks = append(blocks, block[2])
		}
	}
	return blocks
}

// connect starts a worker with the connector of docs/downstream.md and further lines. Topic and
// file are those of this test.
func (w *world) connect(further string) *connector {
	w.Helper()
	dir := w.TempDir()
	port := freePort(w.T)
	c := &connector{
		world: w, file: filepath.Join(dir, "clusters.txt"),
		name: fmt.Sprintf("%s-%d", w.group, port), // the consumer group's, too
		rest: fmt.Sprintf("http://127.0.0.1:%d", port),
	}
	settings := guide(w.T, "docs/downstream.md")[0]
	for old, new := range map[string]string{
		"name=clusters\n":     "name=" + c.name + "\n",
		"\ntopics=clusters\n": "\ntopics=" + w.clusters + "\n",
		"=clusters.txt\n":     "=" + c.file + "\n",
	} {
		if !strings.Contains(settings, old) {
			w.Fatalf("docs/downstream.md has no %q", old)
		}
		settings = strings.ReplaceAll(settings, old, new)
	}
	worker, sink := filepath.Join(dir, "worker.properties"), filepath.Join(dir, "sink.properties")
	for file, text := range map[string]string{
		sink: settings + further,
		worker: fmt.Sprintf("bootstrap.servers=%s\nlisteners=%s\noffset.storage.file.filename=%s\n"+
			"key.converter=org.apache.kafka.connect.storage.StringConverter\n"+
			"value.converter=org.apache.kafka.connect.storage.StringConverter\n"+
			"offset.flush.interval.ms=1000\nplugin.discovery=service_load\n",
			strings.Join(w.addresses, ","), c.rest, filepath.Join(dir, "offsets")),
	} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			w.Fatal(err)
		}
	}
	c.process = w.begin("", append(append([]string{"./kafka", "connect"}, w.folder...), worker,
		sink)...)
	return c
}

// state asks the worker for the state of the connector's task, or of the connector itself before it
// has a task.
func (c *connector) state() string {
	c.Helper()
	response, err := http.Get(c.rest + "/connectors/" + c.name + "/status")
	if err != nil {
		return err.Error()
	}
	defer response.Body.Close()
	var status struct {
		Connector struct{ State string }
		Tasks     []struct{ State string }
	}
	if err := json.NewDecoder(response.Body).Decode(&status); err != nil || len(status.Tasks) == 0 {
		return status.Connector.State
	}
	return status.Tasks[0].State
}

// Fields of a cluster in the file: to Connect, JSON without a schema is a map.
var (
	sunkID   = regexp.MustCompile(`[{ ]cluster_id=([^,}]*)`)
	sunkSize = regexp.MustCompile(`[{ ]size=(\d+)`)
)

// writesAll waits until the file has each committed record of a cluster, in the order of the topic,
// and a line null for each tombstone of a cluster. Nothing else may be in the file, and the
// connector must run.
func (c *connector) writesAll() {
	c.Helper()
	want, tombstones := make(map[string][]string), 0
	for _, r := range c.read(c.clusters, kgo.ReadCommitted()) {
		var cluster struct {
			Size int
		}
		switch key := string(r.Key); {
		case strings.Contains(key, ":"):
		case r.Value == nil:
			tombstones++
		case json.Unmarshal(r.Value, &cluster) != nil:
			c.Fatalf("%s is %s", key, r.Value)
		default:
			want[key] = append(want[key], fmt.Sprint(cluster.Size))
		}
	}
	why := "nothing"
	defer func() {
		if why != "" {
			c.Log(why)
		}
	}()
	c.eventually("every cluster in the file", func() bool {
		why = c.lacks(want, tombstones)
		return why == "" || c.state() == "FAILED"
	})
	if state := c.state(); why != "" || state != "RUNNING" {
		c.Errorf("%s; the connector is %s", why, state)
	}
	if len(want) < 2 {
		c.Errorf("there are %d clusters: the test shows nothing", len(want))
	}
}

// lacks says how the file differs from the topic.
func (c *connector) lacks(want map[string][]string, tombstones int) string {
	c.Helper()
	data, err := os.ReadFile(c.file)
	if err != nil {
		return err.Error()
	}
	got, gone := make(map[string][]string), 0
	for line := range strings.Lines(string(data)) {
		id, size := sunkID.FindStringSubmatch(line), sunkSize.FindStringSubmatch(line)
		switch {
		case line == "null\n":
			gone++
		case id == nil || size == nil:
			return "the file has " + line
		default:
			got[id[1]] = append(got[id[1]], size[1])
		}
	}
	if diff := cmp.Diff(want, got); diff != "" || gone != tombstones {
		return fmt.Sprintf("%d of %d tombstones, (-topic +file):\n%s", gone, tombstones, diff)
	}
	return ""
}

// tombstones returns how many tombstones the clusters topic has of keys that begin so.
func (w *world) tombstones(prefix string) (n int) {
	w.Helper()
	for _, r := range w.read(w.clusters, kgo.ReadCommitted()) {
		if strings.HasPrefix(string(r.Key), prefix) && r.Value == nil {
			n++
		}
	}
	return n
}
