//go:build integration

package integration

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// A text that was erased is nowhere in what clusterd keeps, though it was killed before, while or
// after the record was applied: not in the newest records of the clusters topic, the answers, later
// results, the disk, or a snapshot. The audit agrees.
func TestErase(t *testing.T) {
	t.Parallel()
	random := seeded(t)
	w := newWorld(t, 1, labelled+"cluster: {window: 24h}\n")
	i := w.start()
	i.waitLive()
	for round := range 6 {
		// Each text is like no other, and begins with what is looked for.
		secret, id := fmt.Sprintf("quartz%dzebra", round), fmt.Sprintf("victim-%d", round)
		text := secret + " call 07700 900123"
		for range 40 {
			text += fmt.Sprintf(" %c%c%c%c", 'a'+random.IntN(26), 'a'+random.IntN(26),
				'a'+random.IntN(26), 'a'+random.IntN(26))
		}
		w.tells(id, text)
		w.tells(id+"-copy", text)
		founder := w.newest(id)
		if !w.keeps(secret) {
			t.Fatalf("%s is not kept in the first place", secret)
		}
		w.eventually("the text in the list of clusters", func() bool { // it is as of a second ago
			return strings.Contains(i.page("/v1/clusters?limit=200"), secret)
		})
		if round == 0 {
			i.eraseByVerb(id, founder)
		} else {
			i = w.erasesWhileKilled(i, round, random, founder, fmt.Sprintf(
				`{"action":"erase","target":"article","cluster_id":%q,"source":%q}`, founder, founder))
		}
		w.isGone(i, secret, id)
		w.findsAgain(text, secret, id)
	}
	w.nothingIsLeft(i)
}

// erasesWhileKilled writes a record that erases something, while the instance runs or is away. The
// instance is killed before, while or after it applies the record, and started again.
func (w *world) erasesWhileKilled(
	i *instance, round int, random *rand.Rand, key, value string,
) *instance {
	w.Helper()
	away := round%2 == 1
	if away {
		i.kill()
	}
	w.produce(&kgo.Record{Topic: w.labels, Key: []byte(key), Value: []byte(value)})
	if away {
		i = w.startIn(i.dir)
	}
	time.Sleep(time.Duration(random.IntN(60)) * time.Millisecond)
	i.kill()
	i = w.startIn(i.dir)
	w.labelsDone()
	i.waitLive()
	return i
}

// nothingIsLeft ends an instance. It holds the instance's disk and a snapshot to have nothing of
// what was erased, and the topics to the audit.
func (w *world) nothingIsLeft(i *instance) {
	w.Helper()
	snapshot := filepath.Join(w.dir, "backup")
	w.runsWell("", "state export", snapshot, "--work", filepath.Join(w.dir, "work"))
	if found := holding(w.T, snapshot, "zebra"); found != "" {
		w.Errorf("%s of the snapshot has what was erased", found)
	}
	w.eventually("nothing that was erased is left on the disk", func() bool {
		return holding(w.T, i.dir, "zebra") == ""
	})
	i.stop()
	w.audit()
}

// private is a configuration of labels and contacts in which no text is kept, so that a contact
// stands nowhere but where contacts stand.
const private = noLinger + `contacts: {join: true}
labels: {topic: LABELS, corrections: CORRECTIONS}
serve: {bytes: 64MiB}
cluster: {window: 24h}
`

// A contact that was erased is nowhere in what clusterd keeps, though it was killed before, while
// or after the record was applied. Labels stay, also those that came by the contact. The audit
// agrees.
func TestEraseContact(t *testing.T) {
	t.Parallel()
	random := seeded(t)
	w := newWorld(t, 1, private)
	w.replace("output: {", "output: {excerpt: 0, ")
	i := w.start()
	i.waitLive()
	for round := range 4 {
		contact := fmt.Sprintf("mail:quartz%dzebra@example.org", round)
		labelled := w.marks(contact, round, random)
		if !w.keeps(contact) || !strings.Contains(i.page("/v1/contacts"), contact) {
			t.Fatalf("%s is not kept in the first place", contact)
		}
		if round == 0 {
			i.erasesContact(contact)
		} else {
			i = w.erasesWhileKilled(i, round, random, contact,
				fmt.Sprintf(`{"action":"erase","target":"contact","contact":%q}`, contact))
		}
		w.contactIsGone(i, contact, labelled)
	}
	w.nothingIsLeft(i)
}

