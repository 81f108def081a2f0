package audit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/testutil/golden"
	"github.com/clusterd/clusterd/internal/testutil/wait"
)

// long is n articles a minute apart, many of them near one another.
func long(n int) []item {
	r := rand.New(rand.NewPCG(1, uint64(n)))
	items := make([]item, n)
	for i := range items {
		items[i] = item{int32(r.IntN(2)), uint64(r.IntN(40))*0x9e3779b97f4a7c15 ^ 1<<r.IntN(64), int64(i), ""}
		switch r.IntN(20) {
		case 0:
			items[i].kind = "unclustered"
		case 1:
			items[i].kind = "bad_field"
		case 2:
			items[i].minute = max(0, int64(i)-30) // late
		case 3:
			items[i].kind = "undated"
		}
	}
	return items
}

// What is as it should be is found so, whatever the topics look like otherwise.
func TestGoodTopicsHold(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		change func(*config.Config)
		plant  func(*stage)
	}{
		{name: "one space"},
		{name: "a space a partition", change: inPartitions},
		{name: "clusters that expire", change: withWindow},
		{name: "a space a partition, and clusters that expire", change: func(c *config.Config) { inPartitions(c); withWindow(c) }},
		{name: "another distance", change: func(c *config.Config) { c.Cluster.Distance = 0 }},
		{name: "aborted batches between", plant: func(s *stage) {
			again := s.transactions[5]
			again.aborted = true
			s.transactions = slices.Insert(s.transactions, 5, again)
			again = s.transactions[len(s.transactions)-1]
			again.aborted = true
			s.transactions = append(s.transactions, again)
		}},
		{name: "tombstones some batches later", change: withWindow, plant: func(s *stage) {
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
		{name: "tombstones that compaction has taken away, with all that was before", change: withWindow, plant: func(s *stage) {
			gone := make(map[string]bool)
			for _, t := range s.transactions {
				for _, r := range t.records {
					gone[string(r.Key)] = gone[string(r.Key)] || r.Topic == s.config.Output.ClustersTopic && r.Value == nil
				}
			}
			for i := range s.transactions {
				t := &s.transactions[i]
				t.records = slices.DeleteFunc(t.records, func(r *kgo.Record) bool {
					return r.Topic == s.config.Output.ClustersTopic && gone[string(r.Key)]
				})
			}
		}},
		{name: "the cluster id as the key", change: func(c *config.Config) { c.Output.Key = "cluster" }},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, test.change)
			items := long(200)
			s.cluster(items, s.input(items))
			if test.plant != nil {
				test.plant(s)
			}
			s.write()
			report := s.audit(Options{})
			wantHeld(t, report)
			n := report.Counts
			if all := n.New + n.Joined + n.Unclustered + n.DeadLetters["bad_field"]; n.Records != 200 || all != 200 {
				t.Errorf("%d records of 200, %d results and dead letters: %+v", n.Records, all, n)
			}
		})
	}
}

// Offsets of the input have gaps: aborted records and control records are none that must come out.
func TestGapsInTheInput(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	var places []place
	for _, it := range story {
		places = append(places, s.input([]item{it})...)
		s.begin(transaction{records: []*kgo.Record{{Topic: "articles", Partition: it.partition, Value: []byte("{}")}}})
		s.end(kgo.TryAbort)
	}
	s.cluster(story, places)
	s.write()
	wantHeld(t, s.audit(Options{}))

	again := *s.result(4)
	setHeader(&again, "clusterd.source", "articles/1/1")
	s.edit(&again, `"offset":6`, `"offset":1`)
	s.transactions = append(s.transactions, transaction{records: []*kgo.Record{&again}})
	s.write()
	want := []string{"I1 articles/1/1: a committed record, since there is a result or a dead letter of it; found none"}
	if got := said(s.audit(Options{})); !slices.Equal(got, want) {
		t.Errorf("after a result of an aborted record: %q, want %q", got, want)
	}
}

