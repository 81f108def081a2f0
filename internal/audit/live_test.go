package audit

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/clusterd/clusterd/internal/audit/report"
	"github.com/clusterd/clusterd/internal/audit/wire"
	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/testutil/check"
	"github.com/clusterd/clusterd/internal/testutil/wait"
)

var goodTopics = []struct {
	name   string
	change func(*config.Config)
	seed   func(*stage)
}{
	{name: "one space"},
	{name: "a space a partition", change: inPartitions},
	{name: "clusters that expire", change: withWindow},
	{
		name:   "a space a partition, and clusters that expire",
		change: func(c *config.Config) { inPartitions(c); withWindow(c) },
	},
	{name: "another distance", change: func(c *config.Config) { c.Cluster.Distance = 0 }},
	{name: "aborted batches between", seed: func(s *stage) {
		again := s.transactions[5]
		again.aborted = true
		s.transactions = slices.Insert(s.transactions, 5, again)
		again = s.transactions[len(s.transactions)-1]
		again.aborted = true
		s.transactions = append(s.transactions, again)
	}},
	{name: "tombstones some batches later", change: withWindow, seed: func(s *stage) {
		var late []*kgo.Record
		for i := range s.transactions {
			t := &s.transactions[i]
			now := late
			late = nil
			t.records = slices.DeleteFunc(t.records, func(r *kgo.Record) bool {
				gone := r.Topic == s.config.Output.ClustersTopic && r.Value == nil
				if gone {
					late = append(late, r)
				}
				return gone
			})
			t.records = append(t.records, now...)
		}
	}},
	{
		name:   "tombstones that compaction has taken away, with all that was before",
		change: withWindow,
		seed: func(s *stage) {
			gone := make(map[string]bool)
			for _, t := range s.transactions {
				for _, r := range t.records {
					gone[string(r.Key)] = gone[string(r.Key)] ||
						r.Topic == s.config.Output.ClustersTopic && r.Value == nil
				}
			}
			for i := range s.transactions {
				t := &s.transactions[i]
				t.records = slices.DeleteFunc(t.records, func(r *kgo.Record) bool {
					return r.Topic == s.config.Output.ClustersTopic && gone[string(r.Key)]
				})
			}
		},
	},
	{name: "the cluster id as the key", change: func(c *config.Config) { c.Output.Key = "cluster" }},
}

// What is as it should be is found so, whatever the topics look like otherwise.
func TestGoodTopicsHold(t *testing.T) {
	t.Parallel()
	for _, test := range some(3, goodTopics) {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, test.change)
			items := long(200)
			s.cluster(items, s.input(items))
			if test.seed != nil {
				test.seed(s)
			}
			s.write()
			found := s.audit(Options{})
			wantHeld(t, found)
			n := found.Counts
			if all := n.New + n.Joined + n.Unclustered + n.DeadLetters["bad_field"]; n.Records != 200 ||
				all != 200 {
				t.Errorf("%d records of 200, %d results and dead letters: %+v", n.Records, all, n)
			}
		})
	}
}

// Offsets of the input have gaps: aborted records and control records are none that must come out.
func TestGapsInTheInput(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	var addresses []wire.Address
	for _, it := range story {
		addresses = append(addresses, s.input([]item{it})...)
		s.begin(
			transaction{
				records: []*kgo.Record{{Topic: "articles", Partition: it.partition, Value: []byte("{}")}},
			},
		)
		s.end(kgo.TryAbort)
	}
	s.cluster(story, addresses)
	s.write()
	wantHeld(t, s.audit(Options{}))

	again := *s.result(4)
	setHeader(&again, "clusterd.source", "articles/1/1")
	s.edit(&again, `"offset":6`, `"offset":1`)
	s.transactions = append(s.transactions, transaction{records: []*kgo.Record{&again}})
	s.write()
	want := []string{
		"I1 articles/1/1: a committed record, since there is a result or a dead letter of it; found none",
	}
	if got := violations(s.audit(Options{})); !slices.Equal(got, want) {
		t.Errorf("after a result of an aborted record: %q, want %q", got, want)
	}
}

// An audit of topics that grow sees a whole of its own each time.
func TestTopicsThatGrow(t *testing.T) {
	t.Parallel()
	s := newStage(t, withWindow)
	items := long(400)
	if check.Race {
		items = long(100)
	}
	s.cluster(items, s.input(items))
	written := make(chan struct{})
	go func() {
		defer close(written)
		s.write()
	}()
	defer func() { <-written }()
	for done := false; !done; {
		select {
		case <-written:
			done = true
		default:
		}
		wantHeld(t, s.audit(Options{}))
	}
	if got := s.audit(Options{}).Counts.Records; got != int64(len(items)) {
		t.Errorf("%d records, want %d", got, len(items))
	}
}

