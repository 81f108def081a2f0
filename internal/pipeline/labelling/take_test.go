package labelling

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterd/clusterd/internal/consumer"
	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/message/checkpoint"
	"github.com/clusterd/clusterd/internal/message/label"
	"github.com/clusterd/clusterd/internal/space"
)

const spam = `{"cluster_id":"articles/0/0","label":"spam"}`

// labelRecord is a record of the topic of labels.
func labelRecord(partition int, offset int64, value string) kafka.Record {
	return kafka.Record{
		Topic: "labels", Partition: partition, Offset: offset, Value: []byte(value),
		Time: time.UnixMilli(1_700_000_000_000),
	}
}

// newWork returns the work of a space that has read no label yet. The input has 2 partitions.
func newWork(of ...int) *Work {
	return New(Options{
		Topic: "labels", Input: "articles", Partitions: 2, Space: of,
		Log: slog.New(slog.DiscardHandler),
	}, nil)
}

// add adds records, a chunk each.
func (w *Work) add(records ...kafka.Record) {
	for _, r := range records {
		w.Add(consumer.Chunk{Partition: r.Partition, Records: []kafka.Record{r}, Next: r.Next()})
	}
}

// commit commits a share, whose label records were applied by a batch.
func (w *Work) commit(s *Share, b space.Batch) {
	s.progress = w.Progress(s, &b)
	w.Committed(s)
}

var unreadable = kafka.Record{
	Topic: "labels", Value: []byte("a batch"),
	Unreadable: &kafka.Unreadable{Last: 4, Reason: "its checksum is wrong"},
}

// kinds are records at offset 0. Each has an outcome in three spaces: that of all partitions of the
// input, that of partition 0, and that of partition 1.
var kinds = []struct {
	name        string
	record      kafka.Record
	all, p0, p1 string
}{
	{"a label", labelRecord(0, 0, spam), "add spam", "add spam", "passed over"},
	{
		"of the other partition", labelRecord(0, 0, `{"cluster_id":"articles/1/0","label":"spam"}`),
		"add spam", "passed over", "add spam",
	},
	{
		"taken off", labelRecord(0, 0, `{"cluster_id":"articles/1/9","label":"x","action":"remove"}`),
		"remove x", "passed over", "remove x",
	},
	{
		"resume", labelRecord(0, 0, `{"label":"spam","action":"resume"}`),
		"resume spam", "resume spam", "resume spam",
	},
	{
		"of stories", labelRecord(0, 0,
			`{"story_id":"articles/1/0","other":"articles/1/4","action":"merge"}`),
		"merge ", "passed over", "merge ",
	},
	{
		"of a contact", labelRecord(0, 0,
			`{"target":"contact","contact":"mail:a@example.org","partition":1,"label":"spam"}`),
		"add spam", "passed over", "add spam",
	},
	{
		"an erased text", labelRecord(0, 0,
			`{"cluster_id":"articles/1/0","action":"erase","target":"article","source":"articles/1/0"}`),
		"erase ", "passed over", "erase ",
	},
	// Records that belong to no partition belong to partition 0.
	{
		"of another input", labelRecord(0, 0, `{"cluster_id":"other/1/0","label":"spam"}`),
		"add spam", "add spam", "passed over",
	},
	{
		"of no partition", labelRecord(0, 0, `{"cluster_id":"articles/2/0","label":"spam"}`),
		"add spam", "add spam", "passed over",
	},
	{
		"no value",
		kafka.Record{Topic: "labels"},
		"bad_label: the record has no value",
		"bad_label: the record has no value", "passed over",
	},
	{
		"no JSON", labelRecord(0, 0, "?"),
		"bad_label: no JSON object of a label: invalid character '?' looking for beginning of value",
		"bad_label: no JSON object of a label: invalid character '?' looking for beginning of value",
		"passed over",
	},
	{
		"no such action", labelRecord(0, 0, `{"cluster_id":"articles/1/0","label":"x","action":"shout"}`),
		`bad_label: action "shout": there are add, remove, resume, merge, unmerge, split and erase`,
		`bad_label: action "shout": there are add, remove, resume, merge, unmerge, split and erase`,
		"passed over",
	},
	{
		"too large",
		kafka.Record{Topic: "labels", Value: []byte(spam), Cut: 1},
		"bad_label: the value is larger than 16384 bytes",
		"bad_label: the value is larger than 16384 bytes", "passed over",
	},
	{
		"cannot be read", unreadable, "bad_batch: its checksum is wrong",
		"bad_batch: its checksum is wrong", "passed over",
	},
}