// Where each value of a field has contacts of its own, a contact is erased for one value, though
// nothing may have it any more by which the space is found.
func TestEraseContactOfAValue(t *testing.T) {
	t.Parallel()
	const contact = "mail:quartzzebra@example.org"
	w := newWorld(t, 3, strings.Replace(private, "window: 24h",
		"scope: field, scope_field: 'header:tenant', window: 24h", 1))
	w.replace("output: {", "output: {excerpt: 0, ")
	i := w.start()
	i.waitLive()
	tenants := []string{"alpha", "beta", "gamma"}
	for _, tenant := range tenants {
		text := strings.Repeat("words of "+tenant+" ", 30) + strings.TrimPrefix(contact, "mail:")
		w.produce(&kgo.Record{
			Key:     []byte(tenant),
			Value:   fmt.Appendf(nil, `{"id":%q,"content":%q,"source":"a.example"}`, tenant, text),
			Headers: []kgo.RecordHeader{{Key: "tenant", Value: []byte(tenant)}},
		})
	}
	w.done()
	for n, tenant := range tenants {
		for range 2 { // the second time there is nothing to erase
			i.erasesContact(contact, "--space", tenant)
		}
		newest := make(map[string]string)
		for _, r := range w.read(w.clusters, kgo.ReadCommitted()) {
			newest[string(r.Key)] = string(r.Value)
		}
		for m, other := range tenants {
			if has := strings.Contains(newest[w.newest(other)], contact); has != (m > n) {
				t.Errorf("after %s: the cluster of %s has the contact: %t", tenant, other, has)
			}
		}
	}
	w.nothingIsLeft(i)
}

// marks has nine unlike texts name a contact, and labels the first. It returns the clusters that
// have the label then, of which all but the first have it by the contact.
func (w *world) marks(contact string, round int, random *rand.Rand) (labelled []string) {
	w.Helper()
	const first, others = 1, 8
	for n := range first + others {
		text := ""
		for range 60 {
			text += fmt.Sprintf("%c%c%c%c ", 'a'+random.IntN(26), 'a'+random.IntN(26),
				'a'+random.IntN(26), 'a'+random.IntN(26))
		}
		w.tells(fmt.Sprintf("%d-%d", round, n), text+strings.TrimPrefix(contact, "mail:"))
		if n == 0 {
			labelled = append(labelled, w.newest(fmt.Sprintf("%d-0", round)))
			w.produce(&kgo.Record{Topic: w.labels, Key: []byte(labelled[0]), Value: fmt.Appendf(nil,
				`{"cluster_id":%q,"label":"spam"}`, labelled[0])})
			w.labelsDone()
		} else if n <= 6 { // as far as a click reaches
			labelled = append(labelled, w.newest(fmt.Sprintf("%d-%d", round, n)))
		}
	}
	return labelled
}

// erasesContact erases a contact by clusterd erase.
func (i *instance) erasesContact(contact string, more ...string) {
	i.Helper()
	arguments := append([]string{
		"erase", "--contact", contact, "--note", "asked by mail", "--server", "http://" + i.listen,
	}, more...)
	out, err := exec.Command(binary, arguments...).CombinedOutput()
	if err != nil || string(out) != "erase "+contact+": done\n" {
		i.Fatalf("%v: %s", err, out)
	}
}

// contactIsGone holds all that is kept and told of a contact to be without it, and clusters to have
// their labels.
func (w *world) contactIsGone(i *instance, contact string, labelled []string) {
	w.Helper()
	if w.keeps(contact) {
		w.Errorf("%s is in the newest records of the clusters topic", contact)
	}
	paths := []string{"/v1/clusters?limit=200", "/v1/labels", "/v1/contacts", "/v1/stats"}
	for _, cluster := range labelled {
		paths = append(paths, "/v1/clusters/"+cluster, "/v1/clusters/"+cluster+"/members")
		w.eventually(cluster+" with its label", func() bool {
			return strings.Contains(i.page("/v1/clusters/"+cluster), `"label":"spam"`)
		})
	}
	for _, path := range paths {
		w.eventually(path+" without "+contact, func() bool {
			answer := i.page(path)
			return answer != "" && !strings.Contains(answer, contact)
		})
	}
	if last := i.page("/v1/clusters/" + labelled[len(labelled)-1]); !strings.Contains(last, `"contact":"erased:`) {
		w.Errorf("the label is not by an erased contact: %s", last)
	}
}

