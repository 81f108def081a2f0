package pipeline

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	kafkago "github.com/segmentio/kafka-go"

	"github.com/clusterd/clusterd/internal/cli/offline"
	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/consumer"
	"github.com/clusterd/clusterd/internal/files"
	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/kafka/topics"
	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/message/checkpoint"
	"github.com/clusterd/clusterd/internal/method"
	"github.com/clusterd/clusterd/internal/monitor"
	"github.com/clusterd/clusterd/internal/sink"
	"github.com/clusterd/clusterd/internal/testutil/check"
	"github.com/clusterd/clusterd/internal/testutil/texts"
	"github.com/clusterd/clusterd/internal/text/fold"
)

func TestRunEveryArticleOnce(t *testing.T) {
	t.Parallel()
	for _, scope := range []string{"topic", "partition"} {
		t.Run(scope, func(t *testing.T) {
			t.Parallel()
			c := testConfig()
			c.Cluster.Scope = scope
			b := newBench(t, c, 4)
			values := feed(1, 300)
			b.produce(spread(values)...)
			i := b.start()
			b.committed()
			again := values[:len(values)/2]
			b.produce(spread(again)...) // the same again, while it runs
			b.committed()
			i.end()
			results := b.verify()
			if joined := countStatus(results, article.Joined); joined < len(again) {
				t.Errorf("%d of %d joined: the test shows little", joined, len(results))
			}
		})
	}
}

func TestRunBadInput(t *testing.T) {
	t.Parallel()
	c := testConfig()
	c.Input.MaxBytes = 2000
	b := newBench(t, c, 1)
	long := []byte(`{"title":"` + strings.Repeat("港口大桥 ", 1000) + `"}`)
	for _, tt := range []struct {
		class article.Class
		value []byte
	}{
		{article.NullValue, nil},
		{article.BadJSON, []byte("{")},
		{article.BadJSON, []byte("\xff\xfe\x00")},
		{article.BadField, []byte(`{"title":1}`)},
		{article.Empty, []byte{}},
		{article.Empty, []byte(`{"id":"1"}`)},
		{article.TooLarge, long},
		{article.TooDeep, []byte(strings.Repeat("[", 100))},
		{"", texts.ArticleJSON("good", "港口大桥今天通车", texts.Sentence(1, 60))},
		{"", []byte(`{"id":"bare","title":"!?"}`)},
		{"", []byte(`{"title":"x","published_at":"soon"}`)},
		{article.BadJSON, []byte("last")},
	} {
		b.produce(kafkago.Message{
			Key: []byte(tt.class), Value: tt.value, WriterData: 0,
			Headers: []kafkago.Header{{Key: "trace", Value: []byte("7")}},
		})
	}
	i := b.start()
	b.committed()
	i.end()
	if results := b.verify(); len(results) != 3 {
		t.Errorf("%d results, want those of the good one, of the bare one and of that without a time",
			len(results))
	}
	inputs := b.inputs()
	dead := b.read(c.Output.DeadLetterTopic)
	if len(dead) != 9 {
		t.Errorf("%d dead letters, want 9", len(dead))
	}
	for _, r := range dead {
		in := inputs[header(r, article.HeaderSource)]
		if string(r.Key) != header(r, article.HeaderError) || string(in.Value) != string(r.Value) ||
			(in.Value == nil) != (r.Value == nil) {
			t.Errorf("dead letter %q with value %q; want key and value of %s", r.Key, r.Value,
				header(r, article.HeaderSource))
		}
		if header(r, "trace") != "7" || header(r, article.HeaderReason) == "" ||
			header(r, article.HeaderStage) != "decode" {
			t.Errorf("headers of a dead letter: %s", r.Headers)
		}
	}
}

