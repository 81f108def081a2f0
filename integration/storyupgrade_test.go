//go:build integration

package integration

import (
	"fmt"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"
)

// binaryStories is the last revision that wrote the state of stories in a binary form alone.
const binaryStories = "98ca1e1"

// This clusterd takes over the stories of an earlier one. The earlier one does not go on with
// stories of this one: it names the record that it cannot read, and ends, also while it stands by.
// Nothing is lost.
func TestStoriesOfBefore(t *testing.T) {
	t.Parallel()
	former := versionOf(t, binaryStories)
	w := newWorld(t, 1, noLinger+"labels: {topic: LABELS}\nstories: {topic: STORIES}\n"+
		"fingerprint: {method: minhash}\n")
	w.program = former
	old := w.start()
	old.waitLive()
	w.report("a", "Bridge collapses in Eastholm", "The old bridge over the harbour of Eastholm fell "+
		"on Monday after the storm. Engineers inspect the pillars, and the mayor asks for calm.")
	w.report("b", "Mayor visits collapsed bridge of Eastholm", "Where the harbour bridge collapsed "+
		"after the storm, engineers told the mayor of Eastholm that the pillars had been weak.")
	w.report("c", "Chess champion wins final round", "The champion beat her rival with a sacrifice "+
		"of a rook in the last round of the tournament, and keeps the title for another year.")
	w.done()
	standby := w.start()
	standby.waitStandby()
	bridge := "/v1/stories/" + w.input + "/0/0"
	before := old.page(bridge)

	w.program = ""
	fresh := w.start()
	fresh.waitStandby()
	old.kill()
	standby.stop()
	fresh.waitLive()
	if after := fresh.page(bridge); after != before {
		t.Errorf("after the upgrade:\n%s\nbefore:\n%s", after, before)
	}
	w.program = former
	back := []*instance{w.startIn(standby.dir), w.startIn(w.otherDir())}
	for _, i := range back {
		i.waitStandby()
	}
	w.report("d", "Bridge of Eastholm to be built anew", "After the storm in which the bridge of the "+
		"harbour collapsed, the mayor of Eastholm and engineers want new pillars by next year.")
	w.done()
	back = append(back, w.startIn(t.TempDir())) // it reads the topic from its beginning
	for _, i := range back {
		i.fails("not a story: version 123, and this clusterd reads 1")
		i.fails(fmt.Sprintf("%s/0/", w.clusters))
	}
	if told := fresh.story(w.input + "/0/0"); told.Story.Articles != 3 {
		t.Errorf("the story goes on as %+v", told)
	}
	w.program = ""
	fresh.kill()
	again := w.startIn(t.TempDir())
	again.waitLive()
	if told := again.story(w.input + "/0/0"); told.Story.Articles != 3 {
		t.Errorf("after another death the story is %+v", told)
	}
	again.stop()
	w.auditAlone()
}

// report sends an article with a title.
func (w *world) report(id, title, content string) {
	w.Helper()
	w.produce(&kgo.Record{Value: fmt.Appendf(nil,
		`{"id":%q,"title":%q,"content":%q,"source":"paper-%s"}`, id, title, content, id)})
}
