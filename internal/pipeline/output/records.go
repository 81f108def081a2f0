// Package output makes records of what became of a batch: results, clusters, dead letters,
// corrections, the checkpoint. It sends nothing.
package output

import (
	"context"
	"log/slog"
	"slices"
	"strconv"

	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/message/checkpoint"
	"github.com/clusterd/clusterd/internal/message/cluster"
	"github.com/clusterd/clusterd/internal/parallel"
	"github.com/clusterd/clusterd/internal/pipeline/intake"
	"github.com/clusterd/clusterd/internal/sink"
	"github.com/clusterd/clusterd/internal/space"
	"github.com/clusterd/clusterd/internal/space/fingerprint"
)

// Topics are those that are written to, each with its partitions and the largest record batch that
// it takes.
type Topics struct {
	config.Output
	Identity string // how fingerprints are made
	// Fingerprints is the topic of fingerprinted articles, beside which only dead letters are written;
	// empty where results are.
	Fingerprints string
	// Corrections is the topic of corrections; empty where there are none.
	Corrections string
	// Stories is the topic of stories; empty where there are none.
	Stories    string
	Partitions map[string][]int
	Limits     map[string]int // in bytes
	// Room is how large a result may be that carries headers of its input record.
	Room int

	parts   article.Parts  // that results have
	arenas  kafka.Arenas   // of the last batch
	records []kafka.Record // of the last batch
}

// Describe asks the topics how many partitions they have, and what they take.
func (o *Topics) Describe(ctx context.Context, client *kafka.Client, log *slog.Logger) error {
	o.parts = article.PartsOf(o.Fields)
	o.Partitions, o.Limits = make(map[string][]int), make(map[string]int)
	topics := []string{o.Topic, o.ClustersTopic, o.DeadLetterTopic}
	if o.Fingerprints != "" {
		topics = []string{o.Fingerprints, o.DeadLetterTopic}
	} else {
		topics = append(topics, o.Corrections, o.Stories)
	}
	for _, topic := range topics {
		if topic == "" {
			continue
		}
		err := kafka.Retry(ctx, log, "reading the settings of topic "+topic, func() error {
			partitions, err := client.Partitions(ctx, topic)
			if err != nil {
				return kafka.MarkRetriable(err)
			}
			settings, err := client.TopicConfig(ctx, topic)
			o.Partitions[topic], o.Limits[topic] = partitions, settings.MaxMessageBytes
			return err
		})
		if err != nil {
			return err
		}
	}
	o.Room = o.Limits[o.Topic]
	return nil
}

// Records returns all that a transaction carries for a batch: results, dead letters, clusters, and
// last the checkpoint. They are good until the next call, which uses their memory again.
func (o *Topics) Records(
	letters []*intake.DeadLetter, b space.Batch, checkpoint *checkpoint.Record,
) []kafka.Record {
	results, touched := len(b.Assignments), len(b.Touched)
	clusters := results + touched + len(b.Expired)
	told := 0 // stories that have a record for others
	if o.Stories != "" {
		told = len(b.Stories)
	}
	n := clusters + len(b.Stories) + told
	o.arenas.Reset()
	clear(o.records) // what they point to may go
	records := slices.Grow(o.records[:0], n+len(letters)+1)[:n]
	parallel.Chunks(n, func(from, to int) {
		memory := o.arenas.Take()
		defer o.arenas.Give(memory)
		for i := from; i < to; i++ {
			switch {
			case i < results:
				records[i] = o.result(memory, &b.Assignments[i])
			case i < results+touched:
				records[i] = o.live(memory, &b.Touched[i-results])
			case i < clusters:
				records[i] = o.tombstone(memory, &b.Expired[i-results-touched])
			case i < clusters+len(b.Stories):
				records[i] = o.storyState(memory, &b.Stories[i-clusters])
			default:
				records[i] = o.story(memory, &b.Stories[i-clusters-len(b.Stories)])
			}
		}
	})
	for _, d := range letters {
		records = append(records, o.DeadLetter(d))
	}
	for i := range b.Contacts {
		records = append(records, o.contact(&b.Contacts[i], checkpoint))
	}
	o.records = append(records, o.checkpoint(checkpoint))
	return o.records
}