// Of a stream whose articles have their text in another field, no field is guessed: what it means
// must not depend on its first records. The log says what to set.
func TestRunGuessesNoField(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ value, want string }{
		"results without a cluster": {
			`{"title":"","body":"The ferry leaves at nine."}`,
			`none of 1000 articles has a field \"content\", so titles alone are compared; the first has ` +
				`\"title\", \"body\". Set input.fields.content to the path of the content`,
		},
		"dead letters": {
			`{"body":"The ferry leaves at nine."}`,
			`none of 1000 records is an article; the first is empty: there is no field \"title\" and no ` +
				`field \"content\" with a value; there is \"body\". input.fields says where`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, testConfig(), 1)
			b.produce(spread(slices.Repeat([][]byte{[]byte(tt.value)}, 1000))...)
			i := b.start()
			b.committed()
			i.end()
			results, dead := len(b.verify()), len(b.read(b.config.Output.DeadLetterTopic))
			if results+dead != 1000 || results*dead != 0 || countStatus(b.verify(), article.New) > 0 {
				t.Errorf("%d results and %d dead letters", results, dead)
			}
			if got := strings.Count(i.log.String(), tt.want); got != 1 {
				t.Errorf("said %d times, want once: %s", got, tt.want)
			}
		})
	}
}

// What became of articles is counted as it was committed: the report hands on all that it knows.
func TestRunCounts(t *testing.T) {
	t.Parallel()
	c := testConfig()
	c.Cluster.Window = time.Hour
	b := newBench(t, c, 1)
	now := time.Now().UTC()
	dated := func(story uint64, at time.Time) []byte {
		return fmt.Appendf(nil, `{"title":"t","content":%q,"published_at":%q}`,
			texts.Sentence(story, 60), at.Format(time.RFC3339))
	}
	for _, value := range [][]byte{
		dated(1, now.Add(-50*time.Minute)), dated(2, now.Add(-50*time.Minute)),
		dated(1, now.Add(-45*time.Minute)), []byte("{"), []byte(`{"title":"!?"}`),
		[]byte("{\"title\":\"\xff港口\",\"content\":\"大桥通车 居民沿着河岸庆祝\"}"),
		dated(3, now.Add(14*time.Minute)), // the first three have expired
		dated(4, now.Add(12*time.Hour)), dated(5, now.Add(-12*time.Hour)),
		[]byte(`{"title":"t","content":"市场价格上涨 农民喜获丰收","published_at":"some time"}`),
	} {
		b.produce(kafkago.Message{Value: value, WriterData: 0})
	}
	i := b.start()
	b.committed()
	i.end()
	w := httptest.NewRecorder()
	i.monitor.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	got := strings.Split(w.Body.String(), "\n")
	for _, want := range []string{
		`clusterd_articles_total{outcome="new"} 7`, `clusterd_articles_total{outcome="joined"} 1`,
		`clusterd_articles_total{outcome="unclustered"} 1`,
		`clusterd_dead_letters_total{class="bad_json"} 1`,
		`clusterd_clusters_expired_total 2`, `clusterd_invalid_encoding_total 1`,
		`clusterd_event_times_adjusted_total{reason="ahead"} 1`,
		`clusterd_event_times_adjusted_total{reason="old"} 1`,
		`clusterd_field_fallbacks_total{field="published_at",reason="format"} 1`,
	} {
		if !slices.Contains(got, want) {
			name, _, _ := strings.Cut(want, " ")
			at := slices.IndexFunc(got, func(line string) bool { return strings.HasPrefix(line, name) })
			t.Errorf("no %s, but %s", want, got[max(at, 0)])
		}
	}
}

func TestRunGoesOnWhereItStopped(t *testing.T) {
	t.Parallel()
	for _, scope := range []string{"topic", "partition"} {
		t.Run(scope, func(t *testing.T) {
			t.Parallel()
			c := testConfig()
			c.Cluster.Scope = scope
			b := newBench(t, c, 3)
			values := feed(2, 120)
			for n := range 3 {
				b.produce(spread(values)...)
				i := b.start()
				b.committed()
				i.end()
				results := b.verify()
				if founded := countStatus(results, article.New); n > 0 && scope == "topic" &&
					founded > len(values) {
					t.Errorf("start %d: %d clusters were founded of %d different articles", n, founded,
						len(values))
				}
			}
		})
	}
}

