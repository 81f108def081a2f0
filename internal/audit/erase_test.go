package audit

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"
)

// erasedID is the cluster whose founder's text is erased in these tests, before the second batch.
const erasedID = "articles/1/0"

// erasure returns a record that erases the text of a founder.
func erasure(id string) string {
	return `{"action":"erase","target":"article","cluster_id":"` + id + `","source":"` + id + `"}`
}

var eraseStory = []labelling{
	{batch: 0, record: erasure("articles/0/0"), class: "unknown_cluster"},
	{batch: 1, record: erasure(erasedID)},
	{batch: 2, record: `{"action":"erase","cluster_id":"articles/1/0"}`, class: "bad_label"},
}

var textOfOne = regexp.MustCompile(`"title":"[^"]+"`)

// textless returns a record without the text of its representative.
func textless(r *kgo.Record) *kgo.Record {
	bare := *r
	bare.Value = textOfOne.ReplaceAll(r.Value, []byte(`"title":""`))
	return &bare
}

// ofErased reports whether a record says who represents the erased cluster.
func (s *stage) ofErased(r *kgo.Record) bool {
	return r.Topic == s.config.Output.ClustersTopic && string(r.Key) == erasedID && r.Value != nil ||
		r.Topic == s.config.Output.Topic && strings.Contains(string(r.Value), `"cluster_id":"`+erasedID)
}

// newEraseStage returns a stage on which the text of a founder is erased before the second batch.
func newEraseStage(t *testing.T) *stage {
	t.Helper()
	s := newStage(t, withLabels)
	s.cluster(story, s.input(story))
	s.label(eraseStory)
	var last *kgo.Record
	for n := range s.transactions {
		recorded := false
		for i, r := range s.transactions[n].records {
			if !s.ofErased(r) {
				continue
			}
			if n > 0 {
				s.transactions[n].records[i] = textless(r)
			}
			if r.Topic == s.config.Output.ClustersTopic {
				last, recorded = s.transactions[n].records[i], true
			}
		}
		if n == 1 && !recorded {
			s.transactions[n].records = slices.Insert(s.transactions[n].records, 0, textless(last))
		}
	}
	return s
}

// eachErased calls with each record that says who represents the erased cluster.
func (s *stage) eachErased(do func(transaction int, r **kgo.Record)) {
	for n := range s.transactions {
		for i, r := range s.transactions[n].records {
			if s.ofErased(r) {
				do(n, &s.transactions[n].records[i])
			}
		}
	}
}

// full gives a record the text back that the founder's result has.
func (s *stage) full(r **kgo.Record) {
	var text []byte
	s.eachErased(func(_ int, first **kgo.Record) {
		if text == nil {
			text = textOfOne.Find((*first).Value)
		}
	})
	again := **r
	again.Value = []byte(strings.Replace(string(again.Value), `"title":""`, string(text), 1))
	*r = &again
}

// Text that was erased as it should be is found to be.
func TestErasureHolds(t *testing.T) {
	t.Parallel()
	s := newEraseStage(t)
	bare := 0
	s.eachErased(func(_ int, r **kgo.Record) {
		if !textOfOne.Match((*r).Value) {
			bare++
		}
	})
	if bare < 2 {
		t.Fatalf("%d records are without text", bare)
	}
	s.write()
	wantHeld(t, s.audit(Options{}))
}

// Each fault in what came of erasing is found.
func TestErasureFaultsAreFound(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		seed func(*stage)
		want string // what is said
	}{
		{"nothing is erased", func(s *stage) {
			s.eachErased(func(_ int, r **kgo.Record) { s.full(r) })
		}, "no text of articles/1/0, which labels/"},
		{"the text comes back", func(s *stage) {
			var last **kgo.Record
			s.eachErased(func(_ int, r **kgo.Record) { last = r })
			s.full(last)
		}, "representative"},
		{"text is gone that nobody has erased", func(s *stage) {
			for n := range s.transactions {
				for i, r := range s.transactions[n].records {
					if r.Topic == s.config.Output.ClustersTopic && !s.ofErased(r) {
						s.transactions[n].records[i] = textless(r)
					}
				}
			}
		}, "with another representative"},
		{"a dead letter of an erasure is lost", func(s *stage) {
			for i := 1; ; i++ {
				if r := s.letter(i); strings.Contains(string(r.Value), "erase") {
					s.drop(r)
					return
				}
			}
		}, "no text of articles/0/0"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := newEraseStage(t)
			test.seed(s)
			s.write()
			found := strings.Join(violations(s.audit(Options{Show: 5})), "\n")
			if !strings.Contains(found, test.want) {
				t.Errorf("found:\n%s\nwant %q", found, test.want)
			}
		})
	}
}
