package pipeline

import (
	"context"
	"fmt"
	"log/slog"
	"strconv"

	"github.com/clusterd/clusterd/internal/article"
	"github.com/clusterd/clusterd/internal/checkpoint"
	"github.com/clusterd/clusterd/internal/cluster"
	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/parallel"
	"github.com/clusterd/clusterd/internal/sink"
	"github.com/clusterd/clusterd/internal/space"
)

// The parts of clusterd that find out that a record is no article, or no label.
const (
	stageFetch  = "fetch"
	stageDecode = "decode"
	stageLabel  = "label"
)

// keySource is the setting of output.key with which results have the keys of their articles.
const keySource = "source"

// outputs are the topics that are written to, each with its partitions and the largest record
// batch that it takes.
type outputs struct {
	config.Output
	identity string // how fingerprints are made
	// corrections is the topic of corrections; empty where there are none.
	corrections string
	partitions  map[string][]int
	limits      map[string]int
	// room is how large a result may be that carries headers of its input record.
	room int
}

// describe asks the topics how many partitions they have, and what they take.
func (o *outputs) describe(ctx context.Context, client *kafka.Client, log *slog.Logger) error {
	o.partitions, o.limits = make(map[string][]int), make(map[string]int)
	topics := []string{o.Topic, o.ClustersTopic, o.DeadLetterTopic}
	if o.corrections != "" {
		topics = append(topics, o.corrections)
	}
	for _, topic := range topics {
		err := kafka.Retry(ctx, log, "reading the settings of topic "+topic, func() error {
			partitions, err := client.Partitions(ctx, topic)
			if err != nil {
				return kafka.MarkRetriable(err)
			}
			settings, err := client.TopicConfig(ctx, topic)
			o.partitions[topic], o.limits[topic] = partitions, settings.MaxMessageBytes
			return err
		})
		if err != nil {
			return err
		}
	}
	o.room = o.limits[o.Topic]
	return nil
}

// records returns all that a transaction carries for a batch: results, dead letters, clusters, and
// last the checkpoint.
func (o *outputs) records(
	letters []*deadLetter, b space.Batch, checkpoint *checkpoint.Record,
) []kafka.Record {
	results, touched := len(b.Assignments), len(b.Touched)
	n := results + touched + len(b.Expired)
	records := make([]kafka.Record, n, n+len(letters)+1)
	parallel.Chunks(n, func(from, to int) {
		var memory arena
		for i := from; i < to; i++ {
			switch {
			case i < results:
				records[i] = o.result(&memory, &b.Assignments[i])
			case i < results+touched:
				records[i] = o.live(&memory, &b.Touched[i-results])
			default:
				records[i] = o.tombstone(&memory, &b.Expired[i-results-touched])
			}
		}
	})
	for _, d := range letters {
		records = append(records, o.deadLetter(d))
	}
	return append(records, o.checkpoint(checkpoint))
}

// result returns the record of a result. It goes to the partition that Java's clients would choose
// for its key. An input key that is too long for every result to repeat is left out, and the
// cluster id stands in its place. The headers of the input record that it carries come before
// clusterd's own, and are left out where the topic does not take it with them.
func (o *outputs) result(memory *arena, a *space.Assignment) kafka.Record {
	source := memory.keep(a.Source.AppendTo)
	r := kafka.Record{
		Topic: o.Topic, Key: source,
		Value: memory.keep(func(b []byte) []byte { return a.AppendJSON(b, o.identity) }),
	}
	if a.Status == article.Unclustered {
		r.Headers = memory.list(a.Headers, kafka.Header{Key: article.HeaderSource, Value: source})
	} else {
		r.Key = memory.keep(func(b []byte) []byte { return append(b, a.ClusterID...) })
		r.Headers = memory.list(
			a.Headers,
			kafka.Header{Key: article.HeaderSource, Value: source},
			positionHeader(memory, a.Position),
			kafka.Header{
				Key:   article.HeaderEventTime,
				Value: memory.keep(func(b []byte) []byte { return strconv.AppendInt(b, a.EventTime, 10) }),
			},
		)
	}
	if o.Key == keySource && len(a.Key) <= article.MaxIDBytes {
		r.Key = a.Key
	}
	if r.Key == nil {
		r.Partition = a.Source.Partition % len(o.partitions[o.Topic])
	} else {
		r.Partition = sink.PartitionOf(r.Key, o.partitions[o.Topic])
	}
	if len(a.Headers) > 0 {
		if size := sink.Size(r); size > o.room {
			dropHeaders(a.Article, o.Topic, size, o.room)
			r.Headers = r.Headers[len(a.Headers):]
		}
	}
	return r
}

