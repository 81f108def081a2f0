package labels

import (
	"hash/maphash"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/clusterd/clusterd/internal/audit/model"
	"github.com/clusterd/clusterd/internal/audit/report"
	"github.com/clusterd/clusterd/internal/audit/spill"
	"github.com/clusterd/clusterd/internal/audit/wire"
)

// A player feeds a space with articles of two clusters, and knows what it reports.
type player struct {
	*testing.T
	*Space
	labels  *Labels
	model   *model.Model
	report  *report.Report
	records int64
	next    int64
}

var one, two = wire.Address{Offset: 1}, wire.Address{Offset: 2}

// newPlayer returns a player with a checkpoint before and after each label record: the n-th is
// applied at the n-th of these positions.
func newPlayer(t *testing.T, rule Rule, window time.Duration, positions ...int64) *player {
	t.Helper()
	dir, err := spill.NewDir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = dir.Close() })
	p := &player{T: t, report: report.New("articles", "g", 10)}
	rule.Input, rule.Topic, rule.Partitions = "articles", "labels", 1
	p.labels = New(rule, dir, maphash.MakeSeed(), map[int32]int64{0: 0}, map[int32]int64{0: 100},
		p.report.Add("I9", "labels"), p.report.Add("I11", "corrections"))
	p.Space = p.labels.Space(0)
	p.model = model.New(3, model.Rule{Window: window})
	for n, at := range append(positions, 1<<40) {
		p.Checkpoint(&wire.Checkpoint{NextPosition: at, Labels: &wire.LabelProgress{
			Topic: "labels", Offsets: map[int32]int64{0: int64(n)},
		}}, true, "a checkpoint")
	}
	p.Replay(p.model)
	return p
}

// label adds a label record, with the class of its dead letter.
func (p *player) label(value, class string) {
	p.Helper()
	r := &kgo.Record{Topic: "labels", Offset: p.records, Value: []byte(value)}
	if err := p.labels.Add(r, class); err != nil {
		p.Fatal(err)
	}
	p.records++
}

// article adds an article of a cluster at a minute, whose result has labels.
func (p *player) article(cluster wire.Address, minute int64, labels ...string) {
	p.Helper()
	if err := p.Advance(p.next); err != nil {
		p.Fatal(err)
	}
	shown := Shown{Labels: p.labels.Set(labels), Size: 1}
	if err := p.Result(p.next, cluster, shown, "a result"); err != nil {
		p.Fatal(err)
	}
	hash := uint64(0xff) << (8 * cluster.Offset)
	a := model.Article{
		Source: cluster, EventTime: minute * 60_000, Fingerprint: model.Fingerprint{Hash: hash},
	}
	if _, err := p.model.Assign(a, p.next); err != nil {
		p.Fatal(err)
	}
	p.next++
}

func (p *player) violations() int64 { return p.report.Violations() }

// An earlier version suspended labels. While a checkpoint says so, results may lack them: from
// the transaction of the first that does on, to that of the first that does not.
func TestSuspendedByAnEarlierVersion(t *testing.T) {
	t.Parallel()
	for position, want := range []int64{0, 1, 0, 0, 0, 1, 1} {
		p := newPlayer(t, Rule{}, 0, 1)
		p.label(`{"cluster_id":"articles/0/1","label":"spam"}`, "")
		p.label(`{"label":"spam","action":"resume"}`, "")
		for _, c := range []struct {
			next      int64
			suspended bool
		}{{2, false}, {3, true}, {4, true}, {5, false}, {6, false}, {7, false}} {
			p.Checkpoint(&wire.Checkpoint{NextPosition: c.next, Labels: &wire.LabelProgress{
				Topic: "labels", Offsets: map[int32]int64{0: 1},
				Flood: map[string]wire.Flood{"spam": {Suspended: c.suspended}},
			}}, true, "a checkpoint")
		}
		p.article(one, 0)
		for p.next < 7 {
			if p.next == int64(position) {
				p.article(one, 0)
			} else {
				p.article(one, 0, "spam")
			}
		}
		if n := p.violations(); position > 0 && n != want {
			t.Errorf("a result at %d without the label: %d violations: %+v", position, n,
				p.report.Checks[0].Shown)
		}
	}
}

