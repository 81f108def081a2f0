package audit

import (
	"slices"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"
)

// correction returns the n-th correction.
func (s *stage) correction(n int) *kgo.Record { s.Helper(); return s.record("corrections", n) }

// letter returns the n-th dead letter.
func (s *stage) letter(n int) *kgo.Record {
	s.Helper()
	return s.record(s.config.Output.DeadLetterTopic, n)
}

// labelledRecord returns the first record of a cluster that has labels.
func (s *stage) labelledRecord(cluster string) *kgo.Record {
	s.Helper()
	for n := 0; ; n++ {
		r := s.clusterRecord(n)
		if string(r.Key) == cluster && strings.Contains(string(r.Value), `"labels"`) {
			return r
		}
	}
}

// again adds a record to the last transaction.
func (s *stage) again(r *kgo.Record) *kgo.Record {
	more, last := *r, &s.transactions[len(s.transactions)-1]
	last.records = append(last.records, &more)
	return &more
}

// labelFaults are in what came of labels.
var labelFaults = []fault{
	{name: "a result does not carry its label", seed: func(s *stage) {
		s.edit(s.result(3), `"labels":["spam"],`, "")
	}, want: []string{"I9 article-clusters/0/3"}},
	{name: "no result carries the label in the batch in which it is applied", seed: func(s *stage) {
		s.edit(s.result(7), `"labels":["ham"]`, `"labels":["spam"]`)
	}, want: []string{"I9 article-clusters/0/6"}},
	{name: "a result carries a label that is not allowed", seed: func(s *stage) {
		s.edit(s.result(7), `"labels":["ham"]`, `"labels":["ham","spam"]`)
	}, want: []string{"I9 article-clusters/0/6"}},
	{name: "a result carries a label before it is applied", seed: func(s *stage) {
		s.edit(s.result(2), `"fingerprint"`, `"labels":["spam"],"fingerprint"`)
	}, want: []string{"I9 article-clusters/0/1"}},
	{name: "a result carries the label of another cluster", seed: func(s *stage) {
		s.edit(s.result(8), `"fingerprint"`, `"labels":["spam"],"fingerprint"`)
	}, want: []string{"I9 article-clusters/1/5"}},
	{name: "a result carries a label that was removed", seed: func(s *stage) {
		s.edit(s.result(10), `"labels"`, `"trial_labels":["odd"],"labels"`)
	}, want: []string{"I9 article-clusters/1/6"}},
	{name: "labels in another order", seed: func(s *stage) {
		s.edit(s.result(7), `"labels":["ham"]`, `"labels":["spam","ham"]`)
	}, want: []string{"form article-clusters/0/6", "I9 article-clusters/0/6"}},
	{name: "labels on an unclustered result", seed: func(s *stage) {
		s.edit(s.result(4), `"fingerprint"`, `"labels":["spam"],"fingerprint"`)
	}, want: []string{"form article-clusters/1/2"}},
	{name: "a label record that is lost", seed: func(s *stage) {
		s.drop(s.letter(2))
	}, want: []string{"I9 labels/0/3"}},
	{name: "a label for no cluster is lost", seed: func(s *stage) {
		s.drop(s.letter(1))
	}, want: []string{"I9 labels/0/0"}},
	{name: "a label that is applied and a dead letter", seed: func(s *stage) {
		r := s.again(s.letter(1))
		setHeader(r, "clusterd.source", "labels/0/1")
		r.Value = []byte(labelStory[1].record)
	}, want: []string{"I9 labels/0/1"}},
	{name: "a dead letter of another class", seed: func(s *stage) {
		setHeader(s.letter(2), "clusterd.error", "unknown_cluster")
	}, want: []string{"I9 labels/0/3"}},
	{name: "a dead letter of a label, of a class of articles", seed: func(s *stage) {
		setHeader(s.letter(2), "clusterd.error", "bad_json")
	}, want: []string{"form articles-dead/0/2", "I9 labels/0/3"}},
	{name: "a dead letter with another value", seed: func(s *stage) {
		s.letter(2).Value = []byte("{}")
	}, want: []string{"input articles-dead/0/2"}},
	{name: "two dead letters of a label", seed: func(s *stage) {
		s.again(s.letter(1))
	}, want: []string{"I9 articles-dead/0/5"}},
	{name: "a cluster does not keep its label", seed: func(s *stage) {
		s.edit(s.labelledRecord("articles/0/3"), `"labels":`, `"lables":`)
	}, want: []string{"I9 articles/0/3"}},
	{name: "a cluster says that somebody else labelled it", seed: func(s *stage) {
		s.edit(s.labelledRecord("articles/1/0"), `"by":"alice"`, `"by":"bob"`)
	}, want: []string{"I9 clusters/1/2"}},
	{name: "a cluster says that a label was applied elsewhere", seed: func(s *stage) {
		for n := range 10 {
			r := s.clusterRecord(n)
			r.Value = []byte(strings.Replace(string(r.Value), `"record":"labels/0/1","position":3`,
				`"record":"labels/0/1","position":2`, 1))
		}
	}, want: []string{"I9 labels/0/1", "I11 corrections/0/0"}},
	{name: "a cluster keeps a label that is removed", seed: func(s *stage) {
		s.drop(s.record(s.config.Output.ClustersTopic, 12))
	}, want: []string{"I9 articles/0/0"}},
	{name: "checkpoints that go back", seed: func(s *stage) {
		s.edit(s.record(s.config.Output.ClustersTopic, 11), `"labels":{"offsets":{"0":9}`,
			`"labels":{"offsets":{"0":3}`)
	}, want: []string{"I9 clusters/0/9", "I11 labels/0/5"}},
	{
		name: "a correction is lost", seed: func(s *stage) { s.drop(s.correction(3)) },
		want: []string{"I11 labels/0/6"},
	},
	{name: "the corrections of a label are lost", seed: func(s *stage) {
		s.drop(s.correction(0))
	}, want: []string{"I11 labels/0/1"}},
	{
		name: "a correction is written twice", seed: func(s *stage) { s.again(s.correction(0)) },
		want: []string{"I11 labels/0/1"},
	},
	{name: "a correction of another article", seed: func(s *stage) {
		s.edit(s.correction(3), `"article_id":"id-`, `"article_id":"x-`)
	}, want: []string{"I11 corrections/0/4"}},
	{name: "a correction of one member instead of another", seed: func(s *stage) {
		r := s.correction(4)
		r.Value = s.correction(3).Value
	}, want: []string{"I11 labels/0/6"}},
	{name: "a correction of a member of another cluster", seed: func(s *stage) {
		s.edit(s.correction(3), `"member_position":4`, `"member_position":3`)
	}, want: []string{"I11 corrections/0/4"}},
	{name: "a correction of a later member", seed: func(s *stage) {
		s.edit(s.correction(3), `"member_position":4`, `"member_position":7`)
	}, want: []string{"I11 corrections/0/4"}},
	{name: "a correction by somebody else", seed: func(s *stage) {
		s.edit(s.correction(0), `"by":"alice"`, `"by":"bob"`)
	}, want: []string{"I11 corrections/0/0"}},
	{name: "a correction with other labels", seed: func(s *stage) {
		s.edit(s.correction(0), `"labels":["spam"]`, `"labels":[]`)
	}, want: []string{"I11 corrections/0/0"}},
	{name: "a correction of another position", seed: func(s *stage) {
		s.edit(s.correction(0), `"position":3`, `"position":2`)
	}, want: []string{"I11 corrections/0/0"}},
	{name: "a correction for a label on trial", seed: func(s *stage) {
		r := s.again(s.correction(5))
		s.edit(r, `"label":"spam"`, `"label":"odd"`)
		s.edit(r, "labels/0/8", "labels/0/2")
		s.edit(r, `"position":6`, `"position":3`)
	}, want: []string{"I11 corrections/0/12"}},
	{name: "a correction under another key", seed: func(s *stage) {
		s.correction(0).Key = []byte("articles/0/0")
	}, want: []string{"form corrections/0/0", "I11 labels/0/1"}},
	{name: "labels of the newest checkpoint under another name", seed: func(s *stage) {
		last := s.transactions[len(s.transactions)-1].records
		s.edit(last[len(last)-1], `"labels":{`, `"lables":{`)
	}, want: []string{"form clusters/0/12"}},
	{name: "offsets of labels of the newest checkpoint under another name", seed: func(s *stage) {
		last := s.transactions[len(s.transactions)-1].records
		s.edit(last[len(last)-1], `"labels":{"offsets"`, `"labels":{"offset"`)
	}, want: []string{"form clusters/0/12"}},
}

// Each fault in what came of labels is found, where it is.
func TestLabelFaultsAreFound(t *testing.T) {
	t.Parallel()
	for _, test := range some(6, labelFaults) {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := newLabelStage(t)
			test.seed(s)
			s.write()
			found := s.audit(Options{Show: 1})
			if got := firsts(found); !slices.Equal(got, test.want) {
				t.Errorf("found:\n%s\nwant %q", strings.Join(violations(found), "\n"), test.want)
			}
		})
	}
}
