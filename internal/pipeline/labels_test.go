package pipeline

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	kafkago "github.com/segmentio/kafka-go"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/message/checkpoint"
	"github.com/clusterd/clusterd/internal/message/label"
	"github.com/clusterd/clusterd/internal/pipeline/intake"
	"github.com/clusterd/clusterd/internal/testutil/texts"
	"github.com/clusterd/clusterd/internal/testutil/wait"
)

// labelConfig is the test configuration with labels, and with corrections.
func labelConfig() config.Config {
	c := testConfig()
	c.Labels.Topic, c.Labels.Corrections = "labels", "corrections"
	return c
}

// newLabelBench starts a broker with the topics of labels, and somebody who knows the members.
func newLabelBench(t *testing.T, c config.Config, partitions int32) *bench {
	t.Helper()
	b := newBench(t, c, partitions)
	for _, topic := range []string{c.Labels.Topic, c.Labels.Corrections} {
		if topic == "" {
			continue
		}
		if err := b.broker.CreateTopic(topic, 1, nil); err != nil {
			t.Fatal(err)
		}
	}
	b.members = &resultMembers{bench: b}
	return b
}

// resultMembers knows what is in the results topic, whenever it is asked the second time.
type resultMembers struct {
	*bench
	mu    sync.Mutex
	asked int
}

func (m *resultMembers) Before(
	_ context.Context, clusterID string, from, before uint64, limit int,
) (found []article.Member, complete bool, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.asked++
	switch {
	case m.asked == 2:
		return nil, false, errors.New("the disk of the members is slow")
	case m.asked%4 == 0:
		return nil, false, nil
	}
	for _, r := range m.results() {
		if r.ClusterID != nil && *r.ClusterID == clusterID && r.position >= from &&
			r.position < before && len(found) < min(limit, 3) {
			found = append(found, article.Member{
				ArticleID: r.ArticleID, Position: r.position, Source: r.Source,
			})
		}
	}
	return found, true, nil
}

// label writes records to the topic of labels and waits until they are read, and all is told.
func (b *bench) label(values ...string) {
	b.Helper()
	b.send(values...)
	b.labelsRead()
}

func (b *bench) send(values ...string) {
	b.Helper()
	w := &kafkago.Writer{
		Addr: kafkago.TCP(b.config.Kafka.Brokers...), Topic: b.config.Labels.Topic,
		RequiredAcks: kafkago.RequireAll, BatchTimeout: time.Millisecond,
	}
	defer w.Close()
	for _, value := range values {
		if err := w.WriteMessages(b.Context(), kafkago.Message{Value: []byte(value)}); err != nil {
			b.Fatal(err)
		}
	}
}

// labelsRead waits until each space has read all labels, and written all corrections.
func (b *bench) labelsRead() {
	b.Helper()
	end := b.broker.PartitionInfo(b.config.Labels.Topic, 0).HighWatermark
	wait.Until(b, "the labels to be applied", func() bool {
		all := b.labelProgress()
		for _, p := range all {
			if p == nil || p.Offsets[0] < end || len(p.Corrections) > 0 {
				return false
			}
		}
		return len(all) > 0
	})
}

// labelProgress is how far each space is, by its name.
func (b *bench) labelProgress() map[string]*checkpoint.Labels {
	b.Helper()
	all := make(map[string]*checkpoint.Labels)
	for _, r := range b.read(b.config.Output.ClustersTopic) {
		if checkpoint.Is(r.Key) {
			c, err := checkpoint.Parse(r.Key, r.Value)
			if err != nil {
				b.Fatal(err)
			}
			all[c.Space] = c.Labels
		}
	}
	return all
}

func addLabel(cluster, name string) string {
	return fmt.Sprintf(`{"cluster_id":%q,"label":%q,"by":"alice"}`, cluster, name)
}

func removeLabel(cluster, name string) string {
	return fmt.Sprintf(`{"cluster_id":%q,"label":%q,"action":"remove"}`, cluster, name)
}