// A cluster with a label is kept beyond the window, and no longer than it has one. A label for a
// cluster that has expired is a dead letter.
func TestKept(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, record, class string
		want                int64
	}{
		{"with its label", `{"cluster_id":"articles/0/1","label":"b"}`, "", 0},
		{"a dead letter", `{"cluster_id":"articles/0/1","label":"b"}`, wire.UnknownCluster, 1},
		{"without one", `{"cluster_id":"articles/0/2","label":"b"}`, "", 1},
		{"without one, a dead letter", `{"cluster_id":"articles/0/2","label":"b"}`, wire.UnknownCluster, 0},
	} {
		p := newPlayer(t, Rule{Kept: time.Hour}, time.Minute, 2, 3)
		p.label(`{"cluster_id":"articles/0/1","label":"a"}`, "")
		p.label(test.record, test.class)
		p.article(one, 0)
		p.article(two, 0)
		p.article(wire.Address{Offset: 3}, 30)
		p.article(wire.Address{Offset: 3}, 30)
		if n := p.violations(); n != test.want {
			t.Errorf("%s: %d violations: %+v", test.name, n, p.report.Checks[0].Shown)
		}
	}
	p := newPlayer(t, Rule{Kept: time.Hour}, time.Minute, 1, 2)
	p.label(`{"cluster_id":"articles/0/1","label":"a"}`, "")
	p.label(`{"cluster_id":"articles/0/1","label":"a","action":"remove"}`, "")
	p.article(one, 0)
	p.article(two, 30)
	if p.model.Expired(0) {
		t.Error("a cluster with a label has expired")
	}
	p.article(two, 30)
	if !p.model.Expired(0) {
		t.Error("a cluster whose last label was removed is kept")
	}
}

// A cluster has at most eight labels; one on trial is another one.
func TestTooManyLabels(t *testing.T) {
	t.Parallel()
	p := newPlayer(t, Rule{}, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1)
	for _, name := range []string{"a", "b", "c", "d", "e", "f", "g", "h"} {
		p.label(`{"cluster_id":"articles/0/1","label":"`+name+`"}`, "")
	}
	p.label(`{"cluster_id":"articles/0/1","label":"i"}`, wire.TooManyLabels)
	p.label(`{"cluster_id":"articles/0/1","label":"h","trial":true}`, wire.TooManyLabels)
	p.label(`{"cluster_id":"articles/0/1","label":"j"}`, "")
	p.article(one, 0)
	p.article(two, 0)
	if n := p.violations(); n != 1 {
		t.Errorf("%d violations, want 1, of the last label: %+v", n, p.report.Checks[0].Shown)
	}
}

// Whether a label record about stories is applied or is a dead letter, it is no label.
func TestRecordsOfStories(t *testing.T) {
	t.Parallel()
	for _, record := range []string{
		`{"action":"merge","story_id":"articles/0/1","other":"articles/0/2"}`,
		`{"action":"unmerge","story_id":"articles/0/1","other":"articles/0/2"}`,
		`{"action":"split","cluster_id":"articles/0/1"}`,
	} {
		for _, class := range []string{"", wire.UnknownStory} {
			p := newPlayer(t, Rule{}, 0, 1)
			p.label(record, class)
			p.article(one, 0)
			p.article(one, 0)
			if n := p.violations(); n != 0 {
				t.Errorf("%s, %q: %d violations: %+v", record, class, n, p.report.Checks[0].Shown)
			}
		}
	}
}

// Where label records are deleted that were read, what they did to stories is lost only if records
// of the clusters topic are gone, too: else the states of stories say it.
func TestLostStories(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		topic       string
		from        int64
		whole, lost bool
	}{
		{"labels", 0, true, false},
		{"labels", 0, false, false},
		{"labels", 5, true, false},
		{"labels", 5, false, true},
		{"others", 0, true, false},
		{"others", 0, false, true},
	} {
		p := newPlayer(t, Rule{}, 0)
		p.labels.from[0] = test.from
		s := p.labels.Space(0)
		s.Checkpoint(&wire.Checkpoint{NextPosition: 9, Labels: &wire.LabelProgress{
			Topic: test.topic, Offsets: map[int32]int64{0: 7},
		}}, test.whole, "a checkpoint")
		gone := test.from > 0 || test.topic != "labels"
		if of := s.OfStories(); of.Lost != test.lost || of.Since > 0 != gone {
			t.Errorf("%+v: %+v", test, of)
		}
	}
}
