//go:build integration

package integration

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
)

var checked = flag.Int("checked", 200, "articles of TestCheckThenStream")

// told is what an instance says of an article, asked or streamed.
type told struct {
	Status    string   `json:"status"`
	ClusterID *string  `json:"cluster_id"` // of a result
	Distance  *float64 `json:"distance"`
	Contact   string   `json:"contact"`
	Cluster   *struct {
		ID   string `json:"cluster_id"`
		Size int    `json:"size"`
	} `json:"cluster"` // of a check
	Size     int    `json:"size"`
	Position uint64 `json:"position"`
	AsOf     struct {
		Position uint64 `json:"position"`
	} `json:"as_of"`
}

// A check is answered as the stream then is, by the instance that works and by the one that stands
// by, whoever is killed in between.
func TestCheckThenStream(t *testing.T) {
	t.Parallel()
	var articles []map[string]string
	for _, name := range []string{"ced_comments", "zh_events", "sms_spam"} {
		decoder := json.NewDecoder(bytes.NewReader(gunzip(t, sharedData(t, "data/"+name+".jsonl.gz"))))
		for n := 0; n <= *checked/3 && decoder.More(); n++ {
			var a struct{ Title, Content string }
			if err := decoder.Decode(&a); err != nil {
				t.Fatal(err)
			}
			articles = append(articles, map[string]string{"title": a.Title, "content": a.Content})
		}
	}
	w := newWorld(t, 3, `fingerprint: {method: minhash, shingle: {of: characters, size: 3}}
text: {fold: true}
contacts: {join: true}
cluster: {similarity: 0.53, window: 30d}
batch: {linger: 1ms}
`)
	working := w.start()
	working.waitLive()
	other := w.start()
	other.waitStandby()
	joined, position := 0, uint64(0) // of the next article
	for n, a := range articles {
		if n > 0 && n%max(1, len(articles)/4) == 0 {
			working.kill()
			working, other = other, w.start()
			w.eventually("one of them to work", func() bool {
				if r := other.readyz(); r.Ready && r.State == "live" {
					working, other = other, working
				}
				r := working.readyz()
				return r.Ready && r.State == "live"
			})
			other.waitStandby()
		}
		// A check may be answered before an instance sees the last article.
		var answers []told
		for _, i := range []*instance{working, other} {
			var answer told
			i.eventually(fmt.Sprintf("an answer as of position %d", position), func() bool {
				answer = i.check(a)
				return answer.AsOf.Position == position
			})
			answers = append(answers, answer)
		}
		var result told
		// Whichever it is: both put it through the topic.
		[]*instance{working, other}[n%2].ask("/v1/articles", a, &result)
		for i, answer := range answers {
			if err := result.differs(answer); err != nil {
				t.Errorf("article %d, instance %d: %v", n, i, err)
			}
		}
		switch result.Status {
		case "joined":
			joined++
			position++
		case "new":
			position++
		}
	}
	if joined == 0 || joined == len(articles) {
		t.Errorf("%d of %d articles joined: the test shows little", joined, len(articles))
	}
	w.audit()
}

// differs says how a result is another than a check had said just before.
func (result told) differs(check told) error {
	id, size := "", 0
	if check.Cluster != nil {
		id, size = check.Cluster.ID, check.Cluster.Size
	}
	switch {
	case result.Status != check.Status:
		return fmt.Errorf("it was to be %s, and is %s", check.Status, result.Status)
	case result.Status != "joined":
		return nil
	case result.ClusterID == nil || *result.ClusterID != id || result.Size != size+1:
		return fmt.Errorf("it was to join %s of size %d, and is the %dth of %v", id, size, result.Size,
			result.ClusterID)
	case result.Contact != check.Contact ||
		(result.Distance == nil) != (check.Distance == nil) ||
		result.Distance != nil && *result.Distance != *check.Distance:
		return fmt.Errorf("it was to join at distance %v by %q, and did at %v by %q", check.Distance,
			check.Contact, result.Distance, result.Contact)
	case result.Position != check.AsOf.Position:
		return fmt.Errorf("the check was as of position %d, and the article has %d",
			check.AsOf.Position, result.Position)
	}
	return nil
}

func (i *instance) check(article map[string]string) (answer told) {
	i.Helper()
	i.ask("/v1/check", article, &answer)
	return answer
}

// ask posts a question, until it is answered: whoever has just started refuses for a while.
func (i *instance) ask(path string, question, answer any) {
	i.Helper()
	i.eventually("an answer of "+path, func() bool {
		status, err := i.post(path, question, answer)
		if err != nil {
			i.Fatal(err)
		}
		return status == http.StatusOK
	})
}

// post posts a question once, and decodes the answer if that is 200.
func (i *instance) post(path string, question, answer any) (status int, err error) {
	sent, err := json.Marshal(question)
	if err != nil {
		return 0, err
	}
	asker := http.Client{Timeout: time.Minute}
	response, err := asker.Post("http://"+i.listen+path, "application/json", bytes.NewReader(sent))
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return response.StatusCode, nil
	}
	if err := json.NewDecoder(response.Body).Decode(answer); err != nil {
		return 0, fmt.Errorf("%s: %w", path, err)
	}
	return response.StatusCode, nil
}

// Of comments that are the same and are posted at the same moment, to either instance, one founds a
// cluster, and each other one is told that it is a copy.
func TestTheSameAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 3, "fingerprint: {method: exact}\n")
	instances := []*instance{w.start()}
	instances[0].waitLive()
	instances = append(instances, w.start())
	instances[1].waitStandby()
	const copies = 4
	for round := range 20 {
		comment := map[string]string{"content": fmt.Sprintf("第%d号广告：全场手表半价", round)}
		results := make([]told, copies)
		var posting errgroup.Group
		for i := range results {
			posting.Go(func() error {
				status, err := instances[i%2].post("/v1/articles", comment, &results[i])
				if err == nil && status != http.StatusOK {
					err = fmt.Errorf("it was answered with status %d", status)
				}
				return err
			})
		}
		if err := posting.Wait(); err != nil {
			t.Fatal(err)
		}
		statuses, clusters := make(map[string]int), make(map[string]bool)
		for _, r := range results {
			statuses[r.Status]++
			if r.ClusterID != nil {
				clusters[*r.ClusterID] = true
			}
		}
		if statuses["new"] != 1 || statuses["joined"] != copies-1 || len(clusters) != 1 {
			t.Errorf("round %d: %v in %d clusters, want one that is new and %d that join it", round,
				statuses, len(clusters), copies-1)
		}
	}
	w.audit()
}