// An audit of topics that grow sees a whole of its own each time.
func TestTopicsThatGrow(t *testing.T) {
	t.Parallel()
	s := newStage(t, withWindow)
	items := long(400)
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
	if got := s.audit(Options{}).Counts.Records; got != 400 {
		t.Errorf("%d records, want 400", got)
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
				report, err := s.run(Options{Show: 10, TempDir: t.TempDir(), Log: slog.New(slog.NewTextHandler(&log, nil))})
				if err != nil {
					t.Error(err)
					return
				}
				wantHeld(t, report)
				if got, want := report.Counts.Joined == 6, committed; got != want {
					t.Errorf("the transaction's results are there: %v, want %v (%+v)", got, want, report.Counts)
				}
			}()
			log.WaitFor(t, "waiting for transactions that are open in topic clusters", 1)
			s.end(kgo.TransactionEndTry(committed))
			<-done
		})
	}
}

// Of a transaction that was not over when the cut was made, some results may be below the ends of the
// topics and some not.
func TestHalfATransaction(t *testing.T) {
	t.Parallel()
	a := &audit{
		config: config.Default(), options: Options{Show: 10}, dir: t.TempDir(), complete: true, spaces: make(map[int32]*space), positions: 100,
		cut: cut{committed: map[int32]int64{0: 2}, input: span{topic: "articles"}, clusters: span{topic: "clusters"}}, method: spelled{3},
	}
	a.begin()
	defer a.closeTables()
	for _, position := range []int64{0, 1, 2, 4, 7} {
		row := resultRow{Source: place{0, position}, Cluster: place{0, position}, Fingerprint: 1 << position * 0xffff, Size: 1}
		row.Fingerprint = [...]uint64{0, 0xff, 0xff00, 0, 0xff0000, 0, 0, 0xff000000}[position]
		if err := a.place(row, position, ""); err != nil {
			t.Fatal(err)
		}
	}
	if err := a.replayAll(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := []string{"I4 articles/0/0: a record in clusters; found none", "I4 articles/0/1: a record in clusters; found none"}
	if got := said(a.finish()); !slices.Equal(got, want) {
		t.Errorf("found %q, want only what the clusters topic must have by now: %q", got, want)
	}
	if n := a.report.Counts; n.Later != 2 || n.Clusters != 3 {
		t.Errorf("counts %+v, want 3 clusters and 2 results that are left to the next audit", n)
	}
}

// values are the results of a topic as kcat prints them.
func (s *stage) values() []string {
	var lines []string
	for _, t := range s.transactions {
		for _, r := range t.records {
			if r.Topic == s.config.Output.Topic {
				lines = append(lines, string(r.Value))
			}
		}
	}
	return lines
}

func TestSeen(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		read func(lines []string) [][]string // of each reader, from what was written
		want []string
	}{
		{"the same", func(lines []string) [][]string { return [][]string{lines} }, nil},
		{"by several, in part", func(lines []string) [][]string { return [][]string{lines[:5], lines[2:], nil} }, nil},
		{"another cluster", func(lines []string) [][]string {
			lines[2] = strings.Replace(lines[2], `"cluster_id":"articles/0/0"`, `"cluster_id":"articles/1/0"`, 1)
			return [][]string{lines}
		}, []string{"I5 article-clusters/0/1: cluster articles/1/0 of articles/0/1, as it was read earlier; found cluster articles/0/0"}},
		{"clustered then, and not now", func(lines []string) [][]string {
			lines[4] = strings.Replace(lines[2], `"source":{"topic":"articles","partition":0,"offset":1}`, `"source":{"topic":"articles","partition":1,"offset":2}`, 1)
			return [][]string{lines}
		}, []string{"I5 article-clusters/1/2: cluster articles/0/0 of articles/1/2, as it was read earlier; found cluster null"}},
		{"what is not there now", func(lines []string) [][]string {
			return [][]string{{strings.Replace(lines[2], `"partition":0,"offset":1}`, `"partition":1,"offset":1}`, 1)}} // a dead letter
		}, []string{"I5 articles/1/1: a result, as one was read earlier; found none"}},
		{"a record that never was", func(lines []string) [][]string {
			return [][]string{{strings.Replace(lines[2], `"offset":1}`, `"offset":77}`, 1)}}
		}, []string{"I5 reader 0, result 1: a result of a record of articles; found one of articles/0/77"}},
		{"two readers that differ", func(lines []string) [][]string {
			return [][]string{lines, {strings.Replace(lines[2], `"cluster_id":"articles/0/0"`, `"cluster_id":"articles/1/0"`, 1)}}
		}, []string{"I5 reader 1, result 1: cluster articles/0/0 of articles/0/1, as it was read before; found cluster articles/1/0"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, nil)
			s.cluster(story, s.input(story))
			s.write()
			var o Options
			for i, lines := range test.read(s.values()) {
				o.Seen = append(o.Seen, Seen{fmt.Sprintf("reader %d", i), strings.NewReader(strings.Join(lines, "\n"))})
			}
			if got := said(s.audit(o)); !slices.Equal(got, test.want) {
				t.Errorf("found %q, want %q", got, test.want)
			}
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
			offsets.AddOffset(test.topic, 1, map[string]int64{"articles": 2, "articles-dead": 1, "article-clusters": 2}[test.topic], -1)
			if _, err := s.admin.DeleteRecords(t.Context(), offsets); err != nil {
				t.Fatal(err)
			}
			report := s.audit(Options{})
			for _, line := range said(report) {
				t.Error(line)
			}
			var unchecked []string
			for _, c := range report.Checks {
				if c.Verdict == NotChecked {
					unchecked = append(unchecked, c.ID)
				}
			}
			if !slices.Equal(unchecked, test.unchecked) || report.Counts.Deleted != test.deleted {
				t.Errorf("not checked: %q, deleted %d; want %q, %d", unchecked, report.Counts.Deleted, test.unchecked, test.deleted)
			}
		})
	}
}