// A compacted clusters topic, and tombstones in it, recover alike.
func TestRunRecoversExpiredClusters(t *testing.T) {
	t.Parallel()
	c := testConfig()
	c.Cluster.Window = time.Hour
	b := newBench(t, c, 2)
	day := func(n int) time.Time { return time.Date(2026, 5, n, 0, 0, 0, 0, time.UTC) }
	send := func(id string, story uint64, published time.Time) {
		b.produce(kafkago.Message{
			Value: fmt.Appendf(nil, `{"id":%q,"content":%q,"published_at":%q}`, id,
				texts.Sentence(story, 60), published.Format(time.RFC3339)),
			Time: published, WriterData: 0,
		})
	}
	got := func() string {
		var statuses []string
		for _, r := range b.results() {
			statuses = append(statuses, r.ArticleID+" "+string(r.Status)+" "+*r.ClusterID)
		}
		return strings.Join(statuses, "\n")
	}
	send("a", 1, day(1))
	send("b", 1, day(1))
	i := b.start()
	b.committed()
	send("c", 2, day(2)) // which makes the first cluster old
	b.committed()
	i.end()
	b.broker.Compact()
	b.forgetBegins()
	send("d", 2, day(2))
	send("e", 1, day(2))
	i = b.start()
	b.committed()
	i.end()
	want := "a new articles/0/0\nb joined articles/0/0\nc new articles/0/2\nd joined " +
		"articles/0/2\ne new articles/0/4"
	if got := got(); got != want {
		t.Errorf("results:\n%s\nwant:\n%s", got, want)
	}
}

// forgetBegins writes the last checkpoint as an earlier version does. This broker says of a
// compacted partition that it begins at the first record that is left. Kafka does not.
func (b *bench) forgetBegins() {
	b.Helper()
	var last kafka.Record
	for _, r := range b.read("clusters") {
		if checkpoint.Is(r.Key) {
			last = kafka.Record{
				Topic: r.Topic, Partition: r.Partition, Key: r.Key,
				Value:   regexp.MustCompile(`,"begins":\{[^}]*\}`).ReplaceAll(r.Value, nil),
				Headers: r.Headers,
			}
		}
	}
	if _, err := b.intruder("earlier").Commit(b.Context(), sink.Batch{
		Records: []kafka.Record{last},
	}); err != nil {
		b.Fatal(err)
	}
}

func TestRunHaltsWhereAnOffsetIsOutOfRange(t *testing.T) {
	b := newBench(t, testConfig(), 2)
	i := b.start()
	b.produce(spread(texts.Feed(7, 20))...)
	b.committed()
	i.end()
	p := b.intruder("another")
	if _, err := p.Commit(t.Context(),
		sink.Batch{Offsets: []sink.Offset{{Topic: "articles", Partition: 1, Offset: 1000}}}); err != nil {
		t.Fatal(err)
	}
	err := b.failure()
	if !errors.Is(err, consumer.ErrOffsetOutOfRange) {
		t.Errorf("error = %v", err)
	}
	check.ErrorHas(t, err, "articles/1 holds offsets 0 to 10, and 1000 is wanted",
		"Nothing was skipped", "--reset-offsets", "input.group")
}

func TestRunRefusesOtherFingerprints(t *testing.T) {
	b := newBench(t, testConfig(), 1)
	b.produce(spread(texts.Feed(8, 20))...)
	i := b.start()
	b.committed()
	i.end()
	b.config.Fingerprint.Hash, b.config.Fingerprint.Weight = "xxh3", "set"
	check.ErrorHas(t, b.failure(),
		"it was made in another way (hash was sdbm and is xxh3, weight was log and is set)",
		"Set it back, or move over without an outage", "`clusterd migrate plan`",
		"or start anew with another input.group and another output.clusters_topic")
}

// Clusters that were made with an earlier version of folding are gone on with by that version
// alone.
func TestRunRefusesAnotherFolding(t *testing.T) {
	c := testConfig()
	c.Text.Fold = fold.First
	b := newBench(t, c, 1)
	b.produce(spread(texts.Feed(8, 20))...)
	i := b.start()
	b.committed()
	i.end()
	b.config.Text.Fold = fold.Latest
	check.ErrorHas(t, b.failure(),
		"it was made in another way (fold was 1 and is 2)",
		"Set text.fold: 1 to go on with these clusters", "`clusterd migrate plan` (docs/migration.md)")
	b.config.Text.Fold = fold.First
	i = b.start()
	b.produce(spread(texts.Feed(9, 20))...)
	b.committed()
	i.end()
}

