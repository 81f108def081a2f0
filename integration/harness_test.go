//go:build integration

// Package integration tests clusterd as a user runs it, against a real Apache Kafka that the script
// kafka beside it starts. Nothing here shares code with what decides in clusterd: topics are read
// with another client, and whether the right thing came out is for clusterd audit to say, whose
// model is its own.
package integration

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/clusterd/clusterd/internal/testutil/wait"
)

var (
	binary  string // the clusterd that is tested
	hurting string // the same with failpoints
)

var seed = flag.Uint64("seed", 0,
	"what the choices of the fault tests follow from; 0 takes another one each time, and says which")

var kept = flag.String("keep", "",
	"directory for the configuration of a world whose test fails: its topics stay; empty deletes them")

func TestMain(m *testing.M) {
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func run(m *testing.M) (int, error) {
	// Parallel tests wait for Kafka's timeouts in the main, not for a core. The command line goes
	// first.
	if err := flag.Set("test.parallel", "6"); err != nil {
		return 1, err
	}
	flag.Parse()
	if *seed == 0 {
		*seed = uint64(time.Now().UnixNano())
	}
	dir, err := os.MkdirTemp("", "clusterd-integration-")
	if err != nil {
		return 1, err
	}
	defer os.RemoveAll(dir)
	binary, hurting = filepath.Join(dir, "clusterd"), filepath.Join(dir, "clusterd-failpoints")
	for _, args := range [][]string{{"-o", binary}, {"-o", hurting, "-tags", "failpoints"}} {
		if out, err := exec.Command("go", slices.Concat([]string{"build"}, args,
			[]string{"../cmd/clusterd"})...).CombinedOutput(); err != nil {
			return 1, fmt.Errorf("building clusterd: %w\n%s", err, out)
		}
	}
	if shared, err = startBrokers(); err != nil {
		return 1, err
	}
	defer shared.client.Close()
	return m.Run(), nil
}

// seeded returns where a test's choices come from.
func seeded(t *testing.T) *rand.Rand {
	t.Helper()
	t.Logf("to repeat its choices: -seed %d", *seed)
	return rand.New(rand.NewPCG(*seed, 0))
}

// world is one test's own topics, group, configuration and disks.
type world struct {
	*testing.T
	*brokers
	input, output, clusters, dead, group string
	labels, corrections, stories         string // topics that a configuration may name
	fingerprints                         string // topic; empty where instances do all
	config                               string // path
	dir                                  string // the instances' directories are in it
	listen                               string // of the HTTP of all; else each has its own
	program                              string // what is started; empty is this version
	embedded                             string // where instances keep a broker of their own
	instances                            []*instance
	env                                  []string // of what is started, beside the test's own
	sends                                uint64   // calls of send, each of which sends others
	timeout                              time.Duration
	mergesOnce                           bool // each story is merged once at most
	erasesContacts                       bool // label records of contacts erase them
}

var worlds atomic.Int64

// newWorld makes the input topic, and a configuration with the settings that extra adds. If it
// names LABELS, that topic is made, too.
func newWorld(t *testing.T, partitions int32, extra string) *world {
	t.Helper()
	return shared.newWorld(t, partitions, extra)
}

// newWorld makes a world on these brokers.
func (b *brokers) newWorld(t *testing.T, partitions int32, extra string) *world {
	t.Helper()
	w := b.emptyWorld(t)
	w.Cleanup(func() { // a broker with many topics takes long to come back
		if w.Failed() && *kept != "" {
			w.keep()
			return
		}
		_, _ = w.admin.DeleteTopics(context.WithoutCancel(w.Context()), w.input, w.output, w.clusters,
			w.dead, w.labels, w.corrections, w.stories, w.fingerprints)
	})
	w.createTopic(w.input, partitions, "max.message.bytes", "8000000")
	if strings.Contains(extra, "LABELS") {
		w.createTopic(w.labels, 2)
	}
	w.configure(extra)
	return w
}

// keep leaves the topics of a failed test, and copies the configuration, for clusterd audit.
func (w *world) keep() {
	text, err := os.ReadFile(w.config)
	if err == nil {
		err = os.WriteFile(filepath.Join(*kept, w.group+".yaml"), text, 0o600)
	}
	w.Logf("kept the topics of %s for %s/%[1]s.yaml: %v", w.group, *kept, err)
}

// emptyWorld makes a world whose topics nobody has created, and that is not configured.
func (b *brokers) emptyWorld(t *testing.T) *world {
	t.Helper()
	name := fmt.Sprintf("w%d-%d", time.Now().UnixNano(), worlds.Add(1))
	w := &world{
		T: t, brokers: b, group: name,
		input: name + ".articles", output: name + ".results", clusters: name + ".clusters",
		dead: name + ".dead", labels: name + ".labels", corrections: name + ".corrections",
		stories: name + ".stories",
		dir:     t.TempDir(), timeout: wait.Timeout,
	}
	w.config = filepath.Join(w.dir, "clusterd.yaml")
	return w
}

// configure writes the configuration. extra is YAML at the top level, in which LABELS, CORRECTIONS
// and STORIES stand for topics of the world.
func (w *world) configure(extra string) {
	w.Helper()
	extra = strings.NewReplacer("LABELS", w.labels, "CORRECTIONS", w.corrections, "STORIES",
		w.stories).Replace(extra)
	if !strings.Contains(extra, "kafka:") {
		extra += fmt.Sprintf("kafka: {brokers: [\"%s\"], create_topics: true}\n",
			strings.Join(w.addresses, `", "`))
	}
	if !strings.Contains(extra, "input:") {
		extra += fmt.Sprintf("input: {topic: %s, group: %s}\n", w.input, w.group)
	}
	// What each instance has for itself comes from its environment.
	text := fmt.Sprintf(`output: {topic: %s, clusters_topic: %s, dead_letter_topic: %s}
state: {dir: "${CLUSTERD_TEST_DIR:unused}"}
http: {listen: "${CLUSTERD_TEST_LISTEN:}"}
log: {format: text, level: debug}
`, w.output, w.clusters, w.dead)
	if err := os.WriteFile(w.config, []byte(text+extra), 0o600); err != nil {
		w.Fatal(err)
	}
}

// replace edits the configuration.
func (w *world) replace(old, new string) {
	w.Helper()
	text, err := os.ReadFile(w.config)
	if err != nil {
		w.Fatal(err)
	}
	if err := os.WriteFile(w.config, []byte(strings.ReplaceAll(string(text), old, new)),
		0o600); err != nil {
		w.Fatal(err)
	}
}

// createTopic makes a topic with settings, names and values by turns.
func (w *world) createTopic(topic string, partitions int32, settings ...string) {
	w.Helper()
	configs := make(map[string]*string)
	for i := 0; i < len(settings); i += 2 {
		configs[settings[i]] = &settings[i+1]
	}
	if _, err := w.admin.CreateTopic(w.Context(), partitions, -1, configs, topic); err != nil {
		w.Fatal(err)
	}
}

// setTopic changes a setting of a topic.
func (w *world) setTopic(topic, name, value string) {
	w.Helper()
	change := []kadm.AlterConfig{{Op: kadm.SetConfig, Name: name, Value: &value}}
	if _, err := w.admin.AlterTopicConfigs(w.Context(), change, topic); err != nil {
		w.Fatal(err)
	}
}

// deleteTopic deletes a topic and waits until it is gone.
func (w *world) deleteTopic(topic string) {
	w.Helper()
	if _, err := w.admin.DeleteTopic(w.Context(), topic); err != nil {
		w.Fatal(err)
	}
	w.eventually("deletion of "+topic, func() bool { return len(w.ends(topic)) == 0 })
}

// eventually polls a condition.
func (w *world) eventually(what string, condition func() bool) {
	w.Helper()
	deadline := time.Now().Add(w.timeout)
	for !condition() {
		if time.Now().After(deadline) {
			w.Fatalf("not within %s: %s", w.timeout, what)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// producer returns a client that writes each record exactly once, through broker failures too.
func (w *world) producer(options ...kgo.Opt) *kgo.Client {
	w.Helper()
	client, err := kgo.NewClient(append([]kgo.Opt{
		// a busy broker makes topics slowly
		kgo.SeedBrokers(w.addresses...), kgo.DefaultProduceTopic(w.input),
		kgo.ProducerBatchMaxBytes(8_000_000), kgo.UnknownTopicRetries(-1),
	}, options...)...)
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(client.Close)
	return client
}

func (w *world) produce(records ...*kgo.Record) {
	w.Helper()
	if err := w.producer().ProduceSync(w.Context(), records...).FirstErr(); err != nil {
		w.Fatal(err)
	}
}

// ends returns the offsets behind the last record of each partition of a topic; none if there is no
// topic.
func (w *world) ends(topic string) map[int32]int64 {
	w.Helper()
	// A client of its own: another one remembers for seconds that a topic was not there.
	client, err := kgo.NewClient(kgo.SeedBrokers(w.addresses...),
		kgo.RequestTimeoutOverhead(answerTimeout))
	if err != nil {
		w.Fatal(err)
	}
	defer client.Close()
	offsets, err := kadm.NewClient(client).ListEndOffsets(w.Context(), topic)
	if err != nil {
		w.Fatal(err)
	}
	ends := make(map[int32]int64)
	offsets.Each(func(o kadm.ListedOffset) {
		switch {
		case errors.Is(o.Err, kerr.UnknownTopicOrPartition):
		case o.Err != nil:
			w.Fatalf("the end of %s/%d: %v", topic, o.Partition, o.Err)
		default:
			ends[o.Partition] = o.Offset
		}
	})
	return ends
}

// committed returns the offsets of the input that the group has committed.
func (w *world) committed() map[int32]int64 {
	w.Helper()
	return w.committedBy(w.group, w.input)
}

// committedBy returns the offsets of a topic that a group has committed. A broker that has just
// started may not know yet, and one that was killed takes no connection.
func (w *world) committedBy(group, topic string) map[int32]int64 {
	w.Helper()
	var offsets kadm.OffsetResponses
	var err error
	defer func() {
		if err != nil {
			w.Log("asking for the group's offsets: ", err)
		}
	}()
	admin := w.admin
	w.eventually("the group's offsets", func() bool {
		ctx, cancel := context.WithTimeout(w.Context(), 2*answerTimeout)
		defer cancel()
		if offsets, err = admin.FetchOffsets(ctx, group); err == nil {
			return true
		}
		// A client of its own next time: one that knew a broker tries it for long.
		fresh, odd := kgo.NewClient(kgo.SeedBrokers(w.addresses...),
			kgo.RequestTimeoutOverhead(answerTimeout))
		if odd != nil {
			w.Fatal(odd)
		}
		if admin != w.admin {
			admin.Close()
		}
		admin = kadm.NewClient(fresh)
		return false
	})
	if admin != w.admin {
		admin.Close()
	}
	committed := make(map[int32]int64)
	offsets.Each(func(o kadm.OffsetResponse) {
		if o.Topic == topic {
			committed[o.Partition] = o.At
		}
	})
	return committed
}

// consumed returns how many offsets are committed of what is assigned: the input, or what others
// have fingerprinted.
func (w *world) consumed() (n int64) {
	w.Helper()
	committed := w.committed
	if w.fingerprints != "" {
		committed = w.assigned
	}
	for _, offset := range committed() {
		n += offset
	}
	return n
}

// progress waits until more is committed than before.
func (w *world) progress(before int64) {
	w.Helper()
	w.eventually("progress", func() bool { return w.consumed() > before })
}

// done waits until all of the input is committed. What comes after the last committed record of a
// transaction never is: a test with such an input waits for its results.
func (w *world) done() {
	w.Helper()
	ends := w.ends(w.input)
	w.eventually("all of the input is committed", func() bool {
		committed := w.committed()
		for p, end := range ends {
			if committed[p] < end {
				return false
			}
		}
		return true
	})
	if w.fingerprints != "" {
		w.allAssigned()
	}
}

// ahead waits until the input has records behind what the group has committed, also where that is
// an offset that was not written yet.
func (w *world) ahead() {
	w.Helper()
	w.eventually("the input is ahead of the group", func() bool {
		ends := w.ends(w.input)
		for p, next := range w.committed() {
			if ends[p] <= next {
				return false
			}
		}
		return true
	})
}

// read reads all records of a topic that are there now, committed ones or all.
func (w *world) read(topic string, level kgo.IsolationLevel) []*kgo.Record {
	w.Helper()
	ends := w.ends(topic)
	from := make(map[int32]kgo.Offset)
	for p, end := range ends {
		if end > 0 {
			from[p] = kgo.NewOffset().AtStart()
		}
	}
	if len(from) == 0 {
		return nil
	}
	client, err := kgo.NewClient(kgo.SeedBrokers(w.addresses...), kgo.FetchIsolationLevel(level),
		kgo.KeepControlRecords(),
		kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{topic: from}))
	if err != nil {
		w.Fatal(err)
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(w.Context(), w.timeout)
	defer cancel()
	var records []*kgo.Record
	for len(from) > 0 {
		fetches := client.PollFetches(ctx)
		if err := fetches.Err(); err != nil {
			w.Fatalf("reading %s: %v", topic, err)
		}
		fetches.EachRecord(func(r *kgo.Record) {
			if !r.Attrs.IsControl() {
				records = append(records, r)
			}
			// Aborted records at the very end are not returned, but their control record is.
			if r.Offset >= ends[r.Partition]-1 {
				delete(from, r.Partition)
			}
		})
	}
	return records
}
