package audit

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/clusterd/clusterd/internal/audit/report"
	"github.com/clusterd/clusterd/internal/audit/wire"
	"github.com/clusterd/clusterd/internal/config"
)

func withLabels(c *config.Config) {
	c.Labels.Topic, c.Labels.Corrections = "labels", "corrections"
}

// A labelling is a label record that is applied before a batch. It says which class its dead letter
// has, if it has one.
type labelling struct {
	batch  int
	record string
	class  string
}

// labelStory labels clusters of the story, whose batches are 4 items each: 3, 3 and 4 articles with
// a position.
var labelStory = []labelling{
	{batch: 0, record: `{"cluster_id":"articles/0/0","label":"early"}`, class: "unknown_cluster"},
	{batch: 1, record: `{"cluster_id":"articles/1/0","label":"spam","by":"alice","note":"an \"ad\""}`},
	{batch: 1, record: `{"cluster_id":"articles/0/0","label":"odd","trial":true}`},
	{batch: 1, record: `{"cluster_id":"articles/0/0"}`, class: "bad_label"},
	{batch: 1, record: `{"cluster_id":"comments/0/0","label":"spam"}`, class: "unknown_cluster"},
	{batch: 2, record: `{"cluster_id":"articles/1/0","label":"ham","by":"bob"}`},
	{batch: 2, record: `{"cluster_id":"articles/0/3","label":"spam"}`},
	{batch: 2, record: `{"cluster_id":"articles/0/0","label":"odd","action":"remove","trial":true}`},
	{batch: 2, record: `{"cluster_id":"articles/0/0","label":"spam"}`},
	{batch: 3, record: `{"cluster_id":"articles/0/0","label":"spam","action":"remove"}`},
	{batch: 3, record: `{"label":"spam","action":"resume"}`},
}

// A labelled is a cluster on its way through a labelling.
type labelled struct {
	labels  []wire.ClusterLabel
	members []wire.Correction
	record  *kgo.Record // the last one
	touched bool
}

func (c *labelled) carried() (labels, trial []string) {
	allowed := slices.ContainsFunc(c.labels,
		func(l wire.ClusterLabel) bool { return l.Label == "ham" && !l.Trial })
	for _, l := range c.labels {
		switch {
		case l.Trial:
			trial = append(trial, l.Label)
		case !allowed || l.Label == "ham":
			labels = append(labels, l.Label)
		}
	}
	return labels, trial
}

// label writes label records, and changes what is to be written as a clusterd would that reads
// them. A last transaction has the label records of the batch behind the last.
func (s *stage) label(story []labelling) {
	s.Helper()
	for _, l := range story {
		s.produceTo("labels", l.record)
	}
	clusters := make(map[string]*labelled)
	s.transactions = append(s.transactions, transaction{
		committed: s.transactions[len(s.transactions)-1].committed,
		reached:   s.transactions[len(s.transactions)-1].reached,
	})
	var position, read, since int64
	offsets := make(map[int32]int64)
	for n := range s.transactions {
		t := &s.transactions[n]
		for ; read < int64(len(story)) && story[read].batch == n; read++ {
			t.records = append(t.records, s.applied(clusters, story[read], read, position)...)
		}
		for _, r := range t.records {
			position += s.relabel(clusters, r, s.off[n])
		}
		if s.off[n] {
			since = position
		}
		for _, id := range slices.Sorted(maps.Keys(clusters)) {
			if c := clusters[id]; c.touched && c.record != nil {
				again := *c.record
				again.Value = withLabelsOf(c, again.Value)
				c.touched, t.records = false, append(t.records, &again)
			}
		}
		maps.Copy(offsets, t.committed)
		t.records = append(t.records, s.labelCheckpoint(offsets, position, read, since))
	}
}

func (s *stage) produceTo(topic, value string) {
	s.Helper()
	r := &kgo.Record{
		Topic: topic, Value: []byte(value), Timestamp: time.UnixMilli(start).UTC(),
		Headers: []kgo.RecordHeader{{Key: "from", Value: []byte("a moderator")}},
	}
	if err := s.client.ProduceSync(s.Context(), r).FirstErr(); err != nil {
		s.Fatal(err)
	}
}

