//go:build integration

package integration

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"golang.org/x/time/rate"
)

// labelled has labels, corrections, signals and stories. A label on two articles of a hundred is a
// flood.
const labelled = noLinger + `signals: {enabled: true, window: 1m}
contacts: {join: true}
labels: {topic: LABELS, corrections: CORRECTIONS, flood: 0.02}
stories: {topic: STORIES}
serve: {bytes: 64MiB}
`

// carry makes results repeat fields.
func (w *world) carry() { w.replace("output: {", "output: {copy: [source, id], ") }

// moderator writes label records beside the articles: good ones and bad ones, for clusters,
// articles, contacts and stories that results tell of.
type moderator struct {
	*world
	random   *rand.Rand
	cancel   context.CancelFunc
	done     chan error
	clusters []string         // of late
	members  []map[string]any // likewise: what a record says of an article
	stories  []string         // of late
	merged   [][2]string
	named    []string // stories that were merged, where each is merged once
	mu       sync.Mutex
	sent     int
}

// moderate begins to write label records at a steady rate.
func (w *world) moderate(random *rand.Rand, perSecond int) *moderator {
	w.Helper()
	ctx, cancel := context.WithCancel(w.Context())
	w.Cleanup(cancel)
	m := &moderator{
		world: w, random: random, cancel: cancel, done: make(chan error, 2),
	}
	reader := w.producer(
		kgo.ConsumeTopics(w.output), kgo.FetchIsolationLevel(kgo.ReadCommitted()))
	writer := w.producer(kgo.DefaultProduceTopic(w.labels))
	go func() { m.done <- m.read(ctx, reader) }()
	go func() { m.done <- m.write(ctx, writer, perSecond) }()
	return m
}

// stop waits until all that was written has arrived.
func (m *moderator) stop() {
	m.Helper()
	m.cancel()
	for range 2 {
		if err := <-m.done; err != nil {
			m.Fatalf("writing labels: %v", err)
		}
	}
	m.Logf("%d label records", m.sent)
}

// read notes clusters from which labels come: few of all, so that some get many labels.
func (m *moderator) read(ctx context.Context, client *kgo.Client) error {
	for ctx.Err() == nil {
		client.PollFetches(ctx).EachRecord(func(r *kgo.Record) {
			var v struct {
				Cluster *string `json:"cluster_id"`
				Size    int     `json:"size"`
				Story   string  `json:"story_id"`
				ID      string  `json:"article_id"`
				Print   string  `json:"fingerprint"`
				Source  struct {
					Topic             string
					Partition, Offset int64
				}
			}
			if json.Unmarshal(r.Value, &v) != nil || v.Cluster == nil {
				return
			}
			m.mu.Lock()
			defer m.mu.Unlock()
			if v.Size > 2 && v.Print != "" {
				m.members = append(m.members, map[string]any{
					"target": "article", "cluster_id": *v.Cluster, "article_id": v.ID, "fingerprint": v.Print,
					"source": fmt.Sprintf("%s/%d/%d", v.Source.Topic, v.Source.Partition,
						v.Source.Offset),
					"member_position": json.Number(header(r, "clusterd.position")),
				})
				m.members = m.members[max(0, len(m.members)-30):]
			}
			if v.Story != "" && v.Size > 1 && !slices.Contains(m.stories, v.Story) &&
				!slices.Contains(m.named, v.Story) {
				m.stories = append(m.stories, v.Story)
				m.stories = m.stories[max(0, len(m.stories)-30):]
			}
			if v.Size > 2 && !slices.Contains(m.clusters, *v.Cluster) {
				m.clusters = append(m.clusters, *v.Cluster)
				m.clusters = m.clusters[max(0, len(m.clusters)-30):]
			}
		})
	}
	return nil
}

func (m *moderator) write(ctx context.Context, client *kgo.Client, perSecond int) error {
	limiter := rate.NewLimiter(rate.Limit(perSecond), 1)
	var failed error
	var once sync.Once
	for limiter.Wait(ctx) == nil {
		r := m.record()
		if r == nil {
			continue
		}
		m.sent++
		client.Produce(m.Context(), r, func(_ *kgo.Record, err error) {
			if err != nil {
				once.Do(func() { failed = err })
			}
		})
	}
	return errors.Join(client.Flush(m.Context()), failed)
}

