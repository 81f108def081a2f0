//go:build integration

package integration

import (
	"bytes"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

// Every record ends in results or in dead letters, whatever it holds, and the partition never stops.
func TestBadInput(t *testing.T) {
	deep := strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000)
	tests := []struct {
		name, value, want string // want: a status, or the class of a dead letter
	}{
		{"null value", null, "null_value"},
		{"empty value", "", "empty"},
		{"bad JSON", `{"title":`, "bad_json"},
		{"not an object", `["title"]`, "bad_json"},
		{"wrong type", `{"title":7,"content":"x"}`, "bad_field"},
		{"unknown time", `{"content":"x","published_at":"yesterday"}`, "bad_field"},
		{"10,000 levels", `{"content":` + deep + `}`, "too_deep"},
		{"4 MiB and over", `{"content":"` + strings.Repeat("大", 1<<21) + `"}`, "too_large"},
		{"just under 4 MiB", `{"content":"` + strings.Repeat("潮", (4<<20-14)/3) + `"}`, "new"},
		{"nothing to read", `{"author":"x"}`, "empty"},
		{"empty text", `{"title":"","content":""}`, "unclustered"},
		{"punctuation", `{"content":"……！？《》--"}`, "unclustered"},
		{"invalid UTF-8", "{\"content\":\"harbour \xff\xfe lighthouse\"}", "new"},
		{"NUL bytes", `{"content":"tide\u0000tables\u0000`, "bad_json"},
		{"escaped NUL", `{"content":"tide\u0000tables for fishermen"}`, "new"},
		{"one token a million times", `{"content":"` + strings.Repeat("ferry ", 500_000) + `"}`, "new"},
		{"an article", `{"content":"The lighthouse keeper retires after forty years."}`, "new"},
	}
	w := newWorld(t, 1, "")
	running := w.start()
	for _, test := range tests {
		value := []byte(test.value)
		if test.value == null {
			value = nil
		}
		w.produce(&kgo.Record{Key: []byte(test.name), Value: value, Headers: []kgo.RecordHeader{{Key: "from", Value: []byte("a test")}}})
	}
	w.done(time.Minute)
	running.stop()
	w.audit(3)

	dead, status := make(map[int64]*kgo.Record), make(map[int64]string)
	for _, r := range w.read(w.dead, kgo.ReadCommitted()) {
		dead[offsetOf(t, header(r, "clusterd.source"))] = r
	}
	for _, r := range w.results() {
		status[r.Source.Offset] = r.Status
	}
	for i, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if r := dead[int64(i)]; r != nil {
				checkDeadLetter(t, r, test.want, test.value)
			} else if status[int64(i)] != test.want {
				t.Errorf("it is %q, want %s", status[int64(i)], test.want)
			}
		})
	}
}

// null stands for a record without a value.
const null = "\x00null"

func offsetOf(t *testing.T, address string) int64 {
	t.Helper()
	n, err := strconv.ParseInt(address[strings.LastIndex(address, "/")+1:], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func checkDeadLetter(t *testing.T, r *kgo.Record, class, value string) {
	t.Helper()
	if got := header(r, "clusterd.error"); got != class {
		t.Errorf("class %s, want %s (%s)", got, class, header(r, "clusterd.reason"))
	}
	if r.Value == nil && value != null || r.Value != nil && string(r.Value) != value {
		t.Errorf("the value did not come as it was: %d bytes of %d", len(r.Value), len(value))
	}
	if header(r, "from") != "a test" || header(r, "clusterd.stage") == "" || header(r, "clusterd.reason") == "" {
		t.Errorf("headers: %v", r.Headers)
	}
}

// What stops clusterd says what to do, and the exit code is 1.
func TestErrors(t *testing.T) {
	for _, test := range []struct {
		name    string
		prepare func(w *world)
		want    string
	}{
		{"input topic missing", func(w *world) {
			w.configure("input: {topic: no-such-topic}\n")
			w.replace("create_topics: true", "create_topics: false")
		}, "topic no-such-topic: it does not exist: create it (kafka-topics --create --topic no-such-topic), or set kafka.create_topics: true"},
		{"clusters topic not compacted", func(w *world) {
			mustBroker(w.T, "tool", "topics", "--create", "--topic", w.clusters, "--partitions", "1", "--config", "cleanup.policy=delete")
		}, "must be compact"},
		{"made in another way", func(w *world) {
			w.runOnce()
			w.configure("fingerprint: {hash: xxh3}\n")
		}, "hash was sdbm and is xxh3"},
		{"records deleted before they were read", func(w *world) {
			w.runOnce()
			for range 10 {
				w.produce(&kgo.Record{Value: []byte(`{"content":"The harbour freezes over."}`)})
			}
			w.deleteRecords(5)
		}, "offset out of range: "},
		{"input topic made anew", func(w *world) {
			w.runOnce()
			mustBroker(w.T, "tool", "topics", "--delete", "--topic", w.input)
			w.eventually(30*time.Second, "deletion", func() bool { return len(w.ends(w.input)) == 0 })
			mustBroker(w.T, "tool", "topics", "--create", "--topic", w.input, "--partitions", "1")
		}, "was founded by a record that is still to be read"},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t, 1, "")
			test.prepare(w)
			running := w.start()
			err := running.wait(30 * time.Second)
			exit, ok := err.(*exec.ExitError)
			if !ok || exit.ExitCode() != 1 {
				t.Errorf("%v, want exit code 1", err)
			}
			if !strings.Contains(running.said(), test.want) {
				t.Errorf("it does not say %q:\n%s", test.want, running.said())
			}
		})
	}
}

// runOnce starts clusterd, has it cluster one article, and stops it.
func (w *world) runOnce() {
	w.Helper()
	running := w.start()
	w.produce(&kgo.Record{Value: []byte(`{"content":"The harbour freezes over."}`)})
	w.done(30 * time.Second)
	running.stop()
}

// deleteRecords deletes the input's records before an offset, as retention does.
func (w *world) deleteRecords(before int64) {
	w.Helper()
	var offsets kadm.Offsets
	offsets.Add(kadm.Offset{Topic: w.input, Partition: 0, At: before})
	responses, err := kadm.NewClient(client).DeleteRecords(w.Context(), offsets)
	if err == nil {
		err = responses.Error()
	}
	if err != nil {
		w.Fatal(err)
	}
}

// An output topic that takes less than a record's dead letter gets its beginning.
func TestDeadLetterCut(t *testing.T) {
	w := newWorld(t, 1, "")
	mustBroker(t, "tool", "topics", "--create", "--topic", w.dead, "--partitions", "1", "--config", "max.message.bytes=100000")
	running := w.start()
	value := bytes.Repeat([]byte("x"), 5<<20)
	w.produce(&kgo.Record{Value: value}, &kgo.Record{Value: []byte(`{"content":"The ferry returns."}`)})
	w.done(time.Minute)
	running.stop()
	dead := w.read(w.dead, kgo.ReadCommitted())
	if len(dead) != 1 || header(dead[0], "clusterd.truncated") != fmt.Sprint(len(value)) || !bytes.HasPrefix(value, dead[0].Value) {
		t.Errorf("%d dead letters, headers %v", len(dead), dead[0].Headers)
	}
}
