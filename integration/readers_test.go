//go:build integration

package integration

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// Each reader of examples/readers ends up with the same verdicts: copies of what was labelled are
// hidden, those before the label by their corrections. What was aborted is not seen, and a cluster
// that expires is heard of, and a story is not: it is no cluster, though it is in the same topic.
// There are results of each kind. Records between them that are not results are skipped and
// reported.
func TestReaders(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1, "")
	labels, corrections := w.group+".labels", w.group+".corrections"
	stories := w.group + ".stories"
	w.configure(fmt.Sprintf(`fingerprint: {method: minhash}
cluster: {window: 1h, containment: 0.9}
contacts: {join: true}
signals: {enabled: true}
stories: {topic: %s, window: 1h}
labels: {topic: %s, corrections: %s}
serve: {bytes: 64MiB}
`, stories, labels, corrections))
	w.Cleanup(func() {
		_, _ = w.admin.DeleteTopics(context.WithoutCancel(t.Context()), labels, corrections, stories)
	})
	i := w.start()
	i.waitLive()
	w.comment("fine", "I had the same problem with my bicycle, and the second answer helped me", 0)
	w.comment("first", offer, 0)
	w.comment("second", "<b>"+offer+"</b>", 0)
	w.comment("bare", "!!!", 0)
	w.produce(notArticles()...)
	w.done()
	clusters := make(map[string]string)
	for _, r := range w.results() {
		if r.ClusterID != nil {
			clusters[r.ArticleID] = *r.ClusterID
		}
	}
	want := w.skipped(w.notResults())
	for _, label := range []string{`"label":"watches","trial":true`, `"label":"spam"`} {
		w.produce(&kgo.Record{Topic: labels, Key: []byte(clusters["first"]), Value: fmt.Appendf(nil,
			`{"cluster_id":"%s","by":"alice",%s}`, clusters["first"], label)})
	}
	w.eventually("corrections of both copies", func() bool {
		return len(w.ends(corrections)) > 0 && len(w.read(corrections, kgo.ReadCommitted())) == 2
	})
	maps.Copy(want, w.skipped(notCorrections(corrections)))
	w.comment("third", offer+"!", time.Minute)
	w.comment("longer", offer+" Tell your friends and your neighbours about it too, and come to see "+
		"us in the market hall.", time.Minute)
	w.comment("other", "Ask me about it at https://t.me/good_watches_in_town", time.Minute)
	w.done()
	w.produce(&kgo.Record{Topic: labels, Key: []byte("contact"), Value: []byte(
		`{"target":"contact","contact":"name:good_watches_in_town","label":"spam","by":"alice"}`)})
	w.eventually("a correction of the other one", func() bool {
		return len(w.read(corrections, kgo.ReadCommitted())) == 3+len(notCorrections(corrections))
	})
	w.comment("contact", "Nothing like this was there: https://t.me/good_watches_in_town", time.Minute)
	// The cluster of what was fine expires; one that is labelled is kept.
	w.comment("late", "Does anybody know when the swimming pool opens again after the holidays?",
		2*time.Hour)
	w.done()
	expired := w.expired()
	if expired["story:"+clusters["fine"]] == "" || expired[clusters["fine"]] == "" {
		t.Error("no cluster or no story has expired, so that the readers show nothing")
	}
	maps.DeleteFunc(expired, func(key, _ string) bool { return strings.Contains(key, ":") })
	maps.Copy(want, expired)
	w.everyKind()
	w.abort(w.output, `{"article_id":"ghost","cluster_id":"x","status":"new"}`)
	maps.Copy(want, map[string]string{
		"fine": "show", "first": "hide spam", "second": "hide spam", "third": "hide spam",
		"longer": "hide spam", "other": "hide spam", "contact": "hide spam",
		"bare": "show", "late": "show",
		"early": "hide spam", "earlier": "show",
	})
	for name, command := range w.readers() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := *w
			w.T = t
			p := w.begin("", append(command, strings.Join(w.addresses, ","), w.output, corrections,
				w.clusters)...)
			w.eventually("the right verdicts", func() bool {
				return maps.Equal(verdicts(p.said.String()), want)
			})
		})
	}
}