// record returns the next label record, nil while no cluster is known.
func (m *moderator) record() *kgo.Record {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.clusters) == 0 {
		return nil
	}
	if m.random.IntN(6) == 0 {
		return m.ofStories()
	}
	switch m.random.IntN(10) {
	case 0, 1:
		return m.ofArticle()
	case 2:
		return m.ofContact()
	}
	v := map[string]any{
		"cluster_id": m.clusters[m.random.IntN(len(m.clusters))],
		"label":      []string{"spam", "spam", "scam", "ham", "垃圾", "a b"}[m.random.IntN(6)],
	}
	switch m.random.IntN(20) {
	case 0, 1, 2, 3, 4, 5, 6:
		v["by"], v["note"] = "alice", "an <advert>"
	case 7, 8, 9, 10, 11, 12:
		v["action"], v["at"] = "remove", "2026-05-01T10:00:00.5Z"
	case 13, 14:
		v["trial"] = true
	case 15:
		v = map[string]any{"label": "spam", "action": "resume"}
	case 16:
		v["cluster_id"] = m.input + "/0/999999999"
	case 17:
		v["cluster_id"] = "elsewhere/0/1"
	case 18:
		v["label"] = fmt.Sprintf("label %d", m.random.IntN(1000))
	default:
		return &kgo.Record{Key: []byte("bad"), Value: []byte(`{"cluster_id":`)}
	}
	value, _ := json.Marshal(v) // texts always can be
	r := &kgo.Record{Value: value}
	if id, ok := v["cluster_id"].(string); ok {
		r.Key = []byte(id)
	}
	return r
}

// ofArticle returns the next record of an article, nil where none is known.
func (m *moderator) ofArticle() *kgo.Record {
	if len(m.members) == 0 {
		return nil
	}
	of := m.members[m.random.IntN(len(m.members))]
	return m.targeted(of["cluster_id"].(string), of)
}

// ofContact returns the next record of a contact that articles of the stream have.
func (m *moderator) ofContact() *kgo.Record {
	contact := fmt.Sprintf("name:alexis%d", 10+m.random.IntN(contacts))
	if m.random.IntN(2) == 0 {
		contact = fmt.Sprintf("site:shop%d.example", m.random.IntN(contacts))
	}
	if m.random.IntN(6) == 0 || m.erasesContacts {
		return &kgo.Record{Key: []byte(contact), Value: fmt.Appendf(nil,
			`{"action":"erase","target":"contact","contact":%q,"by":"dave"}`, contact)}
	}
	return m.targeted(contact, map[string]any{"target": "contact", "contact": contact})
}

// targeted returns a record that puts a label on something that is no cluster, or takes one off.
func (m *moderator) targeted(key string, of map[string]any) *kgo.Record {
	of = maps.Clone(of)
	of["label"] = []string{"ham", "ham", "spam"}[m.random.IntN(3)]
	of["action"] = []string{"add", "add", "add", "remove"}[m.random.IntN(4)]
	of["trial"] = m.random.IntN(8) == 0
	of["by"] = "carol"
	value, _ := json.Marshal(of) // texts always can be
	return &kgo.Record{Key: []byte(key), Value: value}
}

// ofStories returns the next record that merges two stories or takes them apart, nil where there
// are none.
func (m *moderator) ofStories() *kgo.Record {
	action := "merge"
	var two [2]string
	if n := len(m.merged); n > 0 && m.random.IntN(2) == 0 {
		i := m.random.IntN(n)
		action, two = "unmerge", m.merged[i]
		m.merged = slices.Delete(m.merged, i, i+1)
	} else if n := len(m.stories); n > 1 {
		two = [2]string{m.stories[m.random.IntN(n)], m.stories[m.random.IntN(n)]}
		m.merged = append(m.merged, two)
		if m.mergesOnce {
			m.named = append(m.named, two[:]...)
			m.stories = slices.DeleteFunc(m.stories,
				func(id string) bool { return slices.Contains(m.named, id) })
		}
	} else {
		return nil
	}
	which := m.random.IntN(2)
	return &kgo.Record{Key: []byte(two[which]), Value: fmt.Appendf(nil,
		`{"action":%q,"story_id":%q,"other":%q,"by":"bob"}`, action, two[which], two[1-which])}
}