// makeRoom has results that are half as large as one that their topic refuses go without the
// headers of their input records, and reports whether that one may have had some.
func (o *outputs) makeRoom(refused *sink.TooLargeError) bool {
	if refused.Topic != o.Topic || refused.Size > o.room {
		return false
	}
	o.room = refused.Size / 2
	return true
}

// tombstone returns the record of a cluster without its value. It goes where its founder's
// partition says, so that a space that is one partition is recovered from one partition.
func (o *outputs) tombstone(memory *arena, c *cluster.Cluster) kafka.Record {
	return kafka.Record{
		Topic: o.ClustersTopic, Key: memory.keep(c.Founder.AppendTo),
		Partition: c.Founder.Partition % len(o.partitions[o.ClustersTopic]),
	}
}

// live returns the record of a cluster that lives on.
func (o *outputs) live(memory *arena, c *cluster.Cluster) kafka.Record {
	r := o.tombstone(memory, c)
	r.Headers = memory.list(nil, positionHeader(memory, c.Position))
	r.Value = memory.keep(func(b []byte) []byte { return c.AppendJSON(b, o.identity) })
	return r
}

// checkpoint returns the record of a checkpoint. It goes where its space is recovered from: to the
// partition of the space's own, or the first one.
func (o *outputs) checkpoint(c *checkpoint.Record) kafka.Record {
	partition, _ := strconv.Atoi(c.Space) // 0 of the space of all
	return kafka.Record{
		Topic: o.ClustersTopic, Partition: partition % len(o.partitions[o.ClustersTopic]),
		Key: []byte(c.Key()), Value: c.JSON(),
	}
}

// deadLetter returns the record as it came, or the batch of which the rest cannot be read, with
// headers that say why it is here. Headers that look like these get another name. Its timestamp is
// now: with the old one the topic's retention might delete it at once, or the broker refuse it.
// Where the topic does not take it whole, its value is cut, and a header says so.
func (o *outputs) deadLetter(d *deadLetter) kafka.Record {
	r := kafka.Record{
		Topic: o.DeadLetterTopic, Partition: d.Partition % len(o.partitions[o.DeadLetterTopic]),
		Key: d.Key, Value: d.Value,
	}
	for _, h := range d.Headers {
		r.Headers = append(r.Headers, kafka.Header{Key: article.ForeignHeader(h.Key), Value: h.Value})
	}
	source := article.Address{Topic: d.Topic, Partition: d.Partition, Offset: d.Offset}
	r.Headers = append(r.Headers,
		kafka.Header{Key: article.HeaderError, Value: []byte(d.Class)},
		kafka.Header{Key: article.HeaderReason, Value: []byte(d.Reason)},
		kafka.Header{Key: article.HeaderStage, Value: []byte(d.stage)},
		kafka.Header{Key: article.HeaderSource, Value: []byte(source.String())},
	)
	if rest := d.Unreadable; rest != nil {
		r.Headers = append(r.Headers, kafka.Header{
			Key: article.HeaderOffsets, Value: fmt.Appendf(nil, "%d-%d", d.Offset, rest.Last),
		})
	}
	limit := o.limits[o.DeadLetterTopic]
	if sink.Size(r) <= limit && d.Cut == 0 {
		return r
	}
	r.Headers = append(r.Headers, kafka.Header{
		Key: article.HeaderTruncated, Value: []byte(strconv.Itoa(len(r.Value) + d.Cut)),
	})
	if sink.Size(r) <= limit {
		return r
	}
	if over := sink.Size(r) - limit; over <= len(r.Value) {
		r.Value = r.Value[:len(r.Value)-over]
		return r
	}
	// Key or headers alone are too much: the address in the last header leads to the record.
	r.Key, r.Value, r.Headers = nil, nil, r.Headers[len(d.Headers):]
	return r
}

func positionHeader(memory *arena, position uint64) kafka.Header {
	return kafka.Header{
		Key:   article.HeaderPosition,
		Value: memory.keep(func(b []byte) []byte { return strconv.AppendUint(b, position, 10) }),
	}
}