// applied applies a label record at a position, and returns its dead letter or its corrections.
func (s *stage) applied(
	clusters map[string]*labelled, l labelling, offset, position int64,
) (records []*kgo.Record) {
	at := fmt.Sprintf("labels/0/%d", offset)
	if l.class != "" {
		return []*kgo.Record{{
			Topic: s.config.Output.DeadLetterTopic, Value: []byte(l.record),
			Headers: []kgo.RecordHeader{
				{Key: "from", Value: []byte("a moderator")},
				{Key: "clusterd.source", Value: []byte(at)},
				{Key: "clusterd.error", Value: []byte(l.class)},
				{Key: "clusterd.reason", Value: []byte("it is bad")},
				{Key: "clusterd.stage", Value: []byte("label")},
			},
		}}
	}
	var v wire.LabelRecord
	if err := json.Unmarshal([]byte(l.record), &v); err != nil {
		s.Fatal(err)
	}
	if v.Action == "resume" || v.Action == wire.ActionErase {
		return nil
	}
	c := clusters[v.ClusterID]
	before, _ := c.carried()
	c.labels = slices.DeleteFunc(c.labels,
		func(l wire.ClusterLabel) bool { return l.Label == v.Label && l.Trial == v.Trial })
	if v.Action != "remove" {
		v.Action = "add"
		c.labels = append(c.labels, wire.ClusterLabel{
			Label: v.Label, By: v.By, At: time.UnixMilli(start).UTC(), Note: v.Note, Trial: v.Trial,
			Record: at, Position: position,
		})
		slices.SortFunc(c.labels,
			func(a, b wire.ClusterLabel) int { return strings.Compare(a.Label, b.Label) })
	}
	c.touched = true
	after, _ := c.carried()
	if slices.Equal(before, after) {
		return nil
	}
	for _, m := range c.members {
		m.Change = wire.Change{
			ClusterID: v.ClusterID, Label: v.Label, Action: v.Action, Labels: append([]string{}, after...),
			By: v.By, At: time.UnixMilli(start).UTC(), Note: v.Note, Position: position, Record: at,
		}
		value, err := json.Marshal(m)
		if err != nil {
			s.Fatal(err)
		}
		records = append(records, &kgo.Record{
			Topic: "corrections", Key: []byte(v.ClusterID), Value: value,
		})
	}
	return records
}

// relabel puts labels on a result or on the record of a cluster. It returns 1 for a result of an
// article that was clustered. While labels are off, results have none.
func (s *stage) relabel(clusters map[string]*labelled, r *kgo.Record, off bool) int64 {
	position, ok := wire.Header(r, "clusterd.position")
	if !ok {
		return 0
	}
	if r.Topic == s.config.Output.ClustersTopic {
		c := clusters[string(r.Key)]
		plain := *r
		c.record, c.touched = &plain, false
		r.Value = withLabelsOf(c, r.Value)
		return 0
	}
	v, err := wire.ParseResult(r.Value)
	if err != nil {
		s.Fatal(err)
	}
	if v.ClusterID == nil {
		return 0
	}
	if clusters[*v.ClusterID] == nil {
		clusters[*v.ClusterID] = new(labelled)
	}
	c := clusters[*v.ClusterID]
	m := wire.Correction{ArticleID: v.ArticleID, Source: v.Source}
	if m.MemberPosition, err = strconv.ParseInt(position, 10, 64); err != nil {
		s.Fatal(err)
	}
	c.members = append(c.members, m)
	labels, trial := c.carried()
	for name, of := range map[string][]string{"labels": labels, "trial_labels": trial} {
		if of != nil && !off {
			text, _ := json.Marshal(of)
			s.edit(r, `"fingerprint"`, fmt.Sprintf(`%q:%s,"fingerprint"`, name, text))
		}
	}
	return 1
}

// withLabelsOf returns the record of a cluster with its labels.
func withLabelsOf(c *labelled, value []byte) []byte {
	if len(c.labels) == 0 {
		return value
	}
	text, _ := json.Marshal(c.labels)
	return []byte(strings.Replace(string(value), `"pipeline"`,
		fmt.Sprintf(`"labels":%s,"pipeline"`, text), 1))
}

func (s *stage) labelCheckpoint(
	offsets map[int32]int64, position, read, since int64,
) *kgo.Record {
	value, err := json.Marshal(map[string]any{
		"group": s.config.Input.Group, "space": "all", "offsets": offsets, "next_position": position,
		"labels": map[string]any{"topic": "labels", "offsets": map[int32]int64{0: read}, "since": since},
	})
	if err != nil {
		s.Fatal(err)
	}
	return &kgo.Record{
		Topic: s.config.Output.ClustersTopic, Key: []byte("checkpoint:" + s.config.Input.Group + "/all"),
		Value: value,
	}
}

