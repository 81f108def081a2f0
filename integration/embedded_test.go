//go:build integration

package integration

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/clusterd/clusterd/internal/cli/demo/sample"
)

// site is a small site: one instance with a broker of its own, and visitors who post articles and
// labels over HTTP. It knows what was acknowledged.
type site struct {
	*world
	random *rand.Rand
	state  string        // the instance's directory
	alive  time.Duration // how long visitors post at most before the end comes
	former bool          // an earlier version wrote a part of it

	refused atomic.Int64 // posts of which nobody knows what became

	mu       sync.Mutex
	articles map[string]*result  // acknowledged, by id; nil: with a promise instead of a result
	labels   map[string][]string // acknowledged, by cluster
	fresh    []string            // clusters that were labelled since the last check
}

const visitors = 4 // who post at a time

// newSite makes a site whose broker keeps its records in dir, or in the directory of the test.
func newSite(t *testing.T, dir string) *site {
	t.Helper()
	b := &brokers{addresses: []string{fmt.Sprintf("127.0.0.1:%d", freePort(t))}}
	client, err := kgo.NewClient(kgo.SeedBrokers(b.addresses...),
		kgo.RequestTimeoutOverhead(answerTimeout))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	b.client, b.admin = client, kadm.NewClient(client)
	w := b.emptyWorld(t)
	w.embedded = cmp.Or(dir, filepath.Join(w.dir, "broker"))
	w.configure(noLinger + "signals: {enabled: true}\n" +
		"labels: {topic: LABELS, corrections: CORRECTIONS, flood: 1}\n" +
		"stories: {topic: STORIES}\nserve: {bytes: 64MiB}\n")
	w.replace("level: debug", "level: info")
	return &site{
		world: w, random: seeded(t), state: filepath.Join(w.dir, "state"), alive: aliveAtMost,
		articles: make(map[string]*result), labels: make(map[string][]string),
	}
}

// visit has visitors post until the function that it returns is called.
func (s *site) visit(i *instance) (leave func()) {
	s.Helper()
	ctx, cancel := context.WithCancel(s.Context())
	var group sync.WaitGroup
	for range visitors {
		random := rand.New(rand.NewPCG(s.random.Uint64(), 0))
		generator := sample.New(s.random.Uint64(), time.Now())
		group.Go(func() {
			for ctx.Err() == nil {
				if cluster := s.post(i, generator.Next()); cluster != "" && random.IntN(4) == 0 {
					s.label(i, cluster, []string{"spam", "seen"}[random.IntN(2)])
				}
			}
		})
	}
	return func() { cancel(); group.Wait() }
}

// post posts an article under an id of its own, and returns its cluster, if the answer has one.
func (s *site) post(i *instance, a sample.Article) (cluster string) {
	id := strconv.FormatUint(rand.Uint64(), 36)
	var r result
	status, err := i.post("/v1/articles",
		map[string]string{"id": id, "title": a.Title, "content": a.Content}, &r)
	if err != nil || status != http.StatusOK && status != http.StatusAccepted {
		s.refused.Add(1)
		time.Sleep(10 * time.Millisecond) // nobody may be there
		return ""
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.articles[id] = nil
	if status == http.StatusOK {
		s.articles[id] = &r
	}
	return r.cluster()
}

func (s *site) label(i *instance, cluster, label string) {
	var answer any
	status, err := i.post("/v1/labels", map[string]string{"cluster_id": cluster, "label": label},
		&answer)
	if err != nil || status != http.StatusOK && status != http.StatusAccepted {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fresh = append(s.fresh, cluster)
	if !slices.Contains(s.labels[cluster], label) {
		s.labels[cluster] = append(s.labels[cluster], label)
	}
}

// hasAcknowledged reports whether there is something to lose.
func (s *site) hasAcknowledged() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.articles) > 0 && len(s.labels) > 0
}

// check audits, and looks for what was acknowledged: each article has one result, which is the one
// that was answered, and each label is on its cluster.
func (s *site) check(i *instance) {
	s.Helper()
	i.waitLive()
	s.done()
	if s.former {
		s.auditAlone()
	} else {
		s.audit("--strict")
	}
	found := make(map[string]result)
	for _, r := range s.results() {
		if _, twice := found[r.ArticleID]; twice {
			s.Errorf("article %s has two results", r.ArticleID)
		}
		found[r.ArticleID] = r
	}
	lost := 0
	for id, answered := range s.articles {
		r, ok := found[id]
		switch {
		case !ok:
			if lost++; lost == 1 {
				s.Errorf("article %s was acknowledged with %+v and has no result", id, answered)
			}
		case answered != nil && (r.cluster() != answered.cluster() || r.Source != answered.Source):
			s.Errorf("article %s was answered with %+v and has now %+v", id, answered, r)
		}
	}
	if lost > 1 {
		s.Errorf("%d articles of %d were acknowledged and have no result", lost, len(s.articles))
	}
	for _, cluster := range s.fresh {
		s.checkLabels(i, cluster)
	}
	s.fresh = nil
	if s.Failed() {
		s.FailNow()
	}
}

