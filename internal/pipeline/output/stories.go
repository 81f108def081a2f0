package output

import (
	"strconv"

	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/message/checkpoint"
	"github.com/clusterd/clusterd/internal/message/cluster"
	"github.com/clusterd/clusterd/internal/sink"
	"github.com/clusterd/clusterd/internal/space/state"
)

// storyState returns the record of a story in the clusters topic, from which it is recovered. It
// goes where its first cluster does, and has the form that clusters have.
func (o *Topics) storyState(memory *kafka.Arena, s *state.StoryChange) kafka.Record {
	r := kafka.Record{
		Topic: o.ClustersTopic,
		Key: memory.Keep(func(b []byte) []byte {
			return append(append(b, cluster.StoryPrefix...), s.Address...)
		}),
		Partition: s.Founder().Partition % len(o.Partitions[o.ClustersTopic]),
	}
	r.Headers = append(memory.Headers(2), ownStory)
	if s.Gone {
		return r
	}
	r.Headers = append(r.Headers, positionHeader(memory, s.Position))
	form := s.AppendJSON
	if o.ClustersFormat == config.BinaryClusters {
		form = s.AppendBinary
	}
	r.Value = memory.Keep(form)
	return r
}

// contact returns the record of a contact in the clusters topic. It goes where the checkpoint of
// its space does.
func (o *Topics) contact(c *state.ContactChange, checkpoint *checkpoint.Record) kafka.Record {
	r := o.checkpoint(checkpoint)
	r.Key, r.Headers = c.Key(checkpoint.Space), []kafka.Header{ownContact}
	if r.Value = nil; len(c.Marks) > 0 {
		r.Headers = append(r.Headers, kafka.Header{
			Key: article.HeaderPosition, Value: strconv.AppendUint(nil, c.Position, 10),
		})
		r.Value = c.AppendJSON(nil)
	}
	return r
}

// Readers of clusters leave out records that have one of these headers.
var (
	ownStory      = kafka.Header{Key: article.HeaderOwn, Value: []byte(article.OwnStory)}
	ownContact    = kafka.Header{Key: article.HeaderOwn, Value: []byte(article.OwnContact)}
	ownCheckpoint = kafka.Header{Key: article.HeaderOwn, Value: []byte(article.OwnCheckpoint)}
)

// story returns the record of a story in the topic of stories, for others. It goes to the partition
// that Java's clients would choose for its key.
func (o *Topics) story(memory *kafka.Arena, s *state.StoryChange) kafka.Record {
	r := kafka.Record{
		Topic: o.Stories,
		Key:   memory.Keep(func(b []byte) []byte { return append(b, s.Address...) }),
	}
	r.Partition = sink.PartitionOf(r.Key, o.Partitions[o.Stories])
	if !s.Gone {
		r.Headers = append(memory.Headers(1), positionHeader(memory, s.Position))
		r.Value = memory.Keep(func(b []byte) []byte {
			w := s.Wire()
			return w.AppendJSON(b)
		})
	}
	return r
}