func TestNothingCommittedYet(t *testing.T) {
	t.Parallel()
	s := newStage(t, nil)
	s.input(story)
	report := s.audit(Options{})
	wantHeld(t, report)
	if report.Note != "nothing committed yet" {
		t.Errorf("note %q", report.Note)
	}
	s.config.Output.Topic = "elsewhere"
	wantHeld(t, s.audit(Options{}))
	seen := Options{Seen: []Seen{{"reader", strings.NewReader(`{"status":"unclustered","source":{"topic":"articles","partition":0,"offset":1}}`)}}}
	if got := s.audit(seen); got.Violations() != 1 {
		t.Errorf("a result was read and nothing is there: %q", said(got))
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
	report := s.audit(Options{Aborted: true})
	wantHeld(t, report)
	if got, want := *report.Counts.Aborted, int64(len(again.records)); got != want {
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
	wantError(t, c, o, "kafka.tls.ca_file: open /nowhere/ca.pem")
	o.Seen = []Seen{{"before.jsonl", strings.NewReader("{\"status\":\"unclustered\"}\nhello\n")}}
	wantError(t, s.config, o, "before.jsonl: result 2: invalid character")
	o.TempDir = "/nowhere"
	wantError(t, s.config, o, "making a folder for temporary files")
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

func TestTable(t *testing.T) {
	t.Parallel()
	for name, plant := range map[string]func(*stage){
		"holds": func(*stage) {},
		"violated": func(s *stage) {
			s.edit(s.result(2), `"distance":2`, `"distance":1`)
			s.edit(s.result(6), "articles/0/3", "articles/1/0")
			s.edit(s.result(7), "articles/1/0", "articles/0/3")
			s.edit(s.clusterRecord(5), `"size":3`, `"size":2`)
			s.drop(s.result(4))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, nil)
			s.cluster(story, s.input(story))
			plant(s)
			s.write()
			var b bytes.Buffer
			if err := s.audit(Options{Show: 2, Aborted: true}).Write(&b); err != nil {
				t.Fatal(err)
			}
			golden.Check(t, filepath.Join("testdata", name+".txt"), b.Bytes())
		})
	}
}
