//go:build integration

package integration

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"
)

// toldStory is what /v1/stories says of one.
type toldStory struct {
	Story struct {
		StoryID   string `json:"story_id"`
		Clusters  int    `json:"clusters"`
		Articles  int    `json:"articles"`
		SplitFrom string `json:"split_from"`
		Headline  struct{ Title string }
	} `json:"story"`
	Merged   string `json:"merged"`
	Clusters []struct {
		ClusterID string `json:"cluster_id"`
		StoryID   string `json:"story_id"`
	} `json:"clusters"`
}

func (i *instance) story(id string) (told toldStory) {
	i.Helper()
	if err := json.Unmarshal([]byte(i.page("/v1/stories/"+id)), &told); err != nil {
		i.Fatalf("story %s: %v", id, err)
	}
	return told
}

// Stories are made of texts in words of their own, told of over HTTP, merged, taken apart and split
// by hand, and the same after a death that took the disk along; the audit agrees.
func TestStories(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1, noLinger+"labels: {topic: LABELS}\nstories: {topic: STORIES}\n"+
		"fingerprint: {method: minhash}\n")
	running := w.start()
	running.waitLive()
	say := func(id, title, content string) {
		value, err := json.Marshal(map[string]string{
			"id": id, "title": title, "content": content, "source": "paper-" + id,
		})
		if err != nil {
			t.Fatal(err)
		}
		w.produce(&kgo.Record{Value: value})
	}
	const bridge = "The old bridge over the harbour of Eastholm collapsed on Monday after the " +
		"storm. Engineers inspect the pillars, and the mayor asks for calm."
	say("a", "Bridge collapses in Eastholm", bridge)
	const visit = "Where the harbour bridge collapsed after the storm, engineers told the mayor of " +
		"Eastholm on Tuesday that the pillars had been weak."
	say("b", "Mayor visits collapsed bridge of Eastholm", visit)
	say("c", "Chess champion wins final round", "The champion beat her rival with a sacrifice of a "+
		"rook in the last round of the tournament, and keeps the title for another year.")
	say("d", "Bridge collapses in Eastholm", bridge)
	w.done()
	id := func(offset int) string { return fmt.Sprintf("%s/0/%d", w.input, offset) }
	told := running.story(id(0))
	if told.Story.Articles != 3 || told.Story.Clusters != 2 || len(told.Clusters) != 2 ||
		told.Story.Headline.Title != "Bridge collapses in Eastholm" {
		t.Errorf("the story of the bridge: %+v", told)
	}
	post := func(path, body string) {
		response, err := http.Post("http://"+running.listen+path, "application/json",
			strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		if answer, _ := io.ReadAll(response.Body); response.StatusCode != 200 {
			t.Fatalf("%s: %s %s", path, response.Status, answer)
		}
	}
	post("/v1/stories/"+id(0)+"/split", fmt.Sprintf(`{"cluster_id":%q}`, id(1)))
	if told := running.story(id(1)); told.Story.SplitFrom != id(0) || told.Story.Articles != 1 {
		t.Errorf("what was split off: %+v", told)
	}
	post("/v1/stories/"+id(2)+"/merge", fmt.Sprintf(`{"other":%q}`, id(0)))
	if told := running.story(id(2)); told.Merged != id(2) || told.Story.StoryID != id(0) ||
		told.Story.Articles != 3 || len(told.Clusters) != 2 {
		t.Errorf("what was merged: %+v", told)
	}
	post("/v1/stories/"+id(0)+"/merge", fmt.Sprintf(`{"other":%q}`, id(1)))
	say("g", "Mayor visits collapsed bridge of Eastholm", visit)
	w.done()
	if told := running.story(id(1)); told.Story.StoryID != id(0) || told.Story.Articles != 5 ||
		len(told.Clusters) != 3 {
		t.Errorf("what is one again: %+v", told)
	}
	before := running.page("/v1/stories/" + id(0))
	running.kill()
	w.startIn(w.otherDir()).waitLive() // a disk of its own
	again := w.instances[len(w.instances)-1]
	if after := again.page("/v1/stories/" + id(0)); after != before {
		t.Errorf("after the death:\n%s\nbefore:\n%s", after, before)
	}
	say("e", "Chess champion interviewed", "After the sacrifice of the rook in the last round of the "+
		"tournament, the champion says that her rival had expected it, and that the title is hers.")
	say("f", "Mayor visits collapsed bridge of Eastholm", visit)
	w.done()
	// What was merged by hand can be undone, in the other order and after the death, with the articles
	// that came since. What founded a cluster of the whole stays.
	running = again
	post("/v1/stories/"+id(2)+"/unmerge", fmt.Sprintf(`{"other":%q}`, id(0)))
	if told := again.story(id(2)); told.Story.StoryID != id(2) || told.Story.Articles != 1 ||
		told.Story.Headline.Title != "Chess champion wins final round" {
		t.Errorf("chess by itself: %+v", told)
	}
	if told := again.story(id(0)); told.Story.Articles != 6 || len(told.Clusters) != 3 {
		t.Errorf("the bridge without chess: %+v", told)
	}
	post("/v1/stories/"+id(0)+"/unmerge", fmt.Sprintf(`{"other":%q}`, id(1)))
	if told := again.story(id(1)); told.Story.StoryID != id(1) || told.Story.Articles != 3 {
		t.Errorf("the mayor's visit by itself: %+v", told)
	}
	before = again.page("/v1/stories/" + id(0))
	again.kill()
	w.startIn(w.otherDir()).waitLive()
	again = w.instances[len(w.instances)-1]
	if after := again.page("/v1/stories/" + id(0)); after != before {
		t.Errorf("after the second death:\n%s\nbefore:\n%s", after, before)
	}
	again.stop()
	w.audit()
}

