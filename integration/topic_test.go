//go:build integration

package integration

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

// What stops clusterd says what to do, and the exit code is 1.
func TestErrors(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name    string
		prepare func(w *world)
		want    string
	}{
		{"input topic missing", func(w *world) {
			w.configure("input: {topic: no-such-topic}\n")
			w.replace("create_topics: true", "create_topics: false")
		}, "topic no-such-topic: it does not exist: create it (kafka-topics --create --topic " +
			"no-such-topic --bootstrap-server " + shared.addresses[0] + "), or set kafka.create_topics"},
		{"clusters topic not compacted", func(w *world) {
			w.createTopic(w.clusters, 1, "cleanup.policy", "delete")
		}, "must be compact"},
		{"made in another way", func(w *world) {
			w.runOnce()
			w.configure("fingerprint: {hash: xxh3}\n")
		}, "hash was sdbm and is xxh3"},
		{"records deleted before they were read", func(w *world) {
			w.runOnce()
			w.send(10)
			w.deleteRecords(w.input, 5)
		}, "offset out of range: "},
		{"input topic recreated", func(w *world) {
			w.runOnce()
			w.deleteTopic(w.input)
			w.createTopic(w.input, 1)
		}, ".articles is another one than before: its id was "},
		{"clusters topic recreated", func(w *world) {
			w.runOnce()
			w.deleteTopic(w.clusters)
			w.createTopic(w.clusters, 1, "cleanup.policy", "compact")
		}, "was made anew: its id was "},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, 1, "")
			test.prepare(w)
			w.start().fails(test.want)
		})
	}
}

// runOnce starts clusterd, has it cluster some articles, and stops it.
func (w *world) runOnce() {
	w.Helper()
	running := w.start()
	w.send(3)
	w.done()
	running.stop()
}

// deleteRecords deletes the records of a topic's partition 0 before an offset, as retention does.
func (w *world) deleteRecords(topic string, before int64) {
	w.Helper()
	var offsets kadm.Offsets
	offsets.Add(kadm.Offset{Topic: topic, Partition: 0, At: before})
	w.eventually("the records to be deleted", func() bool { // a new policy takes effect a moment later
		responses, err := w.admin.DeleteRecords(w.Context(), offsets)
		if err == nil {
			err = responses.Error()
		}
		if err != nil && !errors.Is(err, kerr.PolicyViolation) {
			w.Fatal(err)
		}
		return err == nil
	})
}

// Topics that change while clusterd runs: it stops where going on would be wrong.
func TestTopicsChange(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		change func(w *world)
		want   string
	}{
		{"input topic recreated", func(w *world) {
			w.deleteTopic(w.input)
			w.createTopic(w.input, 1)
			w.send(3)
		}, "was deleted and created again: its id was "},
		{"clusters topic recreated", func(w *world) {
			w.deleteTopic(w.clusters)
			w.createTopic(w.clusters, 1, "cleanup.policy", "compact")
			w.send(3)
		}, "made anew"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, 1, "")
			running := w.start()
			w.send(100)
			w.done()
			test.change(w)
			running.fails(test.want)
		})
	}
}

// Results that have nowhere to go wait until they have.
func TestOutputTopicDeleted(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2, "")
	running := w.start()
	running.waitLive()
	w.deleteTopic(w.output)
	w.send(100)
	w.eventually("the trouble in /readyz or in the log",
		func() bool { return running.complains(w.output) })
	if n := w.consumed(); n > 0 {
		t.Errorf("%d articles are committed and have no result", n)
	}
	w.createTopic(w.output, 2)
	w.done()
	running.stop()
	if n := w.audit().Counts.Records; n != 100 {
		t.Errorf("%d of 100 articles came out", n)
	}
}

// A topic of stories that was created again is not filled with earlier stories, which is said.
func TestStoriesTopicRecreated(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1, noLinger+"stories: {topic: STORIES}\nfingerprint: {method: minhash}\n")
	for i, content := range []string{
		"The old bridge over the harbour of Eastholm collapsed on Monday after the storm. Engineers " +
			"inspect the pillars, and the mayor asks for calm.",
		"Where the harbour bridge collapsed after the storm, engineers told the mayor of Eastholm on " +
			"Tuesday that the pillars had been weak.",
	} {
		value, err := json.Marshal(map[string]string{
			"id": fmt.Sprint(i), "title": "Bridge of Eastholm collapsed", "content": content,
		})
		if err != nil {
			t.Fatal(err)
		}
		w.produce(&kgo.Record{Value: value})
	}
	const said = "the topic of stories is empty, and there are stories"
	running := w.start()
	w.done()
	running.stop()
	if running.complains(said) {
		t.Error("it says so of a topic that it fills")
	}
	running = w.start()
	running.stopped()
	if running.complains(said) {
		t.Error("it says so of a topic with stories")
	}
	w.deleteTopic(w.stories)
	w.createTopic(w.stories, 1, "cleanup.policy", "compact")
	running = w.start()
	running.waitFor(said)
	running.stopped()
}

// A topic of corrections that was created again has no earlier corrections, which is said.
func TestCorrectionsTopicRecreated(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1, labelled)
	running := w.start()
	w.send(3)
	w.done()
	id := w.results()[0].cluster()
	w.produce(&kgo.Record{
		Topic: w.labels, Key: []byte(id), Value: fmt.Appendf(nil, `{"cluster_id":%q,"label":"spam"}`, id),
	})
	w.labelsDone()
	running.stop()
	const said = "the topic of corrections is empty, and clusters have labels"
	running = w.start()
	running.stopped()
	if running.complains(said) {
		t.Error("it says so of a topic with corrections")
	}
	w.deleteTopic(w.corrections)
	w.createTopic(w.corrections, 1)
	running = w.start()
	running.waitFor(said)
	running.stopped()
}

// An address at which something else than Kafka listens is named.
func TestAddressThatIsNoKafka(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1, "")
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	address := server.Listener.Addr().String()
	w.replace(fmt.Sprintf("brokers: [%q]", strings.Join(shared.addresses, `", "`)),
		fmt.Sprintf("brokers: [%q]", address))
	began := time.Now()
	w.start().waitFor("nothing at " + address + " has answered as a Kafka broker does")
	if took := time.Since(began); took > 15*time.Second {
		t.Errorf("it is silent for %s", took)
	}
}