// A record is applied, or it is a dead letter with a class and a reason, or it belongs to another
// space. In each case the space has read it.
func TestKinds(t *testing.T) {
	t.Parallel()
	for _, kind := range kinds {
		spaces := []struct {
			name string
			of   []int
			want string
		}{
			{"all", nil, kind.all},
			{"partition 0", []int{0}, kind.p0},
			{"partition 1", []int{1}, kind.p1},
		}
		for _, in := range spaces {
			t.Run(kind.name+" in "+in.name, func(t *testing.T) {
				t.Parallel()
				w := newWork(in.of...)
				w.add(kind.record)
				s := w.Take(t.Context())
				got := "passed over"
				for _, r := range s.Records {
					got = fmt.Sprintf("%s %s", r.Action, r.Name)
				}
				for _, r := range s.Rejected(make([]space.Labelled, len(s.Records))) {
					got = r.Error()
				}
				if got != in.want {
					t.Errorf("%s, want %s", got, in.want)
				}
				if s.Empty() || s.Len() != 1 {
					t.Errorf("the share is empty: %v; it has %d records", s.Empty(), s.Len())
				}
				w.commit(&s, space.Batch{})
				want := map[int]int64{0: kind.record.Next()}
				if diff := cmp.Diff(want, w.Next()); diff != "" {
					t.Errorf("offsets: want (-), got (+):\n%s", diff)
				}
				if s := w.Take(t.Context()); !s.Empty() || w.Due() {
					t.Error("there is more to do")
				}
			})
		}
	}
}

// A label record that the space rejects is a dead letter of its class. The dead letters keep the
// order of the records.
func TestRejected(t *testing.T) {
	t.Parallel()
	w := newWork()
	w.add(labelRecord(0, 0, spam), labelRecord(0, 1, "?"), labelRecord(0, 2, spam),
		labelRecord(0, 3, spam), labelRecord(0, 4, spam), labelRecord(0, 5, spam),
		labelRecord(0, 6, spam), labelRecord(1, 0, "?"))
	s := w.Take(t.Context())
	became := make([]space.Labelled, len(s.Records))
	for i, class := range []article.Class{
		"", article.UnknownCluster, article.TooManyLabels, article.UnknownStory, article.UnknownContact,
	} {
		if class != "" {
			became[i].Rejection = &article.Rejection{Class: class, Reason: "because"}
		}
	}
	var got []string
	for _, r := range s.Rejected(became) {
		got = append(got, fmt.Sprintf("%d/%d %s", r.Partition, r.Offset, r.Class))
	}
	want := []string{
		"0/1 bad_label", "0/2 unknown_cluster", "0/3 too_many_labels", "0/4 unknown_story",
		"0/5 unknown_contact", "1/0 bad_label",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("want (-), got (+):\n%s", diff)
	}
}

// Cut leaves the records from the first label record on that was not applied.
func TestCut(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]int64{0: 1, 1: 3, 2: 5, 3: 5} {
		w := newWork()
		w.add(labelRecord(0, 0, "?"), labelRecord(0, 1, spam), labelRecord(0, 2, "?"),
			labelRecord(0, 3, spam), labelRecord(0, 4, "?"))
		s := w.Take(t.Context())
		s.Cut(n)
		w.commit(&s, space.Batch{})
		if got := w.Next()[0]; got != want {
			t.Errorf("with %d applied, read up to %d, want %d", n, got, want)
		}
	}
}

