// Package seeded has the faults that the fault tests seed in what a batch says, to see that the
// audit finds them. In a build without the tag failpoints nothing of this is left.
package seeded

import (
	"bytes"
	"maps"
	"slices"
	"strconv"
	"sync"

	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/failpoint"
	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/message/checkpoint"
	"github.com/clusterd/clusterd/internal/message/cluster"
	"github.com/clusterd/clusterd/internal/sink"
	"github.com/clusterd/clusterd/internal/space"
)

// Assignments spoils what a batch says of its articles.
func Assignments(b *space.Batch) {
	all := b.Assignments
	inLabels(b)
	inMarks(b)
	if at := slices.IndexFunc(all, func(a space.Assignment) bool {
		return a.Signals.Number > 0 && a.Signals.Number < article.MaxPublishers
	}); at >= 0 && failpoint.Seeded(failpoint.Publisher) {
		all[at].Signals.Number++
	}
	if at := slices.IndexFunc(all, func(a space.Assignment) bool {
		return a.StorySimilarity > 0 && a.Story != a.ClusterID
	}); at >= 0 && failpoint.Seeded(failpoint.StoryOwn) {
		all[at].Story = all[at].ClusterID
	}
	if !failpoint.Seeded(failpoint.Swap) {
		return
	}
	for i := range all {
		for j := range i {
			x, y := &all[i], &all[j]
			if x.ClusterID != "" && y.ClusterID != "" && x.ClusterID != y.ClusterID {
				x.ClusterID, y.ClusterID = y.ClusterID, x.ClusterID
				return
			}
		}
	}
}

// inLabels spoils what a batch says of labels.
func inLabels(b *space.Batch) {
	late := failpoint.Seeded(failpoint.LabelLate) && len(b.Labelled) > 0
	for i := range b.Assignments {
		if a := &b.Assignments[i]; a.Carried != nil && (late || failpoint.Seeded(failpoint.LabelLost)) {
			a.Carried = nil
			if !late {
				return
			}
		}
	}
}

// inMarks spoils what a batch says of marks and exceptions.
func inMarks(b *space.Batch) {
	if failpoint.Seeded(failpoint.MarkLost) {
		for i := range b.Assignments {
			if a := &b.Assignments[i]; a.Status == article.New && a.Carried != nil {
				a.Carried = nil
			}
		}
	}
	if failpoint.Seeded(failpoint.ContactKept) {
		keepContacts(b)
	}
	if failpoint.Seeded(failpoint.ExceptionLost) {
		for i := range b.Touched {
			b.Touched[i].Exceptions = ""
		}
	}
	if !failpoint.Seeded(failpoint.MarkUnused) {
		return
	}
	for i := range b.Contacts {
		c := &b.Contacts[i]
		c.Marks = slices.Clone(c.Marks)
		for j := range c.Marks {
			c.Marks[j].Used = 0
		}
	}
}

// keepContacts has clusters keep the contacts that the batch erases.
func keepContacts(b *space.Batch) {
	for i := range b.Labelled {
		l := &b.Labelled[i]
		if l.Action != article.Erase || l.Target != article.TargetContact {
			continue
		}
		for j := range b.Touched {
			b.Touched[j].EraseContact(cluster.Erased(l.Record), l.Targeted.Contact)
		}
	}
}

// Progress spoils what a transaction says of how far labels were read.
func Progress(p *checkpoint.Labels) *checkpoint.Labels {
	if p == nil || !failpoint.Seeded(failpoint.LabelAgain) {
		return p
	}
	behind := *p
	behind.Offsets = maps.Clone(p.Offsets)
	for partition, offset := range p.Offsets {
		behind.Offsets[partition] = max(0, offset-1)
	}
	return &behind
}

// Corrections spoils the corrections of a transaction, which are of this topic.
func Corrections(topic string, b *sink.Batch) {
	at := slices.IndexFunc(b.Records, func(r kafka.Record) bool { return r.Topic == topic })
	switch {
	case at < 0:
	case failpoint.Seeded(failpoint.CorrectionLost):
		b.Records = slices.Delete(b.Records, at, at+1)
	case failpoint.Seeded(failpoint.CorrectionTwice):
		b.Records = append(b.Records, b.Records[at])
	}
}

// Stories spoils the stories of a transaction, which are told of in this topic.
func Stories(topic string, b *sink.Batch) {
	if failpoint.Seeded(failpoint.StoryUntold) {
		// The last story is the youngest. The first one would soon be told of again.
		for at, r := range slices.Backward(b.Records) {
			if r.Topic == topic && r.Value != nil {
				b.Records = slices.Delete(b.Records, at, at+1)
				break
			}
		}
	}
	if failpoint.Seeded(failpoint.StoryState) {
		inState(b, func(s *cluster.Story) bool {
			s.Articles--
			return s.Articles > 1
		})
	}
	if failpoint.Seeded(failpoint.StoryLeft) {
		inState(b, func(s *cluster.Story) bool {
			if s.LeftFrom != "" {
				left.Store(s.LeftFrom, s.Articles)
			}
			return false
		})
		inState(b, func(s *cluster.Story) bool {
			articles, ok := left.Load(s.Address)
			if ok {
				s.Articles += articles.(int)
			}
			return ok
		})
	}
}

// left has, by story, the articles of one that was taken out of it, which it keeps from then on: a
// fault in a single record would be gone with the next one of the story.
var left sync.Map

