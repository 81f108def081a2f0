//go:build integration

package integration

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// condition is the part of /readyz that says what holds the stream up.
type condition struct {
	readiness
	Lag              map[string]int64 `json:"lag"`
	OpenTransactions []struct {
		Topic     string `json:"topic"`
		Partition int    `json:"partition"`
		Offset    int64  `json:"offset"`
		Records   int64  `json:"records"`
	} `json:"open_transactions"`
}

// page returns what a page of the instance says, "" where it does not answer.
func (i *instance) page(path string) string {
	i.Helper()
	asker := http.Client{Timeout: 5 * time.Second}
	response, err := asker.Get("http://" + i.listen + path)
	if err != nil {
		return ""
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return ""
	}
	return string(body)
}

func (i *instance) condition() (c condition) {
	i.Helper()
	if body := i.page("/readyz"); body != "" {
		if err := json.Unmarshal([]byte(body), &c); err != nil {
			i.Fatalf("%v: %s", err, body)
		}
	}
	return c
}

// hang leaves a transaction open in a topic, with one record.
func (w *world) hang(topic string) *kgo.Client {
	w.Helper()
	other := w.producer(kgo.TransactionalID(w.group+"-other"), kgo.DefaultProduceTopic(topic),
		kgo.TransactionTimeout(15*time.Minute))
	if err := other.BeginTransaction(); err != nil {
		w.Fatal(err)
	}
	if err := other.ProduceSync(w.Context(), kgo.KeyStringRecord("open",
		"open")).FirstErr(); err != nil {
		w.Fatal(err)
	}
	return other
}

// waitHeld waits until /readyz names the open transaction of a topic and is not ready, and does
// what it says.
func (i *instance) waitHeld(topic, state string, records int64) {
	i.Helper()
	i.eventually("/readyz to say no",
		func() bool { c := i.condition(); return len(c.OpenTransactions) == 1 && !c.Ready })
	i.waitFor("an open transaction holds a partition back")
	i.eventually("a minute to pass", func() bool {
		return i.metric(fmt.Sprintf(`clusterd_open_transaction_seconds{partition="0",topic=%q}`,
			topic)) > 60
	})
	c := i.condition()
	open := c.OpenTransactions[0]
	if c.Ready || c.State != state || open.Topic != topic || open.Records != records {
		i.Errorf("ready %t, state %s, open %+v; want not ready, %s, %d records of %s", c.Ready, c.State,
			open, state, records, topic)
	}
	command := fmt.Sprintf("abort --topic %s --partition 0 --start-offset %d", topic, open.Offset)
	if !strings.Contains(c.Reason, fmt.Sprintf("holds %s/0 back at offset %d since ", topic,
		open.Offset)) || !strings.Contains(c.Reason, command) {
		i.Errorf("reason %q, want where it is, and %q", c.Reason, command)
	}
	i.do(append([]string{"tool", "transactions"}, strings.Fields(command)...)...)
}

// metric returns the value of a line of /metrics, -1 where there is none.
func (i *instance) metric(name string) float64 {
	i.Helper()
	for line := range strings.Lines(i.page("/metrics")) {
		if value, ok := strings.CutPrefix(line, name+" "); ok {
			n, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
			if err != nil {
				i.Fatal(err)
			}
			return n
		}
	}
	return -1
}

// An open transaction in the input hides no lag: what is behind it counts, it shows by its name,
// and what /readyz says to do about it helps.
func TestOpenTransactionInTheInput(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1, "")
	running := w.start()
	running.waitLive()
	w.send(100)
	w.done()
	w.hang(w.input)
	w.send(1600)
	running.eventually("the lag", func() bool { return running.condition().Lag["0"] == 1601 })
	if n := running.metric(`clusterd_input_lag_records{partition="0"}`); n != 1601 {
		t.Errorf("the lag in /metrics is %v, want 1601", n)
	}
	running.waitHeld(w.input, "live", 1601)
	w.eventually("1,700 results", func() bool { return len(w.results()) == 1700 })
	running.waitLive()
	running.stop()
}

// One in the clusters topic holds a recovery up, and the status reports it.
func TestOpenTransactionInTheClusters(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1, "")
	w.runOnce()
	w.hang(w.clusters)
	running := w.startIn(t.TempDir())
	running.waitHeld(w.clusters, "recovering", 1)
	running.waitLive()
	running.stop()
	w.audit()
}

// A result that the output topic refuses as too large shows, with what to do, and is written when
// that was done.
func TestResultTooLarge(t *testing.T) {
	t.Parallel()
	for name, topic := range map[string]func(w *world) string{
		"results":  func(w *world) string { return w.output },
		"clusters": func(w *world) string { return w.clusters },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, 1, "")
			topic, policy := topic(w), map[bool]string{true: "compact", false: "delete"}[name == "clusters"]
			w.createTopic(topic, 1, "max.message.bytes", "300", "cleanup.policy", policy)
			running := w.start()
			w.send(50)
			running.waitFor("refuses the record of key ")
			before := w.ends(topic)[0]
			c := running.condition()
			if c.Ready || c.State != "blocked" || !strings.Contains(c.Reason, "topic "+topic+
				" refuses the record of key ") || !strings.Contains(c.Reason, "max.message.bytes") {
				t.Errorf("ready %t, state %s: %s", c.Ready, c.State, c.Reason)
			}
			if n := running.metric(`clusterd_state{state="blocked"}`); n != 1 {
				t.Errorf("the metric of the state is %v", n)
			}
			// It does not write the same again and again.
			deadline := time.Now().Add(8 * time.Second)
			running.eventually("some time to pass", func() bool { return time.Now().After(deadline) })
			// the marker of the transaction that was aborted
			if after := w.ends(topic)[0]; after > before+1 {
				t.Errorf("%s grew from %d to %d records while it refused", topic, before, after)
			}
			if n := w.consumed(); n > 0 {
				t.Errorf("%d articles are committed", n)
			}
			w.setTopic(topic, "max.message.bytes", "100000")
			w.done()
			running.waitLive()
			running.stop()
			if n := len(w.results()); n != 50 {
				t.Errorf("%d results of 50 articles", n)
			}
			w.audit()
		})
	}
}

// A broker that is away at the start shows within seconds, in the reason, and the health pages are
// there from the start.
func TestBrokerAwayAtTheStart(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1, fmt.Sprintf("kafka: {brokers: [\"127.0.0.1:%d\"]}\n", freePort(t)))
	began := time.Now()
	running := w.start()
	running.eventually("/livez", func() bool { return running.page("/livez") == "ok\n" })
	running.eventually("the broker in the reason",
		func() bool { return strings.Contains(running.readyz().Reason, "no broker listens there") })
	t.Logf("it shows %.1f s after the start: %s", time.Since(began).Seconds(), running.readyz().Reason)
	if r := running.readyz(); r.Ready || r.State != "joining" {
		t.Errorf("ready %t, state %s", r.Ready, r.State)
	}
	running.stop()
}

// A broker that has never been used makes its own topics when it is first asked for them. That is
// no trouble.
func TestFreshBrokerIsNoTrouble(t *testing.T) {
	t.Parallel()
	w := ownBroker(t).newWorld(t, 1, "")
	running := w.start()
	running.waitLive()
	running.stop()
	if running.complains("") {
		t.Errorf("it complains:\n%s", running.said())
	}
}
