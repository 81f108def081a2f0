package pipeline

import (
	"bytes"
	"slices"

	"github.com/clusterd/clusterd/internal/article"
	"github.com/clusterd/clusterd/internal/failpoint"
	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/sink"
	"github.com/clusterd/clusterd/internal/state"
)

// The bugs that the fault tests plant, to see that the audit finds them. In a build without the tag
// failpoints nothing of this is left.

// plantInResults spoils what a batch says of its articles.
func plantInResults(c *changes) {
	if !failpoint.Planted(failpoint.Swap) {
		return
	}
	for i := range c.outcomes {
		for j := range i {
			x, y := &c.outcomes[i].result, &c.outcomes[j].result
			if x.ClusterID != nil && y.ClusterID != nil && *x.ClusterID != *y.ClusterID {
				x.ClusterID, y.ClusterID = y.ClusterID, x.ClusterID
				return
			}
		}
	}
}

// plantInTopics spoils a transaction.
func plantInTopics(o *outputs, b *sink.Batch) {
	if failpoint.Planted(failpoint.EarlyOffset) {
		for i := range b.Offsets {
			b.Offsets[i].Offset++
		}
	}
	plantInRecords(o, b.Records)
	at := slices.IndexFunc(b.Records, func(r kafka.Record) bool { return r.Topic == o.Topic })
	switch {
	case at < 0:
	case failpoint.Planted(failpoint.Drop):
		b.Records = slices.Delete(b.Records, at, at+1)
	case failpoint.Planted(failpoint.Duplicate):
		b.Records = append(b.Records, b.Records[at])
	}
}

// plantInRecords spoils a record of a transaction.
func plantInRecords(o *outputs, records []kafka.Record) {
	switch {
	case failpoint.Planted(failpoint.ArticleID):
		plantInText(records, o.Topic, `"article_id":"`, "x")
	case failpoint.Planted(failpoint.Title):
		plantInText(records, o.Topic, `,"title":"`, "x")
	case failpoint.Planted(failpoint.Fingerprint):
		plantInText(records, o.Topic, `"fingerprint":"`, "0123456789abcdef")
	case failpoint.Planted(failpoint.Distance):
		plantInText(records, o.Topic, `"joined","distance":`, "1")
	case failpoint.Planted(failpoint.Sketch):
		plantInText(records, o.ClustersTopic, `"sketch":"`, "AAAA")
	case failpoint.Planted(failpoint.EventTime):
		plantInHeader(records, o.Topic, article.HeaderEventTime, "1")
	case failpoint.Planted(failpoint.LetterClass):
		plantInHeader(records, o.DeadLetterTopic, article.HeaderError, string(article.TooDeep))
	case failpoint.Planted(failpoint.LetterBytes):
		plantIn(records, o.DeadLetterTopic, func(r *kafka.Record) bool {
			r.Value = append(slices.Clone(r.Value), '!')
			return true
		})
	case failpoint.Planted(failpoint.Key):
		plantIn(records, o.Topic, func(r *kafka.Record) bool {
			r.Key = append(slices.Clone(r.Key), '1')
			return true
		})
	case failpoint.Planted(failpoint.Partition):
		plantIn(records, o.Topic, func(r *kafka.Record) bool {
			r.Partition = (r.Partition + 1) % len(o.partitions[o.Topic])
			return true
		})
	}
}

// plantIn spoils the first record of a topic that can be.
func plantIn(records []kafka.Record, topic string, spoil func(*kafka.Record) bool) {
	for i := range records {
		if records[i].Topic == topic && spoil(&records[i]) {
			return
		}
	}
}

// plantInText writes bytes over those behind the first occurrence of a text, or before them where they are few.
func plantInText(records []kafka.Record, topic, behind, text string) {
	plantIn(records, topic, func(r *kafka.Record) bool {
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

func plantInHeader(records []kafka.Record, topic, name, value string) {
	plantIn(records, topic, func(r *kafka.Record) bool {
		at := slices.IndexFunc(r.Headers, func(h kafka.Header) bool { return h.Key == name })
		if at < 0 {
			return false
		}
		r.Headers = slices.Clone(r.Headers)
		r.Headers[at].Value = []byte(value)
		return true
	})
}

// plantOnDisk spoils what goes on disk of the clusters that were there before.
func plantOnDisk(c changes) changes {
	old := func(t state.Cluster) bool { return t.Seq < c.before.Next }
	switch {
	case failpoint.Planted(failpoint.SkipDisk):
		c.touched = slices.DeleteFunc(slices.Clone(c.touched), old)
	case failpoint.Planted(failpoint.StaleDisk):
		c.touched = slices.Clone(c.touched)
		for i := range c.touched {
			if old(c.touched[i]) && c.touched[i].Size > 2 { // or no clusterd could have made it
				c.touched[i].Size--
			}
		}
	}
	return c
}
