//go:build integration

package integration

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"golang.org/x/text/encoding/htmlindex"

	"github.com/clusterd/clusterd/internal/audit/wire"
	"github.com/clusterd/clusterd/internal/cli/demo/sample"
)

// badInput is a record and what becomes of it.
type badInput struct {
	name, value, want string // want: a status, or the class of a dead letter
}

// Every record ends in results or in dead letters, whatever it holds, and the partition never
// stops. Batches that are bad as a whole are those of TestOddBatches.
func TestBadInput(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000)
	tests := []badInput{
		{"null value", null, "null_value"},
		{"empty value", "", "empty"},
		{"bad JSON", `{"title":`, "bad_json"},
		{"not an object", `["title"]`, "bad_json"},
		{"wrong types", `{"title":7,"content":["x"]}`, "bad_field"},
		{
			"a title of another type", `{"title":7,"content":"The pilot boat waits beyond the bar."}`, "new",
		},
		{
			"an unknown time",
			`{"content":"Herring is landed at the northern quay.","published_at":"yesterday"}`, "new",
		},
		{
			"a time of a feed",
			`{"content":"Dredgers deepen the channel by a metre.","published_at":"Sun, 22 Nov 2026 10:00:00 +0800"}`, "new",
		},
		{
			"an id of another type",
			`{"id":{"$oid":"7"},"content":"The fog horn is heard as far as the mill."}`, "new",
		},
		{"a long id", `{"id":"` + strings.Repeat("i", 2000) +
			`","content":"Divers look for the anchor of the old brig."}`, "new"},
		{
			"a byte order mark", "\ufeff" + `{"content":"The customs house is painted white again."}`, "new",
		},
		{"GBK", encoded(t, "gbk", `{"content":"港口的渔船已经回港避风，学校停课一天。"}`), "new"},
		{"the same in UTF-16", encoded(t, "utf-16le", `{"content":"港口的渔船已经回港避风，学校停课一天。"}`), "joined"},
		{"the same in UTF-8", `{"content":"港口的渔船已经回港避风，学校停课一天。"}`, "joined"},
		{"Big5", encoded(t, "big5", `{"content":"颱風今晨在東部沿海登陸，鐵路部門停駛了三十多班列車。"}`), "new"},
		{"bad JSON in GBK", encoded(t, "gbk", `{"content":"港口的渔船已经回港避风，学校停课一天。`), "bad_json"},
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
	for _, class := range wire.Classes() {
		if class != "bad_batch" && !slices.ContainsFunc(tests,
			func(test badInput) bool { return test.want == class }) {
			t.Errorf("no record becomes a dead letter of class %s", class)
		}
	}
	w := newWorld(t, 1, "")
	running := w.start()
	for _, test := range tests {
		value := []byte(test.value)
		if test.value == null {
			value = nil
		}
		w.produce(&kgo.Record{
			Key: []byte(test.name), Value: value,
			Headers: []kgo.RecordHeader{{Key: "from", Value: []byte("a test")}},
		})
	}
	w.done()
	running.stop()
	w.audit()

	dead, status := make(map[int64]*kgo.Record), make(map[int64]string)
	for _, r := range w.deadLetters() {
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

func encoded(t *testing.T, name, text string) string {
	t.Helper()
	e, err := htmlindex.Get(name)
	if err != nil {
		t.Fatal(err)
	}
	b, err := e.NewEncoder().String(text)
	if err != nil {
		t.Fatal(err)
	}
	return b
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
	if header(r, "from") != "a test" || header(r, "clusterd.stage") == "" ||
		header(r, "clusterd.reason") == "" {
		t.Errorf("headers: %v", r.Headers)
	}
}

// Records of aborted transactions are no articles.
func TestAbortedInput(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2, "")
	running := w.start()
	client := w.producer(kgo.TransactionalID(w.group + "-foreign"))
	generator := sample.New(3, time.Now())
	for n := range 20 {
		if err := client.BeginTransaction(); err != nil {
			t.Fatal(err)
		}
		for range 10 {
			client.Produce(t.Context(), &kgo.Record{Value: generator.Next().JSON()}, nil)
		}
		if err := client.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := client.EndTransaction(t.Context(), kgo.TransactionEndTry(n%2 == 0)); err != nil {
			t.Fatal(err)
		}
	}
	w.eventually("100 results", func() bool { return len(w.results()) >= 100 })
	running.stop()
	if results := w.results(); len(results) != 100 {
		t.Errorf("%d results of 100 committed articles", len(results))
	}
	w.audit()
}

// An output topic that takes less than a record's dead letter gets its beginning.
func TestDeadLetterCut(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1, "")
	w.createTopic(w.dead, 1, "max.message.bytes", "100000")
	running := w.start()
	value := bytes.Repeat([]byte("x"), 5<<20)
	w.produce(&kgo.Record{Value: value},
		&kgo.Record{Value: []byte(`{"content":"The ferry returns."}`)})
	w.done()
	running.stop()
	dead := w.deadLetters()
	if len(dead) != 1 || header(dead[0], "clusterd.truncated") != fmt.Sprint(len(value)) ||
		!bytes.HasPrefix(value, dead[0].Value) {
		t.Errorf("%d dead letters, headers %v", len(dead), dead[0].Headers)
	}
}
