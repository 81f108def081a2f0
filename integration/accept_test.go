//go:build integration

package integration

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"
)

// accept runs clusterd state accept for a topic, and returns what it says.
func (w *world) accept(topic string, flags ...string) (said string, err error) {
	w.Helper()
	cmd := exec.Command(binary, append([]string{
		"state", "accept", "-c", w.config, "--topic", topic, "--by", "alice",
	}, flags...)...)
	cmd.Env = append(os.Environ(), "CLUSTERD_TEST_DIR="+filepath.Join(w.dir, "accepting"))
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// refusesAccept holds that clusterd state accept is refused.
func (w *world) refusesAccept(why, topic string, flags ...string) {
	w.Helper()
	if said, err := w.accept(topic, flags...); err == nil || !strings.Contains(said, why) {
		w.Errorf("state accept: %v, want %q:\n%s", err, why, said)
	}
}

// A clusters topic that the group has not written to is refused, with the disk and without, and by
// a standby: articles would found clusters that are there already.
func TestAnotherClustersTopicIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2, "")
	w.runOnce()
	right := w.clusters
	running := w.start()
	running.waitLive()
	w.clusters = right + "2"
	t.Cleanup(func() { _, _ = w.admin.DeleteTopics(t.Context(), right) })
	w.replace("clusters_topic: "+right, "clusters_topic: "+w.clusters)
	w.start().fails("topic " + w.clusters + " has no checkpoint of it") // a standby
	running.stop()
	for _, dir := range []string{w.otherDir(), t.TempDir()} {
		w.startIn(dir).fails("state accept -c FILE --topic " + w.clusters)
	}
	// There are results, so this topic cannot be the first one.
	w.refusesAccept("start anew with another input.group", w.clusters)
	w.replace("clusters_topic: "+w.clusters, "clusters_topic: "+right)
	w.clusters = right
	w.runOnce()
	if n := w.audit().Counts.Records; n != 6 {
		t.Errorf("%d records, want 6", n)
	}
}

// Another topic of results is possible, since people may want a new one, but it is not taken
// without a word.
func TestAnotherOutputTopicIsSaid(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1, "")
	w.runOnce()
	was := w.output
	t.Cleanup(func() { _, _ = w.admin.DeleteTopics(t.Context(), was) })
	w.output = was + "2"
	w.replace("topic: "+was, "topic: "+w.output)
	running := w.start()
	running.waitFor("output.topic has changed")
	if !running.complains("was=" + was + " is=" + w.output) {
		t.Errorf("it does not say which:\n%s", running.said())
	}
	running.waitLive()
	running.stop()
	running = w.start()
	w.send(1)
	w.done()
	running.stop()
	if running = w.start(); running.complains("output.topic has changed") {
		t.Error("it says so for ever")
	}
	running.stopped()
}

// A clusters topic that was deleted and created again while clusterd was stopped is refused.
func TestClustersTopicMadeAnewIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1, "")
	w.runOnce()
	dir := w.otherDir()
	if _, err := w.admin.DeleteTopics(t.Context(), w.clusters); err != nil {
		t.Fatal(err)
	}
	w.eventually("the topic to be gone", func() bool {
		all, err := w.admin.ListTopics(t.Context())
		return err == nil && !all.Has(w.clusters)
	})
	w.createTopic(w.clusters, 1, "cleanup.policy", "compact")
	w.startIn(t.TempDir()).fails("has no checkpoint of it")
	w.startIn(dir).fails("topic " + w.clusters + " was made anew: its id was ")
	if n := len(w.results()); n != 3 {
		t.Errorf("%d results of 3 articles", n)
	}
}

// Somebody sets the offsets of the group before the first start, so that it begins there. That is
// accepted on purpose, while no instance runs.
func TestOffsetsSetBeforeTheFirstStart(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1, "")
	w.send(10)
	w.setOffset(7)
	w.start().fails("group " + w.group + " has read " + w.input + "/0 up to offset 7, and topic")
	if said, err := w.accept(w.clusters); err != nil {
		t.Fatalf("state accept: %v\n%s", err, said)
	}
	w.refusesAccept("there is nothing to accept", w.clusters)
	running := w.start()
	w.done()
	w.refusesAccept("stop all instances first", w.clusters)
	running.stop()
	if n := len(w.results()); n != 3 {
		t.Errorf("%d results, want those of the last 3 articles", n)
	}
	accepted := w.acceptedBy()
	if len(accepted) != 1 || accepted[0].By != "alice" || accepted[0].At == "" ||
		!strings.Contains(accepted[0].Why, "no checkpoint") {
		t.Errorf("the checkpoint says %+v", accepted)
	}
}

// acceptedBy returns what the last checkpoint says of who has accepted the clusters topic.
func (w *world) acceptedBy() []struct{ By, At, Why string } {
	w.Helper()
	var last struct {
		Accepted []struct{ By, At, Why string }
	}
	for _, r := range w.read(w.clusters, kgo.ReadCommitted()) {
		if strings.HasPrefix(string(r.Key), "checkpoint:") {
			last.Accepted = nil
			if err := json.Unmarshal(r.Value, &last); err != nil {
				w.Fatal(err)
			}
		}
	}
	return last.Accepted
}

// Records that were deleted from the beginning of the clusters topic are noticed, with the disk and
// without: what is left is accepted on purpose. Compaction deletes no such records.
func TestClustersDeletedFromTheBeginning(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1, "")
	w.createTopic(w.clusters, 1, "cleanup.policy", "compact", "segment.bytes", "1048576",
		"segment.ms", "100", "min.cleanable.dirty.ratio", "0.01")
	w.runOnce()
	before := len(w.read(w.clusters, kgo.ReadCommitted()))
	for range 3 {
		w.runOnce()
	}
	w.eventually("the topic to be compacted", func() bool {
		w.send(1)
		running := w.start()
		w.done()
		running.stop()
		checkpoints := 0
		for _, r := range w.read(w.clusters, kgo.ReadCommitted()) {
			if strings.HasPrefix(string(r.Key), "checkpoint:") {
				checkpoints++
			}
		}
		return checkpoints < 4
	})
	dir := w.otherDir()
	w.startIn(t.TempDir()).stopped()
	w.setTopic(w.clusters, "cleanup.policy", "compact,delete") // or Kafka refuses to
	w.deleteRecords(w.clusters, int64(before))
	w.setTopic(w.clusters, "cleanup.policy", "compact")
	for _, dir := range []string{dir, t.TempDir()} {
		refused := w.startIn(dir)
		refused.fails("began at offset 0 and begins at ")
		refused.fails("records of clusters were deleted")
	}
	if said, err := w.accept(w.clusters); err != nil {
		t.Fatalf("state accept: %v\n%s", err, said)
	}
	w.runOnce()
	if accepted := w.acceptedBy(); len(accepted) != 1 || accepted[0].By != "alice" {
		t.Errorf("the checkpoint says %+v", accepted)
	}
}

// stopped waits until the instance is live, and stops it.
func (i *instance) stopped() {
	i.Helper()
	i.waitLive()
	i.stop()
}
