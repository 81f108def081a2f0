//go:build integration

package integration

import (
	"context"
	"encoding/xml"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/clusterd/clusterd/internal/cli/demo/sample"
	"github.com/clusterd/clusterd/internal/testutil/golden"
)

// Forty feeds, as in docs/news.md: of what many of them write about in words of their own, and copy
// from one another, the front page has each event once, that with the most publishers first.
func TestFortyFeeds(t *testing.T) {
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
	i := w.start()
	i.waitLive()
	sites := fortySites()
	w.kcat(fetched(t, sites), "-P", "-t", w.input)
	w.done()
	f.open("--every", "1")
	f.eventually("the page", func() bool { return f.html() != "" })
	stories, page := f.newest(), f.html()
	for _, e := range events {
		title := e.reports[0].title
		s := stories[f.find(stories, title)]
		if s["publishers"] != float64(e.sites) || s["clusters"] != float64(len(e.reports)) {
			t.Errorf("%q has %v publishers and %v write-ups, want %d and %d", title, s["publishers"],
				s["clusters"], e.sites, len(e.reports))
		}
		if n := strings.Count(page, "<h2>"+title); n != 1 {
			t.Errorf("%q is %d times on the page", title, n)
		}
	}
	if top := headline.FindStringSubmatch(page); top == nil || top[1] != events[0].reports[0].title {
		t.Errorf("at the top is %q", top)
	}
	i.stop()
	chromium(t)
	shown := filepath.Join(t.TempDir(), "front.png")
	browse(t, f.file, "--screenshot="+shown, "--window-size=860,420")
	png, err := os.ReadFile(shown)
	if err != nil {
		t.Fatal(err)
	}
	golden.Picture(t, filepath.Join(pictures, "front.png"), png)
}

// fetched returns what examples/feeds reads of the sites, which a proxy stands for.
func fetched(t *testing.T, sites map[string]rss) []byte {
	t.Helper()
	proxy := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		feed, err := xml.Marshal(sites[r.URL.Host])
		if err != nil {
			t.Error(err)
		}
		_, _ = out.Write(feed)
	}))
	defer proxy.Close()
	var feeds strings.Builder
	for n := range len(sites) {
		fmt.Fprintf(&feeds, "http://%s/rss\n", siteName(n))
	}
	path := filepath.Join(t.TempDir(), "feeds.txt")
	if err := os.WriteFile(path, []byte(feeds.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "python3", "-B", "../examples/feeds/feeds.py", path)
	cmd.Env = append(os.Environ(), "http_proxy="+proxy.URL, "no_proxy=")
	cmd.Stderr = os.Stderr
	articles, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	return articles
}

// rss is a feed.
type rss struct {
	XMLName struct{} `xml:"rss"`
	Items   []item   `xml:"channel>item"`
}

type item struct {
	Title       string `xml:"title"`
	GUID        string `xml:"guid"`
	PubDate     string `xml:"pubDate"`
	Description string `xml:"description"`
}

func siteName(n int) string { return fmt.Sprintf("site-%02d.example", n+1) }

// fortySites returns forty feeds by their sites. Each has something of its own, and of some events
// one of the reports that there are of it.
func fortySites() map[string]rss {
	const sites = 40
	at := time.Date(2026, 11, 23, 6, 0, 0, 0, time.UTC)
	generator := sample.New(20, at)
	all := make(map[string]rss)
	add := func(site int, title, text string, after time.Duration) {
		name, published := siteName(site), at.Add(after).Format(time.RFC1123Z)
		feed := all[name]
		id := fmt.Sprint(name, "/", len(feed.Items))
		feed.Items = append(feed.Items, item{title, id, published, text})
		all[name] = feed
	}
	for site := range sites {
		a := generator.Next()
		for a.Kind != sample.Original {
			a = generator.Next()
		}
		add(site, a.Title, a.Content, time.Duration(site)*time.Minute)
	}
	for n, e := range events {
		for k := range e.sites {
			r := e.reports[k%len(e.reports)]
			add((7*n+k)%sites, r.title, r.text, time.Hour+time.Duration(n+2*k)*time.Minute)
		}
	}
	return all
}

// An event is what several sites write about. The earliest report has the headline.
type event struct {
	sites   int
	reports []writeUp
}

type writeUp struct{ title, text string }

var events = []event{
	{17, []writeUp{
		{
			"Harbour bridge of Port Merrow opens to traffic",
			"The new bridge over the northern harbour of Port Merrow opened to traffic on " +
				"Monday morning, after four years of work. The first cars crossed at six. The " +
				"ferries keep their timetable until spring.",
		},
		{
			"First cars cross the new bridge in Port Merrow",
			"Since six on Monday morning cars have crossed the northern harbour by bridge. " +
				"Building it took four years, one more than Port Merrow had planned, and cost " +
				"310 million. Commuters no longer need the ferries.",
		},
		{
			"Port Merrow celebrates its bridge",
			"With a brass band and fireworks Port Merrow has opened the bridge across its " +
				"northern harbour. The mayor, who had promised the bridge in her first campaign, " +
				"was in the first of the cars. Ferries still sail until spring.",
		},
	}},
	{11, []writeUp{
		{
			"Dam above Lake Tessel is leaking",
			"Engineers found a crack in the dam above Lake Tessel on Sunday night. Water is " +
				"leaking into the lower gallery. 2,300 people in the valley were told to be " +
				"ready to leave their homes.",
		},
		{
			"Tessel valley waits for engineers' verdict on the dam",
			"A crack in the dam has the valley below Lake Tessel worried. Engineers are " +
				"measuring how fast water is leaking into the gallery, and 2,300 people have " +
				"packed what they need to leave.",
		},
		{
			"Lake Tessel: water level to be lowered",
			"Because of the crack in its dam, the water of Lake Tessel is to be lowered by " +
				"four metres. Engineers say that leaking into the lower gallery has not become " +
				"faster. The valley stays on alert.",
		},
	}},
	{9, []writeUp{
		{
			"Orrin Foods recalls baby porridge",
			"Orrin Foods recalls its oat porridge for babies after bits of plastic were " +
				"found in two packs. Packs of the lot 4471 can be returned to any shop.",
		},
		{
			"Plastic in oat porridge: recall by Orrin",
			"Parents should not feed the oat porridge of lot 4471: the maker Orrin Foods has " +
				"found plastic in two packs, and recalls all of them. Shops take the packs back.",
		},
	}},
	{6, []writeUp{
		{
			"临江市博物馆找回失落百年的地图",
			"临江市博物馆在地下室的旧柜后面发现一幅失落百年的老城地图。地图上标出了两" +
				"条今天已在街道下面的河流，专家说它绘于洪水之前。",
		},
		{
			"失落百年的老城地图现身临江市",
			"一幅描绘老城河流的地图在临江市博物馆地下室重见天日。专家认为，这幅失落百" +
				"年的地图绘于那场洪水之前，博物馆明年将展出。",
		},
	}},
}
