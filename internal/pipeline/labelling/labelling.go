// Package labelling says what a transaction does about labels. Records of the topic of labels go
// in, and the members of clusters; out comes which label records the next transaction applies, who
// is told of those before it, and how far the space is with both when it is committed. What was not
// committed is taken again.
package labelling

import (
	"cmp"
	"context"
	"log/slog"
	"maps"
	"slices"

	"github.com/clusterd/clusterd/internal/consumer"
	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/message/checkpoint"
	"github.com/clusterd/clusterd/internal/message/cluster"
	"github.com/clusterd/clusterd/internal/space"
)

const (
	// maxTaken is how many label records a transaction applies, and maxTold how many corrections it
	// writes, so that articles need not wait for many.
	maxTaken = 1000
	maxTold  = 1000
	// maxWaiting is how many bytes of label records may wait before no more are read.
	maxWaiting = 4 << 20
)

// Options say which labels belong to a space, and what becomes of them.
type Options struct {
	Topic       string // of labels
	Input       string // topic of the founders
	Partitions  int    // of the input
	Space       []int  // the partitions of the input that are the space; nil for all
	Corrections bool   // are written
	Members     Members
	Log         *slog.Logger
}

// Members are those of clusters, as the results say.
type Members interface {
	// Before returns the members of a cluster at positions from from on, below before, in order, at
	// most limit. It must not wait: complete is false, and nothing is returned, while not all results
	// are known that were committed when it was called.
	Before(ctx context.Context, clusterID string, from, before uint64, limit int) (
		found []article.Member, complete bool, err error)
}

// Work is what there is to do about the labels of a space, from what is committed on. It is for one
// goroutine.
type Work struct {
	Options
	progress *checkpoint.Labels // that is committed; never nil
	waiting  []waiting
	bytes    int
	failing  bool // members could not be asked
}

// waiting is a record of the topic of labels that was not taken.
type waiting struct {
	kafka.Record
	label     article.LabelRecord
	rejection *article.Rejection // nil for a label record
}

// New returns the work of a space that is as far as its checkpoint says; committed is nil before
// the first label. Labels of another topic than before are read from the beginning.
func New(o Options, committed *checkpoint.Labels) *Work {
	w := &Work{Options: o, progress: &checkpoint.Labels{Topic: o.Topic}}
	if committed != nil {
		w.progress.Flood, w.progress.Corrections = committed.Flood, committed.Corrections
		w.progress.Due, w.progress.Adopt = committed.Due, committed.Adopt
		w.progress.Since = committed.Since
		if committed.Topic == o.Topic {
			w.progress.Offsets = committed.Offsets
		} else if committed.Topic != "" {
			o.Log.Warn("labels.topic has changed: it is read from its beginning, and what comes into the "+
				"topic of before is not applied any more. If that was not meant, stop and set it back",
				"was", committed.Topic, "is", o.Topic)
		}
	}
	w.progress.Offsets = maps.Clone(w.progress.Offsets)
	if w.progress.Offsets == nil {
		w.progress.Offsets = make(map[int]int64)
	}
	return w
}

// Next returns, by partition of the topic, the first record that was not read, where any was.
func (w *Work) Next() map[int]int64 { return maps.Clone(w.progress.Offsets) }

// Full reports whether enough is waiting.
func (w *Work) Full() bool { return len(w.waiting) >= maxTaken || w.bytes >= maxWaiting }

// Add takes over a chunk of the topic.
func (w *Work) Add(chunk consumer.Chunk) {
	for _, r := range chunk.Records {
		one := w.parse(r)
		w.waiting = append(w.waiting, one)
		w.bytes += one.Memory()
	}
}

// parse reads a record. One of another space is of no action, and is passed over.
func (w *Work) parse(r kafka.Record) waiting {
	at := article.Address{Topic: r.Topic, Partition: r.Partition, Offset: r.Offset}
	one := waiting{Record: r}
	switch {
	case r.Unreadable != nil:
		one.rejection = &article.Rejection{Class: article.BadBatch, Reason: r.Unreadable.Reason}
	case r.Cut > 0:
		// The length alone says so, whatever is left.
		_, one.rejection = article.ParseLabelRecord(
			make([]byte, article.MaxLabelRecordBytes+1), r.Time, at)
	default:
		one.label, one.rejection = article.ParseLabelRecord(r.Value, r.Time, at)
	}
	if !w.owns(&one) {
		return waiting{Record: kafka.Record{
			Topic: r.Topic, Partition: r.Partition, Offset: r.Offset, Unreadable: r.Unreadable,
		}}
	}
	return one
}

// owns reports whether a record is this space's. Those that belong to no partition of the input are
// that of partition 0.
func (w *Work) owns(one *waiting) bool {
	if w.Space == nil || one.rejection == nil && one.label.Action == article.ResumeLabel {
		return true
	}
	founder, partition := one.label.Cluster, 0
	if one.rejection == nil && one.label.Target == article.TargetContact {
		founder = article.Address{Topic: w.Input, Partition: one.label.Partition}
	}
	if one.rejection == nil && founder.Topic == w.Input && founder.Partition < w.Partitions {
		partition = founder.Partition
	}
	return slices.Contains(w.Space, partition)
}

