//go:build integration

package integration

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// The front page of examples/frontpage has what many write about first, each story once, and says
// of others' titles what they say. A story that becomes part of another stands there no more, one
// that expires neither, and what was aborted was never there. One that begins later writes the same
// page.
func TestFrontPage(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1, "")
	f := &frontPage{
		world: w, topic: w.group + ".stories", file: filepath.Join(w.dir, "front.html"),
		python: filepath.Join(w.venv(), "bin/python"),
	}
	w.configure(fmt.Sprintf("fingerprint: {method: minhash}\nstories: {topic: %s}\n", f.topic))
	w.Cleanup(func() {
		_, _ = w.admin.DeleteTopics(context.WithoutCancel(t.Context()), f.topic)
	})
	w.createTopic(f.topic, 3, "cleanup.policy", "compact")
	i := w.start()
	i.waitLive()
	const bridge = "The new bridge over the northern harbour opened to traffic this morning, after " +
		"four years of work. The first cars crossed at six."
	f.report("map", "herald", "Museum finds <b>lost</b> map", "A map of the old town, thought lost "+
		"since the flood, was behind a cupboard in the museum's cellar. It shows two streams.")
	f.report("bridge", "herald", "Harbour bridge opens to traffic", bridge)
	f.report("copy", "courier", "Harbour bridge opens to traffic", bridge)
	f.report("strike", "courier", "Bus drivers on strike", "Drivers of all lines stay away from work "+
		"on Monday. The union asks for longer breaks between shifts, and for toilets at the last stops.")
	w.done()
	f.open("--every", "1")
	f.shows("Harbour bridge opens to traffic", "Museum finds &lt;b&gt;lost&lt;/b&gt; map",
		"Bus drivers on strike")
	f.report("again", "gazette", "First cars cross the new harbour bridge", "Cars have crossed the "+
		"northern harbour by bridge since six this morning. The work took four years, one more than "+
		"the city had planned.")
	w.eventually("the third report of the bridge", func() bool {
		return strings.Contains(f.html(), "<b>3 publishers</b>, 3 articles in 2 write-ups, 3 within")
	})
	i.stop()

	stories := f.newest()
	bridgeID, mapID, strikeID := f.find(stories, "Harbour"), f.find(stories, "Museum"),
		f.find(stories, "Bus")
	stories[mapID]["merged_into"] = bridgeID
	merged, err := json.Marshal(stories[mapID])
	if err != nil {
		t.Fatal(err)
	}
	w.produce(&kgo.Record{Topic: f.topic, Key: []byte(mapID), Value: merged},
		&kgo.Record{Topic: f.topic, Key: []byte(strikeID)})
	w.abort(f.topic, strings.ReplaceAll(string(merged), "merged_into", "ghost"))
	f.shows("Harbour bridge opens to traffic")
	// More publishers than are told apart, as this version and earlier ones write it.
	for articles, more := range []string{
		`"publishers":64,"publishers_more":true,"articles":0`, `"publishers":"64+","articles":1`,
	} {
		delete(stories[bridgeID], "publishers")
		delete(stories[bridgeID], "articles")
		told, err := json.Marshal(stories[bridgeID])
		if err != nil {
			t.Fatal(err)
		}
		w.produce(&kgo.Record{
			Topic: f.topic, Key: []byte(bridgeID), Value: append([]byte("{"+more+","), told[1:]...),
		})
		w.eventually("more publishers", func() bool {
			return strings.Contains(f.html(), fmt.Sprintf("<b>64+ publishers</b>, %d article", articles))
		})
	}
	if page := f.html(); !strings.Contains(page, `<li id="`+bridgeID+`"><a id="`+mapID+`"></a>`) {
		t.Errorf("nothing leads from %s to %s:\n%s", mapID, bridgeID, page)
	}
	before := f.html()
	if err := os.Remove(f.file); err != nil {
		t.Fatal(err)
	}
	w.must(f.command("--every", "1", "--once")...)
	if after := f.html(); after != before {
		t.Errorf("another one writes\n%s\nwant\n%s", after, before)
	}
}

// frontPage is a running examples/frontpage.
type frontPage struct {
	*world
	topic, file, python string
}

func (f *frontPage) command(flags ...string) []string {
	return slices.Concat([]string{
		f.python, "../examples/frontpage/frontpage.py", "--brokers", strings.Join(f.addresses, ","),
		"--topic", f.topic, "--page", f.file,
	}, flags)
}

func (f *frontPage) open(flags ...string) { f.Helper(); f.begin("", f.command(flags...)...) }

// report sends an article.
func (f *frontPage) report(id, source, title, content string) {
	f.Helper()
	value, err := json.Marshal(map[string]any{
		"id": id, "source": source, "title": title, "content": content,
		"published_at": time.Now().UnixMilli(),
	})
	if err != nil {
		f.Fatal(err)
	}
	f.produce(&kgo.Record{Value: value})
}

// html returns the page, empty while there is none.
func (f *frontPage) html() string {
	f.Helper()
	page, err := os.ReadFile(f.file)
	if err != nil && !os.IsNotExist(err) {
		f.Fatal(err)
	}
	return string(page)
}

var headline = regexp.MustCompile(`<h2>(.*)</h2>`)

// shows waits until the page has these headlines and no others, those that weigh the same in any
// order.
func (f *frontPage) shows(want ...string) {
	f.Helper()
	f.eventually(fmt.Sprintf("the page to show %q", want), func() bool {
		var got []string
		for _, match := range headline.FindAllStringSubmatch(f.html(), -1) {
			got = append(got, match[1])
		}
		if len(got) == 0 || got[0] != want[0] {
			return false
		}
		slices.Sort(got)
		return slices.Equal(got, slices.Sorted(slices.Values(want)))
	})
}

// newest returns the newest record of each story.
func (f *frontPage) newest() map[string]map[string]any {
	f.Helper()
	stories := make(map[string]map[string]any)
	for _, r := range f.read(f.topic, kgo.ReadCommitted()) {
		var s map[string]any
		if err := json.Unmarshal(r.Value, &s); err != nil {
			f.Fatalf("%s: %v", r.Value, err)
		}
		stories[string(r.Key)] = s
	}
	return stories
}

// find returns the id of the story whose headline begins so.
func (f *frontPage) find(stories map[string]map[string]any, begins string) string {
	f.Helper()
	for id, s := range stories {
		title, _ := s["headline"].(map[string]any)["title"].(string)
		if strings.HasPrefix(title, begins) {
			return id
		}
	}
	f.Fatalf("no story begins with %q: %v", begins, stories)
	return ""
}