// A plain oracle: each record is applied once, in the order of its partition, whatever order the
// partitions come in, however few records a batch has room for, and though some transactions fail.
// After each commit the offsets are behind the records that were applied or passed over, and
// before all others.
func TestEachOnceInOrder(t *testing.T) {
	t.Parallel()
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 1))
		w, ends, want := newWork(0), make(map[int]int64), make(map[int][]string)
		applied, done := make(map[int][]string), make(map[int]int64)
		values := []string{spam, "?", `{"cluster_id":"articles/1/0","label":"spam"}`}
		for left := r.IntN(40); left > 0 || w.Due(); {
			for n := r.IntN(6); n > 0 && left > 0; n, left = n-1, left-1 {
				p, kind := r.IntN(3), r.IntN(3)
				record := labelRecord(p, ends[p], values[kind])
				if w.add(record); kind == 0 {
					want[p] = append(want[p], fmt.Sprintf("labels/%d/%d", p, record.Offset))
				}
				ends[p]++
			}
			s := w.Take(t.Context())
			if r.IntN(3) == 0 { // it fails
				continue
			}
			n := len(s.Records)
			if n > 0 {
				n = 1 + r.IntN(n)
			}
			s.Cut(n)
			for _, one := range s.Records[:n] {
				at, _ := article.ParseAddress(one.Record)
				p := at.Partition
				applied[p] = append(applied[p], one.Record)
			}
			for i := range s.taken {
				p := s.taken[i].Partition
				if s.taken[i].Offset != done[p] {
					t.Fatalf("seed %d: offset %d of partition %d, want %d", seed, s.taken[i].Offset, p, done[p])
				}
				done[p]++
			}
			w.commit(&s, space.Batch{})
			memory := 0
			for i := range w.waiting {
				memory += w.waiting[i].Memory()
			}
			if w.bytes != memory {
				t.Fatalf("seed %d: %d bytes wait, want %d", seed, w.bytes, memory)
			}
			if !maps.Equal(w.Next(), done) {
				t.Fatalf("seed %d: offsets %v, want %v", seed, w.Next(), done)
			}
		}
		if diff := cmp.Diff(want, applied); diff != "" {
			t.Fatalf("seed %d: want (-), applied (+):\n%s", seed, diff)
		}
		if !maps.Equal(ends, done) {
			t.Fatalf("seed %d: offsets %v at the end, want %v", seed, done, ends)
		}
	}
}

// A transaction applies 1,000 records. No more are read while 1,000 wait, or 4 MiB.
func TestLimits(t *testing.T) {
	t.Parallel()
	w := newWork()
	for offset := range int64(maxTaken + 1) {
		if w.Full() != (offset >= maxTaken) {
			t.Fatalf("full with %d records: %v", offset, w.Full())
		}
		w.add(labelRecord(0, offset, spam))
	}
	s := w.Take(t.Context())
	if s.Len() != maxTaken || s.Room != maxTaken {
		t.Errorf("%d records and room for %d, want %d", s.Len(), s.Room, maxTaken)
	}
	w.commit(&s, space.Batch{})
	if s = w.Take(t.Context()); s.Len() != 1 || w.Full() {
		t.Errorf("%d records are left, want 1; full: %v", s.Len(), w.Full())
	}

	large := newWork()
	value := spam + strings.Repeat(" ", maxWaiting/8)
	for n := range 8 {
		if large.Full() {
			t.Errorf("full with %d records of half a MiB", n)
		}
		large.add(labelRecord(0, int64(n), value))
	}
	if !large.Full() {
		t.Error("not full with 4 MiB")
	}
}

// Progress has the counts of the batch, and keeps the rest of the progress before.
func TestProgress(t *testing.T) {
	t.Parallel()
	before := checkpoint.Labels{
		Topic: "labels", Offsets: map[int]int64{0: 7, 1: 3}, Since: 11,
		Flood: map[string]label.FloodCount{"old": {}}, Due: []checkpoint.Due{{Contact: "before"}},
		Adopt: new(uint64(4)),
	}
	w := New(Options{Topic: "labels", Input: "articles", Partitions: 1}, &before)
	if !w.Due() {
		t.Error("contacts are due, and the work is not")
	}
	w.add(labelRecord(0, 7, spam))
	s := w.Take(t.Context())
	if s.Due[0].Contact != "before" || *s.Adopt != 4 {
		t.Errorf("due %v, adopt %d", s.Due, *s.Adopt)
	}
	b := space.Batch{
		Flood: space.Flood{Counts: map[string]label.FloodCount{"new": {}}},
		Due:   []checkpoint.Due{{Contact: "after"}}, Adopt: new(uint64(5)),
	}
	want := &checkpoint.Labels{
		Topic: "labels", Offsets: map[int]int64{0: 8, 1: 3}, Since: 11, Flood: b.Flood.Counts,
		Due: b.Due, Adopt: b.Adopt,
	}
	if diff := cmp.Diff(want, w.Progress(&s, &b)); diff != "" {
		t.Errorf("want (-), got (+):\n%s", diff)
	}
	if before.Offsets[0] != 7 || w.Next()[0] != 7 {
		t.Errorf("offsets %v and %v before the commit, want 7", before.Offsets, w.Next())
	}
}

