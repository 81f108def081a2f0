//go:build integration

package integration

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"
)

// post posts an article, and returns the labels that its result carries.
func (i *instance) carriedBy(id, content string) string {
	i.Helper()
	var result struct {
		Labels []string `json:"labels"`
	}
	i.ask("/v1/articles", map[string]string{"id": id, "content": content}, &result)
	return strings.Join(result.Labels, ",")
}

// checkedLabels returns the labels that an article would carry.
func (i *instance) checkedLabels(content string) string {
	i.Helper()
	var answer struct {
		Labels []string `json:"labels"`
	}
	i.ask("/v1/check", map[string]string{"text": content}, &answer)
	return strings.Join(answer.Labels, ",")
}

// labels puts a label on something, and wants it to be applied.
func (i *instance) labels(what string) {
	i.Helper()
	var answer struct {
		Results []struct {
			Applied bool
			Error   string
		}
	}
	i.ask("/v1/labels", json.RawMessage(what), &answer)
	if len(answer.Results) != 1 || !answer.Results[0].Applied {
		i.Fatalf("%s: %+v", what, answer)
	}
}

// corrected returns what the last correction of each article says.
func (w *world) corrected() map[string]string {
	w.Helper()
	last := make(map[string]string)
	for _, r := range w.read(w.corrections, kgo.ReadCommitted()) {
		var c struct {
			ArticleID string `json:"article_id"`
			Target    string
			Labels    []string
		}
		if err := json.Unmarshal(r.Value, &c); err != nil {
			w.Fatal(err)
		}
		last[c.ArticleID] = c.Target + ":" + strings.Join(c.Labels, ",")
	}
	return last
}

// run runs a verb that asks a running clusterd.
func (i *instance) run(args ...string) string {
	i.Helper()
	cmd := exec.CommandContext(i.Context(), binary,
		append(slices.Clone(args), "--server", "http://"+i.listen)...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		i.Fatalf("clusterd %s: %v\n%s", args, err, out)
	}
	return string(out)
}

// A label on one article is on later articles that are equal to it and on checks of these, though
// everything was killed and the disks lost, and on no other article of its cluster.
func TestLabelOneArticle(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2, labelled+"fingerprint: {method: minhash}\ncluster: {window: 72h}\n")
	const advert = "cheap watches, the best watches of the whole world, write to the seller today "
	const honest = advert + "is what they wrote"
	running := []*instance{w.start()}
	running[0].waitLive()
	running = append(running, w.start())
	running[0].carriedBy("a1", advert)
	running[0].carriedBy("h1", honest)
	running[0].labels(`{"cluster_id":"` + w.byText()["a1"].ClusterID + `","label":"spam"}`)
	if got := running[0].carriedBy("h2", honest); got != "spam" {
		t.Fatalf("the honest text carries %q: it is to be a copy", got)
	}
	running[0].labels(`{"target":"article","article_id":"h1","label":"ham"}`)
	same := func(when string, i *instance) {
		t.Helper()
		for content, want := range map[string]string{advert: "spam", honest: "ham"} {
			if got := i.checkedLabels(content); got != want {
				t.Errorf("%s: a check of %q says %q, want %q", when, content, got, want)
			}
			if got := i.carriedBy(fmt.Sprint(when, " ", want), content); got != want {
				t.Errorf("%s: %q carries %q, want %q", when, content, got, want)
			}
		}
	}
	same("labelled", running[0])
	w.labelsDone()
	got := w.corrected()
	for id, want := range map[string]string{"a1": ":spam", "h1": "article:ham", "h2": ""} {
		if got[id] != want {
			t.Errorf("article %s was told %q, want %q", id, got[id], want)
		}
	}
	for _, i := range running {
		i.kill()
		if err := os.RemoveAll(i.dir); err != nil {
			t.Fatal(err)
		}
	}
	again := w.start()
	again.waitLive()
	same("killed", again)
	again.exportAndImport(w.dir)
	same("imported", again)
	again.labels(`{"cluster_id":"` + w.byText()["a1"].ClusterID + `","label":"scam"}`)
	w.labelsDone()
	got = w.corrected()
	for id, want := range map[string]string{"a1": ":scam,spam", "h1": ":ham", "h2": ":ham"} {
		if got[id] != want {
			t.Errorf("once the cluster has one label more, article %s was told %q, want %q", id, got[id],
				want)
		}
	}
	again.labels(`{"target":"article","article_id":"h1","label":"ham","action":"remove"}`)
	if got := again.carriedBy("h3", honest); got != "scam,spam" {
		t.Errorf("without its label the honest text carries %q", got)
	}
	if status, err := again.post("/v1/labels", map[string]string{
		"target": "article", "article_id": "nobody", "label": "ham",
	}, nil); err != nil || status != http.StatusNotFound {
		t.Errorf("an unknown article: %d, %v", status, err)
	}
	again.stop()
	w.audit()
}