// copies are n articles with the same text.
func copies(seed uint64, n int) []kafkago.Message {
	messages := make([]kafkago.Message, n)
	for i := range messages {
		messages[i] = kafkago.Message{
			Value:      texts.ArticleJSON(fmt.Sprintf("%d-%d", seed, i), "", texts.Sentence(seed, 30)),
			WriterData: 0,
		}
	}
	return messages
}

// send n copies of a text and wait until they are committed; returned is the cluster of the last.
func (b *bench) wave(seed uint64, n int) (cluster string) {
	b.Helper()
	b.produce(copies(seed, n)...)
	b.committed()
	results := b.results()
	return *results[len(results)-1].ClusterID
}

// carried are the labels of each result, in order, and of those on trial.
func (b *bench) carried() (labels, trial []string) {
	b.Helper()
	for _, r := range b.results() {
		labels = append(labels, strings.Join(r.Labels, "+"))
		trial = append(trial, strings.Join(r.TrialLabels, "+"))
	}
	return labels, trial
}

// What a label changes holds from a position on, whoever works on, and removing it undoes it.
func TestLabelsHoldFromAPositionOn(t *testing.T) {
	t.Parallel()
	b := newLabelBench(t, labelConfig(), 1).alone()
	dir := t.TempDir()
	i := b.startIn(dir)
	restart := func(in string) {
		i.end()
		i = b.startIn(in)
	}
	id := b.wave(1, 2)
	b.label(addLabel(id, "spam"), addLabel(id, "spam"))
	b.wave(1, 2)
	restart(dir)
	b.wave(1, 1)
	b.label(`{"cluster_id":"` + id + `","label":"bulk","trial":true}`)
	restart(t.TempDir()) // from the topic alone
	b.wave(1, 1)
	b.label(addLabel(id, "ham"))
	b.wave(1, 1)
	b.label(removeLabel(id, "ham"), removeLabel(id, "bulk")) // the latter stays: it is on trial
	b.wave(1, 1)
	b.label(`{"cluster_id":"` + id + `","label":"bulk","trial":true,"action":"remove"}`)
	b.wave(1, 1)
	b.label(removeLabel(id, "spam"))
	b.wave(1, 1)
	i.end()
	labels, trial := b.carried()
	want := []string{"", "", "spam", "spam", "spam", "spam", "ham", "spam", "spam", ""}
	wantTrial := []string{"", "", "", "", "", "bulk", "bulk", "bulk", "", ""}
	if diff := cmp.Diff([][]string{want, wantTrial}, [][]string{labels, trial}); diff != "" {
		t.Error(diff)
	}
	b.verifyCorrections()
	if c := b.cluster(id); c.Labels != nil || c.KeptMS != 0 {
		t.Errorf("without labels: %+v", c)
	}
	b.verify()
}

// cluster is the last record of a cluster, without a value if it is gone.
func (b *bench) cluster(id string) (c article.Cluster) {
	b.Helper()
	for _, r := range b.read(b.config.Output.ClustersTopic) {
		if string(r.Key) != id {
			continue
		}
		c = article.Cluster{}
		if r.Value != nil {
			var err error
			if c, err = article.ParseCluster(r.Value); err != nil {
				b.Fatal(err)
			}
		}
	}
	return c
}

