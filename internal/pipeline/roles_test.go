package pipeline

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	kafkago "github.com/segmentio/kafka-go"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/consumer"
	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/testutil/check"
	"github.com/clusterd/clusterd/internal/testutil/texts"
	"github.com/clusterd/clusterd/internal/testutil/wait"
)

// newRolesBench is [newBench] with a topic of fingerprinted articles.
func newRolesBench(t *testing.T, c config.Config, partitions int32) *bench {
	t.Helper()
	b := newBench(t, c, partitions)
	if err := b.broker.CreateTopic(c.Fingerprints.Topic, partitions, nil); err != nil {
		t.Fatal(err)
	}
	return b
}

// assigned waits until all of the input is fingerprinted, and all of that is assigned.
func (b *bench) assigned() {
	b.Helper()
	b.committed()
	topic := b.config.Fingerprints.Topic
	partitions, err := b.client.Partitions(b.Context(), topic)
	if err != nil {
		b.Fatal(err)
	}
	wait.Until(b, "all fingerprinted articles to be assigned", func() bool {
		offsets, err := consumer.Committed(b.Context(), b.client, b.config.AssignGroup(), topic,
			partitions)
		return err == nil && !slices.ContainsFunc(partitions, func(p int) bool {
			last := int64(0) // behind the last record that is no marker
			for _, r := range b.read(topic) {
				if r.Partition == p {
					last = r.Offset + 1
				}
			}
			return offsets[p] < last
		})
	})
}

// mixedFeed are articles of all kinds, and records that are none.
func mixedFeed(n int) []kafkago.Message {
	messages := spread(feed(21, n))
	for i := range messages {
		m := &messages[i]
		m.Time = wallClock.Add(time.Duration(i) * time.Second)
		switch i % 7 {
		case 1:
			m.Key = fmt.Appendf(nil, "key %d", i)
			m.Headers = []kafkago.Header{{Key: "tenant", Value: []byte("a")}, {Key: "none"}}
		case 2:
			m.Key = []byte{}
		case 3:
			m.Value = fmt.Appendf(nil, `{"id":"x%d","content":"%s","source":"herald","url":"u",`+
				`"published_at":"2026-05-01T10:00:00.123456789+08:00"}`, i, texts.Sentence(uint64(i/20), 30))
		case 4:
			m.Value = fmt.Appendf(nil, `{"id":"u%d","content":"。，！"}`, i)
		case 5:
			m.Value = []byte("{")
		}
	}
	return messages
}

// Instances of the roles fingerprint and assign write what one instance of the role all writes, to
// the byte: results, clusters and dead letters.
func TestRolesWriteTheSameBytes(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*config.Config){
		"simhash": func(*config.Config) {},
		"everything carried": func(c *config.Config) {
			c.Output.Key, c.Output.Headers, c.Output.Copy = "source", []string{"*"}, []string{"url"}
			c.Signals.Enabled, c.Output.Excerpt = true, 40
		},
		"sketches and contacts": func(c *config.Config) {
			c.Fingerprint.Method, c.Contacts.Join = "minhash", true
		},
		"a window": func(c *config.Config) { c.Cluster.Window = time.Minute },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := testConfig()
			change(&c)
			written := func(b *bench, wait func(), roles ...string) (all []kafka.Record) {
				b.produce(mixedFeed(300)...)
				for _, role := range roles {
					b.startAs(role, t.TempDir())
				}
				wait()
				last := make(map[string]kafka.Record) // of clusters, which batches write more or less often
				for _, topic := range []string{
					c.Output.Topic, c.Output.DeadLetterTopic, c.Output.ClustersTopic,
				} {
					for _, r := range b.read(topic) {
						r.Time, r.Offset = time.Time{}, 0
						switch {
						case topic != c.Output.ClustersTopic:
							all = append(all, r)
						case !strings.HasPrefix(string(r.Key), "checkpoint:") && r.Value != nil:
							last[string(r.Key)] = r
						default:
							delete(last, string(r.Key))
						}
					}
				}
				// Which of the expired ones are removed already depends on the batches.
				var stream time.Time
				seen := make(map[string]time.Time)
				for key, r := range last {
					k, err := article.ParseCluster(r.Value)
					if err != nil {
						b.Fatal(err)
					}
					if seen[key] = k.LastSeen; k.LastSeen.After(stream) {
						stream = k.LastSeen
					}
				}
				for key, r := range last {
					if c.Cluster.Window == 0 || !seen[key].Before(stream.Add(-c.Cluster.Window)) {
						all = append(all, r)
					}
				}
				slices.SortStableFunc(all, func(x, y kafka.Record) int {
					return bytes.Compare(append([]byte(x.Topic), x.Key...), append([]byte(y.Topic), y.Key...))
				})
				return all
			}
			whole := newRolesBench(t, c, 1)
			want := written(whole, whole.committed, config.All)
			divided := newRolesBench(t, c, 1)
			got := written(divided, divided.assigned, config.AssignOnly, config.FingerprintOnly)
			if diff := cmp.Diff(want, got); diff != "" || len(want) < 100 {
				t.Errorf("of %d records (-all +roles):\n%.3000s", len(want), diff)
			}
		})
	}
}

