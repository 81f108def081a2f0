//go:build integration

package integration

import (
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"
)

// The labels of clusters, articles and contacts go over to a space of another method, whose
// clusters have other founders and fingerprints. A second run writes nothing, though the new
// instance was killed.
func TestMigrateLabels(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2, labelled+"fingerprint: {method: minhash}\n")
	const advert = "cheap watches, the best watches of the whole world, write to the seller today "
	const honest = advert + "is what they wrote"
	const harmless = "ask our helpers on Telegram @starry17 about trains, tickets and lost umbrellas"
	old := w.start()
	old.waitLive()
	old.carriedBy("alone", garden)
	old.carriedBy("a1", advert)
	old.carriedBy("h1", honest)
	old.carriedBy("w1", watches)
	old.carriedBy("s1", harmless)
	founded := w.byText()
	old.labels(`{"cluster_id":"` + founded["a1"].ClusterID + `","label":"spam","note":"an advert"}`)
	old.labels(`{"cluster_id":"` + founded["w1"].ClusterID + `","label":"scam","note":"an advert"}`)
	old.labels(`{"cluster_id":"` + founded["s1"].ClusterID + `","label":"spam","trial":true}`)
	old.labels(`{"target":"article","article_id":"h1","label":"ham"}`)
	old.labels(`{"target":"contact","contact":"name:starry17","label":"ham"}`)
	if got := old.carriedBy("l1", lottery); got != "scam" {
		t.Fatalf("a text with a marked contact carries %q", got)
	}
	w.labelsDone()

	next := w.beside("new.yaml", w.group+"-2", "-"+w.group+"-2")
	next.labels = w.labels + "-" + next.group
	t.Cleanup(func() {
		_, _ = w.admin.DeleteTopics(w.Context(), next.output, next.clusters, next.dead, next.labels)
	})
	w.migrate("plan", "-c", w.config, "-o", next.config, "--group", next.group,
		"--set", "fingerprint.method=shingle", "--set", "state.dir=${CLUSTERD_TEST_DIR:unused}",
		"--set", "http.listen=${CLUSTERD_TEST_LISTEN:}")
	fresh := next.start()
	next.done()
	said := w.migrate("labels", w.config, next.config)
	// The advert and its honest copy shared a cluster, and are two now. Both have the label.
	const want = "4 labels of clusters, 1 of articles and 2 of contacts; 7 records written to "
	if said != want+next.labels+"\n" {
		t.Errorf("clusterd migrate labels:\n%s", said)
	}
	next.labelsDone()
	fresh.kill()
	fresh = next.start()
	fresh.waitLive()
	for content, want := range map[string]string{
		advert: "spam", honest: "ham", watches: "scam", lottery: "scam", harmless: "", garden: "",
		"piano lessons by a patient teacher, ask on Telegram @" + seller + " for a day": "scam",
	} {
		if got := fresh.checkedLabels(content); got != want {
			t.Errorf("a check of %q in the new space says %q, want %q", content, got, want)
		}
	}
	for _, r := range next.read(next.labels, kgo.ReadCommitted()) {
		value := string(r.Value)
		if strings.Contains(value, "scam") && !strings.Contains(value, `"note":"an advert"`) {
			t.Errorf("its note is lost: %s", value)
		}
	}
	if again := w.migrate("labels", w.config, next.config); !strings.Contains(again, "; 0 records") {
		t.Errorf("once more:\n%s", again)
	}
	old.stop()
	fresh.stop()
	next.audit()
}
