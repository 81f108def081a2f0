//go:build integration

package integration

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/clusterd/clusterd/internal/testutil/golden"
)

// paged has labels, publishers and members, by the method that those who are new take.
const paged = noLinger + `fingerprint: {method: minhash}
signals: {enabled: true, window: 1h}
labels: {topic: LABELS, corrections: CORRECTIONS}
serve: {bytes: 64MiB}
`

// A wave is a made-up text that many publish.
type wave struct {
	title, content string
	copies         int
}

// waves are what the pictures show, and at last what is to do harm.
func waves() []wave {
	return []wave{
		{"Harbour bridge opens after four years of work", "The new bridge over the northern harbour " +
			"opened to traffic this morning after four years of work. The mayor crossed it on foot " +
			"before the first buses did.", 14},
		{"台风登陆，沿海列车停运", "台风今晨在东部沿海登陆，铁路部门宣布沿海各线列车全部停运，预计明日下午恢复。" +
			"气象台提醒居民减少外出，注意防范强降雨。", 11},
		{"Best watches in town, all brands at half the price!", "Best watches in town, all brands at " +
			"half the price! Ask for the list, we deliver within two days everywhere.", 23},
		{"City library lends garden tools", "From next month on the city library lends spades, rakes " +
			"and hedge shears to everybody with a card, for two weeks at a time.", 6},
		{"加盟奶茶店，三个月回本", "加盟奶茶店，三个月回本，总部全程扶持，名额有限，先到先得，详情请私信店长。", 17},
		{"Night trains return to the mountain line", "After ten years night trains run on the mountain " +
			"line again. Tickets for the first week were gone within an hour.", 4},
		{`<script>alert(1)</script><img src=x onerror=alert(1)>`, "One writes markup where a title " +
			"should be, and hopes that somebody's browser runs it when it is shown.", 3},
		{"Invoice \u202etxt.exe\u202c " + strings.Repeat("W", 500), "Another turns the direction of a " +
			"name around, so that it reads like something else than it is.", 2},
	}
}

// publish sends copies of waves, some of them edited, spread over the last forty minutes.
func (w *world) publish(all []wave) {
	w.Helper()
	now := time.Now()
	for round := range 23 {
		var records []*kgo.Record
		for i, c := range all {
			if round >= c.copies {
				continue
			}
			content := c.content
			if round%3 == 2 {
				content = strings.Replace(content, ".", ". (Updated)", 1)
			}
			value, err := json.Marshal(map[string]any{
				"id": fmt.Sprintf("c%d-%d", i, round), "title": c.title, "content": content,
				"source":       fmt.Sprintf("site-%d.example", round%9),
				"published_at": now.Add(time.Duration(round*round/13-40) * time.Minute),
			})
			if err != nil {
				w.Fatal(err)
			}
			records = append(records, &kgo.Record{Topic: w.input, Value: value})
		}
		w.produce(records...)
		w.consume()
	}
	w.done()
}

// consume waits until what was sent is committed, so that it has its own minute in the pictures.
func (w *world) consume() {
	w.Helper()
	w.eventually("consumed", func() bool {
		sent := int64(0)
		for _, end := range w.ends(w.input) {
			sent += end
		}
		return w.consumed() >= sent
	})
}

// pictures are in the documents.
const pictures = "../docs/images"

func (b *browser) picture(name string) {
	b.Helper()
	png, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
	if err != nil {
		b.Fatal(err)
	}
	golden.Picture(b.T, filepath.Join(pictures, name+".png"), png)
}

// A moderator and a news desk look at an instance, in a real browser: nothing that others wrote
// runs, no page is wider than a phone, and a key labels a campaign.
func TestPage(t *testing.T) {
	w := newWorld(t, 1, paged)
	i := w.start()
	i.waitLive()
	w.publish(waves())
	b := i.browse()
	b.axe = w.axe()
	b.look(1280, "light")
	b.open("/")
	b.until("the lists are there", `document.querySelectorAll(".row").length >= 16`)
	if got := value[int](b, `document.querySelectorAll("main script, main img").length`); got > 0 {
		t.Errorf("%d elements of others are in the page", got)
	}
	cluster := value[string](b,
		`[...document.querySelectorAll(".row")].find(
			r => r.textContent.includes("watches")).querySelector("a.title").pathname`)
	w.eventually("the members are there", func() bool {
		return value[bool](b, fmt.Sprintf(
			`fetch(%q).then(a => a.text()).then(t => t.includes("c2-22"))`, cluster))
	})
	b.moderate()
	for _, at := range []struct {
		name string // of its pictures; empty: there are none
		path string
	}{
		{"page", "/"},
		{"", "/?sort=size"},
		{"", "/suspects"},
		{"", "/?lang=zh"},
		{"", "/?lang=en&sort=newest"},
		{"cluster", cluster},
		{"", cluster + "?with=" + b.member(cluster) + "#comparison"},
	} {
		b.looks(at.path, at.name)
	}
	b.look(1280, "light")
	b.asks()
	b.watches(w)
}