func TestRunRefusesAnotherScope(t *testing.T) {
	c := testConfig()
	c.Cluster.Scope = "partition"
	b := newBench(t, c, 2)
	b.produce(spread(texts.Feed(9, 50))...)
	i := b.start()
	b.committed()
	i.end()
	b.config.Cluster.Scope = "topic"
	check.ErrorHas(t, b.failure(), `cluster.scope was "partition" and is topic`)
}

// The clusters of one field are not those of another.
func TestRunRefusesAnotherField(t *testing.T) {
	c := testConfig()
	c.Cluster.Scope, c.Cluster.ScopeField = "field", "source"
	b := newBench(t, c, 2)
	b.produce(spread(texts.Feed(9, 50))...)
	i := b.start()
	b.committed()
	i.end()
	b.config.Cluster.ScopeField = "header:tenant"
	check.ErrorHas(t, b.failure(), `cluster.scope_field was "source" and is header:tenant`)
}

func TestRunTopics(t *testing.T) {
	create := func(b *bench, configs map[string]string, names ...string) {
		for _, name := range names {
			if err := b.broker.CreateTopic(name, 3, configs); err != nil {
				b.Fatal(err)
			}
		}
	}
	t.Run("no input topic", func(t *testing.T) {
		check.ErrorHas(t, newBareBench(t, testConfig()).failure(),
			"topic articles: it does not exist: create it (kafka-topics --create --topic articles "+
				"--bootstrap-server 127.0.0.1:", "), or set kafka.create_topics: true")
	})
	t.Run("no output topic", func(t *testing.T) {
		b := newBareBench(t, testConfig())
		create(b, nil, "articles")
		check.ErrorHas(t, b.failure(),
			"topic article-clusters: it does not exist: create it (kafka-topics --create --topic "+
				"article-clusters --partitions 3 --bootstrap-server 127.0.0.1:")
	})
	t.Run("no clusters topic", func(t *testing.T) {
		b := newBareBench(t, testConfig())
		create(b, nil, "articles", "article-clusters")
		check.ErrorHas(t, b.failure(),
			"topic clusters: it does not exist: create it (kafka-topics --create --topic clusters "+
				"--partitions 3 --config cleanup.policy=compact --bootstrap-server 127.0.0.1:")
	})
	t.Run("no dead letter topic", func(t *testing.T) {
		b := newBareBench(t, testConfig())
		create(b, map[string]string{"cleanup.policy": "compact", "max.message.bytes": "5000000"},
			"articles", "article-clusters", "clusters")
		check.ErrorHas(t, b.failure(),
			"topic articles-dead: it does not exist: create it (kafka-topics --create --topic "+
				"articles-dead --partitions 3 --config max.message.bytes=5065536 --bootstrap-server ")
	})
	for _, policy := range []string{"delete", "compact,delete"} {
		t.Run("clusters topic with "+policy, func(t *testing.T) {
			b := newBareBench(t, testConfig())
			create(b, map[string]string{"cleanup.policy": policy}, "articles", "article-clusters",
				"clusters", "articles-dead")
			check.ErrorHas(t, b.failure(), "topic clusters has cleanup.policy="+policy, "it must be compact",
				"--alter --topic clusters --add-config cleanup.policy=compact")
		})
	}
	t.Run("created", func(t *testing.T) {
		c := testConfig()
		c.Kafka.CreateTopics = true
		c.Output.Partition = config.PartitionOfSource // needs as many as the input has
		b := newBareBench(t, c)
		create(b, map[string]string{"max.message.bytes": "3000000"}, "articles")
		b.start().log.WaitFor(t, "msg=live", 1)
		for _, topic := range []string{"article-clusters", "clusters", "articles-dead"} {
			partitions, err := b.client.Partitions(t.Context(), topic)
			if err != nil || len(partitions) != 3 {
				t.Errorf("%s: partitions %v, %v; want as many as the input has", topic, partitions, err)
			}
		}
		for topic, want := range map[string]kafka.TopicConfig{
			"clusters": {
				CleanupPolicy: "compact", MaxMessageBytes: 1048588, LimitKnown: true,
				DeleteRetention: 24 * time.Hour,
			},
			"articles-dead": {
				CleanupPolicy: "delete", MaxMessageBytes: 3000000 + topics.DeadLetterRoom, LimitKnown: true,
				DeleteRetention: 24 * time.Hour,
			},
		} {
			if got, err := b.client.TopicConfig(t.Context(), topic); err != nil || got != want {
				t.Errorf("%s: %+v, %v; want %+v", topic, got, err, want)
			}
		}
	})
}