// Several instances of each role, and a broker that answers with errors: nothing is lost and
// nothing doubled, and the clusters are those of the rule.
func TestRolesThroughFaults(t *testing.T) {
	t.Parallel()
	few := func(key kmsg.Key, err *kerr.Error, topLevel bool, topic string) kfake.Fault {
		return kfake.Fault{
			Keys: []kmsg.Key{key}, Err: err, Count: 4, TopLevel: topLevel, Topic: topic,
		}
	}
	for name, fault := range map[string]kfake.Fault{
		"a rebalance more":       few(kmsg.SyncGroup, kerr.RebalanceInProgress, true, ""),
		"commit times out":       few(kmsg.EndTxn, kerr.RequestTimedOut, true, ""),
		"commit: unknown error":  few(kmsg.EndTxn, kerr.UnknownServerError, true, ""),
		"fenced":                 few(kmsg.EndTxn, kerr.ProducerFenced, true, ""),
		"offsets: unknown error": few(kmsg.TxnOffsetCommit, kerr.UnknownServerError, false, ""),
		"fingerprints out of order": few(kmsg.Produce, kerr.OutOfOrderSequenceNumber, false,
			"article-fingerprints"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newRolesBench(t, testConfig(), 3)
			b.pauses = defaultPauses
			b.pauses.rebalance, b.pauses.rejoin = 500*time.Millisecond, 10*time.Millisecond
			b.broker.Fault(fault)
			values := feed(11, 60)
			var running []*instance
			for _, role := range []string{
				config.AssignOnly, config.FingerprintOnly, config.FingerprintOnly, config.AssignOnly,
			} {
				b.produce(spread(values)...)
				running = append(running, b.startAs(role, t.TempDir()))
			}
			b.assigned()
			running[1].end() // the other one takes its partitions
			b.produce(spread(values)...)
			b.assigned()
			running[0].end() // the standby takes the space
			b.produce(spread(values)...)
			b.assigned()
			running[2].end()
			running[3].end()
			b.verify()
		})
	}
}

// An instance of the role all is followed by the roles without a gap, and articles that are
// fingerprinted once more have no second result.
func TestRolesFollowAll(t *testing.T) {
	t.Parallel()
	b := newRolesBench(t, testConfig(), 2)
	values, dir := feed(12, 60), t.TempDir()
	b.produce(spread(values)...)
	i := b.startIn(dir)
	b.committed()
	i.end()

	assigner := b.startAs(config.AssignOnly, dir)
	fingerprinter := b.startAs(config.FingerprintOnly, t.TempDir())
	b.produce(spread(values)...)
	b.assigned()
	assigner.end()
	fingerprinter.end()
	b.verify()

	b.setBack()
	assigner = b.startAs(config.AssignOnly, dir)
	fingerprinter = b.startAs(config.FingerprintOnly, t.TempDir())
	b.assigned()
	wait.Until(t, "the log to say that they are passed over", func() bool {
		return strings.Contains(assigner.log.String(), "fingerprinted again")
	})
	b.produce(spread(values)...)
	b.assigned()
	assigner.end()
	fingerprinter.end()
	b.verify()

	check.ErrorHas(t, b.startIn(dir).wait(), "role assign", "article-fingerprints", "Nothing was read")
}