// verifyCorrections holds the results and the corrections to one another: each change has one
// correction for each member before it, and what results carry is what the last change before them
// says. It returns how many corrections there are.
func (b *bench) verifyCorrections() int {
	b.Helper()
	type changed struct{ cluster, record string }
	told := make(map[changed]map[uint64]int)
	changes := make(map[string]map[uint64][]string) // by cluster and position: the labels from then on
	corrections := b.read(b.config.Labels.Corrections)
	for _, r := range corrections {
		c, err := article.ParseCorrection(r.Value)
		if err != nil || string(r.Key) != c.ClusterID {
			b.Fatalf("%s: %s, %v", r.Key, r.Value, err)
		}
		if changes[c.ClusterID] == nil {
			changes[c.ClusterID] = make(map[uint64][]string)
		}
		changes[c.ClusterID][c.Position] = c.Labels // the last one at a position counts
		key := changed{c.ClusterID, fmt.Sprint(c.Position, c.Record)}
		if told[key] == nil {
			told[key] = make(map[uint64]int)
		}
		told[key][c.MemberPosition]++
	}
	results := b.results()
	for key, members := range told {
		var position uint64
		fmt.Sscan(key.record, &position) //nolint:errcheck // it was printed so
		want := make(map[uint64]int)
		for _, r := range results {
			if r.ClusterID != nil && *r.ClusterID == key.cluster && r.position < position {
				want[r.position] = 1
			}
		}
		if diff := cmp.Diff(want, members); diff != "" {
			b.Errorf("%v: members told, by position:\n%s", key, diff)
		}
	}
	for _, r := range results {
		var want []string
		if r.ClusterID == nil {
			continue
		}
		for _, position := range slices.Sorted(maps.Keys(changes[*r.ClusterID])) {
			if position <= r.position {
				want = changes[*r.ClusterID][position]
			}
		}
		if !slices.Equal(want, r.Labels) {
			b.Errorf("the result at %d of %s carries %q, want %q", r.position, *r.ClusterID, r.Labels,
				want)
		}
	}
	return len(corrections)
}

// Whatever fails, each label is applied once, and each earlier member told once.
func TestLabelsThroughFaults(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]kfake.Fault{
		"commit times out": {
			Keys: []kmsg.Key{kmsg.EndTxn}, Err: kerr.RequestTimedOut, Count: 4, TopLevel: true,
		},
		"produce fails": {
			Keys: []kmsg.Key{kmsg.Produce}, Topic: "article-clusters", Err: kerr.InvalidRecord, Count: 4,
		},
		"corrections fail": {
			Keys: []kmsg.Key{kmsg.Produce}, Topic: "corrections", Err: kerr.InvalidRecord, Count: 4,
		},
		"fenced": {
			Keys: []kmsg.Key{kmsg.EndTxn}, Err: kerr.ProducerFenced, Count: 3, TopLevel: true,
		},
		"labels cannot be read": {
			Keys: []kmsg.Key{kmsg.Fetch}, Topic: "labels", Err: kerr.UnknownServerError, Count: 4,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newLabelBench(t, labelConfig(), 1).alone()
			i := b.start()
			var ids []string
			for seed := range uint64(4) {
				ids = append(ids, b.wave(seed+1, 5))
			}
			handle := b.broker.Fault(fault)
			for round := range 3 {
				for seed, id := range ids {
					b.produce(copies(uint64(seed+1), 3)...)
					b.send(addLabel(id, fmt.Sprint("label ", round)), addLabel(id, "spam"))
					b.produce(copies(uint64(seed+1), 3)...)
				}
				b.send(removeLabel(ids[round], "spam"))
			}
			b.labelsRead()
			b.committed()
			i.end()
			if n := b.verifyCorrections(); n < 4*4*5 {
				t.Errorf("%d corrections", n)
			}
			b.verify()
			if handle.Hits() == 0 {
				t.Error("the fault never struck")
			}
		})
	}
}