// Labels of another topic are read from the beginning. Pending corrections of the old topic stay.
func TestAnotherTopic(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	w := New(Options{Topic: "new", Corrections: true, Log: slog.New(slog.NewTextHandler(&log, nil))},
		&checkpoint.Labels{
			Topic: "old", Offsets: map[int]int64{0: 7}, Corrections: make([]checkpoint.Correction, 2),
		})
	if len(w.Next()) > 0 || w.Pending() != 2 || !strings.Contains(log.String(), "was=old is=new") {
		t.Errorf("offsets %v, %d pending, log %s", w.Next(), w.Pending(), log.String())
	}
}

// manyMembers has the same number of articles, n, for every cluster.
type manyMembers struct {
	n       uint64
	unknown *int // in that number of answers from now, results are missing
	err     *error
}

func (m manyMembers) Before(
	_ context.Context, _ string, from, before uint64, limit int,
) (found []article.Member, complete bool, err error) {
	for at := from; at < min(m.n, before) && len(found) < limit; at++ {
		found = append(found, article.Member{Position: at})
	}
	if *m.unknown--; *m.unknown >= 0 || *m.err != nil {
		return nil, false, *m.err
	}
	return found, true, nil
}

// pendingChange is a change of a cluster by the label record at an offset, at a position.
func pendingChange(cluster string, position uint64) checkpoint.Correction {
	return checkpoint.Correction{LabelChange: article.LabelChange{
		ClusterID: cluster, Position: position, Labels: []string{"spam"},
	}}
}

// A transaction writes 1,000 corrections. The next goes on behind them. Corrections wait while
// members are not known, and the log says once that they cannot be read, and that they can again.
func TestCorrections(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	var unknown int
	var failed error
	w := New(Options{
		Topic: "labels", Corrections: true, Members: manyMembers{2500, &unknown, &failed},
		Log: slog.New(slog.NewTextHandler(&log, nil)),
	}, &checkpoint.Labels{Topic: "labels", Corrections: []checkpoint.Correction{
		pendingChange("articles/0/0", 1500), pendingChange("articles/0/0", 1600),
		pendingChange("articles/0/1", 10),
	}})
	steps := []struct {
		unknown int
		err     error
		want    string
	}{
		{unknown: 9, want: "0 corrections, 3 pending, empty"},
		{err: errors.New("gone"), want: "0 corrections, 3 pending, empty"},
		{err: errors.New("gone"), want: "0 corrections, 3 pending, empty"},
		// The second change of a cluster waits for the first one. A change of another cluster does not.
		{unknown: 1, want: "10 corrections, 2 pending: 0 to 9"},
		{want: "1000 corrections, 2 pending: 0 to 999"},
		{want: "1000 corrections, 1 pending: 1000 to 499"},
		{want: "1000 corrections, 1 pending: 500 to 1499"},
		{want: "100 corrections, 0 pending: 1500 to 1599"},
		{want: "0 corrections, 0 pending, empty"},
	}
	for n, step := range steps {
		unknown, failed = step.unknown, step.err
		s := w.Take(t.Context())
		count := len(s.Corrections)
		got := fmt.Sprintf("%d corrections, %d pending", count, len(s.progress.Corrections))
		if s.Empty() {
			got += ", empty"
		}
		if count > 0 {
			got += fmt.Sprintf(": %d to %d", s.Corrections[0].MemberPosition,
				s.Corrections[count-1].MemberPosition)
		}
		if got != step.want {
			t.Errorf("step %d: %s, want %s", n, got, step.want)
		}
		w.commit(&s, space.Batch{})
	}
	for _, want := range []string{"cannot be read", "can be read again"} {
		if n := strings.Count(log.String(), want); n != 1 {
			t.Errorf("the log says %d times that members %s, want once", n, want)
		}
	}
}

