//go:build integration

package integration

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// Each reader of examples/readers ends up with the same verdicts: copies of what was labelled are
// hidden, those before the label by their corrections. What was aborted is not seen, and a cluster
// that expires is heard of, and a story is not: it is no cluster, though it is in the same topic.
func TestReaders(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1, "")
	labels, corrections := w.group+".labels", w.group+".corrections"
	stories := w.group + ".stories"
	w.configure(fmt.Sprintf(`cluster: {window: 1h}
stories: {topic: %s, window: 1h}
labels: {topic: %s, corrections: %s}
serve: {bytes: 64MiB}
`, stories, labels, corrections))
	w.Cleanup(func() {
		_, _ = w.admin.DeleteTopics(context.WithoutCancel(t.Context()), labels, corrections, stories)
	})
	i := w.start()
	i.waitLive()
	w.comment("fine", "I had the same problem with my bicycle, and the second answer helped me", 0)
	w.comment("first", advert, 0)
	w.comment("second", "<b>"+advert+"</b>", 0)
	w.done()
	clusters := make(map[string]string)
	for _, r := range w.results() {
		clusters[r.ArticleID] = *r.ClusterID
	}
	w.produce(&kgo.Record{Topic: labels, Key: []byte(clusters["first"]), Value: fmt.Appendf(nil,
		`{"cluster_id":"%s","label":"spam","by":"alice"}`, clusters["first"])})
	w.eventually("corrections of both copies", func() bool {
		return len(w.ends(corrections)) > 0 && len(w.read(corrections, kgo.ReadCommitted())) == 2
	})
	w.comment("third", advert+"!", time.Minute)
	// The cluster of what was fine expires; one that is labelled is kept.
	w.comment("late", "Does anybody know when the swimming pool opens again after the holidays?",
		2*time.Hour)
	w.done()
	if w.deleted(w.clusters, "story:"+clusters["fine"]) == 0 {
		t.Error("no story has expired, so that the readers show nothing")
	}
	w.abort(w.output, `{"article_id":"ghost","cluster_id":"x","status":"new"}`)

	want := map[string]string{
		"fine": "show", "first": "hide spam", "second": "hide spam", "third": "hide spam",
		"late": "show", clusters["fine"]: "expired",
	}
	for name, command := range w.readers() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := *w
			w.T = t
			p := w.begin("", append(command, strings.Join(w.addresses, ","), w.output, corrections,
				w.clusters)...)
			w.eventually("the right verdicts", func() bool {
				return maps.Equal(verdicts(p.said.String()), want)
			})
		})
	}
}

const advert = "Best watches in town, all brands at half the price, and delivered within a day"

// comment sends a comment that was published at a time after the first ones, and waits until it is
// there.
func (w *world) comment(id, text string, after time.Duration) {
	w.Helper()
	at := time.Now().Add(after - 2*time.Hour)
	w.produce(&kgo.Record{Timestamp: at, Value: fmt.Appendf(nil,
		`{"id":%q,"content":%q,"published_at":%d}`, id, text, at.Unix())})
}

// abort writes a record in a transaction that is aborted.
func (w *world) abort(topic, value string) {
	w.Helper()
	client := w.producer(kgo.TransactionalID(topic + ".aborted"))
	if err := client.BeginTransaction(); err != nil {
		w.Fatal(err)
	}
	record := &kgo.Record{
		Topic: topic, Key: []byte("aborted"), Value: []byte(value),
		Headers: []kgo.RecordHeader{{Key: "clusterd.position", Value: []byte("99")}},
	}
	if err := client.ProduceSync(w.Context(), record).FirstErr(); err != nil {
		w.Fatal(err)
	}
	if err := client.EndTransaction(w.Context(), kgo.TryAbort); err != nil {
		w.Fatal(err)
	}
}

// readers returns the commands that run the examples, installed as each of them says.
func (w *world) readers() map[string][]string {
	w.Helper()
	const from = "../examples/readers/"
	libs, err := shared.script("libs")
	if err != nil {
		w.Fatal(err)
	}
	dir := w.TempDir()
	program := filepath.Join(dir, "reader")
	w.must("go", "build", "-o", program, from+"go")
	w.must("cp", from+"node/read.js", from+"node/package.json", dir)
	w.must("npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", dir)
	return map[string][]string{
		"go":     {program},
		"java":   {"java", "-cp", libs + "/*", from + "java/Read.java"},
		"node":   {"node", filepath.Join(dir, "read.js")},
		"python": {filepath.Join(w.venv(), "bin/python"), from + "python/read.py"},
	}
}

// deleted returns how many tombstones a topic has of a key.
func (w *world) deleted(topic, key string) (n int) {
	w.Helper()
	for _, r := range w.read(topic, kgo.ReadCommitted()) {
		if string(r.Key) == key && r.Value == nil {
			n++
		}
	}
	return n
}

// venv returns the directory of a Python with what the examples in it need.
func (w *world) venv() string {
	w.Helper()
	venv := filepath.Join(w.TempDir(), "venv")
	w.must("python3", "-m", "venv", venv)
	w.must(filepath.Join(venv, "bin/pip"), "install", "-q", "confluent-kafka")
	return venv
}

// verdicts returns what a reader said last of each article or cluster.
func verdicts(said string) map[string]string {
	last := make(map[string]string)
	for line := range strings.Lines(said) {
		name, verdict, ok := strings.Cut(strings.TrimSpace(line), " ")
		if ok && !strings.HasPrefix(line, "Picked up JAVA_TOOL_OPTIONS") {
			last[name] = verdict
		}
	}
	return last
}
