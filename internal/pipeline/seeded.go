package pipeline

import (
	"bytes"
	"slices"

	"github.com/clusterd/clusterd/internal/article"
	"github.com/clusterd/clusterd/internal/cluster"
	"github.com/clusterd/clusterd/internal/failpoint"
	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/sink"
	"github.com/clusterd/clusterd/internal/space"
)

// The faults that the fault tests seed, to see that the audit finds them. In a build without the
// tag failpoints nothing of this is left.

// seedInAssignments spoils what a batch says of its articles.
func seedInAssignments(all []space.Assignment) {
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

// seedInTransaction spoils a transaction.
func seedInTransaction(o *outputs, b *sink.Batch) {
	if failpoint.Seeded(failpoint.EarlyOffset) {
		for i := range b.Offsets {
			b.Offsets[i].Offset++
		}
	}
	seedInRecords(o, b.Records)
	at := slices.IndexFunc(b.Records, func(r kafka.Record) bool { return r.Topic == o.Topic })
	switch {
	case at < 0:
	case failpoint.Seeded(failpoint.Drop):
		b.Records = slices.Delete(b.Records, at, at+1)
	case failpoint.Seeded(failpoint.Duplicate):
		b.Records = append(b.Records, b.Records[at])
	}
}

// seedInRecords spoils a record of a transaction.
func seedInRecords(o *outputs, records []kafka.Record) {
	switch {
	case failpoint.Seeded(failpoint.ArticleID):
		seedInText(records, o.Topic, `"article_id":"`, "x")
	case failpoint.Seeded(failpoint.Title):
		seedInText(records, o.Topic, `,"title":"`, "x")
	case failpoint.Seeded(failpoint.Fingerprint):
		seedInText(records, o.Topic, `"fingerprint":"`, "0123456789abcdef")
	case failpoint.Seeded(failpoint.Distance):
		seedInText(records, o.Topic, `"joined","distance":`, "1")
	case failpoint.Seeded(failpoint.Sketch):
		seedInText(records, o.ClustersTopic, `"sketch":"`, "AAAA")
	case failpoint.Seeded(failpoint.EventTime):
		seedInHeader(records, o.Topic, article.HeaderEventTime, "1")
	case failpoint.Seeded(failpoint.LetterClass):
		seedInHeader(records, o.DeadLetterTopic, article.HeaderError, string(article.TooDeep))
	case failpoint.Seeded(failpoint.LetterBytes):
		seedIn(records, o.DeadLetterTopic, func(r *kafka.Record) bool {
			r.Value = append(slices.Clone(r.Value), '!')
			return true
		})
	case failpoint.Seeded(failpoint.Key):
		seedIn(records, o.Topic, func(r *kafka.Record) bool {
			r.Key = append(slices.Clone(r.Key), '1')
			return true
		})
	case failpoint.Seeded(failpoint.Partition):
		seedIn(records, o.Topic, func(r *kafka.Record) bool {
			r.Partition = (r.Partition + 1) % len(o.partitions[o.Topic])
			return true
		})
	}
}

// seedIn spoils the first record of a topic that can be.
func seedIn(records []kafka.Record, topic string, spoil func(*kafka.Record) bool) {
	for i := range records {
		if records[i].Topic == topic && spoil(&records[i]) {
			return
		}
	}
}

// seedInText writes bytes over those behind the first occurrence of a text, or before them where
// they are few.
func seedInText(records []kafka.Record, topic, behind, text string) {
	seedIn(records, topic, func(r *kafka.Record) bool {
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

func seedInHeader(records []kafka.Record, topic, name, value string) {
	seedIn(records, topic, func(r *kafka.Record) bool {
		at := slices.IndexFunc(r.Headers, func(h kafka.Header) bool { return h.Key == name })
		if at < 0 {
			return false
		}
		r.Headers = slices.Clone(r.Headers)
		r.Headers[at].Value = []byte(value)
		return true
	})
}

// seedOnDisk spoils what goes on disk of the clusters that were there before.
func seedOnDisk(b space.Batch) space.Batch {
	existed := func(c cluster.Cluster) bool { return b.Existed(&c) }
	switch {
	case failpoint.Seeded(failpoint.SkipDisk):
		b.Touched = slices.DeleteFunc(slices.Clone(b.Touched), existed)
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