// inState spoils the states of stories that can be.
func inState(b *sink.Batch, spoil func(*cluster.Story) bool) {
	for i := range b.Records {
		r := &b.Records[i]
		position, err := strconv.ParseUint(string(headerOf(r, article.HeaderPosition)), 10, 64)
		if err != nil || !cluster.IsStory(r.Key) {
			continue
		}
		if s, err := cluster.ParseStory(r.Key, r.Value, position); err == nil && spoil(&s) {
			r.Value = s.AppendJSON(nil)
		}
	}
}

func headerOf(r *kafka.Record, name string) []byte {
	for _, h := range r.Headers {
		if h.Key == name {
			return h.Value
		}
	}
	return nil
}

// Fingerprinted spoils the fingerprinted articles of a transaction, which go to this topic.
func Fingerprinted(topic string, b *sink.Batch) {
	at := slices.IndexFunc(b.Records, func(r kafka.Record) bool { return r.Topic == topic })
	switch {
	case at < 0:
	case failpoint.Seeded(failpoint.FingerprintLost):
		b.Records = slices.Delete(b.Records, at, at+1)
	case failpoint.Seeded(failpoint.FingerprintTwice):
		b.Records = append(b.Records, b.Records[at])
	}
}

// Transaction spoils a transaction, whose results go to so many partitions.
func Transaction(o *config.Output, partitions int, b *sink.Batch) {
	if failpoint.Seeded(failpoint.EarlyOffset) {
		for i := range b.Offsets {
			b.Offsets[i].Offset++
		}
	}
	inRecords(o, partitions, b.Records)
	at := slices.IndexFunc(b.Records, func(r kafka.Record) bool { return r.Topic == o.Topic })
	switch {
	case at < 0:
	case failpoint.Seeded(failpoint.Drop):
		b.Records = slices.Delete(b.Records, at, at+1)
	case failpoint.Seeded(failpoint.Duplicate):
		b.Records = append(b.Records, b.Records[at])
	}
}

// inRecords spoils a record of a transaction.
func inRecords(o *config.Output, partitions int, records []kafka.Record) {
	switch {
	case failpoint.Seeded(failpoint.ArticleID):
		inText(records, o.Topic, `"article_id":"`, "x")
	case failpoint.Seeded(failpoint.Title):
		inText(records, o.Topic, `,"title":"`, "x")
	case failpoint.Seeded(failpoint.Fingerprint):
		inText(records, o.Topic, `"fingerprint":"`, "0123456789abcdef")
	case failpoint.Seeded(failpoint.Distance):
		inText(records, o.Topic, `"joined","distance":`, "1")
	case failpoint.Seeded(failpoint.Sketch):
		inText(records, o.ClustersTopic, `"sketch":"`, "AAAA")
	case failpoint.Seeded(failpoint.EventTime):
		inHeader(records, o.Topic, article.HeaderEventTime, "1")
	case failpoint.Seeded(failpoint.LetterClass):
		inHeader(records, o.DeadLetterTopic, article.HeaderError, string(article.TooDeep))
	case failpoint.Seeded(failpoint.LetterBytes):
		in(records, o.DeadLetterTopic, func(r *kafka.Record) bool {
			r.Value = append(slices.Clone(r.Value), '!')
			return true
		})
	case failpoint.Seeded(failpoint.Key):
		in(records, o.Topic, func(r *kafka.Record) bool {
			r.Key = append(slices.Clone(r.Key), '1')
			return true
		})
	case failpoint.Seeded(failpoint.Partition):
		in(records, o.Topic, func(r *kafka.Record) bool {
			r.Partition = (r.Partition + 1) % partitions
			return true
		})
	}
}

// in spoils the first record of a topic that can be.
func in(records []kafka.Record, topic string, spoil func(*kafka.Record) bool) {
	for i := range records {
		if records[i].Topic == topic && spoil(&records[i]) {
			return
		}
	}
}

// inText writes bytes over those behind the first occurrence of a text, or before them where
// they are few.
func inText(records []kafka.Record, topic, behind, text string) {
	in(records, topic, func(r *kafka.Record) bool {
		at := bytes.Index(r.Value, []byte(behind))
		if at < 0 {
			return false
		}
		at += len(behind)
		over := at
		if len(text) > 1 {
			over += len(text)
		}
		r.Value = slices.Concat(r.Value[:at], []byte(text), r.Value[over:])
		return true
	})
}

func inHeader(records []kafka.Record, topic, name, value string) {
	in(records, topic, func(r *kafka.Record) bool {
		at := slices.IndexFunc(r.Headers, func(h kafka.Header) bool { return h.Key == name })
		if at < 0 {
			return false
		}
		r.Headers = slices.Clone(r.Headers)
		r.Headers[at].Value = []byte(value)
		return true
	})
}

// OnDisk spoils what goes on disk of the clusters that were there before.
func OnDisk(b space.Batch) space.Batch {
	existed := func(c cluster.Cluster) bool { return b.Existed(&c) }
	switch {
	case failpoint.Seeded(failpoint.SkipDisk):
		b.Touched = slices.DeleteFunc(slices.Clone(b.Touched), existed)
	case failpoint.Seeded(failpoint.StoryDisk):
		b.Stories = nil
	case failpoint.Seeded(failpoint.StaleDisk):
		b.Touched = slices.Clone(b.Touched)
		for i := range b.Touched {
			if existed(b.Touched[i]) && b.Touched[i].Size > 2 { // or no clusterd could have made it
				b.Touched[i].Size--
			}
		}
	}
	return b
}