// everyKind fails the test unless there is a result of each kind.
func (w *world) everyKind() {
	w.Helper()
	missing := map[string]string{
		"a founder": `"status":"new"`, "a copy": `"matched":"text"`, "a part": `"matched":"contained"`,
		"by a contact": `"labelled_by":`, "nothing to compare": `"status":"unclustered"`,
		"a label": `"labels":["spam"]`, "a label on trial": `"trial_labels":["watches"]`,
		"signals": `"signals":`, "a story": `"story_id":`,
	}
	for _, r := range w.read(w.output, kgo.ReadCommitted()) {
		maps.DeleteFunc(missing, func(_, part string) bool {
			return bytes.Contains(r.Value, []byte(part))
		})
	}
	if len(missing) > 0 {
		w.Errorf("no result is of these kinds: %v", missing)
	}
}

// notArticles are records that become dead letters. Some look like results.
func notArticles() (records []*kgo.Record) {
	for _, value := range []string{
		"{", "7", `{"content":7}`, `{"author":"x"}`, strings.Repeat("[", 100),
		`{"article_id":"forged","status":"new","labels":["spam"]}`,
	} {
		records = append(records, &kgo.Record{
			Value:   []byte(value),
			Headers: []kgo.RecordHeader{{Key: "clusterd.position", Value: []byte("5")}},
		})
	}
	return append(records, &kgo.Record{Value: nil})
}

// notResults are records of the topic of results that somebody else wrote: the dead letters, a
// tombstone, and values that are not results. The last two records are results of the unclustered
// articles "early" and "earlier", as an earlier version wrote them.
func (w *world) notResults() (records []*kgo.Record) {
	w.Helper()
	letters := w.deadLetters()
	if len(letters) != len(notArticles()) {
		w.Errorf("%d dead letters", len(letters))
	}
	position := func(value string) kgo.RecordHeader {
		return kgo.RecordHeader{Key: "clusterd.position", Value: []byte(value)}
	}
	add := func(value []byte, headers ...kgo.RecordHeader) {
		records = append(records, &kgo.Record{
			Topic: w.output, Key: []byte("somebody"), Value: value, Headers: headers,
		})
	}
	for _, r := range letters {
		add(r.Value, r.Headers...)
	}
	add(nil)
	for _, value := range []string{"", "no JSON", "\xff\xfe", "null", "7", `"text"`, "[]", "{}"} {
		add([]byte(value), position("3"))
	}
	add([]byte(`{"article_id":"unplaced","status":"new"}`))
	add([]byte(`{"article_id":"misplaced","status":"new"}`), position("x"))
	for _, id := range []string{"early", "earlier"} {
		add(fmt.Appendf(nil, `{"article_id":%q,"cluster_id":null,"status":"unclustered","distance":null,`+
			`"size":0}`, id), kgo.RecordHeader{Key: "clusterd.source", Value: []byte("articles/0/0")})
	}
	return records
}

// notCorrections are records of the topic of corrections that are not corrections. The last record
// is a correction of "early".
func notCorrections(topic string) (records []*kgo.Record) {
	records = append(records, &kgo.Record{Topic: topic})
	for _, value := range []string{
		"", "no JSON", "null", "7", "[]", "{}", `{"article_id":"x"}`, `{"article_id":"x","position":null}`,
		`{"article_id":"x","position":"y"}`, `{"position":9}`,
		`{"article_id":"early","labels":["spam"],"position":9}`,
	} {
		records = append(records, &kgo.Record{Topic: topic, Value: []byte(value)})
	}
	return records
}

