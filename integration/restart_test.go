//go:build integration

package integration

import (
	"encoding/json"
	"fmt"
	"testing"
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