// A correction of a single article waits, too, if a transaction has 1,000 already.
func TestFullOfCorrections(t *testing.T) {
	t.Parallel()
	unknown, failed := 0, error(nil)
	ofArticle := pendingChange("articles/0/1", 7)
	ofArticle.Article = &article.Member{Position: 3}
	w := New(Options{
		Topic: "labels", Corrections: true, Members: manyMembers{2500, &unknown, &failed},
	}, &checkpoint.Labels{Topic: "labels", Corrections: []checkpoint.Correction{
		pendingChange("articles/0/0", maxTold), ofArticle,
	}})
	for _, want := range []int{maxTold, 1, 0} {
		s := w.Take(t.Context())
		if len(s.Corrections) != want {
			t.Errorf("%d corrections, want %d", len(s.Corrections), want)
		}
		w.commit(&s, space.Batch{})
	}
}

// There is something to do if records wait, or if a checkpoint has left something.
func TestDue(t *testing.T) {
	t.Parallel()
	pending := []checkpoint.Correction{pendingChange("articles/0/0", 9)}
	for _, test := range []struct {
		name        string
		left        checkpoint.Labels
		corrections bool
		want        bool
	}{
		{"nothing", checkpoint.Labels{}, true, false},
		{"contacts", checkpoint.Labels{Due: []checkpoint.Due{{Contact: "c"}}}, false, true},
		{"labels of an earlier version", checkpoint.Labels{Adopt: new(uint64)}, false, true},
		{"corrections", checkpoint.Labels{Corrections: pending}, true, true},
		{"corrections, which are off now", checkpoint.Labels{Corrections: pending}, false, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := New(Options{Corrections: test.corrections}, &test.left)
			if w.Due() != test.want {
				t.Errorf("due: %v, want %v", w.Due(), test.want)
			}
			if w.add(labelRecord(0, 0, spam)); !w.Due() {
				t.Error("a record waits, and nothing is due")
			}
		})
	}
}

// A contact stays in pending corrections if a record only labels it.
func TestLabelledContactIsTold(t *testing.T) {
	t.Parallel()
	const contact = "mail:a@example.org"
	pending := pendingChange("articles/0/0", 9)
	pending.Contact = contact
	w := New(Options{}, nil)
	s := Share{progress: &checkpoint.Labels{Corrections: []checkpoint.Correction{pending}}}
	b := space.Batch{Labelled: []space.Labelled{{LabelRecord: article.LabelRecord{
		Action: article.AddLabel, Label: article.Label{Record: "labels/0/17"},
		Targeted: article.Targeted{Target: article.TargetContact, Contact: contact},
	}}}}
	if got := w.Progress(&s, &b).Corrections[0].Contact; got != contact {
		t.Errorf("contact %s, want %s", got, contact)
	}
}

// With as many corrections pending as a checkpoint can have, no label record is applied.
func TestRoom(t *testing.T) {
	t.Parallel()
	for pending, room := range map[int]int{0: 100, 99: 1, 100: 0} {
		unknown, failed := 1<<30, error(nil)
		w := New(Options{
			Topic: "labels", Corrections: true, Members: manyMembers{1, &unknown, &failed},
			Log: slog.New(slog.DiscardHandler),
		}, &checkpoint.Labels{
			Topic:       "labels",
			Corrections: slices.Repeat([]checkpoint.Correction{pendingChange("articles/0/0", 9)}, pending),
			Due:         []checkpoint.Due{{Contact: "c"}},
		})
		w.add(labelRecord(0, 0, spam))
		s := w.Take(t.Context())
		if s.Room != room || (s.Len() == 0) != (room == 0) || s.Empty() != (room == 0) {
			t.Errorf("%d pending: room for %d, %d records, empty %v", pending, s.Room, s.Len(), s.Empty())
		}
	}
}

// An alarm that is set keeps its time.
func TestAlarm(t *testing.T) {
	t.Parallel()
	a := NewAlarm()
	a.In(0)
	a.In(time.Hour)
	select {
	case <-a.C:
	case <-time.After(10 * time.Second):
		t.Fatal("it does not ring")
	}
	a.In(time.Hour) // Rang was not called yet
	if a.Stop() {
		t.Error("it is set again before Rang was called")
	}
	a.Rang()
	a.In(time.Hour)
	if !a.Stop() {
		t.Error("it is not set")
	}
}
