//go:build integration

package integration

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/clusterd/clusterd/internal/failpoint"
)

// The guide's program joins every article with its result, though kcat chooses partitions by CRC32
// and Java's producer by murmur2. With output.partition: key it misses most articles of kcat, and
// doctor says what to do.
func TestJoins(t *testing.T) {
	t.Parallel()
	libs := joinLibs(t)
	program, err := filepath.Abs("../examples/joins/Join.java")
	if err != nil {
		t.Fatal(err)
	}
	for _, partition := range []string{"source", "key"} {
		t.Run(partition, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, 3, noLinger+"fingerprint: {method: minhash}\n")
			w.replace("output: {", "output: {key: source, partition: "+partition+", ")
			joined := w.group + ".joined"
			w.createTopic(joined, 3)
			w.Cleanup(func() { _, _ = w.admin.DeleteTopics(t.Context(), joined) })
			w.start()
			w.kcat(keyed("kcat", 60), "-P", "-t", w.input, "-K", "|")
			w.javaSends(keyed("java", 60))
			w.done()
			w.begin(w.dir, "java", "-Djava.io.tmpdir="+w.dir, "-cp", libs+"/*", program, w.addresses[0],
				w.input, w.output, joined)
			w.consumedBy(joined, w.input, w.output)
			got, inPlace := w.joinedBy(joined), w.inPlace()
			t.Logf("of 60 articles each, %v are where their results are, and %v are joined", inPlace, got)
			want := map[string]int{"kcat": 60, "java": 60}
			if partition == "key" {
				want = inPlace // that is why
				if inPlace["kcat"] > 50 || inPlace["java"] != 60 {
					t.Errorf("%v of 60 articles each are in place, so that the test shows nothing", inPlace)
				}
			}
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("%v of 60 articles each are joined, want %v", got, want)
			}
			hint := "set output.partition: source"
			said, err := w.tryDoctor()
			if err != nil || strings.Contains(said, hint) != (partition == "key") {
				t.Errorf("%v, and whether doctor says to %s:\n%s", err, hint, said)
			}
			w.audit()
		})
	}
}

// joinLibs fetches the libraries of the guide's program, as the guide does, into a folder.
func joinLibs(t *testing.T) string {
	t.Helper()
	libs := t.TempDir()
	out, err := exec.Command("mvn", "-q", "-B", "-f", "../examples/joins/pom.xml",
		"dependency:copy-dependencies", "-DoutputDirectory="+libs).CombinedOutput()
	if err != nil {
		t.Fatalf("mvn: %v\n%s", err, out)
	}
	return libs
}

// keyed are lines of articles with their keys before them. One key has two articles.
func keyed(by string, n int) []byte {
	var b bytes.Buffer
	for i := range n {
		key := max(i, 1)
		fmt.Fprintf(&b, `%s-%d|{"id":"%s-%d","title":"Bridge number %d","content":"The bridge over river %d `+
			`opens in week %d, says the mayor of town %d"}`+"\n", by, key, by, i, i, i, i, i)
	}
	return b.Bytes()
}

// javaSends sends lines with Kafka's own producer.
func (w *world) javaSends(lines []byte) {
	w.Helper()
	folder := append([]string{"tool"}, w.folder...)
	cmd := exec.Command("./kafka", append(folder, "console-producer", "--topic", w.input,
		"--property", "parse.key=true", "--property", "key.separator=|")...)
	cmd.Stdin = bytes.NewReader(lines)
	if out, err := cmd.CombinedOutput(); err != nil {
		w.Fatalf("console-producer: %v\n%s", err, out)
	}
}

// consumedBy waits until a group has read topics to their ends. The last record of a partition may
// be the marker of a transaction, which is never committed.
func (w *world) consumedBy(group string, topics ...string) {
	w.Helper()
	for _, topic := range topics {
		w.eventually("all of "+topic+" to be read", func() bool {
			committed := w.committedBy(group, topic)
			for p, end := range w.ends(topic) {
				if committed[p] < end-1 {
					return false
				}
			}
			return true
		})
	}
}