// Due reports whether a transaction would have something to do about labels. It may find out that
// it has nothing, where members are not known yet.
func (w *Work) Due() bool {
	p := w.progress
	return len(w.waiting) > 0 || len(p.Due) > 0 || p.Adopt != nil ||
		w.Corrections && len(p.Corrections) > 0
}

// Pending returns of how many changes not all members are told.
func (w *Work) Pending() int { return len(w.progress.Corrections) }

// Committed says that the transaction of a share was committed.
func (w *Work) Committed(s *Share) {
	for i := range s.taken {
		w.bytes -= s.taken[i].Memory()
	}
	w.waiting = w.waiting[len(s.taken):]
	if len(w.waiting) == 0 {
		w.waiting, w.bytes = nil, 0
	}
	w.progress = s.progress
}

// A Share is what one transaction does about labels; the zero value is nothing.
type Share struct {
	space.LabelWork
	Corrections []article.Correction // to write

	taken    []waiting
	progress *checkpoint.Labels
	moved    bool // a cursor
}

// Take returns what the next transaction does, until that is committed.
func (w *Work) Take(ctx context.Context) Share {
	s := Share{progress: &checkpoint.Labels{
		Topic: w.Topic, Offsets: maps.Clone(w.progress.Offsets), Flood: w.progress.Flood,
		Since: w.progress.Since,
	}}
	w.tell(ctx, &s)
	s.Due, s.Adopt, s.Room = w.progress.Due, w.progress.Adopt, maxTaken
	if w.Corrections {
		// Each change may need corrections.
		s.Room = checkpoint.MaxCorrections - len(s.progress.Corrections)
	}
	s.taken = w.waiting[:min(maxTaken, len(w.waiting))]
	if s.Room <= 0 {
		s.taken = nil
	}
	// It is chance which partition was read first. Sorted, records are in an order that the offsets
	// in the checkpoints tell.
	slices.SortStableFunc(s.taken,
		func(a, b waiting) int { return cmp.Compare(a.Partition, b.Partition) })
	for i := range s.taken {
		if one := &s.taken[i]; one.applies() {
			s.Records = append(s.Records, one.label)
		}
	}
	return s
}

// applies reports whether a record is a label record of this space.
func (one *waiting) applies() bool { return one.rejection == nil && one.label.Action != "" }

// Cut leaves the records of the share that come behind the first n that were applied.
func (s *Share) Cut(n int) {
	for i := range s.taken {
		if !s.taken[i].applies() {
			continue
		}
		if n == 0 {
			s.taken = s.taken[:i]
			return
		}
		n--
	}
}

// Empty reports whether the share is nothing.
func (s *Share) Empty() bool {
	return len(s.taken) == 0 && !s.moved && (len(s.Due) == 0 && s.Adopt == nil || s.Room <= 0)
}

// Len returns how many records of the topic of labels the share has, with those that are passed
// over.
func (s *Share) Len() int { return len(s.taken) }

// Progress returns how far the space is once the share, which is cut, and the batch that it went
// into are committed.
func (w *Work) Progress(s *Share, b *space.Batch) *checkpoint.Labels {
	for i := range s.taken {
		s.progress.Offsets[s.taken[i].Partition] = s.taken[i].Record.Next()
	}
	s.progress.Flood, s.progress.Due, s.progress.Adopt = b.Flood.Counts, b.Due, b.Adopt
	for _, c := range b.Changes() {
		if w.Corrections {
			s.progress.Corrections = append(s.progress.Corrections, c)
		}
	}
	for i := range b.Labelled {
		if l := &b.Labelled[i]; l.Action == article.Erase && l.Target == article.TargetContact {
			s.progress.Corrections = erase(s.progress.Corrections, l.Targeted.Contact, l.Record)
		}
	}
	return s.progress
}

// erase takes a contact, which a record erases, out of pending corrections.
func erase(pending []checkpoint.Correction, contact, record string) []checkpoint.Correction {
	pending = slices.Clone(pending)
	for i := range pending {
		if pending[i].Contact == contact {
			pending[i].Contact = cluster.Erased(record)
		}
	}
	return pending
}

// A Rejected is a record of the topic of labels that was not applied, and why.
type Rejected struct {
	kafka.Record
	*article.Rejection
}

// Rejected returns the records of the share that were not applied, given what became of its label
// records, in order.
func (s *Share) Rejected(became []space.Labelled) (all []Rejected) {
	for i := range s.taken {
		one := &s.taken[i]
		rejection := one.rejection
		if one.applies() {
			rejection, became = became[0].Rejection, became[1:]
		}
		if rejection != nil {
			all = append(all, Rejected{one.Record, rejection})
		}
	}
	return all
}
