package intake

import (
	"fmt"
	"strconv"

	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/sink"
)

// The parts of clusterd that find out that a record is no article, or no label.
const (
	StageFetch  = "fetch"
	StageDecode = "decode"
	StageLabel  = "label"
)

// A DeadLetter is a record that is no article, and why.
type DeadLetter struct {
	kafka.Record
	*article.Rejection
	Stage string // which part found out
}

// RecordTo returns the record as it came, or the batch of which the rest cannot be read, with
// headers that say why it is here. Headers that look like these get another name. Its timestamp is
// now: with the old one the topic's retention might delete it at once, or the broker refuse it.
// Where the topic does not take it whole, its value is cut, and a header says so.
func (d *DeadLetter) RecordTo(topic string, partitions, limit int) kafka.Record {
	r := kafka.Record{
		Topic: topic, Partition: d.Partition % partitions,
		Key: d.Key, Value: d.Value,
	}
	for _, h := range d.Headers {
		r.Headers = append(r.Headers, kafka.Header{Key: article.ForeignHeader(h.Key), Value: h.Value})
	}
	source := article.Address{Topic: d.Topic, Partition: d.Partition, Offset: d.Offset}
	r.Headers = append(r.Headers,
		kafka.Header{Key: article.HeaderError, Value: []byte(d.Class)},
		kafka.Header{Key: article.HeaderReason, Value: []byte(d.Reason)},
		kafka.Header{Key: article.HeaderStage, Value: []byte(d.Stage)},
		kafka.Header{Key: article.HeaderSource, Value: []byte(source.String())},
	)
	if rest := d.Unreadable; rest != nil {
		r.Headers = append(r.Headers, kafka.Header{
			Key: article.HeaderOffsets, Value: fmt.Appendf(nil, "%d-%d", d.Offset, rest.Last),
		})
	}
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