// exportAndImport takes away the label of article h1, and puts it on again from an export.
func (i *instance) exportAndImport(dir string) {
	i.Helper()
	exported := i.run("label", "export")
	if !strings.Contains(exported, `{"target":"article",`) {
		i.Errorf("exported:\n%s", exported)
	}
	file := filepath.Join(dir, "labels.jsonl")
	if err := os.WriteFile(file, []byte(exported), 0o600); err != nil {
		i.Fatal(err)
	}
	if listed := i.run("label", "list"); !strings.Contains(listed, "article h1 ham") {
		i.Errorf("listed:\n%s", listed)
	}
	i.run("label", "remove", "ham", "--article", "h1", "--only")
	if listed := i.run("label", "list"); strings.Contains(listed, "ham") {
		i.Errorf("listed once it was removed:\n%s", listed)
	}
	i.run("label", "import", file)
}

// A label on a contact that unlike texts share is on all of them and on a later one, until somebody
// says that the contact is harmless.
func TestLabelContact(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2, labelled+"fingerprint: {method: minhash}\n")
	one := w.start()
	one.waitLive()
	for i, text := range shares() {
		if got := one.carriedBy(fmt.Sprint("c", i), text); got != "" {
			t.Fatalf("%q carries %q", text, got)
		}
	}
	const contact = "number:+447700900123"
	of := func(label, action string) string {
		return `{"target":"contact","contact":"` + contact + `","label":"` + label + `","action":"` + action +
			`"}`
	}
	if status, err := one.post("/v1/labels", json.RawMessage(of("ham", "add")), nil); err != nil ||
		status != http.StatusNotFound {
		t.Errorf("a contact that no label has marked: %d, %v", status, err)
	}
	if listed := one.run("label", "contacts"); !strings.Contains(listed, contact+": 4 clusters") {
		t.Errorf("listed:\n%s", listed)
	}
	one.labels(of("spam", "add"))
	w.labelsDone()
	if got := w.corrected(); len(got) != 4 || got["c3"] != ":spam" {
		t.Errorf("told %v, want spam for all 4", got)
	}
	if got := one.checkedLabels(laterText); got != "spam" {
		t.Errorf("a check says %q", got)
	}
	if got := one.carriedBy("later", laterText); got != "spam" {
		t.Errorf("a later text carries %q", got)
	}
	w.eventually("the later text in the list", func() bool { // which is as of what is stored
		return strings.Contains(one.run("label", "list"), contact+" spam: 5 of 10 clusters")
	})
	one.kill()
	if err := os.RemoveAll(one.dir); err != nil {
		t.Fatal(err)
	}
	one = w.start()
	one.waitLive()
	one.labels(of("ham", "add"))
	w.labelsDone()
	for id, labels := range w.corrected() {
		if labels != ":" {
			t.Errorf("article %s was told %q once the contact was harmless", id, labels)
		}
	}
	exported := one.run("label", "export")
	for _, label := range []string{"spam", "ham"} {
		if !strings.Contains(exported, `{"target":"contact","contact":"`+contact+`","label":"`+label+`"`) {
			t.Errorf("exported:\n%s", exported)
		}
	}
	one.stop()
	w.audit()
}
