package audit

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/clusterd/clusterd/internal/audit/wire"
	"github.com/clusterd/clusterd/internal/config"
)

// A cluster that only its label keeps beyond the window expires with it, though no article comes:
// its tombstone is in the transaction that takes the label off.
func TestTombstoneWithTheRemovalOfALabel(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name      string
		later     bool // there are articles in a later transaction
		compacted bool // checkpoints are not there any more
		removes   bool // somebody takes the label off
		violated  bool
	}{
		{"the last thing that happened", false, false, true, false},
		{"the last thing that happened, compacted", false, true, true, false},
		{"then articles come", true, false, true, false},
		{"then articles come, compacted", true, true, true, false},
		{"and its label records are deleted", true, false, true, false},
		{"its label is still there", false, false, false, true},
		{"its label is still there, and articles come", true, false, false, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, func(c *config.Config) {
				withLabels(c)
				withWindow(c)
				c.Labels.Keep = time.Hour
			})
			items := []item{
				{0, 0xff, 0, ""},
				{0, 0xff00, 2, ""},
				{0, 0xff0000, 2, ""},
				{0, 0xff000000, 2, ""},
				{0, 0xff00000000, 6, ""},
				{0, 0xff00000000, 6, ""},
				{0, 0xff00000000, 6, ""},
				{0, 0xff00000000, 6, ""},
			}
			removed := 2
			if test.later {
				// The first cluster record behind the tombstone is of the next position.
				items = append(items, item{0, 0xff00000000, 6, ""})
				for range 3 {
					items = append(items, item{0, 0xff0000000000, 6, ""})
				}
			}
			s.cluster(items, s.input(items))
			const kept = "articles/0/0"
			s.dropTombstones(kept)
			if test.later {
				s.transactions = slices.Insert(s.transactions, removed,
					transaction{committed: s.transactions[removed-1].committed})
			}
			labels := []labelling{{batch: 1, record: `{"cluster_id":"` + kept + `","label":"spam"}`}}
			if test.removes {
				labels = append(labels, labelling{
					batch: removed, record: `{"cluster_id":"` + kept + `","label":"spam","action":"remove"}`,
				})
			}
			s.label(labels)
			s.keepLabelled()
			at := &s.transactions[removed]
			at.records = slices.Insert(at.records, len(at.records)-1, newTombstone(s, kept))
			s.write()
			if test.compacted {
				s.compact()
			}
			found := s.audit(Options{Show: 1})
			if strings.Contains(test.name, "deleted") {
				s.deleteLabels(2)
				found = s.audit(Options{Show: 3})
				wantUnchecked(t, found, "the records of labels/0 below offset 2 have been deleted")
			} else if !test.violated {
				wantHeld(t, found)
			} else if got := firsts(found); len(got) != 1 || !strings.HasPrefix(got[0], "I4 clusters/0/") {
				t.Errorf("found %q, want the tombstone", got)
			}
		})
	}
}

// Where label records are deleted and the records of clusters are compacted away that say that a
// label kept them, nothing but a result says so: an article joined it after the window.
func TestJoinedAfterTheWindowByADeletedLabel(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name     string
		minute   int64 // at which an article joins the cluster
		gone     bool  // the cluster has expired, and compaction took its records and its tombstone
		violated bool
	}{
		{"the label is taken off", 6, false, false},
		{"the label is taken off, and the cluster expires", 6, true, false},
		{"after the label, too", 70, false, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, func(c *config.Config) {
				withLabels(c)
				withWindow(c)
				c.Labels.Keep = time.Hour
			})
			s.kept = map[wire.Address]int64{{}: 2 * time.Hour.Milliseconds()}
			items := []item{{0, 0xff, 0, ""}}
			for i := range 11 {
				items = append(items, item{0, 0xff00, max(1, test.minute-11+int64(i)), ""})
			}
			items[10] = item{0, 0xff, test.minute, ""}
			items[11] = item{0, 0xff, test.minute, ""}
			if test.gone {
				for range 4 {
					items = append(items, item{0, 0xff00, test.minute + 9, ""})
				}
			}
			s.cluster(items, s.input(items))
			const kept = "articles/0/0"
			s.label([]labelling{
				{batch: 1, record: `{"cluster_id":"` + kept + `","label":"spam"}`},
				{batch: 3, record: `{"cluster_id":"` + kept + `","label":"spam","action":"remove"}`},
			})
			if test.gone {
				for i := range s.transactions {
					t := &s.transactions[i]
					t.records = slices.DeleteFunc(t.records, func(r *kgo.Record) bool {
						return r.Topic == s.config.Output.ClustersTopic && string(r.Key) == kept
					})
				}
			}
			s.keepLabelled()
			s.write()
			s.deleteLabels(2)
			s.compact()
			found := s.audit(Options{Show: 3})
			if test.violated != (found.Violations() > 0) {
				t.Errorf("found:\n%s", strings.Join(violations(found), "\n"))
			}
			if !test.violated {
				wantUnchecked(t, found, "the records of labels/0 below offset 2 have been deleted")
			}
		})
	}
}

// dropTombstones takes all tombstones of a cluster away.
func (s *stage) dropTombstones(key string) {
	for i := range s.transactions {
		t := &s.transactions[i]
		t.records = slices.DeleteFunc(t.records, func(r *kgo.Record) bool {
			return r.Topic == s.config.Output.ClustersTopic && string(r.Key) == key && r.Value == nil
		})
	}
}

// keepLabelled has the records of clusters with labels say by how much these outlive others.
func (s *stage) keepLabelled() {
	beyond := s.config.Labels.Keep - s.config.Cluster.Window
	for _, t := range s.transactions {
		for _, r := range t.records {
			if r.Topic == s.config.Output.ClustersTopic && bytes.HasPrefix(r.Key, []byte("articles/")) {
				r.Value = bytes.Replace(r.Value, []byte(`"labels":[`),
					[]byte(`"kept_ms":`+strconv.FormatInt(beyond.Milliseconds(), 10)+`,"labels":[`), 1)
			}
		}
	}
}
