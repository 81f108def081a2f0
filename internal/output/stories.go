package output

import (
	"github.com/clusterd/clusterd/internal/cluster"
	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/sink"
	"github.com/clusterd/clusterd/internal/state"
)

// storyState returns the record of a story in the clusters topic, from which it is recovered. It
// goes where its first cluster does.
func (o *Topics) storyState(memory *kafka.Arena, s *state.StoryChange) kafka.Record {
	r := kafka.Record{
		Topic: o.ClustersTopic,
		Key: memory.Keep(func(b []byte) []byte {
			return append(append(b, cluster.StoryPrefix...), s.Address...)
		}),
		Partition: s.Founder().Partition % len(o.Partitions[o.ClustersTopic]),
	}
	if !s.Gone {
		r.Headers = append(memory.Headers(1), positionHeader(memory, s.Position))
		r.Value = memory.Keep(s.AppendBinary)
	}
	return r
}

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