// tells sends an article without a title, and waits for its result.
func (w *world) tells(id, text string) {
	w.Helper()
	value, err := json.Marshal(map[string]string{"id": id, "content": text, "source": "a.example"})
	if err != nil {
		w.Fatal(err)
	}
	w.produce(&kgo.Record{Value: value})
	w.done()
}

// newest returns the cluster of the newest result of an article.
func (w *world) newest(id string) (cluster string) {
	w.Helper()
	for _, r := range w.read(w.output, kgo.ReadCommitted()) {
		var v struct {
			ID      string `json:"article_id"`
			Cluster string `json:"cluster_id"`
		}
		if json.Unmarshal(r.Value, &v) == nil && v.ID == id {
			cluster = v.Cluster
		}
	}
	return cluster
}

// keeps reports whether a newest record of the clusters topic has a text: what compaction leaves.
func (w *world) keeps(text string) bool {
	w.Helper()
	newest := make(map[string]string)
	for _, r := range w.read(w.clusters, kgo.ReadCommitted()) {
		newest[string(r.Key)] = string(r.Value)
	}
	for key, value := range newest {
		if strings.HasPrefix(key, "story:") {
			var state struct{ State []byte }
			if err := json.Unmarshal([]byte(value), &state); err == nil {
				value = string(state.State)
			}
		}
		if strings.Contains(value, text) {
			return true
		}
	}
	return false
}

// eraseByVerb erases an article by clusterd erase.
func (i *instance) eraseByVerb(id, founder string) {
	i.Helper()
	var out []byte
	var err error
	// The view of the results, which knows the article, may still be reading.
	i.eventually("the view of the results", func() bool {
		out, err = exec.Command(binary, "erase", "--article", id, "--note", "asked by mail", "--server",
			"http://"+i.listen).CombinedOutput()
		return !strings.Contains(string(out), "this instance is not ready to answer")
	})
	if err != nil || string(out) != "erase "+founder+": done\n" {
		i.Fatalf("%v: %s", err, out)
	}
}

// isGone holds all that is kept and told of a text to be without it.
func (w *world) isGone(i *instance, secret, id string) {
	w.Helper()
	if w.keeps(secret) {
		w.Errorf("%s is in the newest records of the clusters topic", secret)
	}
	cluster := w.newest(id)
	for _, path := range []string{
		"/v1/clusters?limit=200", "/v1/clusters/" + cluster, "/v1/clusters/" + cluster + "/members",
		"/v1/articles/" + id, "/v1/labels", "/v1/stories", "/v1/stats",
	} {
		w.eventually(path+" without "+secret, func() bool {
			answer := i.page(path)
			return answer != "" && !strings.Contains(answer, secret)
		})
	}
}

// findsAgain sends a further copy: it joins the cluster as ever, and its result tells nothing.
func (w *world) findsAgain(text, secret, id string) {
	w.Helper()
	again := id + "-again"
	w.tells(again, text)
	if got, want := w.newest(again), w.newest(id); got != want {
		w.Errorf("a copy is in cluster %s, want %s", got, want)
	}
	for _, r := range w.read(w.output, kgo.ReadCommitted()) {
		if strings.Contains(string(r.Value), again) && strings.Contains(string(r.Value), secret) {
			w.Errorf("a later result has %s: %s", secret, r.Value)
		}
	}
}

// holding returns the first file below dir that has a text, empty for none.
func holding(t *testing.T, dir, text string) (name string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || name != "" {
			return nil // files come and go
		}
		if content, err := os.ReadFile(path); err == nil && strings.Contains(string(content), text) {
			name = path
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return name
}
