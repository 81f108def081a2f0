//go:build integration

package integration

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"
)

// joining is a configuration of comments as the version before knew it.
const joining = noLinger + `text: {fold: true}
fingerprint: {method: minhash}
contacts: {join: true, limit: 1000}
labels: {topic: LABELS, corrections: CORRECTIONS}
serve: {bytes: 64MiB}
`

// Texts of comments: an advert, a copy of it, and one in other words with the same contact.
const (
	seller  = "maria17" // nobody else in the test names them
	watches = "cheap watches, the best watches of the whole world, write to Telegram @" +
		seller + " at once"
	lottery = "you are the lucky winner of the great lottery of this summer, ask on Telegram @" +
		seller
	lessons = "piano lessons for grown people by a patient teacher, WhatsApp +44 7700 900123 any day"
	bicycle = "my old bicycle is for sale with two new wheels and a bell, WhatsApp +44 7700 900123"
	garden  = "the garden of my neighbour is full of wonderful flowers that smell of honey in June"
)

// An installation that joins by contacts and has labels goes over under load: clusters, ids and
// labels stay, and the labels mark contacts. The version before does not take over again. The way
// back is a migration.
func TestRollingUpgradeWithLabels(t *testing.T) {
	t.Parallel()
	former := versionBefore(t)
	w := newWorld(t, 2, joining)
	stream := w.stream(perSecond)
	w.program = former
	owner := w.start()
	owner.waitLive()
	standby := w.start()
	standby.waitStandby()
	w.posts("watches", watches)
	w.commented("watches") // it founds the cluster that the lottery joins
	w.posts("lottery", lottery)
	w.posts("lessons", lessons)
	before := w.commented("watches", "lottery", "lessons")
	if before["watches"].ClusterID != before["lottery"].ClusterID {
		t.Fatalf("the version before did not join by a contact: %+v", before)
	}
	w.click(before["watches"].ClusterID)
	w.click(before["lessons"].ClusterID)
	w.toldOf("lessons")

	// The new version says what to do, and disturbs nothing.
	w.program = ""
	refused := w.start()
	refused.fails("fold was 1 and is 2")
	refused.fails("Set text.fold: 1 to go on with these clusters")
	w.replace("fold: true", "fold: 1")
	fresh := w.start()
	fresh.waitStandby()
	fresh.waitFor("contacts.limit: is ignored")
	w.progress(w.consumed() + 100)
	owner.kill()
	standby.kill()
	fresh.waitLive()
	fresh.waitFor("labels of the version before mark the contacts of their clusters now")
	w.posts("watches again", watches)
	w.posts("lottery again", strings.ReplaceAll(lottery, "summer", "autumn and of all the holidays"))
	w.posts("bicycle", bicycle)
	w.marked("name:" + seller)
	w.checkUpgraded(before["watches"].ClusterID)

	// The version before stops, and the new one goes on.
	w.program = former
	w.replace("fold: 1", "fold: true")
	w.start().fails("it was made in another way")
	w.program = ""
	w.replace("fold: true", "fold: 1")
	w.progress(w.consumed() + 100)
	stream.stop()
	w.done()
	w.labelsDone()
	fresh.stop()
	w.auditAlone()
	w.goBack(former)
}

// Without contacts, too, the version before does not go on with labels of this one: it would lose
// what labels have marked once contacts are switched on.
func TestUpgradeWithLabelsAlone(t *testing.T) {
	t.Parallel()
	former := versionBefore(t)
	w := newWorld(t, 1, noLinger+"labels: {topic: LABELS, corrections: CORRECTIONS}\n"+
		"serve: {bytes: 64MiB}\n")
	w.program = former
	old := w.start()
	old.waitLive()
	w.posts("watches", watches)
	founder := w.commented("watches")["watches"].ClusterID
	w.click(founder)
	w.toldOf("watches")
	old.stop()
	w.program = ""
	fresh := w.start()
	w.posts("again", watches)
	r := w.commented("again")["again"]
	if r.ClusterID != founder || !slices.Equal(r.Labels, []string{"spam"}) {
		t.Errorf("the label is not carried on: %+v", r)
	}
	w.program = former
	w.start().fails("not a checkpoint of this clusterd: version 2, and this one writes 1")
	fresh.stop()
	w.auditAlone()
}

// posts sends a text with its own id. All that it sends are in order.
func (w *world) posts(id, text string) {
	w.Helper()
	value, _ := json.Marshal(map[string]any{"id": id, "content": text, "source": "a.example"})
	w.produce(&kgo.Record{Key: []byte("comments"), Value: value})
}

