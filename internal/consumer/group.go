package consumer

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol/leavegroup"
	"github.com/segmentio/kafka-go/protocol/offsetfetch"

	"github.com/clusterd/clusterd/internal/kafka"
)

const (
	// sessionTimeout is how long a killed member keeps its partitions.
	sessionTimeout = 10 * time.Second
	// heartbeatInterval is also how long a rebalance goes unnoticed.
	heartbeatInterval = time.Second
	rebalanceTimeout  = 30 * time.Second
	joinBackoff       = time.Second
	partitionWatch    = 5 * time.Second
)

// Group is a membership in a consumer group. It says which units of work this member owns; it
// neither reads records nor commits offsets.
type Group struct {
	group    *kafkago.ConsumerGroup
	balancer *balancer
	topic    string
	log      *slog.Logger
	member   string
}

// Scope says which articles are compared with one another, and so what is owned together.
type Scope string

// The scopes.
const (
	ScopeTopic     Scope = "topic"     // all partitions of the topic belong to one member
	ScopePartition Scope = "partition" // each partition is owned on its own
)

// Join makes a member of the group id for a topic. It begins to join at once, and tells the group
// that it works on the partitions owned, which it would keep. Leave with [Group.Close].
func Join(client *kafka.Client, log *slog.Logger, id, topic string, scope Scope, owned []int) (*Group, error) {
	b := &balancer{scope: scope, owned: owned}
	group, err := kafkago.NewConsumerGroup(kafkago.ConsumerGroupConfig{
		ID: id, Brokers: client.Brokers, Dialer: client.Dialer, Topics: []string{topic},
		GroupBalancers:    []kafkago.GroupBalancer{b},
		HeartbeatInterval: heartbeatInterval, SessionTimeout: sessionTimeout, RebalanceTimeout: rebalanceTimeout,
		JoinGroupBackoff: joinBackoff, WatchPartitionChanges: true, PartitionWatchInterval: partitionWatch,
		Timeout: sessionTimeout,
	})
	if err != nil {
		return nil, fmt.Errorf("joining group %s: %w", id, err)
	}
	return &Group{group: group, balancer: b, topic: topic, log: log}, nil
}

// Next waits for the next generation of the group and returns the partitions that this member
// owns in it, ascending; none makes it a standby. It returns an error only when ctx ends or
// when waiting does not help.
func (g *Group) Next(ctx context.Context) ([]int, error) {
	var partitions []int
	err := kafka.Retry(ctx, g.log, "joining the consumer group", func() error {
		generation, err := g.group.Next(ctx)
		switch {
		case err == nil:
		case kafka.Hopeless(err), errors.Is(err, kafkago.ErrGroupClosed), ctx.Err() != nil:
			return err
		default:
			// kafka-go reports whatever goes wrong in the course of a rebalance, and goes on by itself.
			return fmt.Errorf("%w (%w)", kafkago.GroupCoordinatorNotAvailable, err)
		}
		g.member = generation.MemberID
		partitions = nil
		for _, a := range generation.Assignments[g.topic] {
			partitions = append(partitions, a.ID)
		}
		g.balancer.own(partitions)
		return nil
	})
	return partitions, err
}

// Member is this member's id in the generation that [Group.Next] returned last. Do not call both
// at once.
func (g *Group) Member() string { return g.member }

// Expel leaves the group for a member that is known to be dead, so that nobody waits until its session
// times out. A member or a group that the broker does not know is no error.
func Expel(ctx context.Context, client *kafka.Client, group, member string) error {
	response, err := kafka.Do[*leavegroup.Response](ctx, client, &leavegroup.Request{
		GroupID: group, MemberID: member, Members: []leavegroup.RequestMember{{MemberID: member}},
	})
	if err != nil {
		return err
	}
	codes := []int16{response.ErrorCode}
	for _, m := range response.Members {
		codes = append(codes, m.ErrorCode)
	}
	for _, code := range codes {
		if err := kafka.Code(code); err != nil && !errors.Is(err, kafkago.UnknownMemberId) && !errors.Is(err, kafkago.GroupIdNotFound) {
			return fmt.Errorf("leaving group %s for member %s: %w", group, member, err)
		}
	}
	return nil
}

// Close leaves the group, so that others take over at once.
func (g *Group) Close() error { return g.group.Close() }

// Committed are the offsets that the group has committed for some partitions of a topic. One
// without a commit is not in the map. Ask only after fencing: before, a transaction of the
// previous owner may still move them.
func Committed(ctx context.Context, client *kafka.Client, group, topic string, partitions []int) (map[int]int64, error) {
	request := offsetfetch.RequestTopic{Name: topic}
	for _, p := range partitions {
		request.PartitionIndexes = append(request.PartitionIndexes, int32(p))
	}
	response, err := kafka.Do[*offsetfetch.Response](ctx, client, &offsetfetch.Request{GroupID: group, Topics: []offsetfetch.RequestTopic{request}})
	if err != nil {
		return nil, err
	}
	if err := kafka.Code(response.ErrorCode); errors.Is(err, kafkago.GroupIdNotFound) {
		return map[int]int64{}, nil
	} else if err != nil {
		return nil, fmt.Errorf("fetching the offsets of group %s: %w", group, err)
	}
	offsets := make(map[int]int64, len(partitions))
	for _, t := range response.Topics {
		for _, p := range t.Partitions {
			if err := kafka.Code(p.ErrorCode); err != nil {
				return nil, fmt.Errorf("fetching the offset of group %s for %s/%d: %w", group, topic, p.PartitionIndex, err)
			}
			if p.CommittedOffset >= 0 {
				offsets[int(p.PartitionIndex)] = p.CommittedOffset
			}
		}
	}
	return offsets, nil
}