// A labelled cluster outlives the window, and the next wave carries the label; others do not.
func TestLabelledClustersAreKept(t *testing.T) {
	t.Parallel()
	c := labelConfig()
	c.Cluster.Window, c.Labels.Keep = time.Hour, 100*time.Hour
	b := newLabelBench(t, c, 1).alone()
	hour := 0
	// one is an article of a text at that hour
	one := func(seed uint64) (id string) {
		b.Helper()
		at := time.Date(2026, 1, 1, hour, 0, 0, 0, time.UTC)
		b.produce(kafkago.Message{
			Value: fmt.Appendf(nil, `{"content":%q,"published_at":%q}`, texts.Sentence(seed, 30),
				at.Format(time.RFC3339)), WriterData: 0, Time: at,
		})
		b.committed()
		results := b.results()
		return *results[len(results)-1].ClusterID
	}
	i := b.start()
	spam, other := one(1), one(2)
	b.label(addLabel(spam, "spam"))
	if got := b.cluster(spam); got.KeptMS != 99*time.Hour.Milliseconds() {
		t.Errorf("kept for %d ms", got.KeptMS)
	}
	hour = 50
	if next := one(1); next != spam {
		t.Errorf("the next wave founds %s", next)
	}
	if next := one(2); next == other {
		t.Errorf("%s has outlived the window", next)
	}
	i.end()
	i = b.start() // from the topic
	hour = 149
	if next := one(1); next != spam {
		t.Errorf("the wave after that founds %s", next)
	}
	if gone := b.cluster(other); gone.ClusterID != "" {
		t.Errorf("cluster %s is still there", gone.ClusterID)
	}
	hour = 155
	one(3) // it is beyond the window, and kept by its label alone
	b.label(removeLabel(spam, "spam"), addLabel(spam, "late"))
	if gone := b.cluster(spam); gone.ClusterID != "" {
		t.Errorf("without its label, cluster %s is still there", gone.ClusterID)
	}
	if next := one(1); next == spam {
		t.Errorf("%s lives on", next)
	}
	i.end()
	labels, _ := b.carried()
	if diff := cmp.Diff([]string{"", "", "spam", "", "spam", "", ""}, labels); diff != "" {
		t.Error(diff)
	}
	letters := b.read(c.Output.DeadLetterTopic)
	if len(letters) != 1 || header(letters[0], article.HeaderError) != string(article.UnknownCluster) {
		t.Errorf("dead letters %v", letters)
	}
	b.verifyCorrections()
}