// setBack sets the offsets of those that fingerprint to the beginning of the input.
func (b *bench) setBack() {
	b.Helper()
	offsets := make(kadm.Offsets)
	for p := range int32(b.partitions()) {
		offsets.AddOffset(b.config.Input.Topic, p, 0, -1)
	}
	err := kadm.NewClient(b.franz()).CommitAllOffsets(b.Context(), b.config.Input.Group, offsets)
	if err != nil {
		b.Fatal(err)
	}
}

// What no clusterd has written to the topic of fingerprinted articles is a dead letter, and what
// one with other settings has written ends the reading.
func TestForeignFingerprints(t *testing.T) {
	t.Parallel()
	b := newRolesBench(t, testConfig(), 1)
	i := b.startAs(config.AssignOnly, t.TempDir())
	at := b.config.Fingerprints.Topic
	rubbish := [][]byte{nil, {}, []byte("{}"), bytes.Repeat([]byte{1}, 300)}
	plain := b.franz()
	for _, value := range rubbish {
		r := &kgo.Record{Topic: at, Value: value}
		if err := plain.ProduceSync(t.Context(), r).FirstErr(); err != nil {
			t.Fatal(err)
		}
	}
	b.produce(spread(feed(13, 20))...)
	f := b.startAs(config.FingerprintOnly, t.TempDir())
	b.assigned()
	f.end()
	letters := b.read(b.config.Output.DeadLetterTopic)
	if len(letters) != len(rubbish) {
		t.Errorf("%d dead letters", len(letters))
	}
	for _, r := range letters {
		if header(r, article.HeaderError) != string(article.BadFingerprint) ||
			!strings.HasPrefix(header(r, article.HeaderSource), at+"/0/") {
			t.Errorf("dead letter %+v", r)
		}
	}
	other := *b
	other.config.Fingerprint.Hash = "xxh3"
	b.produce(spread(feed(13, 20))...)
	other.startAs(config.FingerprintOnly, t.TempDir())
	check.ErrorHas(t, i.wait(), "by other settings", at+"/0/", "Nothing was skipped")
}

// Articles of a newer clusterd end the reading: as dead letters, all articles of a rolling upgrade
// would be lost to their clusters.
func TestFingerprintsOfANewerClusterd(t *testing.T) {
	t.Parallel()
	b := newRolesBench(t, testConfig(), 1)
	at := b.config.Fingerprints.Topic
	f := b.startAs(config.FingerprintOnly, t.TempDir())
	b.produce(spread(feed(13, 20))...)
	b.committed()
	f.end()
	newer := b.read(at)[0].Value
	newer[0] = 2 // the version
	r := &kgo.Record{Topic: at, Value: newer}
	if err := b.franz().ProduceSync(t.Context(), r).FirstErr(); err != nil {
		t.Fatal(err)
	}
	i := b.startAs(config.AssignOnly, t.TempDir())
	check.ErrorHas(t, i.wait(), "a newer clusterd, in version 2", fmt.Sprintf("%s/0/%d", at, r.Offset),
		"Nothing was skipped", "Upgrade the instances with role: assign first")
	if letters := b.read(b.config.Output.DeadLetterTopic); len(letters) > 0 {
		t.Errorf("%d dead letters", len(letters))
	}
}

// The topic of fingerprinted articles needs a partition for each of the input.
func TestFingerprintsNeedPartitions(t *testing.T) {
	t.Parallel()
	b := newBench(t, testConfig(), 3)
	if err := b.broker.CreateTopic(b.config.Fingerprints.Topic, 2, nil); err != nil {
		t.Fatal(err)
	}
	check.ErrorHas(t, b.startAs(config.FingerprintOnly, t.TempDir()).wait(), "--partitions 3")
}
