//go:build integration

// Package integration tests clusterd as a user runs it, against a real Apache Kafka that the script
// kafka beside it starts. Nothing here shares code with what decides in clusterd: topics are read with
// another client, and what should have come out is worked out by a plain model.
package integration

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

var (
	address string      // where the broker listens
	binary  string      // the clusterd that is tested
	client  *kgo.Client // for questions to the broker
)

func TestMain(m *testing.M) {
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func run(m *testing.M) (int, error) {
	dir, err := os.MkdirTemp("", "clusterd-integration-")
	if err != nil {
		return 1, err
	}
	defer os.RemoveAll(dir)
	binary = filepath.Join(dir, "clusterd")
	if out, err := exec.Command("go", "build", "-o", binary, "../cmd/clusterd").CombinedOutput(); err != nil {
		return 1, fmt.Errorf("building clusterd: %w\n%s", err, out)
	}
	if address, err = broker("start"); err != nil {
		return 1, err
	}
	if client, err = kgo.NewClient(kgo.SeedBrokers(address)); err != nil {
		return 1, err
	}
	defer client.Close()
	return m.Run(), nil
}

// broker runs the script that looks after the broker.
func broker(args ...string) (string, error) {
	cmd := exec.Command("./kafka", args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("integration/kafka %s: %w\n%s", strings.Join(args, " "), err, errs.String())
	}
	return strings.TrimSpace(out.String()), nil
}

func mustBroker(t *testing.T, args ...string) {
	t.Helper()
	if _, err := broker(args...); err != nil {
		t.Fatal(err)
	}
}

// world is one test's own topics, group and configuration.
type world struct {
	*testing.T
	input, output, clusters, dead, group string
	config                               string // path
	byPartition                          bool   // the scope is partition
}

var worlds int

// newWorld makes the input topic, and a configuration with the settings that extra adds.
func newWorld(t *testing.T, partitions int, extra string) *world {
	t.Helper()
	worlds++
	name := fmt.Sprintf("w%d-%d", time.Now().UnixNano(), worlds)
	w := &world{
		T: t, input: name + ".articles", output: name + ".results", clusters: name + ".clusters", dead: name + ".dead", group: name,
		config: filepath.Join(t.TempDir(), "clusterd.yaml"),
	}
	mustBroker(t, "tool", "topics", "--create", "--topic", w.input, "--partitions", strconv.Itoa(partitions), "--config", "max.message.bytes=8000000")
	w.configure(extra)
	return w
}

// configure writes the configuration. extra is YAML at the top level.
func (w *world) configure(extra string) {
	w.Helper()
	text := fmt.Sprintf(`kafka: {brokers: ["%s"], create_topics: true}
output: {topic: %s, clusters_topic: %s, dead_letter_topic: %s}
log: {format: text, level: debug}
`, address, w.output, w.clusters, w.dead)
	if !strings.Contains(extra, "input:") {
		extra += fmt.Sprintf("input: {topic: %s, group: %s}\n", w.input, w.group)
	}
	if err := os.WriteFile(w.config, []byte(text+extra), 0o600); err != nil {
		w.Fatal(err)
	}
}

// instance is a clusterd that runs.
type instance struct {
	*world
	cmd    *exec.Cmd
	log    string
	exited chan error
}

func (w *world) start() *instance {
	w.Helper()
	log, err := os.CreateTemp(w.TempDir(), "log-")
	if err != nil {
		w.Fatal(err)
	}
	defer log.Close()
	i := &instance{world: w, cmd: exec.Command(binary, "run", "-c", w.config), log: log.Name(), exited: make(chan error, 1)}
	i.cmd.Stderr = log
	if err := i.cmd.Start(); err != nil {
		w.Fatal(err)
	}
	go func() { i.exited <- i.cmd.Wait() }()
	w.Cleanup(func() {
		_ = i.cmd.Process.Kill()
		if w.Failed() {
			w.Logf("log of process %d:\n%s", i.cmd.Process.Pid, i.said())
		}
	})
	return i
}

func (i *instance) said() string {
	data, err := os.ReadFile(i.log)
	if err != nil {
		i.Fatal(err)
	}
	return string(data)
}

// waitFor waits until the instance has logged text.
func (i *instance) waitFor(text string) {
	i.Helper()
	i.eventually(30*time.Second, "log "+strconv.Quote(text), func() bool { return strings.Contains(i.said(), text) })
}

// kill is kill -9.
func (i *instance) kill() {
	i.Helper()
	if err := i.cmd.Process.Kill(); err != nil {
		i.Fatal(err)
	}
	<-i.exited
}

func (i *instance) signal(s syscall.Signal) {
	i.Helper()
	if err := i.cmd.Process.Signal(s); err != nil {
		i.Fatal(err)
	}
}

// stop is SIGTERM, after which clusterd must exit with 0.
func (i *instance) stop() {
	i.Helper()
	i.signal(syscall.SIGTERM)
	if err := i.wait(30 * time.Second); err != nil {
		i.Fatalf("after SIGTERM: %v\n%s", err, i.said())
	}
}

// wait waits for the process's own end.
func (i *instance) wait(limit time.Duration) error {
	i.Helper()
	select {
	case err := <-i.exited:
		return err
	case <-time.After(limit):
		i.Fatalf("still running after %s:\n%s", limit, i.said())
		return nil
	}
}

// eventually polls a condition.
func (w *world) eventually(limit time.Duration, what string, condition func() bool) {
	w.Helper()
	deadline := time.Now().Add(limit)
	for !condition() {
		if time.Now().After(deadline) {
			w.Fatalf("not within %s: %s", limit, what)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// producer is a client that writes each record exactly once, through broker failures too.
func (w *world) producer(options ...kgo.Opt) *kgo.Client {
	w.Helper()
	client, err := kgo.NewClient(append([]kgo.Opt{
		kgo.SeedBrokers(address), kgo.DefaultProduceTopic(w.input), kgo.ProducerBatchMaxBytes(8_000_000),
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

// ends are the offsets behind the last record of each partition of a topic; none if there is no topic.
func (w *world) ends(topic string) map[int32]int64 {
	w.Helper()
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
	client, err := kgo.NewClient(kgo.SeedBrokers(address), kgo.FetchIsolationLevel(level), kgo.KeepControlRecords(),
		kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{topic: from}))
	if err != nil {
		w.Fatal(err)
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(w.Context(), time.Minute)
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

// result is the part of a result that is checked.
type result struct {
	ArticleID string  `json:"article_id"`
	ClusterID *string `json:"cluster_id"`
	Status    string  `json:"status"`
	Distance  *int    `json:"distance"`
	Size      int     `json:"size"`
	Founder   *struct {
		ID    string `json:"id"`
		Title string `json:"title"`
	} `json:"representative"`
	Fingerprint *string `json:"fingerprint"`
	Source      source  `json:"source"`
	position    uint64
}

type source struct {
	Topic     string `json:"topic"`
	Partition int32  `json:"partition"`
	Offset    int64  `json:"offset"`
}

func (s source) String() string { return fmt.Sprintf("%s/%d/%d", s.Topic, s.Partition, s.Offset) }

func header(r *kgo.Record, key string) string {
	for _, h := range r.Headers {
		if h.Key == key {
			return string(h.Value)
		}
	}
	return ""
}

func parseResult(t *testing.T, value []byte, position string) result {
	t.Helper()
	var r result
	if err := json.Unmarshal(value, &r); err != nil {
		t.Fatalf("result %s: %v", value, err)
	}
	if r.Status != "unclustered" && position != "" {
		var err error
		if r.position, err = strconv.ParseUint(position, 10, 64); err != nil {
			t.Fatalf("result %s: position: %v", value, err)
		}
	}
	return r
}

func (w *world) results() []result {
	w.Helper()
	var results []result
	for _, r := range w.read(w.output, kgo.ReadCommitted()) {
		results = append(results, parseResult(w.T, r.Value, header(r, "clusterd.position")))
	}
	return results
}

// done waits until results and dead letters are as many as the input's records.
func (w *world) done(limit time.Duration) {
	w.Helper()
	want := len(w.read(w.input, kgo.ReadCommitted()))
	w.eventually(limit, fmt.Sprintf("%d results and dead letters", want), func() bool {
		return len(w.read(w.output, kgo.ReadCommitted()))+len(w.read(w.dead, kgo.ReadCommitted())) >= want
	})
}

// sharedData is a real set of articles, which is not part of the project. Where CI is set it must be
// there; elsewhere the test is passed over.
func sharedData(t *testing.T, name string) string {
	t.Helper()
	path := filepath.Join("..", "..", "shared", name)
	if _, err := os.Stat(path); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skipf("needs %s, which is not part of the project", path)
	}
	return path
}

// replace edits the configuration.
func (w *world) replace(old, new string) {
	w.Helper()
	text, err := os.ReadFile(w.config)
	if err != nil {
		w.Fatal(err)
	}
	if err := os.WriteFile(w.config, []byte(strings.ReplaceAll(string(text), old, new)), 0o600); err != nil {
		w.Fatal(err)
	}
}
