package pipeline

import (
	"fmt"
	"strconv"
	"time"

	kafkago "github.com/segmentio/kafka-go"

	"github.com/clusterd/clusterd/internal/article"
	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/sink"
	"github.com/clusterd/clusterd/internal/state"
)

// The parts of clusterd that find out that a record is no article.
const (
	stageFetch  = "fetch"
	stageDecode = "decode"
)

// keySource is the setting of output.key with which results have the keys of their articles.
const keySource = "source"

// outputs are the topics that are written to, each with its partitions and the largest record
// batch that it takes.
type outputs struct {
	config.Output
	identity   string // how fingerprints are made
	partitions map[string][]int
	limits     map[string]int
}

// records are all that a transaction carries for a batch: results, dead letters, clusters, and last the checkpoint.
func (o *outputs) records(c changes) []kafka.Record {
	n := len(c.outcomes) + len(c.touched) + len(c.expired)
	records := make([]kafka.Record, n, n+1)
	inPieces(n, func(from, to int) {
		var s slab
		for i := from; i < to; i++ {
			records[i] = o.record(&s, &c, i)
		}
	})
	if c.checkpoint != nil {
		records = append(records, o.checkpoint(c.checkpoint))
	}
	return records
}

// record is that of an outcome, after those of a touched cluster, after those of an expired one.
func (o *outputs) record(s *slab, c *changes, i int) kafka.Record {
	if i < len(c.outcomes) {
		if c.outcomes[i].rejection != nil {
			return o.deadLetter(&c.outcomes[i])
		}
		return o.result(s, &c.outcomes[i])
	}
	if i -= len(c.outcomes); i < len(c.touched) {
		return o.live(s, &c.touched[i])
	}
	return o.cluster(s, &c.expired[i-len(c.touched)])
}

// result goes to the partition that Java's clients would choose for its key. An input key that is too
// long for every result to repeat is left out, and the cluster id stands in its place.
func (o *outputs) result(s *slab, out *outcome) kafka.Record {
	source := s.keep(out.address().AppendTo)
	r := kafka.Record{Topic: o.Topic, Key: source, Value: s.keep(out.result.AppendJSON)}
	if out.result.ClusterID == nil {
		r.Headers = s.list(kafka.Header{Key: article.HeaderSource, Value: source})
	} else {
		r.Key = s.keep(func(b []byte) []byte { return append(b, *out.result.ClusterID...) })
		r.Headers = s.list(
			kafka.Header{Key: article.HeaderSource, Value: source},
			positionHeader(s, out.position),
			kafka.Header{Key: article.HeaderEventTime, Value: s.keep(func(b []byte) []byte { return strconv.AppendInt(b, out.eventTime, 10) })},
		)
	}
	if o.Key == keySource && len(out.record.Key) <= article.MaxIDBytes {
		r.Key = out.record.Key
	}
	if r.Key == nil {
		r.Partition = out.record.Partition % len(o.partitions[o.Topic])
	} else {
		r.Partition = javaPartition(r.Key, o.partitions[o.Topic])
	}
	return r
}

// cluster is the record of a cluster without its value, which is a tombstone. It goes where its
// founder's partition says, so that a space that is one partition is recovered from one partition.
func (o *outputs) cluster(s *slab, c *state.Cluster) kafka.Record {
	return kafka.Record{
		Topic: o.ClustersTopic, Key: s.keep(c.Founder.AppendTo), Partition: c.Founder.Partition % len(o.partitions[o.ClustersTopic]),
	}
}

// live is the record of a cluster that lives on.
func (o *outputs) live(s *slab, c *state.Cluster) kafka.Record {
	r := o.cluster(s, c)
	r.Headers = s.list(positionHeader(s, c.Position))
	r.Value = s.keep((&article.Cluster{
		ClusterID: c.Founder.String(), Seq: c.Seq, Fingerprint: article.Fingerprint(c.Fingerprint), Sketch: []byte(c.Sketch), Size: c.Size,
		FirstSeen: time.UnixMilli(c.FirstSeen).UTC(), LastSeen: time.UnixMilli(c.LastSeen).UTC(),
		Representative: c.Representative, Pipeline: o.identity,
	}).AppendJSON)
	return r
}

// checkpoint goes where its space is recovered from: into the partition of the space's own, or the first one.
func (o *outputs) checkpoint(c *article.Checkpoint) kafka.Record {
	partition, _ := strconv.Atoi(c.Space) // 0 of the space of all
	return kafka.Record{Topic: o.ClustersTopic, Partition: partition % len(o.partitions[o.ClustersTopic]), Key: []byte(c.Key()), Value: c.JSON()}
}

// deadLetter is the record as it came, or the batch of which the rest cannot be read, with headers that say
// why it is here. Headers that look like these get another name. Its timestamp is now:
// with the old one the topic's retention might delete it at once, or the broker refuse it. Where the
// topic does not take it whole, its value is cut, and a header says so.
func (o *outputs) deadLetter(out *outcome) kafka.Record {
	r := kafka.Record{
		Topic: o.DeadLetterTopic, Partition: out.record.Partition % len(o.partitions[o.DeadLetterTopic]),
		Key: out.record.Key, Value: out.record.Value,
	}
	stage := stageDecode
	if out.record.Unreadable != nil {
		stage = stageFetch
	}
	for _, h := range out.record.Headers {
		r.Headers = append(r.Headers, kafka.Header{Key: article.ForeignHeader(h.Key), Value: h.Value})
	}
	r.Headers = append(r.Headers,
		kafka.Header{Key: article.HeaderError, Value: []byte(out.rejection.Class)},
		kafka.Header{Key: article.HeaderReason, Value: []byte(out.rejection.Reason)},
		kafka.Header{Key: article.HeaderStage, Value: []byte(stage)},
		kafka.Header{Key: article.HeaderSource, Value: []byte(out.address().String())},
	)
	if rest := out.record.Unreadable; rest != nil {
		r.Headers = append(r.Headers, kafka.Header{Key: article.HeaderOffsets, Value: fmt.Appendf(nil, "%d-%d", out.record.Offset, rest.Last)})
	}
	limit := o.limits[o.DeadLetterTopic]
	if sink.Size(r) <= limit && out.record.Cut == 0 {
		return r
	}
	r.Headers = append(r.Headers, kafka.Header{Key: article.HeaderTruncated, Value: []byte(strconv.Itoa(len(r.Value) + out.record.Cut))})
	if sink.Size(r) <= limit {
		return r
	}
	if over := sink.Size(r) - limit; over <= len(r.Value) {
		r.Value = r.Value[:len(r.Value)-over]
		return r
	}
	// Key or headers alone are too much: the address in the last header leads to the record.
	r.Key, r.Value, r.Headers = nil, nil, r.Headers[len(out.record.Headers):]
	return r
}

func positionHeader(s *slab, position uint64) kafka.Header {
	return kafka.Header{Key: article.HeaderPosition, Value: s.keep(func(b []byte) []byte { return strconv.AppendUint(b, position, 10) })}
}

// javaPartition is the partition that Kafka's own clients choose for a key, by its murmur2 hash.
func javaPartition(key []byte, partitions []int) int {
	return kafkago.Murmur2Balancer{Consistent: true}.Balance(kafkago.Message{Key: key}, partitions...)
}