// click puts the label spam on a cluster.
func (w *world) click(cluster string) {
	w.Helper()
	w.produce(&kgo.Record{Topic: w.labels, Key: []byte(cluster), Value: fmt.Appendf(nil,
		`{"cluster_id":%q,"label":"spam","by":"alice"}`, cluster)})
}

// commented waits for the results of texts.
func (w *world) commented(ids ...string) (found map[string]labelledResult) {
	w.Helper()
	w.eventually(fmt.Sprintf("results of %q", ids), func() bool {
		found = w.byText()
		return !slices.ContainsFunc(ids, func(id string) bool { return found[id].ClusterID == "" })
	})
	return found
}

// toldOf waits for a correction of a text.
func (w *world) toldOf(id string) {
	w.Helper()
	w.eventually("a correction of "+id, func() bool {
		return slices.ContainsFunc(w.read(w.corrections, kgo.ReadCommitted()),
			func(r *kgo.Record) bool { return strings.Contains(string(r.Value), fmt.Sprintf("%q", id)) })
	})
}

// marked waits until the click of before has marked a contact.
func (w *world) marked(contact string) {
	w.Helper()
	w.eventually("a mark on "+contact, func() bool {
		for _, r := range w.read(w.clusters, kgo.ReadCommitted()) {
			var v struct {
				Marks []struct {
					Label   string
					Clicks  int
					Clicked []struct{ By string }
				}
			}
			if string(r.Key) != "contact:all/"+contact || json.Unmarshal(r.Value, &v) != nil {
				continue
			}
			if m := v.Marks; len(m) != 1 || m[0].Label != "spam" || m[0].Clicks != 1 ||
				m[0].Clicked[0].By != "alice" {
				w.Fatalf("the marks of %s are %s", contact, r.Value)
			}
			return true
		}
		return false
	})
}

// checkUpgraded says what became of the comments after the upgrade: texts alone make clusters, and
// a click of before labels by a contact. A number of before marks nothing: it may be several.
func (w *world) checkUpgraded(watchesID string) {
	w.Helper()
	got := w.commented("watches again", "lottery again", "bicycle")
	for id, want := range map[string]labelledResult{
		"watches again": {ClusterID: watchesID, Labels: []string{"spam"}},
		"lottery again": {Labels: []string{"spam"}},
		"bicycle":       {},
	} {
		r := got[id]
		if want.ClusterID != "" && r.ClusterID != want.ClusterID || !slices.Equal(r.Labels, want.Labels) {
			w.Errorf("%s: cluster %s with labels %q, want %s with %q", id, r.ClusterID, r.Labels,
				want.ClusterID, want.Labels)
		}
	}
	if got["lottery again"].ClusterID == watchesID {
		w.Errorf("an article joined %s by a contact", watchesID)
	}
}

// goBack has the version before work again, in a space of its own that the results are switched to.
// Each article has one result.
func (w *world) goBack(former string) {
	w.Helper()
	back := w.beside("back.yaml", w.group+"-back", "-"+w.group+"-back")
	w.migrate("plan", "-c", w.config, "-o", back.config, "--group", back.group,
		"--set", "text.fold=true", "--set", "state.dir=${CLUSTERD_TEST_DIR:unused}",
		"--set", "http.listen=${CLUSTERD_TEST_LISTEN:}")
	back.program = former
	beside := back.start()
	back.done()
	p := w.begin("", binary, "migrate", "switch", w.config, back.config,
		"-o", filepath.Join(w.dir, "old-again.yaml"))
	w.eventually("the switch has appended", func() bool {
		return strings.Contains(p.said.String(), "Stop the instances")
	})
	beside.stop()
	if err := <-p.exited; err != nil || !strings.Contains(p.said.String(), "Done") {
		w.Fatalf("switch: %v\n%s", err, p.said.String())
	}
	again := w.beside("old-again.yaml", back.group, "")
	again.program = former
	running := again.startIn(beside.dir)
	again.posts("garden", garden)
	again.commented("garden")
	again.done()
	running.stop()
	seen := make(map[string]int)
	for _, r := range w.read(w.output, kgo.ReadCommitted()) {
		seen[header(r, "clusterd.source")]++
	}
	for p, end := range w.ends(w.input) {
		for offset := range end {
			if at := (source{w.input, p, offset}).String(); seen[at] != 1 {
				w.Errorf("%s came out %d times", at, seen[at])
			}
		}
	}
}