func TestRunStopsWhileItWaits(t *testing.T) {
	t.Parallel()
	c := testConfig()
	b := newBareBench(t, c)
	b.broker.Close() // nobody answers
	i := b.start()
	i.log.WaitFor(t, "trying again", 1)
	i.end()
}

// The context may end for a reason of its own, as signal.NotifyContext gives one.
func TestRunStopsForAnyCause(t *testing.T) {
	b := newBench(t, testConfig(), 1)
	fingerprinter := testFingerprinter(t, b.config)
	b.config.State.Dir = t.TempDir()
	ctx, stop := context.WithCancelCause(t.Context())
	done := make(chan error)
	go func() {
		done <- run(ctx, Options{
			Config: b.config, Client: b.client, Log: discard, Monitor: monitor.New("test"),
		}, fingerprinter, b.pauses)
	}()
	b.produce(spread(texts.Feed(1, 5))...)
	b.committed()
	stop(errors.New("the power is going"))
	if err := <-done; err != nil {
		t.Errorf("error = %v, want none after a stop", err)
	}
}

func TestRunKeysBySource(t *testing.T) {
	c := testConfig()
	c.Output.Key = "source"
	b := newBench(t, c, 2)
	b.produce(kafkago.Message{
		Key: []byte("site-1"), Value: texts.ArticleJSON("a", "t", texts.Sentence(1, 60)), WriterData: 0,
	})
	b.produce(kafkago.Message{
		Value: texts.ArticleJSON("b", "t", texts.Sentence(1, 60)), WriterData: 1,
	})
	i := b.start()
	b.committed()
	i.end()
	for _, r := range b.verify() {
		switch {
		case r.ArticleID == "a" && string(r.Key) != "site-1":
			t.Errorf("key %q, want the input's", r.Key)
		case r.ArticleID == "b" && (r.Key != nil || r.Partition != 1):
			t.Errorf("key %q in partition %d, want none in the input's partition", r.Key, r.Partition)
		}
	}
}

// File gives the ids that Run gives to the same lines in one partition.
func TestFileEqualsRun(t *testing.T) {
	c := testConfig()
	b := newBench(t, c, 1)
	values := texts.Feed(10, 300)
	values[7], values[50] = []byte("{"), []byte(`{"title":"?"}`)
	b.produce(spread(values)...)
	i := b.start()
	b.committed()
	i.end()
	var content strings.Builder
	for _, v := range values {
		content.Write(v)
		content.WriteByte('\n')
	}
	var out bytes.Buffer
	rejections := 0
	_, err := offline.Cluster(t.Context(), c,
		[]files.File{{Name: "feed", Lines: strings.NewReader(content.String())}}, &out,
		func(offline.Rejected) error {
			rejections++
			return nil
		}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	fromKafka := make(map[int64]article.Result)
	for _, r := range b.results() {
		fromKafka[r.Source.Offset] = r.Result
	}
	lines := 0
	for line := range strings.Lines(out.String()) {
		lines++
		r, err := article.ParseResult([]byte(line))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(fromKafka[r.Source.Offset], r); diff != "" {
			t.Errorf("line %d in Kafka (-) and in a file (+):\n%s", r.Source.Offset+1, diff)
		}
	}
	if lines != 299 || len(fromKafka) != 299 || rejections != 1 {
		t.Errorf("%d results of the file, %d of Kafka, %d rejections", lines, len(fromKafka), rejections)
	}
}

func TestIdentityNamesAllThatChangesFingerprints(t *testing.T) {
	c := testConfig()
	c.Fingerprint = method.FingerprintSettings{Method: "simhash", Hash: "xxh3", Weight: "tf"}
	got := testFingerprinter(t, c).Identity()
	check.ErrorHas(t, errors.New(got), "method=simhash,hash=xxh3,weight=tf,dict=", ",stop=", ",norm=",
		",html=auto")
}
