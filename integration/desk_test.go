//go:build integration

package integration

import (
	"flag"
	"fmt"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/heapprofiler"
	"github.com/chromedp/cdproto/memory"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/twmb/franz-go/pkg/kgo"
)

var watched = flag.Duration("watched", 5*time.Second, "how long TestTail watches")

// A moderator labels a hundred campaigns by the keyboard alone, over several pages, with at most
// two keys a campaign.
func TestModerator(t *testing.T) {
	const campaigns = 100
	w := newWorld(t, 1, paged)
	i := w.start()
	i.waitLive()
	w.unlike(campaigns, 2)
	b := i.browse()
	b.look(1280, "light")
	b.open("/")
	w.eventually("all campaigns in the lists", func() bool { // which are as of a second ago
		return value[int](b, `fetch("/v1/clusters?sort=size&limit=200").then(a => a.json()).then(
			j => j.clusters.length)`) == campaigns
	})
	b.open("/?sort=size")
	began, keys := time.Now(), 0
	press := func(key string) {
		b.do(chromedp.KeyEvent(key))
		keys++
	}
	const labelled = `document.querySelectorAll(".row .chip.spam").length`
	for done := 0; done < campaigns; {
		rows := value[int](b, `document.querySelectorAll(".row").length`)
		for range rows {
			press("s")
		}
		b.until("all rows are labelled", fmt.Sprintf("%s === %d", labelled, rows))
		if done += rows; done < campaigns {
			b.goes(chromedp.KeyEvent("j")) // beyond the last row is the next page
			keys++
		}
	}
	t.Logf("%d campaigns: %d keys, %.1f s", campaigns, keys, time.Since(began).Seconds())
	if keys > 2*campaigns {
		t.Errorf("%d keys for %d campaigns", keys, campaigns)
	}
	b.fits("the last page")
}

// unlike sends so many articles like no other, each so many times, and waits for the results.
func (w *world) unlike(articles, copies int) {
	w.Helper()
	random := seeded(w.T)
	var records []*kgo.Record
	for range articles {
		value := unlike(w.T, random, time.Now())
		for range copies {
			records = append(records, &kgo.Record{Topic: w.input, Value: value})
		}
	}
	w.produce(records...)
	w.done()
}

// Whoever follows the links of a list sees every cluster once, however many there are.
func TestPages(t *testing.T) {
	t.Parallel()
	const clusters = 10_000
	w := newWorld(t, 1, paged)
	i := w.start()
	i.waitLive()
	w.unlike(clusters, 1)
	b := i.browse()
	b.look(360, "dark")
	w.eventually("a second page", func() bool {
		b.open("/?sort=newest")
		return value[bool](b, `document.querySelector("a.next") !== null`)
	})
	seen := make(map[string]bool)
	walk := `(async () => {
		const ids = [];
		let page = document;
		for (;;) {
			ids.push(...[...page.querySelectorAll(".row")].map(r => r.dataset.thing));
			const next = page.querySelector("a.next");
			if (!next) return ids;
			const answer = await fetch(next.getAttribute("href"));
			if (!answer.ok) throw new Error(answer.status);
			page = new DOMParser().parseFromString(await answer.text(), "text/html");
		}
	})()`
	var ids []string
	began := time.Now()
	w.eventually("all clusters in the lists", func() bool { // which are as of a second ago
		began = time.Now()
		ids = value[[]string](b, walk)
		return len(ids) >= clusters
	})
	for _, id := range ids {
		seen[id] = true
	}
	t.Logf("%d rows in %.1f s", len(ids), time.Since(began).Seconds())
	if len(ids) != clusters || len(seen) != clusters {
		t.Errorf("%d rows of %d clusters, want %d of each", len(ids), len(seen), clusters)
	}
	for range 3 {
		b.goes(chromedp.Click(chromedp.CSS("a.next")))
		b.fits("a page of many")
	}
}

// A hundred results a second are watched: the page does not grow, and no frame is dropped.
func TestTail(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1, paged)
	i := w.start()
	i.waitLive()
	b := i.browse()
	b.look(1280, "light")
	b.open("/tail")
	b.until("it listens", `document.getElementById("skipped").textContent !== ""`)
	stream := w.stream(100)
	b.until("it is full", `document.querySelectorAll("#tail > li").length === 200`)
	value[bool](b, `window.late = []; window.frameCount = 0;
		new PerformanceObserver(all => { for (const one of all.getEntries()) late.push(one.duration); })
			.observe({ type: "longtask" });
		(function frame() { frameCount++; requestAnimationFrame(frame); })(); true`)
	before, began := b.size(), time.Now()
	for time.Since(began) < *watched {
		time.Sleep(time.Second)
	}
	frames := value[int](b, "frameCount")
	took := time.Since(began).Seconds()
	after := b.size()
	stream.stop()
	t.Logf("%.0f s: %.1f frames/s, %d tasks above 50 ms, heap %.1f to %.1f MB, nodes %.0f to %.0f",
		took, float64(frames)/took, value[int](b, "late.length"), before.heap/1e6, after.heap/1e6,
		before.nodes, after.nodes)
	if after.nodes > before.nodes*1.2 || after.heap > before.heap*1.5+1e6 {
		t.Errorf("the page grew from %+v to %+v", before, after)
	}
	b.fits("/tail")
}

// size is what a page takes, after what is unused has gone.
type size struct{ heap, nodes float64 }

func (b *browser) size() size {
	b.Helper()
	call := func(err error) {
		if err != nil {
			b.Fatal(err)
		}
	}
	_, err := chromedp.Call(b.ctx, heapprofiler.CollectGarbage, cdp.Empty{})
	call(err)
	heap, err := chromedp.Call(b.ctx, runtime.GetHeapUsage, cdp.Empty{})
	call(err)
	counters, err := chromedp.Call(b.ctx, memory.GetDOMCounters, cdp.Empty{})
	call(err)
	return size{heap: heap.UsedSize, nodes: float64(counters.Nodes)}
}