// result returns the record of a result. It goes to the partition that Java's clients would choose
// for its key, or to that of its article, as output.partition says. An input key that is too long
// for every result to repeat is left out, and the cluster id stands in its place. The headers of
// the input record that it carries come before clusterd's own, and are left out where the topic
// does not take it with them.
func (o *Topics) result(memory *kafka.Arena, a *space.Assignment) kafka.Record {
	source := memory.Keep(a.Source.AppendTo)
	r := kafka.Record{
		Topic: o.Topic, Key: source,
		Value: memory.Keep(func(b []byte) []byte { return a.AppendJSON(b, o.Identity, o.parts) }),
	}
	r.Headers = memory.Headers(len(a.Headers) + 3)
	for _, h := range a.Headers {
		r.Headers = append(r.Headers, kafka.Header(h))
	}
	r.Headers = append(
		r.Headers,
		kafka.Header{Key: article.HeaderSource, Value: source},
		positionHeader(memory, a.Position),
		kafka.Header{
			Key:   article.HeaderEventTime,
			Value: memory.Keep(func(b []byte) []byte { return strconv.AppendInt(b, a.EventTime, 10) }),
		},
	)
	if a.Status != article.Unclustered {
		r.Key = memory.Keep(func(b []byte) []byte { return append(b, a.ClusterID...) })
	}
	if o.Key == intake.KeySource && len(a.Key) <= article.MaxIDBytes {
		r.Key = a.Key
	}
	if r.Key == nil || o.Partition == config.PartitionOfSource {
		r.Partition = a.Source.Partition % len(o.Partitions[o.Topic])
	} else {
		r.Partition = sink.PartitionOf(r.Key, o.Partitions[o.Topic])
	}
	if len(a.Headers) > 0 {
		if size := sink.Size(r); size > o.Room {
			dropHeaders(a.Article, o.Topic, size, o.Room)
			r.Headers = r.Headers[len(a.Headers):]
		}
	}
	return r
}

// MakeRoom has results that are half as large as one that their topic refuses go without the
// headers of their input records, and reports whether that one may have had some.
func (o *Topics) MakeRoom(refused *sink.TooLargeError) bool {
	if refused.Topic != o.Topic || refused.Size > o.Room {
		return false
	}
	o.Room = refused.Size / 2
	return true
}

// tombstone returns the record of a cluster without its value. It goes where its founder's
// partition says, so that a space that is one partition is recovered from one partition.
func (o *Topics) tombstone(memory *kafka.Arena, c *cluster.Cluster) kafka.Record {
	return kafka.Record{
		Topic: o.ClustersTopic, Key: memory.Keep(c.Founder.AppendTo),
		Partition: c.Founder.Partition % len(o.Partitions[o.ClustersTopic]),
	}
}

// live returns the record of a cluster that lives on.
func (o *Topics) live(memory *kafka.Arena, c *cluster.Cluster) kafka.Record {
	r := o.tombstone(memory, c)
	r.Headers = append(memory.Headers(1), positionHeader(memory, c.Position))
	form := c.AppendJSON
	if o.ClustersFormat == config.BinaryClusters {
		form = c.AppendBinary
	}
	r.Value = memory.Keep(func(b []byte) []byte { return form(b, o.Identity) })
	return r
}

// DeadLetter returns the record of a dead letter.
func (o *Topics) DeadLetter(d *intake.DeadLetter) kafka.Record {
	topic := o.DeadLetterTopic
	return d.RecordTo(topic, len(o.Partitions[topic]), o.Limits[topic])
}

// Correction returns the record of a correction. It goes where others put its cluster's key.
func (o *Topics) Correction(c *article.Correction) kafka.Record {
	key := []byte(c.ClusterID)
	return kafka.Record{
		Topic: o.Corrections, Partition: sink.PartitionOf(key, o.Partitions[o.Corrections]), Key: key,
		Value: c.AppendJSON(nil),
	}
}

// checkpoint returns the record of a checkpoint. It goes where its space is recovered from: to the
// partition of the space's own, or the first one.
func (o *Topics) checkpoint(c *checkpoint.Record) kafka.Record {
	partition, _ := strconv.Atoi(c.Space) // 0 of the space of all
	return kafka.Record{
		Topic: o.ClustersTopic, Partition: partition % len(o.Partitions[o.ClustersTopic]),
		Key: []byte(c.Key()), Value: c.JSON(), Headers: []kafka.Header{ownCheckpoint},
	}
}

func positionHeader(memory *kafka.Arena, position uint64) kafka.Header {
	return kafka.Header{
		Key:   article.HeaderPosition,
		Value: memory.Keep(func(b []byte) []byte { return strconv.AppendUint(b, position, 10) }),
	}
}

// dropHeaders lets a result go without the headers of its input record, with which its topic does
// not take it.
func dropHeaders(a *fingerprint.Article, topic string, size, limit int) {
	a.Notes = article.WithoutHeaders(a.Notes, "with the %d headers of its record a result takes %d "+
		"bytes, and topic %s takes %d; it goes without them", len(a.Headers), size, topic, limit)
}