// A transaction that is open when the audit begins is waited for, whichever way it ends.
func TestOpenTransaction(t *testing.T) {
	t.Parallel()
	for _, committed := range []bool{true, false} {
		t.Run(fmt.Sprintf("committed %v", committed), func(t *testing.T) {
			t.Parallel()
			s := newStage(t, nil)
			s.cluster(story, s.input(story))
			last := s.transactions[2]
			s.transactions = s.transactions[:2]
			s.write()
			s.begin(last)
			var log wait.Buffer
			done := make(chan struct{})
			go func() {
				defer close(done)
				found, err := s.run(
					Options{Show: 10, TempDir: t.TempDir(), Log: slog.New(slog.NewTextHandler(&log, nil))},
				)
				if err != nil {
					t.Error(err)
					return
				}
				wantHeld(t, found)
				if got, want := found.Counts.Joined == 6, committed; got != want {
					t.Errorf("the transaction's results are there: %v, want %v (%+v)", got, want, found.Counts)
				}
			}()
			log.WaitFor(t, "waiting for transactions that are open in topic clusters", 1)
			s.end(kgo.TransactionEndTry(committed))
			<-done
		})
	}
}

// What retention has deleted cannot be checked, and is not taken for a fault.
func TestRetention(t *testing.T) {
	t.Parallel()
	tests := []struct {
		topic     string
		unchecked []string
		deleted   int64
	}{
		{"articles", []string{"input"}, 2},
		{"articles-dead", []string{"I1"}, 0},
		{"article-clusters", []string{"I1", "I2", "I3", "I4"}, 0},
	}
	for _, test := range tests {
		t.Run(test.topic, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, nil)
			items := append(slices.Clone(story), item{1, 0, 12, "bad_json"})
			s.cluster(items, s.input(items))
			s.write()
			offsets := make(kadm.Offsets)
			offsets.AddOffset(
				test.topic, 1,
				map[string]int64{"articles": 2, "articles-dead": 1, "article-clusters": 2}[test.topic], -1,
			)
			if _, err := s.admin.DeleteRecords(t.Context(), offsets); err != nil {
				t.Fatal(err)
			}
			found := s.audit(Options{})
			for _, line := range violations(found) {
				t.Error(line)
			}
			var unchecked []string
			for _, c := range found.Checks {
				if c.Verdict == report.NotChecked {
					unchecked = append(unchecked, c.ID)
				}
			}
			if !slices.Equal(unchecked, test.unchecked) || found.Counts.Deleted != test.deleted {
				t.Errorf(
					"not checked: %q, deleted %d; want %q, %d", unchecked, found.Counts.Deleted, test.unchecked,
					test.deleted,
				)
			}
		})
	}
}

func TestNothingCommittedYet(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	s.input(story)
	found := s.audit(Options{})
	wantHeld(t, found)
	if found.Note != "nothing committed yet" {
		t.Errorf("note %q", found.Note)
	}
	s.config.Output.Topic = "elsewhere"
	wantHeld(t, s.audit(Options{}))
	seen := Options{
		Seen: []Source{
			{
				Name: "reader",
				Reader: strings.NewReader(
					`{"status":"unclustered","source":{"topic":"articles","partition":0,"offset":1}}`,
				),
			},
		},
	}
	if got := s.audit(seen); got.Violations() != 1 {
		t.Errorf("a result was read and nothing is there: %q", violations(got))
	}
}

func TestAborted(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	s.cluster(story, s.input(story))
	again := s.transactions[1]
	again.aborted = true
	s.transactions = slices.Insert(s.transactions, 1, again)
	s.write()
	found := s.audit(Options{Aborted: true})
	wantHeld(t, found)
	if got, want := *found.Counts.Aborted, int64(len(again.records)); got != want {
		t.Errorf("%d aborted records, want %d", got, want)
	}
}

func TestWhatCannotBeAudited(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	s.cluster(story, s.input(story))
	s.write()
	o := Options{Log: slog.New(slog.DiscardHandler), TempDir: t.TempDir()}

	stopped, stop := context.WithCancel(t.Context())
	stop()
	if _, err := Run(stopped, s.config, o); !errors.Is(err, context.Canceled) {
		t.Errorf("after a stop: %v", err)
	}
	c := s.config
	c.Output.ClustersTopic = "elsewhere"
	wantError(t, c, o, "topic elsewhere does not exist, and group clusterd has committed offsets")
	c = s.config
	c.Kafka.TLS.Enabled, c.Kafka.TLS.CAFile = true, "/nowhere/ca.pem"
	wantError(t, c, o, "kafka.tls.ca_file: stat /nowhere/ca.pem")
	before := strings.NewReader(`{"status":"unclustered","source":{"topic":"articles"}}` + "\nhello\n")
	o.Seen = []Source{{Name: "before.jsonl", Reader: before}}
	wantError(t, s.config, o, "before.jsonl: result 2: invalid character")
	o.Seen[0].Reader = strings.NewReader(`{"status":"unclustered"}`)
	wantError(t, s.config, o, "before.jsonl: result 1: it has no source")
	o.TempDir = "/nowhere"
	wantError(t, s.config, o, "making a directory for temporary files")
}

func wantError(t *testing.T, c config.Config, o Options, want string) {
	t.Helper()
	if _, err := Run(t.Context(), c, o); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want %q in it", err, want)
	}
}

// Nothing is left behind.
func TestTemporaryFilesGo(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	s.cluster(story, s.input(story))
	s.write()
	dir := t.TempDir()
	if _, err := s.run(Options{Log: slog.New(slog.DiscardHandler), TempDir: dir}); err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}