// Stories that the version before merged by hand stay merged, since it kept nothing to undo that.
// Merges of this version can be undone. The audit knows both. The version before does not go on
// from there, and says why.
func TestStoriesOfTheVersionBefore(t *testing.T) {
	t.Parallel()
	former := versionBefore(t)
	w := newWorld(t, 1, noLinger+"labels: {topic: LABELS}\nstories: {topic: STORIES}\n"+
		"fingerprint: {method: minhash}\n")
	w.program = former
	running := w.start()
	running.waitLive()
	texts := []string{
		"The council of Northby has voted for a new school next to the old mill, by nine to four.",
		"A storm has torn the roof off the market hall of Southby, and nobody was hurt in the night.",
		"The museum of Westby shows clocks from three centuries, among them one that was never wound.",
	}
	say := func(which int) {
		value, err := json.Marshal(map[string]string{"content": texts[which]})
		if err != nil {
			t.Fatal(err)
		}
		w.produce(&kgo.Record{Value: value})
		w.done()
	}
	for i := range texts {
		say(i)
	}
	id := func(offset int) string { return fmt.Sprintf("%s/0/%d", w.input, offset) }
	do := func(what string, other, want int) {
		t.Helper()
		status, err := running.post("/v1/stories/"+id(0)+"/"+what, map[string]string{"other": id(other)},
			new(any))
		if err != nil || status != want {
			t.Errorf("%s of %s: %d, %v; want %d", what, id(other), status, err, want)
		}
	}
	articles := func(of int, whole, want int) {
		t.Helper()
		if told := running.story(id(of)); told.Story.StoryID != id(whole) || told.Story.Articles != want {
			t.Errorf("story %d: %+v; want %s with %d articles", of, told.Story, id(whole), want)
		}
	}
	do("merge", 1, 200)
	say(1)
	running.stop()

	w.program = ""
	running = w.startIn(running.dir)
	running.waitLive()
	say(1)
	articles(1, 0, 4)
	do("unmerge", 1, 422)
	do("merge", 2, 200)
	say(2)
	articles(2, 0, 6)
	do("unmerge", 2, 200)
	articles(2, 2, 2)
	articles(1, 0, 4)
	say(2)
	articles(2, 2, 3)
	running.stop()
	w.auditAlone()

	w.program = former
	w.startIn(running.dir).fails("not a story: version")
}