// skipped writes records. It returns a verdict for each record that readers must skip: for all
// except those of "early" and "earlier".
func (w *world) skipped(records []*kgo.Record) map[string]string {
	w.Helper()
	// kafkajs knows gzip alone.
	client := w.producer(kgo.ProducerBatchCompression(kgo.GzipCompression()))
	if err := client.ProduceSync(w.Context(), records...).FirstErr(); err != nil {
		w.Fatal(err)
	}
	verdicts := make(map[string]string)
	for _, r := range records {
		if !bytes.Contains(r.Value, []byte(`"earl`)) {
			verdicts[fmt.Sprintf("%s/%d/%d", r.Topic, r.Partition, r.Offset)] = "skipped"
		}
	}
	return verdicts
}

const (
	advert = "Best watches in town, all brands at half the price, and delivered within a day"
	offer  = advert + ". Everybody who buys one this week gets a second one for nothing, and a " +
		"strap of leather of any colour."
)

// comment sends a comment that was published at a time after the first ones, and waits until it is
// there.
func (w *world) comment(id, text string, after time.Duration) {
	w.Helper()
	at := time.Now().Add(after - 2*time.Hour)
	w.produce(&kgo.Record{Timestamp: at, Value: fmt.Appendf(nil,
		`{"id":%q,"content":%q,"published_at":%d}`, id, text, at.Unix())})
}

// abort writes a record in a transaction that is aborted.
func (w *world) abort(topic, value string) {
	w.Helper()
	client := w.producer(kgo.TransactionalID(topic + ".aborted"))
	if err := client.BeginTransaction(); err != nil {
		w.Fatal(err)
	}
	record := &kgo.Record{
		Topic: topic, Key: []byte("aborted"), Value: []byte(value),
		Headers: []kgo.RecordHeader{{Key: "clusterd.position", Value: []byte("99")}},
	}
	if err := client.ProduceSync(w.Context(), record).FirstErr(); err != nil {
		w.Fatal(err)
	}
	if err := client.EndTransaction(w.Context(), kgo.TryAbort); err != nil {
		w.Fatal(err)
	}
}

// readers returns the commands that run the examples, installed as each of them says.
func (w *world) readers() map[string][]string {
	w.Helper()
	const from = "../examples/readers/"
	libs, err := shared.script("libs")
	if err != nil {
		w.Fatal(err)
	}
	dir := w.TempDir()
	program := filepath.Join(dir, "reader")
	w.must("go", "build", "-o", program, from+"go")
	w.must("cp", from+"node/read.js", from+"node/package.json", dir)
	w.must("npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", dir)
	return map[string][]string{
		"go":     {program},
		"java":   {"java", "-cp", libs + "/*", from + "java/Read.java"},
		"node":   {"node", filepath.Join(dir, "read.js")},
		"python": {filepath.Join(w.venv(), "bin/python"), from + "python/read.py"},
	}
}

// expired returns a verdict for each key of the clusters topic that has a tombstone.
func (w *world) expired() map[string]string {
	w.Helper()
	verdicts := make(map[string]string)
	for _, r := range w.read(w.clusters, kgo.ReadCommitted()) {
		if r.Value == nil {
			verdicts[string(r.Key)] = "expired"
		}
	}
	return verdicts
}

// venv returns the directory of a Python with what the examples in it need.
func (w *world) venv() string {
	w.Helper()
	venv := filepath.Join(w.TempDir(), "venv")
	w.must("python3", "-m", "venv", venv)
	w.must(filepath.Join(venv, "bin/pip"), "install", "-q", "confluent-kafka")
	return venv
}

// verdicts returns what a reader said last of each article or cluster, and of each record that it
// skipped.
func verdicts(said string) map[string]string {
	last := make(map[string]string)
	for line := range strings.Lines(said) {
		name, verdict, ok := strings.Cut(strings.TrimSpace(line), " ")
		if strings.HasPrefix(verdict, "skipped: ") {
			verdict = "skipped"
		}
		if ok && !strings.HasPrefix(line, "Picked up JAVA_TOOL_OPTIONS") {
			last[name] = verdict
		}
	}
	return last
}