// What cannot be applied is a dead letter, once, with all that it was.
func TestLabelsThatCannotBeApplied(t *testing.T) {
	t.Parallel()
	c := labelConfig()
	c.Cluster.Scope, c.Labels.Corrections = "partition", ""
	b := newLabelBench(t, c, 3)
	i := b.start()
	one := texts.ArticleJSON("a", "", texts.Sentence(1, 30))
	b.produce(spread([][]byte{one, one, one})...)
	b.committed()
	want := map[string]int{}
	add := func(class, value string) {
		want[class+" "+value]++
		b.send(value)
	}
	add("bad_label", `{`)
	add("bad_label", `{"cluster_id":"articles/0/0"}`)
	add("bad_label", strings.Repeat(" ", 20<<10)+`{}`)
	add("unknown_cluster", addLabel("articles/2/5", "spam"))
	add("unknown_cluster", addLabel("articles/3/0", "spam"))
	add("unknown_cluster", removeLabel("others/1/0", "spam"))
	for n := range article.MaxLabels {
		b.send(addLabel("articles/1/0", fmt.Sprint("label ", n)))
	}
	add("too_many_labels", addLabel("articles/1/0", "spam"))
	b.send(addLabel("articles/2/0", "spam"))
	b.labelsRead()
	i.end()
	b.start().end() // nothing is read twice
	got := map[string]int{}
	for _, r := range b.read(c.Output.DeadLetterTopic) {
		if stage := header(r, article.HeaderStage); stage != intake.StageLabel ||
			!strings.HasPrefix(header(r, article.HeaderSource), "labels/0/") {
			t.Errorf("stage %s, source %s", stage, header(r, article.HeaderSource))
		}
		got[header(r, article.HeaderError)+" "+string(r.Value)]++
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for id, n := range map[string]int{"articles/0/0": 0, "articles/1/0": 8, "articles/2/0": 1} {
		var labels []article.Label
		if c := b.cluster(id); c.Labels != nil {
			if err := json.Unmarshal(c.Labels, &labels); err != nil {
				t.Fatal(err)
			}
		}
		if len(labels) != n {
			t.Errorf("%s has labels %+v, want %d", id, labels, n)
		}
	}
}

// Where nearly all comments are copies of marked campaigns, every copy carries the label, and the
// operator is told.
func TestFloodHidesNoLabel(t *testing.T) {
	t.Parallel()
	c := labelConfig()
	c.Labels.Flood = 0.9
	b := newLabelBench(t, c, 1).alone()
	i := b.start()
	const campaigns, comments = 3, 1600
	for seed := range uint64(campaigns) {
		b.label(addLabel(b.wave(seed, 1), "spam"))
	}
	var messages []kafkago.Message
	for n := range uint64(comments) {
		seed := n % campaigns
		if n%20 == 0 { // that is honest
			seed = 1000 + n
		}
		messages = append(messages, copies(seed, 1)...)
	}
	b.produce(messages...)
	b.committed()
	i.log.WaitFor(t, "a label hits more of 1,000 articles than labels.flood", 1)
	wait.Until(t, "the status to name the label", func() bool {
		return strings.Contains(i.monitor.Status().Reason, "than labels.flood carry spam")
	})
	b.label(`{"label":"spam","action":"resume"}`)
	i.end()
	labels, _ := b.carried()
	for n, carried := range labels[campaigns:] {
		if want := map[bool]string{false: "spam"}[n%20 == 0]; carried != want {
			t.Fatalf("comment %d carries %q, want %q", n, carried, want)
		}
	}
}

// A label that an earlier version has suspended is resumed at the start, and the log says so once.
func TestSuspendedLabelsAreResumed(t *testing.T) {
	t.Parallel()
	b := newLabelBench(t, labelConfig(), 1).alone()
	dir := t.TempDir()
	i := b.startIn(dir)
	id := b.wave(1, 1)
	b.label(addLabel(id, "spam"))
	i.end()
	b.suspend("spam")
	i = b.start() // with an empty disk: what is in the topic counts
	i.log.WaitFor(t, "a label that the version before had suspended is resumed", 1)
	b.wave(1, 2)
	i.end()
	i = b.start()
	b.wave(1, 2)
	i.end()
	if strings.Contains(i.log.String(), "had suspended") {
		t.Error("it is said again")
	}
	labels, _ := b.carried()
	if diff := cmp.Diff([]string{"", "spam", "spam", "spam", "spam"}, labels); diff != "" {
		t.Error(diff)
	}
}

// suspend writes the last checkpoint again as a version that suspended a label would have.
func (b *bench) suspend(name string) {
	b.Helper()
	var last kafka.Record
	for _, r := range b.read(b.config.Output.ClustersTopic) {
		if checkpoint.Is(r.Key) {
			last = r
		}
	}
	c, err := checkpoint.Parse(last.Key, last.Value)
	if err != nil {
		b.Fatal(err)
	}
	c.Labels.Flood = map[string]label.FloodCount{name: {Suspended: true}}
	again := &kgo.Record{Topic: last.Topic, Key: last.Key, Value: c.JSON()}
	for _, h := range last.Headers {
		again.Headers = append(again.Headers, kgo.RecordHeader{Key: h.Key, Value: h.Value})
	}
	if err := b.franz().ProduceSync(b.Context(), again).FirstErr(); err != nil {
		b.Fatal(err)
	}
}

// Without a topic of labels nothing is written of them, and how far they were is kept.
func TestLabelsOff(t *testing.T) {
	t.Parallel()
	b := newLabelBench(t, labelConfig(), 1).alone()
	i := b.start()
	id := b.wave(1, 1)
	b.label(addLabel(id, "spam"))
	i.end()
	b.config.Labels = config.Default().Labels
	i = b.start()
	b.wave(1, 1)
	i.end()
	b.config.Labels = labelConfig().Labels
	i = b.start()
	b.wave(1, 1)
	b.label(removeLabel(id, "spam"))
	b.wave(1, 1)
	i.end()
	labels, _ := b.carried()
	if diff := cmp.Diff([]string{"", "", "spam", ""}, labels); diff != "" {
		t.Error(diff)
	}
	if p := b.labelProgress()["all"]; p.Offsets[0] != 2 || p.Since != 2 {
		t.Errorf("%+v", p)
	}
}
