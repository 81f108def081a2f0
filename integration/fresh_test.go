//go:build integration

package integration

import (
	"flag"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"testing"
	"time"
)

var posted = flag.Int("posted", 100, "articles of TestAskedAtOnce")

// Whoever has the result of an article may ask for it at once, also another instance: for a label
// on it, for the article, its cluster and the members of that, and whether a copy is known.
func TestAskedAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 3, labelled)
	working := w.start()
	working.waitLive()
	other := w.start()
	other.waitStandby()
	random, statuses := seeded(t), make(map[string]map[int]int)
	took := make(map[string][]time.Duration)
	ask := func(what string, question func() (int, error)) {
		t.Helper()
		began := time.Now()
		status, err := question()
		if err != nil {
			t.Fatal(err)
		}
		took[what] = append(took[what], time.Since(began))
		if statuses[what] == nil {
			statuses[what] = make(map[int]int)
		}
		statuses[what][status]++
	}
	for n := range *posted {
		content := fmt.Sprintf("article %d of %x %x %x %x", n, random.Uint64(), random.Uint64(),
			random.Uint64(), random.Uint64())
		id := fmt.Sprint("at-once-", n)
		var result told
		ask("POST article", func() (int, error) {
			return working.post("/v1/articles", map[string]string{"id": id, "content": content}, &result)
		})
		if result.ClusterID == nil {
			t.Fatalf("article %d: %+v", n, result)
		}
		at := working
		if n%2 == 1 {
			at = other
		}
		// Each is asked first now and then: later ones come when all has caught up.
		questions := map[string]func() (int, error){
			"label": func() (int, error) {
				return at.post("/v1/labels", map[string]string{"article_id": id, "label": "seen"},
					new(any))
			},
			"GET article": func() (int, error) { return at.get("/v1/articles/" + url.PathEscape(id)) },
			"GET cluster": func() (int, error) { return at.get("/v1/clusters/" + *result.ClusterID) },
			"GET members": func() (int, error) {
				return at.get("/v1/clusters/" + *result.ClusterID + "/members")
			},
			"check": func() (int, error) {
				var answer told
				status, err := working.post("/v1/check", map[string]string{"content": content}, &answer)
				if answer.Status != "joined" {
					status = -1
				}
				return status, err
			},
		}
		first := slices.Sorted(maps.Keys(questions))[n%len(questions)]
		if *posted >= 1000 {
			first = "label"
		}
		name := first
		if at == other && first != "check" { // that answers as of when it says
			name += ", the other instance"
		}
		ask(name, questions[first])
	}
	for _, what := range slices.Sorted(maps.Keys(took)) {
		all := took[what]
		slices.Sort(all)
		t.Logf("%s: %v, median %v, 99 of 100 within %v, longest %v", what, statuses[what],
			all[len(all)/2].Round(100*time.Microsecond), all[len(all)*99/100].Round(100*time.Microsecond),
			all[len(all)-1].Round(100*time.Microsecond))
		if len(statuses[what]) != 1 || statuses[what][http.StatusOK] == 0 {
			t.Errorf("%s: answers by status: %v", what, statuses[what])
		}
	}
	w.audit()
}

func (i *instance) get(path string) (status int, err error) {
	response, err := http.Get("http://" + i.listen + path)
	if err != nil {
		return 0, err
	}
	return response.StatusCode, response.Body.Close()
}