// labelsDone waits until all label records were read, and all corrections written.
func (w *world) labelsDone() {
	w.Helper()
	ends := make(map[int32]int64) // a transaction's marker may follow
	for _, r := range w.read(w.labels, kgo.ReadCommitted()) {
		ends[r.Partition] = r.Offset + 1
	}
	w.eventually("all labels are applied", func() bool {
		var last struct {
			Labels struct {
				Offsets     map[int32]int64
				Corrections []json.RawMessage
			}
		}
		for _, r := range w.read(w.clusters, kgo.ReadCommitted()) {
			if strings.HasPrefix(string(r.Key), "checkpoint:") {
				last.Labels.Corrections = nil
				if err := json.Unmarshal(r.Value, &last); err != nil {
					w.Fatal(err)
				}
			}
		}
		for p, end := range ends {
			if last.Labels.Offsets[p] < end {
				return false
			}
		}
		return len(last.Labels.Corrections) == 0
	})
}

// A label that was put on a wave of spam is on the next one, though everything was killed, the disk
// lost, and the window over: once, and with one correction for each article that came before.
func TestLabels(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2, labelled+"cluster: {window: 1h}\n")
	now := time.Now().Truncate(time.Second)
	wave := func(at time.Time, from, n int, text string) {
		t.Helper()
		records := make([]*kgo.Record, n)
		for i := range records {
			value, _ := json.Marshal(map[string]any{
				"id": fmt.Sprintf("%s %d", text[:4], from+i), "content": text, "source": "a.example",
			})
			records[i] = &kgo.Record{Value: value, Timestamp: at}
		}
		w.produce(records...)
	}
	const spam = "spam: cheap watches, the best watches of the whole world, write to alexis today"
	const news = "news: the council of the city has decided to build a bridge across the river"
	running := []*instance{w.start(), w.start()}
	wave(now.Add(-5*time.Hour), 0, 5, spam)
	wave(now.Add(-5*time.Hour), 0, 3, news)
	w.done()
	founded := w.byText()
	w.produce(&kgo.Record{
		Topic: w.labels, Key: []byte(founded["spam 0"].ClusterID), Value: fmt.Appendf(nil,
			`{"cluster_id":%q,"label":"spam","by":"alice"}`, founded["spam 0"].ClusterID),
	})
	w.eventually("a correction for each article of the wave", func() bool {
		return len(w.read(w.corrections, kgo.ReadCommitted())) == 5
	})
	for _, i := range running {
		i.kill()
		if err := os.RemoveAll(i.dir); err != nil {
			t.Fatal(err)
		}
	}
	wave(now.Add(-2*time.Hour), 9, 1, "time: it passes, so that the window of each cluster is over")
	running = []*instance{w.start(), w.start()}
	wave(now.Add(-time.Hour), 5, 4, spam)
	wave(now.Add(-time.Hour), 3, 2, news)
	w.done()
	got := w.byText()
	for n := range 9 {
		r, labels := got[fmt.Sprintf("spam %d", n)], []string(nil)
		if n >= 5 {
			labels = []string{"spam"}
		}
		if r.ClusterID != founded["spam 0"].ClusterID || !slices.Equal(r.Labels, labels) {
			t.Errorf("spam %d: cluster %s with labels %q, want %s with %q", n, r.ClusterID, r.Labels,
				founded["spam 0"].ClusterID, labels)
		}
	}
	if r := got["news 3"]; r.ClusterID == founded["news 0"].ClusterID || r.Labels != nil {
		t.Errorf("news without a label outlived the window: %+v", r)
	}
	if n := len(w.read(w.corrections, kgo.ReadCommitted())); n != 5 {
		t.Errorf("%d corrections, want 5", n)
	}
	w.produce(&kgo.Record{
		Topic: w.labels, Key: []byte(founded["spam 0"].ClusterID), Value: fmt.Appendf(nil,
			`{"cluster_id":%q,"label":"spam","action":"remove"}`, founded["spam 0"].ClusterID),
	})
	w.labelsDone()
	if n := len(w.read(w.corrections, kgo.ReadCommitted())); n != 14 {
		t.Errorf("%d corrections once the label was removed, want 9 more", n)
	}
	for _, i := range running {
		i.stop()
	}
	w.audit()
}

// A labelledResult is what a result says of labels.
type labelledResult struct {
	ArticleID string   `json:"article_id"`
	ClusterID string   `json:"cluster_id"`
	Labels    []string `json:"labels"`
}

// byText returns the results by their articles' ids.
func (w *world) byText() map[string]labelledResult {
	w.Helper()
	found := make(map[string]labelledResult)
	for _, r := range w.read(w.output, kgo.ReadCommitted()) {
		var v labelledResult
		if err := json.Unmarshal(r.Value, &v); err != nil {
			w.Fatal(err)
		}
		found[v.ArticleID] = v
	}
	return found
}