func (s *site) checkLabels(i *instance, cluster string) {
	s.Helper()
	response, err := http.Get("http://" + i.listen + "/v1/clusters/" + cluster)
	if err != nil {
		s.Fatal(err)
	}
	defer response.Body.Close()
	var answer struct{ Labels []struct{ Label string } }
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		s.Fatal(err)
	}
	has := make(map[string]bool)
	for _, l := range answer.Labels {
		has[l.Label] = true
	}
	for _, label := range s.labels[cluster] {
		if !has[label] {
			s.Errorf("cluster %s has %v, and %s was acknowledged", cluster, answer.Labels, label)
		}
	}
}

// endures ends the instance again and again in the way that end says, mostly while visitors post
// and sometimes while it starts, and checks after each time.
func (s *site) endures(times int, end func(*instance)) {
	s.Helper()
	starting := 0
	for n := range times {
		i := s.startIn(s.state)
		if s.random.IntN(5) == 0 {
			time.Sleep(time.Duration(s.random.Int64N(int64(time.Second))))
			starting++
			end(i)
			continue
		}
		s.check(i)
		leave := s.visit(i)
		time.Sleep(time.Duration(s.random.Int64N(int64(s.alive))))
		// On a busy machine nothing may have been answered yet.
		s.eventually("an article and a label are acknowledged", s.hasAcknowledged)
		end(i)
		leave()
		s.Logf("end %d of %d: %d articles and the labels of %d clusters are acknowledged", n+1, times,
			len(s.articles), len(s.labels))
	}
	i := s.startIn(s.state)
	s.fresh = slices.Collect(maps.Keys(s.labels))
	s.check(i)
	i.stop()
	i = s.startIn(s.state)
	s.check(i)
	i.stop()
	s.Logf("%d articles and the labels of %d clusters were acknowledged, %d posts were not; it was "+
		"ended %d times, %d of them while it started", len(s.articles), len(s.labels), s.refused.Load(),
		times, starting)
	if len(s.articles) == 0 || len(s.labels) == 0 || s.refused.Load() == 0 {
		s.Error("nothing was hit: the test proves nothing")
	}
	if strings.Contains(i.said(), "level=ERROR") {
		s.Error(i.said())
	}
}

// An instance with a broker of its own that is killed at random moments loses nothing that was
// acknowledged, and keeps every promise.
func TestEmbeddedKilled(t *testing.T) {
	t.Parallel()
	s := newSite(t, "")
	s.endures(max(6, *kills), (*instance).kill)
}

// A folder of the version before is taken over, and given back: no record is lost either way.
func TestEmbeddedUpgrade(t *testing.T) {
	t.Parallel()
	former := versionBefore(t)
	s := newSite(t, "")
	s.former = true
	for _, step := range []struct {
		program string
		end     func(*instance)
	}{
		{former, (*instance).stop},
		{binary, (*instance).kill},
		{binary, (*instance).stop},
		{former, (*instance).stop},
		{binary, (*instance).kill},
		{binary, (*instance).stop},
	} {
		s.program = step.program
		i := s.startIn(s.state)
		s.check(i)
		leave := s.visit(i)
		time.Sleep(s.alive)
		step.end(i)
		leave()
	}
	i := s.startIn(s.state)
	s.check(i)
	i.stop()
}

// A site moves to a real Kafka: clusters, results and labels do not change, and copies
// of earlier articles join their clusters.
func TestEmbeddedMoves(t *testing.T) {
	t.Parallel()
	s := newSite(t, "")
	i := s.startIn(s.state)
	s.check(i)
	leave := s.visit(i)
	time.Sleep(2 * time.Second)
	leave()
	s.check(i)
	var first result
	article := map[string]string{
		"id": "first", "content": "Fresh rolls from the mill bakery, each morning at six",
	}
	i.ask("/v1/articles", article, &first)
	i.stop()

	s.replace(s.addresses[0], shared.addresses[0])
	s.brokers, s.state = shared, filepath.Join(s.dir, "state-moved")
	folder := s.embedded
	s.embedded = ""
	t.Logf("%s", s.migrate("broker", "--embedded", folder, "-c", s.config))
	t.Cleanup(func() {
		_, _ = s.admin.DeleteTopics(context.WithoutCancel(t.Context()), s.input, s.output, s.clusters,
			s.dead, s.world.labels, s.corrections, s.stories)
	})

	i = s.startIn(s.state)
	s.fresh = slices.Collect(maps.Keys(s.labels))
	s.check(i)
	var again result
	article["id"] = "again"
	i.ask("/v1/articles", article, &again)
	if again.Status != "joined" || again.cluster() != first.cluster() || again.Size != first.Size+1 {
		t.Errorf("a copy is %+v, and the first one was %+v", again, first)
	}
	leave = s.visit(i)
	time.Sleep(time.Second)
	leave()
	s.check(i)
	i.stop()
}