// joinedBy returns how many articles of each producer were joined. Each must be joined once, and
// with its own result.
func (w *world) joinedBy(topic string) map[string]int {
	w.Helper()
	seen, joined := make(map[string]bool), make(map[string]int)
	for _, r := range w.read(topic, kgo.ReadCommitted()) {
		var both struct {
			Article struct{ ID string }
			Result  result
		}
		if err := json.Unmarshal(r.Value, &both); err != nil {
			w.Fatalf("%s: %v", r.Value, err)
		}
		id := both.Article.ID
		if id != both.Result.ArticleID || seen[id] {
			w.Errorf("article %s is joined with the result of %s, or twice", id, both.Result.ArticleID)
		}
		seen[id] = true
		by, _, _ := strings.Cut(id, "-")
		joined[by]++
	}
	return joined
}

// inPlace returns, for each producer of articles, how many results are in the partitions of these.
func (w *world) inPlace() map[string]int {
	w.Helper()
	n := make(map[string]int)
	for _, r := range w.read(w.output, kgo.ReadCommitted()) {
		one := parseResult(w.T, r.Value)
		if by, _, _ := strings.Cut(one.ArticleID, "-"); r.Partition == one.Source.Partition {
			n[by]++
		}
	}
	return n
}

// tryDoctor returns all that clusterd doctor says.
func (w *world) tryDoctor() (string, error) {
	w.Helper()
	cmd := exec.Command(binary, "doctor", "-c", w.config)
	cmd.Env = append(os.Environ(), "CLUSTERD_TEST_DIR="+filepath.Join(w.dir, "doctor"), "COLUMNS=1000")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// The commands of the guide work in their order, and its extract of the program is right.
func TestJoinsGuide(t *testing.T) {
	t.Parallel()
	d := newDocument(t, "docs/joins.md", shared.addresses[0])
	d.forget("clusterd-joins", "join-articles", "join-results", "join-clusters", "join-dead")
	d.forget("join-joined", "join-joined.*") // what Kafka Streams makes
	if blocks := d.follow(); blocks < 7 {
		t.Errorf("only %d blocks found", blocks)
	}
	for _, p := range d.running { // Java's exit code is another one
		if p.cmd.Args[0] == "java" {
			_ = syscall.Kill(p.cmd.Process.Pid, syscall.SIGTERM)
			t.Logf("the program ended: %v", <-p.exited)
		}
	}
	d.interrupt(d.running[0])
}

// A change of output.partition while articles come, with kills, there and back: the audit knows
// where each result belongs, and finds a result that is elsewhere.
func TestPlacementChanges(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 3, noLinger)
	w.replace("output: {", "output: {partition: key, ")
	stream := w.stream(perSecond)
	partition := "key"
	for _, next := range []string{"source", "key", "source"} {
		i := w.start()
		w.progress(w.consumed() + 200)
		i.kill()
		before := w.consumed()
		i = w.startIn(i.dir)
		w.progress(before + 200)
		i.stop()
		w.audit()
		w.replace("{partition: "+partition+",", "{partition: "+next+",")
		partition = next
	}
	i := w.start("seeded=" + failpoint.Partition)
	w.progress(w.consumed() + 200)
	i.stop()
	stream.stop()
	w.start()
	w.done()
	if r, said := w.tryAudit(); r.violations("input") == 0 {
		t.Errorf("the audit does not find results that are elsewhere:\n%s", said)
	}
}

// A topic of results with fewer partitions than the input ends clusterd at its start, and doctor
// says the same. Nothing was read: it works when the topic has as many.
func TestTooFewPartitions(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 3, noLinger)
	w.replace("output: {", "output: {key: source, partition: source, ")
	w.createTopic(w.output, 2)
	w.send(100)
	w.start().fails("kafka-topics --alter --topic " + w.output + " --partitions 3")
	w.finds(diagnosis{"topic " + w.output, "failure", "it has 2 partitions", "--partitions 3"})
	if _, err := kadm.NewClient(w.producer()).UpdatePartitions(w.Context(), 3, w.output); err != nil {
		t.Fatal(err)
	}
	w.eventually("another partition", func() bool { return len(w.ends(w.output)) == 3 })
	w.start()
	w.done()
	w.audit()
}
