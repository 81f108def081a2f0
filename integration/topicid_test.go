//go:build integration

package integration

import (
	"fmt"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"
)

// recreate deletes a topic, creates it again, and fills it at once.
func (w *world) recreate(topic string, partitions int32, values ...string) {
	w.Helper()
	w.deleteTopic(topic)
	w.createTopic(topic, partitions)
	for _, value := range values {
		w.produce(&kgo.Record{Topic: topic, Value: []byte(value)})
	}
}

// newArticles returns articles, as JSON.
func newArticles(n int) (values []string) {
	for i := range n {
		values = append(values, fmt.Sprintf(`{"id":"new %d","content":"article %[1]d of a new topic"}`, i))
	}
	return values
}

// A topic of the same name that was filled beyond the offsets of the one before is noticed, while
// clusterd runs and after that. Nothing of it is read.
func TestInputRecreatedAndFilled(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1, "")
	running := w.start()
	w.send(10)
	w.done()
	w.recreate(w.input, 1, newArticles(30)...)
	running.fails("topic " + w.input + " was deleted and created again: its id was ")
	running.fails("start anew with another input.group")
	if n := len(w.results()); n != 10 {
		t.Errorf("%d results of 10 articles", n)
	}
	for _, dir := range []string{w.otherDir(), t.TempDir()} {
		refused := w.startIn(dir)
		refused.fails("topic " + w.input + " is another one than before: its id was ")
		refused.fails("state accept -c FILE --topic " + w.input)
	}

	// Somebody knows better.
	w.refusesAccept("the checkpoint says the same", w.clusters)
	if said, err := w.accept(w.input); err != nil {
		t.Fatalf("state accept: %v\n%s", err, said)
	}
	running = w.start()
	w.done()
	running.stop()
	if n := len(w.results()); n != 30 {
		t.Errorf("%d results, want those of 10 articles and of the next 20", n)
	}
	accepted := w.acceptedBy()
	if len(accepted) != 1 || !strings.Contains(accepted[0].Why, "topic "+w.input+" had the id ") {
		t.Errorf("the checkpoint says %+v", accepted)
	}
}

// A topic that does not have as many records as were read cannot be the same, whoever says it is.
func TestInputRecreatedIsNotAccepted(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1, "")
	w.runOnce()
	w.recreate(w.input, 1, newArticles(2)...)
	w.start().fails("topic " + w.input + " is another one than before: its id was ")
	w.refusesAccept(w.input+"/0 holds offsets 0 to 2, and 3 comes next", w.input)
	w.refusesAccept("--from-beginning is for labels.topic alone", w.input, "--from-beginning")
}

// A topic of labels that was created again is read from its beginning, if somebody says so. Labels
// that were given before stay.
func TestLabelsRecreated(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1, labelled+"fingerprint: {method: minhash}\n")
	running := w.start()
	running.waitLive()
	running.carriedBy("w1", watches)
	running.carriedBy("g1", garden)
	founded := w.byText()
	running.labels(`{"cluster_id":"` + founded["w1"].ClusterID + `","label":"spam"}`)
	w.labelsDone()
	w.recreate(w.labels, 2)
	running.fails("topic " + w.labels + " was deleted and created again: its id was ")
	running.fails("state accept -c FILE --topic " + w.labels + " --from-beginning")
	w.start().fails("topic " + w.labels + " is another one than before: its id was ")

	w.refusesAccept("comes next", w.labels)
	if said, err := w.accept(w.labels, "--from-beginning"); err != nil {
		t.Fatalf("state accept: %v\n%s", err, said)
	}
	running = w.start()
	running.waitLive()
	running.labels(`{"cluster_id":"` + founded["g1"].ClusterID + `","label":"scam"}`)
	for content, want := range map[string]string{watches: "spam", garden: "scam"} {
		if got := running.checkedLabels(content); got != want {
			t.Errorf("a check of %q says %q, want %q", content, got, want)
		}
	}
	running.stop()
}
