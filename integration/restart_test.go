//go:build integration

package integration

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
)

// counted has the number of clusters from each place where an instance tells it.
type counted struct {
	stats, list int
	metric      float64
	page        string // "17 clusters"
}

// counts reads the number of clusters from each of these places.
func (i *instance) counts(b *browser) (c counted) {
	i.Helper()
	var stats struct{ Clusters map[string]int }
	if err := json.Unmarshal([]byte(i.page("/v1/stats")), &stats); err != nil {
		i.Fatal(err)
	}
	for _, n := range stats.Clusters {
		c.stats += n
	}
	var list struct{ Clusters []json.RawMessage }
	if err := json.Unmarshal([]byte(i.page("/v1/clusters?limit=200")), &list); err != nil {
		i.Fatal(err)
	}
	c.list, c.metric = len(list.Clusters), i.metric(`clusterd_clusters{space="all"}`)
	b.open("/?lang=en")
	c.page = value[string](b, `[...document.querySelectorAll("#status > span")].map(
		s => s.textContent.trim()).find(s => s.endsWith(" clusters"))`)
	return c
}

// After a restart without a new article, the page, /v1/stats and /metrics have as many clusters as
// the list. A worker, a standby and an instance that only answers say the same.
func TestClustersAfterARestart(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1, paged)
	w.replace("state: {", `role: "${CLUSTERD_TEST_ROLE:all}"
state: {`)
	first := w.start()
	first.waitLive()
	w.publish(waves())
	before := first.counts(first.browse())
	n := before.list
	want := counted{n, n, float64(n), fmt.Sprintf("%d clusters", n)}
	if n == 0 || before != want {
		t.Errorf("before the restart it says %+v, want %+v", before, want)
	}
	first.kill()
	instances := map[string]*instance{"the worker": w.startIn(first.dir)}
	instances["the worker"].waitLive()
	instances["a standby"] = w.start()
	instances["a standby"].waitStandby()
	instances["one that only answers"] = w.startAs("serve", w.otherDir())
	instances["one that only answers"].waitStandby()
	for name, i := range instances {
		if got := i.counts(i.browse()); got != want {
			t.Errorf("%s says %+v, want %+v", name, got, want)
		}
	}
}

// After a restart, the page says in both languages when counting of growth began, and /v1 says it,
// too. Clusters that grow afterwards are listed.
func TestGrowthAfterARestart(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1, paged)
	i := w.start()
	i.waitLive()
	w.publish(waves())
	grown := func() (page struct {
		Clusters []struct{ Growth int }
		Since    time.Time
	},
	) {
		if err := json.Unmarshal([]byte(i.page("/v1/clusters?sort=growth")), &page); err != nil {
			t.Fatal(err)
		}
		return page
	}
	if got := grown(); len(got.Clusters) == 0 || !got.Since.IsZero() {
		t.Errorf("an instance that has seen all says %+v", got)
	}
	b := i.browse()
	const notes = `document.querySelectorAll("#labels section > p time").length`
	b.open("/")
	if got := value[int](b, notes); got != 0 {
		t.Errorf("an instance that has seen all says %d times since when it counts", got)
	}
	i.stop()
	began := time.Now().Truncate(time.Millisecond)
	i = w.startIn(i.dir)
	i.waitLive()
	got := grown()
	if len(got.Clusters) != 0 || got.Since.Before(began) || got.Since.After(time.Now()) {
		t.Errorf("after a restart at %s it says %+v", began, got)
	}
	since := got.Since.UTC().Format("15:04") + " UTC"
	b = i.browse()
	b.axe = w.axe()
	look := func(state string, want map[string][]string) {
		t.Helper()
		for language, phrases := range want {
			for _, width := range []int64{1280, 360} {
				at := fmt.Sprintf("%s, in %s at %d", state, language, width)
				b.look(width, "light")
				b.open("/?lang=" + language)
				list := value[string](b,
					`document.getElementById("list-growth").closest("section").textContent.replace(/\s+/g, " ")`)
				for _, phrase := range phrases {
					if !strings.Contains(list, phrase) {
						t.Errorf("%s: it says %q, and not %q", at, list, phrase)
					}
				}
				if got := value[int](b, notes); got != 1 {
					t.Errorf("%s: it says %d times since when it counts", at, got)
				}
				b.fits(at)
				b.accessible(at)
			}
		}
	}
	look("nothing grew", map[string][]string{
		"en": {"Counted since this instance loaded the clusters, at " + since, "No article has joined"},
		"zh": {"自本实例载入簇时起统计： " + since, "此期间没有文章加入任何簇"},
	})
	w.publish(waves()[:1])
	w.eventually("a cluster that grows", func() bool { return len(grown().Clusters) == 1 })
	n := grown().Clusters[0].Growth
	look("one grew", map[string][]string{
		"en": {fmt.Sprintf("+%d since %s", n, since), fmt.Sprintf("%d joined since %s", n, since)},
		"zh": {fmt.Sprintf("自 %s 起 +%d", since, n), fmt.Sprintf("自 %s 起加入 %d 篇", since, n)},
	})
}
