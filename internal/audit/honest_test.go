package audit_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/clusterd/clusterd/internal/audit"
	"github.com/clusterd/clusterd/internal/audit/report"
	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/daemon"
	"github.com/clusterd/clusterd/internal/testutil/kafkatest"
	"github.com/clusterd/clusterd/internal/testutil/wait"
)

// honest is what a clusterd has read and written, in the order of each partition, and the offsets
// of its group.
type honest struct {
	config  config.Config
	topics  map[string]int           // how many partitions they have
	records map[string][]*kgo.Record // by topic
	offsets kadm.Offsets
}

// A writer is a broker, and a clusterd that works on it.
type writer struct {
	*testing.T
	config config.Config
	client *kgo.Client
	admin  *kadm.Client
	sent   map[string]int // by topic
	now    time.Time
}

const (
	articles, labels  = "articles", "labels"
	results, clusters = "article-clusters", "clusters"
	dead, corrections = "articles-dead", "corrections"
	stories           = "stories"
)

func settings(t *testing.T) config.Config {
	t.Helper()
	c := config.Default()
	for _, set := range []string{
		"kafka.create_topics=true", "http.listen=", "input.topic=" + articles,
		"output.topic=" + results, "output.clusters_topic=" + clusters,
		"output.dead_letter_topic=" + dead, "labels.topic=" + labels,
		"labels.corrections=" + corrections, "stories.topic=" + stories, "serve.bytes=64MiB",
		"contacts.join=true", "signals.enabled=true", "batch.records=8", "batch.linger=1ms",
		"cluster.window=6h", "stories.window=12h", "labels.keep=9h",
	} {
		path, text, _ := strings.Cut(set, "=")
		if err := c.Set(path, text); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// connect returns clients of a broker.
func connect(t *testing.T, broker *kfake.Cluster) (*kgo.Client, *kadm.Client) {
	t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(broker.ListenAddrs()...),
		kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.ProducerLinger(5*time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return client, kadm.NewClient(client)
}

// newHonest has a clusterd cluster articles of several events, some of them spam with contacts. And
// somebody labels clusters, articles and contacts, and merges and splits stories. At the end some
// clusters and stories expire.
func newHonest(t *testing.T) *honest {
	t.Helper()
	broker := kafkatest.Start(t, 1)
	w := &writer{T: t, config: settings(t), sent: make(map[string]int), now: begin}
	w.config.Kafka.Brokers, w.config.State.Dir = broker.ListenAddrs(), t.TempDir()
	w.client, w.admin = connect(t, broker)
	for topic, n := range map[string]int32{
		articles: 1, labels: 1, results: 2, dead: 2, corrections: 2, stories: 2, clusters: 2,
	} {
		settings := map[string]string{"retention.ms": "-1"}
		if topic == clusters || topic == stories {
			settings["cleanup.policy"] = "compact"
		}
		if err := broker.CreateTopic(topic, n, settings); err != nil {
			t.Fatal(err)
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- daemon.Run(ctx, daemon.Options{Config: w.config, Log: slog.New(slog.DiscardHandler)})
	}()
	w.play()
	stop()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	h := &honest{config: w.config, topics: w.topics(), records: make(map[string][]*kgo.Record)}
	for topic := range h.topics {
		h.records[topic] = w.read(topic)
	}
	fetched, err := w.admin.FetchOffsets(t.Context(), w.config.Input.Group)
	if err != nil {
		t.Fatal(err)
	}
	h.offsets = fetched.Offsets()
	return h
}

// topics returns how many partitions each topic has.
func (w *writer) topics() map[string]int {
	w.Helper()
	all, err := w.admin.ListTopics(w.Context())
	if err != nil {
		w.Fatal(err)
	}
	n := make(map[string]int)
	for _, topic := range all.Sorted() {
		n[topic.Topic] = len(topic.Partitions)
	}
	return n
}

// read returns what is committed in a topic.
func (w *writer) read(topic string) (all []*kgo.Record) {
	w.Helper()
	ends, err := w.admin.ListEndOffsets(w.Context(), topic)
	if err != nil {
		w.Fatal(err)
	}
	client, err := kgo.NewClient(kgo.SeedBrokers(w.config.Kafka.Brokers...), kgo.ConsumeTopics(topic),
		kgo.FetchIsolationLevel(kgo.ReadCommitted()), kgo.KeepControlRecords(),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	if err != nil {
		w.Fatal(err)
	}
	defer client.Close()
	left := int64(0)
	ends.Each(func(o kadm.ListedOffset) { left += o.Offset })
	for left > 0 {
		fetches := client.PollFetches(w.Context())
		if err := fetches.Err(); err != nil {
			w.Fatal(err)
		}
		fetches.EachRecord(func(r *kgo.Record) {
			if left--; !r.Attrs.IsControl() {
				all = append(all, r)
			}
		})
	}
	slices.SortStableFunc(all, func(a, b *kgo.Record) int { return int(a.Partition - b.Partition) })
	return all
}

// send writes values to a topic, and waits until the clusterd has read them.
func (w *writer) send(topic string, values ...string) {
	w.Helper()
	var records []*kgo.Record
	for _, value := range values {
		var said struct {
			At time.Time `json:"published_at"`
		}
		if json.Unmarshal([]byte(value), &said) == nil && !said.At.IsZero() {
			w.now = said.At
		}
		r := &kgo.Record{Topic: topic, Value: []byte(value), Timestamp: w.now}
		r.Headers = []kgo.RecordHeader{{Key: "traceparent", Value: []byte("00-1-2-01")}}
		if topic == articles {
			r.Key = fmt.Appendf(nil, "key %d", w.sent[topic])
		}
		w.sent[topic]++
		records = append(records, r)
	}
	if err := w.client.ProduceSync(w.Context(), records...).FirstErr(); err != nil {
		w.Fatal(err)
	}
	wait.Until(w, "what was sent to be read", w.isRead)
}

func (w *writer) isRead() bool {
	var last struct {
		Offsets map[string]int
		Labels  struct {
			Offsets     map[string]int
			Corrections []any
			Due         []any
		}
	}
	for _, r := range w.read(clusters) {
		if strings.HasPrefix(string(r.Key), "checkpoint:") {
			last.Labels.Corrections, last.Labels.Due = nil, nil
			if err := json.Unmarshal(r.Value, &last); err != nil {
				w.Fatal(err)
			}
		}
	}
	return last.Offsets["0"] == w.sent[articles] && last.Labels.Offsets["0"] == w.sent[labels] &&
		len(last.Labels.Corrections)+len(last.Labels.Due) == 0
}

var begin = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

// An event is told of in its words.
var events = [][]string{
	strings.Fields("bridge harbour collapsed storm engineers pillars mayor eastholm divers cranes " +
		"monday concrete river traffic closed"),
	strings.Fields("chess champion rook sacrifice tournament rival title round moves board clock " +
		"draw endgame opening applause"),
	strings.Fields("orchard apples harvest frost farmers cider press blossom bees valley crates " +
		"ladders autumn juice barrels"),
}

// tell returns an article of an event that names most of its words, beginning with the n-th, in
// sentences of its own.
func tell(event, n, minute int) string {
	words := events[event]
	said := ""
	for i := range 12 {
		own := string([]rune{rune('b' + event), rune('a' + (n*7+i*3)%26), rune('a' + (n*5+i)%26)})
		said += words[(n+i)%len(words)] + " " + own + "; "
	}
	return article(fmt.Sprintf("%s %s", words[n%len(words)], words[(n+1)%len(words)]), said,
		fmt.Sprintf("paper %d", (event+n)%4), minute)
}

func article(title, content, source string, minute int) string {
	at := begin.Add(time.Duration(minute) * time.Minute).Format(time.RFC3339)
	return fmt.Sprintf(`{"id":"%d-%.12s","title":%q,"content":%q,"source":%q,"published_at":%q}`, minute,
		title, title, content, source, at)
}

// An offer is spam. All of it names one shop.
var offers = []string{
	"Golden watches for gentlemen, half of the price, this week.",
	"Silver rings and chains as never before, hurry, few are left.",
	"Three watches for the price of two, only for those who hurry now.",
	"Whoever wants a clock of silver must come before the shop is shut.",
}

func offer(n int, source string, minute int) string {
	return article("Offer "+[]string{"of the week", "of rings", "for two", "at last"}[n],
		offers[n]+" Visit https://cheap-watches-eastholm.com today.", source, minute)
}

// play sends what makes each kind of record and field.
func (w *writer) play() {
	w.send(articles, tell(0, 0, 0), tell(1, 0, 1), tell(0, 1, 2), tell(2, 0, 3), tell(0, 0, 4),
		`{"id":"bad"`, `{"id":"nothing","title":"","content":"—"}`, tell(1, 1, 5), tell(1, 0, 6),
		offer(0, "", 7),
		tell(2, 1, 8), tell(0, 2, 9))
	id := func(n int) string { return fmt.Sprintf("articles/0/%d", n) }
	w.send(labels, label(id(9), "spam"), label(id(0), "odd"), label(id(1), "maybe", `"trial":true`),
		`{"cluster_id":"articles/0/77","label":"spam"}`, `{"label":"spam"}`)
	w.send(articles,
		offer(1, "", 20),
		offer(0, "x", 21),
		tell(0, 0, 22), tell(1, 0, 23), tell(2, 0, 24), tell(0, 3, 25))
	exception := w.result(14)
	w.send(labels, label(id(0), "fine", fmt.Sprintf(`"target":"article","article_id":%q,"source":%q,`+
		`"member_position":%s,"fingerprint":%q`, exception.ArticleID, id(14), exception.position,
		exception.Fingerprint)),
		label(id(0), "odd", `"action":"remove"`),
		fmt.Sprintf(`{"action":"merge","story_id":%q,"other":%q,"by":"bob"}`, w.story(1), w.story(3)),
		fmt.Sprintf(`{"action":"split","cluster_id":%q,"by":"bob"}`, id(2)))
	w.send(articles, tell(0, 0, 30), tell(1, 2, 31), tell(2, 2, 32), tell(0, 1, 33), tell(1, 0, 34))
	w.send(labels,
		fmt.Sprintf(`{"action":"unmerge","story_id":%q,"other":%q,"by":"bob"}`, w.story(1), w.story(3)),
		fmt.Sprintf(`{"action":"merge","story_id":%q,"other":%q,"by":"bob"}`, w.story(0), w.story(3)))
	w.send(articles, tell(0, 4, 40), tell(1, 3, 41), tell(2, 3, 42), tell(2, 0, 43))
	// All but what has labels expires, after six hours.
	w.send(articles, tell(1, 4, 500), tell(1, 0, 501), tell(0, 5, 502),
		offer(0, "x", 502))
	w.send(labels, label(id(0), "late"),
		fmt.Sprintf(`{"action":"split","cluster_id":%q,"by":"bob"}`, id(29)))
	w.send(articles, tell(1, 4, 503), tell(0, 0, 504), tell(1, 5, 900),
		offer(2, "y", 901),
		tell(1, 4, 902))
	w.send(labels, label(id(34), "spam", `"trial":true`),
		fmt.Sprintf(`{"action":"merge","story_id":%q,"other":%q,"by":"bob"}`, w.story(0), w.story(1)))
	w.send(articles,
		offer(3, "z", 903),
		tell(1, 4, 904))
}

func label(cluster, name string, more ...string) string {
	if more != nil {
		more = []string{"," + strings.Join(more, ",")}
	}
	return fmt.Sprintf(`{"cluster_id":%q,"label":%q,"by":"alice","note":"a \"note\""%s}`, cluster, name,
		strings.Join(more, ""))
}

type said struct {
	ArticleID   string `json:"article_id"`
	Fingerprint string `json:"fingerprint"`
	StoryID     string `json:"story_id"`
	position    string
}

// result returns what the result of an article says.
func (w *writer) result(offset int) (r said) {
	w.Helper()
	for _, record := range w.read(results) {
		for _, h := range record.Headers {
			if h.Key == "clusterd.source" && string(h.Value) == fmt.Sprintf("articles/0/%d", offset) {
				if err := json.Unmarshal(record.Value, &r); err != nil {
					w.Fatal(err)
				}
			}
		}
		for _, h := range record.Headers {
			if h.Key == "clusterd.position" && r.position == "" && r.ArticleID != "" {
				r.position = string(h.Value)
			}
		}
	}
	if r.ArticleID == "" {
		w.Fatalf("no result of the article at %d", offset)
	}
	return r
}

func (w *writer) story(offset int) string { w.Helper(); return w.result(offset).StoryID }

// audit writes what a clusterd has read and written to a broker of its own, and audits it.
func (h *honest) audit(t *testing.T) *report.Report {
	t.Helper()
	broker := kafkatest.Start(t, 1)
	client, admin := connect(t, broker)
	for topic, records := range h.records {
		err := broker.CreateTopic(topic, int32(h.topics[topic]), map[string]string{"retention.ms": "-1"})
		if err != nil {
			t.Fatal(err)
		}
		if len(records) == 0 {
			continue
		}
		if err := client.ProduceSync(t.Context(), copies(records)...).FirstErr(); err != nil {
			t.Fatal(err)
		}
	}
	if err := admin.CommitAllOffsets(t.Context(), h.config.Input.Group, h.offsets); err != nil {
		t.Fatal(err)
	}
	c := h.config
	c.Kafka.Brokers = broker.ListenAddrs()
	found, err := audit.Run(t.Context(), c, audit.Options{
		Show: 3, TempDir: t.TempDir(), Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	broker.Close()
	return found
}

// copies returns records that nobody has sent yet.
func copies(records []*kgo.Record) (all []*kgo.Record) {
	for _, r := range records {
		all = append(all, &kgo.Record{
			Topic: r.Topic, Partition: r.Partition, Key: r.Key, Value: r.Value, Headers: r.Headers,
			Timestamp: r.Timestamp,
		})
	}
	return all
}
