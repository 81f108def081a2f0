package pipeline

import (
	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/testutil/schematest"
)

// holdToSchema fails the test where a record of a topic that clusterd writes is not what
// docs/schemas says. What an earlier version left is as it was then.
func (b *bench) holdToSchema(records []kafka.Record) {
	b.Helper()
	out := b.config.Output
	for _, r := range records {
		if b.left[article.Address{Topic: r.Topic, Partition: r.Partition, Offset: r.Offset}] {
			continue
		}
		var err error
		switch in := schemaRecord(r); r.Topic {
		case out.Topic:
			err = in.Result()
		case out.ClustersTopic:
			err = in.Cluster()
		case b.config.Stories.Topic:
			err = in.Story()
		case out.DeadLetterTopic:
			err = in.DeadLetter()
		}
		if err != nil {
			b.Errorf("%s/%d/%d: %v\n%s", r.Topic, r.Partition, r.Offset, err, r.Value)
		}
	}
}

func schemaRecord(r kafka.Record) schematest.Record {
	out := schematest.Record{Key: r.Key, Value: r.Value}
	for _, h := range r.Headers {
		out.Headers = append(out.Headers, schematest.Header{Key: h.Key, Value: string(h.Value)})
	}
	return out
}
