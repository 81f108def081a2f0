package consumer

import (
	"context"
	"errors"
	"fmt"
	"strings"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol/offsetfetch"

	"github.com/clusterd/clusterd/internal/kafka"
)

// HandedOver begins the metadata of a group's offsets whose results another group writes now; the
// name of that group follows.
const HandedOver = "clusterd: handed over to "

// ErrHandedOver is the error of a group that has handed its results over to another.
var ErrHandedOver = errors.New("its results were handed over")

// A Commit is what a group has committed for a partition.
type Commit struct {
	Offset   int64
	Metadata string
}

// Committed returns the offsets that the group has committed for some partitions of a topic. One
// without a commit is not in the map. Ask only after fencing: before, a transaction of the
// previous owner may still move them. The error is [ErrHandedOver] where another group writes the
// results from there on.
func Committed(
	ctx context.Context, client *kafka.Client, group, topic string, partitions []int,
) (map[int]int64, error) {
	commits, err := Commits(ctx, client, group, topic, partitions)
	if err != nil {
		return nil, err
	}
	offsets := make(map[int]int64, len(commits))
	for p, c := range commits {
		if to, ok := strings.CutPrefix(c.Metadata, HandedOver); ok {
			return nil, fmt.Errorf("group %s: %w to group %s, by clusterd migrate switch: to go on here "+
				"would write them twice. Run the configuration that the switch wrote; the way back is "+
				"clusterd migrate back", group, ErrHandedOver, to)
		}
		offsets[p] = c.Offset
	}
	return offsets, nil
}

// Commits returns what [Committed] returns, with the metadata, and does not look at it.
func Commits(
	ctx context.Context, client *kafka.Client, group, topic string, partitions []int,
) (map[int]Commit, error) {
	request := offsetfetch.RequestTopic{Name: topic}
	for _, p := range partitions {
		request.PartitionIndexes = append(request.PartitionIndexes, int32(p))
	}
	response, err := kafka.Do[*offsetfetch.Response](ctx, client,
		&offsetfetch.Request{GroupID: group, Topics: []offsetfetch.RequestTopic{request}})
	if err != nil {
		return nil, err
	}
	commits := make(map[int]Commit, len(partitions))
	if err := kafka.Code(response.ErrorCode); errors.Is(err, kafkago.GroupIdNotFound) {
		return commits, nil
	} else if err != nil {
		return nil, fmt.Errorf("fetching the offsets of group %s: %w", group, err)
	}
	for _, t := range response.Topics {
		for _, p := range t.Partitions {
			if err := kafka.Code(p.ErrorCode); err != nil {
				return nil, fmt.Errorf("fetching the offset of group %s for %s/%d: %w", group, topic,
					p.PartitionIndex, err)
			}
			if p.CommittedOffset >= 0 {
				commits[int(p.PartitionIndex)] = Commit{p.CommittedOffset, p.Metadata}
			}
		}
	}
	return commits, nil
}