func newLabelStage(t *testing.T) *stage {
	t.Helper()
	s := newStage(t, withLabels)
	s.cluster(story, s.input(story))
	s.label(labelStory)
	return s
}

func checked(r *report.Report, id string) int64 {
	for _, c := range r.Checks {
		if c.ID == id {
			return c.Checked
		}
	}
	return -1
}

// Labels that were applied as they should be are found to be.
func TestLabelsHold(t *testing.T) {
	t.Parallel()
	s := newLabelStage(t)
	s.write()
	found := s.audit(Options{})
	wantHeld(t, found)
	if n := checked(found, "I9"); n != 21 { // 11 label records and 10 results
		t.Errorf("%d labels and results are checked, want 21", n)
	}
	if n := checked(found, "I11"); n != found.Counts.Corrections || n < 10 {
		t.Errorf("%d corrections are checked of %d", n, found.Counts.Corrections)
	}
}

// Where checkpoints have been compacted away, cluster records, corrections and results still say
// where labels were applied.
func TestLabelsHoldWithoutCheckpoints(t *testing.T) {
	t.Parallel()
	for _, corrections := range []bool{true, false} {
		s := newLabelStage(t)
		if !corrections {
			s.config.Labels.Corrections = ""
		}
		s.write()
		s.compact()
		found := s.audit(Options{})
		wantHeld(t, found)
		if n := checked(found, "I9"); n != 21 {
			t.Errorf("%d labels and results are checked, want 21", n)
		}
	}
}

// compact leaves the last record of each key in the clusters topic, and its active segment.
func (s *stage) compact() {
	s.Helper()
	size := func() int64 { return s.broker.PartitionInfo(s.config.Output.ClustersTopic, 0).NumBytes }
	before := size()
	s.broker.Compact()
	if after := size(); after >= before {
		s.Fatalf("%d bytes are in the clusters topic, and were %d before it was compacted", after, before)
	}
}

// What retention has deleted of the labels cannot be checked.
func TestLabelsDeleted(t *testing.T) {
	t.Parallel()
	s := newLabelStage(t)
	s.write()
	s.deleteLabels(2)
	wantUnchecked(t, s.audit(Options{Show: 3}),
		"the records of labels/0 below offset 2 have been deleted")
}

// deleteLabels deletes the label records below an offset.
func (s *stage) deleteLabels(below int64) {
	s.Helper()
	var before kadm.Offsets
	before.Add(kadm.Offset{Topic: "labels", Partition: 0, At: below})
	if _, err := s.admin.DeleteRecords(s.Context(), before); err != nil {
		s.Fatal(err)
	}
}

// wantUnchecked wants nothing to be wrong, and labels and corrections not to be checked.
func wantUnchecked(t *testing.T, found *report.Report, since string) {
	t.Helper()
	if found.Violations() > 0 {
		t.Errorf("found:\n%s", strings.Join(violations(found), "\n"))
	}
	for _, c := range found.Checks {
		if labels := c.ID == "I9" || c.ID == "I11"; labels != (c.NotChecked != "") ||
			labels && !strings.HasPrefix(c.NotChecked, "cannot be checked since "+since) {
			t.Errorf("%s is not checked for %q", c.ID, c.NotChecked)
		}
	}
}

// The record of a cluster that is labelled has the position of its last member, which may be long
// ago: it does not say that what was written before it is older than that.
func TestTombstoneBeforeLabel(t *testing.T) {
	t.Parallel()
	s := newStage(t, func(c *config.Config) {
		withLabels(c)
		withWindow(c)
		c.Labels.Keep = 0
	})
	items := []item{
		{0, 0xff, 0, ""},
		{0, 0xff00, 2, ""},
		{0, 0xff0000, 2, ""},
		{1, 0xff000000, 2, ""},
		{1, 0xff00000000, 4, ""},
		{1, 0xff00000000, 4, ""},
		{1, 0xff00000000, 4, ""},
		{1, 0xff00000000, 4, ""},
		{1, 0xff00000000, 4, ""},
	}
	s.cluster(items, s.input(items))
	s.label([]labelling{{batch: 2, record: `{"cluster_id":"articles/0/1","label":"spam"}`}})
	s.write()
	found := s.audit(Options{})
	wantHeld(t, found)
	if n := found.Counts; n.Labels != 1 || n.Live != n.Clusters-1 {
		t.Errorf("%+v, want a label, and one cluster expired", n)
	}
}