// looks opens a page on a screen and on a phone, light and dark, and takes pictures with this name;
// empty: none.
func (b *browser) looks(path, name string) {
	b.Helper()
	for _, width := range []int64{1280, 360} {
		for _, scheme := range []string{"light", "dark"} {
			at := fmt.Sprintf("%s at %d, %s", path, width, scheme)
			b.look(width, scheme)
			b.open(path)
			b.fits(at)
			b.accessible(at)
			if name != "" {
				b.picture(fmt.Sprintf("%s-%d-%s", name, width, scheme))
			}
		}
	}
}

// member returns the position of a member of a cluster that was edited.
func (b *browser) member(cluster string) string {
	b.Helper()
	b.open(cluster)
	link := value[string](b, `[...document.querySelectorAll("tbody tr")].find(
		r => r.textContent.includes("c2-2"))?.querySelector("a")?.href || ""`)
	_, position, found := strings.Cut(link, "with=")
	if !found {
		b.Fatalf("no member of %s can be compared: %q", cluster, link)
	}
	position, _, _ = strings.Cut(position, "#")
	return position
}

// moderate labels every campaign by the keyboard alone, and takes one label back.
func (b *browser) moderate() {
	b.Helper()
	b.open("/?sort=size")
	n := value[int](b, `document.querySelectorAll(".row").length`)
	keys := 0
	for range n {
		b.do(chromedp.KeyEvent("s"))
		keys++
	}
	const labelled = `document.querySelectorAll(".row .chip.spam").length`
	b.until("all are labelled", fmt.Sprintf("%s === %d", labelled, n))
	if keys > 2*n {
		b.Errorf("%d keys for %d campaigns", keys, n)
	}
	b.do(chromedp.KeyEvent("u"))
	b.until("one label is gone", fmt.Sprintf("%s === %d", labelled, n-1))
	for range n - 3 { // all but two
		b.do(chromedp.KeyEvent("u"))
	}
	b.until("two are left", labelled+" === 2")
	b.open("/?sort=size")
	if got := value[int](b, labelled); got != 2 {
		b.Errorf("%d labels are there, want 2", got)
	}
	b.do(chromedp.KeyEvent("?"))
	b.until("there is help", `document.getElementById("help").open`)
	b.accessible("the help")
	b.do(chromedp.Click(chromedp.CSS("#help button")))
	b.fits("the list")
}

// asks whether a text is known.
func (b *browser) asks() {
	b.Helper()
	b.open("/check")
	b.do(chromedp.SendKeys(chromedp.CSS("#text"), waves()[0].content))
	b.goes(chromedp.Click(chromedp.CSS(".check button")))
	if got := value[string](b, `document.querySelector("main").innerText`); !strings.Contains(got,
		"Known") || !strings.Contains(got, "Harbour bridge") {
		b.Errorf("a known text: %s", got)
	}
	b.fits("/check")
	b.accessible("/check")
}

// watches results as they come: of very many, a bounded number.
func (b *browser) watches(w *world) {
	b.Helper()
	b.open("/tail")
	b.until("it listens", `document.getElementById("skipped").textContent !== ""`)
	const rows = `document.querySelectorAll("#tail > li").length`
	for range 3 {
		w.publish(waves())
	}
	b.until("results come", rows+" > 0")
	b.until("most are left out", `/\d/.test(document.getElementById("skipped").textContent)`)
	if got := value[int](b, rows); got > 200 {
		b.Errorf("there are %d rows", got)
	}
	b.do(chromedp.Click(chromedp.CSS("#pause")))
	b.fits("/tail")
	b.accessible("/tail")
}
