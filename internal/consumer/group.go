package consumer

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strconv"
	"strings"
	"sync"
	"time"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol/describegroups"
	"github.com/segmentio/kafka-go/protocol/findcoordinator"
	"github.com/segmentio/kafka-go/protocol/leavegroup"

	"github.com/clusterd/clusterd/internal/kafka"
)

const (
	// maxHeartbeat is the longest time between two heartbeats, which is also how long a rebalance goes
	// unnoticed, and heartbeats how many there are in a session at least.
	maxHeartbeat   = time.Second
	heartbeats     = 10
	joinBackoff    = time.Second
	partitionWatch = 5 * time.Second
	// coordinatorTimeout bounds a request to the coordinator of the group, beside what it waits for on
	// purpose.
	coordinatorTimeout = 5 * time.Second
	// leaveGrace is how long a broker has to answer a member that leaves. leaveTimeout is how long to
	// try after that.
	leaveGrace   = 500 * time.Millisecond
	leaveTimeout = 2 * time.Second
)

// A Group is a membership in a consumer group. It reports which units of work this member owns; it
// neither reads records nor commits offsets. It is not safe for concurrent use.
type Group struct {
	client   *kafka.Client
	log      *slog.Logger
	id       string
	topic    string
	member   Member
	balancer *balancer

	group       *kafkago.ConsumerGroup // nil: to be joined
	connections *connections           // of group
}

// A Member is what the group knows an instance by, in the client id of its members: the instance,
// and how many times it has been started. So members of its earlier starts, which are dead, can be
// told from others.
type Member struct {
	Instance string // the same after a restart, and no other instance's
	Start    int    // the number of this start: 1, 2, and so on
	// Session is how long it may be silent until others take over.
	Session time.Duration
}

func (m Member) clientID() string { return m.prefix() + strconv.Itoa(m.Start) }

func (m Member) prefix() string { return "clusterd-" + m.Instance + "-" }

// dead reports whether a client id is that of this instance, of this start or an earlier one.
func (m Member) dead(clientID string) bool {
	start, found := strings.CutPrefix(clientID, m.prefix())
	n, err := strconv.Atoi(start)
	return found && err == nil && n <= m.Start
}

// NewGroup returns a member of the group id for a topic, which joins in [Group.Next]. It reports to
// the group that it works on the partitions owned, which it would keep. There must be no other
// Group of this Member. Leave with [Group.Close].
func NewGroup(
	client *kafka.Client, log *slog.Logger, id, topic string, member Member, assignment Assignment,
	owned []int,
) *Group {
	return &Group{
		client: client, log: log, id: id, topic: topic, member: member,
		balancer: &balancer{assignment: assignment, owned: owned},
	}
}

// Next waits for the next generation of the group and returns the partitions that this member
// owns in it, ascending; none makes it a standby. It returns an error only when ctx ends or
// when waiting does not help.
func (g *Group) Next(ctx context.Context) ([]int, error) {
	var partitions []int
	err := kafka.Retry(ctx, g.log, "joining the consumer group", func() error {
		if g.group == nil {
			if err := g.join(ctx); err != nil {
				return err
			}
		}
		generation, err := g.group.Next(ctx)
		switch {
		case err == nil:
		case ctx.Err() != nil, kafka.Fatal(err):
			return err
		default:
			if !errors.Is(err, kafkago.RebalanceInProgress) { // after which the membership goes on
				g.abandon()
			}
			// kafka-go reports whatever goes wrong in the course of a rebalance.
			return fmt.Errorf("%w (%w)", kafkago.GroupCoordinatorNotAvailable, err)
		}
		if g.balancer.foundNone() {
			// kafka-go looks for other partitions than there were when the generation began, not when they
			// were assigned: a topic that was made between them would have no member for good.
			g.abandon()
			return fmt.Errorf("dividing topic %s: %w", g.topic, kafkago.UnknownTopicOrPartition)
		}
		partitions = nil
		for _, a := range generation.Assignments[g.topic] {
			partitions = append(partitions, a.ID)
		}
		g.balancer.own(partitions)
		return nil
	})
	return partitions, err
}

// join begins a membership. Before, it takes the dead ones of this instance out of the group, which
// would wait for each of them until its session times out: those of processes that were killed, and
// of this one where it lost the coordinator. A coordinator that was restarted may know members
// again that had left.
func (g *Group) join(ctx context.Context) error {
	if err := g.removeDeadMembers(ctx); err != nil {
		return err
	}
	coordinator, err := g.coordinator(ctx)
	if err != nil {
		return err
	}
	dialer := g.client.Dialer()
	dialer.ClientID = g.member.clientID()
	connections := &connections{connect: dialer.DialFunc, open: make(map[net.Conn]struct{})}
	dialer.DialFunc = connections.dial
	group, err := kafkago.NewConsumerGroup(kafkago.ConsumerGroupConfig{
		ID: g.id, Brokers: append([]string{coordinator}, g.client.Brokers...), Dialer: dialer,
		Topics:            []string{g.topic},
		GroupBalancers:    []kafkago.GroupBalancer{g.balancer},
		HeartbeatInterval: min(maxHeartbeat, g.member.Session/heartbeats),
		SessionTimeout:    g.member.Session,
		// Workers go on while the others wait for a member to join again, so one that is alive does so
		// at its next heartbeat.
		RebalanceTimeout: g.member.Session,
		JoinGroupBackoff: joinBackoff, WatchPartitionChanges: true,
		PartitionWatchInterval: partitionWatch,
		Timeout:                coordinatorTimeout,
	})
	if err != nil {
		return fmt.Errorf("joining group %s: %w", g.id, err)
	}
	g.group, g.connections = group, connections
	return nil
}

// coordinator returns the address of the group's coordinator. kafka-go would ask the first broker
// of its list that takes a connection, again and again: one that hangs takes connections, and never
// answers.
func (g *Group) coordinator(ctx context.Context) (string, error) {
	response, err := kafka.Do[*findcoordinator.Response](ctx, g.client,
		&findcoordinator.Request{Key: g.id})
	if err == nil {
		err = kafka.Code(response.ErrorCode)
	}
	if err != nil {
		return "", fmt.Errorf("looking for the coordinator of group %s: %w", g.id, err)
	}
	return net.JoinHostPort(response.Host, strconv.Itoa(int(response.Port))), nil
}

// Close leaves the group, so that others take over at once. It takes no longer than about
// [leaveTimeout], whatever the broker does.
func (g *Group) Close(ctx context.Context) error {
	if g.group == nil || g.abandon() {
		return nil
	}
	// It was cut off while it joined, so perhaps the broker knows it.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaveTimeout)
	defer cancel()
	return g.removeDeadMembers(ctx)
}

// abandon ends the membership, and reports whether it could leave the group in good order. kafka-go
// itself would wait for a broker's answer, which for a member that joins takes until all others
// have joined too.
func (g *Group) abandon() (left bool) {
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		_ = g.group.Close() // it is always nil
	}()
	for left = true; ; left = false {
		select {
		case <-closed:
			g.group = nil
			return left
		case <-time.After(leaveGrace):
			g.connections.cut()
		}
	}
}

// removeDeadMembers takes the members of this instance out of the group. The caller has no
// membership, so all are dead.
func (g *Group) removeDeadMembers(ctx context.Context) error {
	response, err := kafka.Do[*describegroups.Response](ctx, g.client,
		&describegroups.Request{Groups: []string{g.id}})
	if err != nil {
		return err
	}
	request := &leavegroup.Request{GroupID: g.id}
	for _, described := range response.Groups {
		switch err := kafka.Code(described.ErrorCode); {
		case errors.Is(err, kafkago.GroupIdNotFound):
		case err != nil:
			return fmt.Errorf("looking at group %s: %w", g.id, err)
		}
		for _, m := range described.Members {
			if g.member.dead(m.ClientID) {
				request.MemberID = m.MemberID
				request.Members = append(request.Members, leavegroup.RequestMember{MemberID: m.MemberID})
			}
		}
	}
	if len(request.Members) == 0 {
		return nil
	}
	return g.removeMembers(ctx, request)
}

// removeMembers leaves the group for members. One that the broker does not know any more is no
// error.
func (g *Group) removeMembers(ctx context.Context, request *leavegroup.Request) error {
	response, err := kafka.Do[*leavegroup.Response](ctx, g.client, request)
	if err != nil {
		return err
	}
	codes := []int16{response.ErrorCode}
	for _, m := range response.Members {
		codes = append(codes, m.ErrorCode)
	}
	for _, code := range codes {
		if err := kafka.Code(code); err != nil && !errors.Is(err, kafkago.UnknownMemberId) &&
			!errors.Is(err, kafkago.GroupIdNotFound) {
			return fmt.Errorf("leaving group %s for members of this instance that are dead: %w", g.id, err)
		}
	}
	g.log.Info("took dead members of this instance out of the consumer group", "members",
		len(request.Members))
	return nil
}

// connections are those of a membership, so that what waits for an answer on one can be cut short.
type connections struct {
	connect func(ctx context.Context, network, address string) (net.Conn, error)
	mutex   sync.Mutex
	open    map[net.Conn]struct{}
}

func (c *connections) dial(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := c.connect(ctx, network, address)
	if err != nil {
		return nil, err
	}
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.open[conn] = struct{}{}
	return &connection{Conn: conn, of: c}, nil
}

// cut closes the connections that are open now.
func (c *connections) cut() {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	for conn := range c.open {
		_ = conn.Close()
	}
	clear(c.open)
}

// connection is one of connections.
type connection struct {
	net.Conn
	of *connections
}

func (c *connection) Close() error {
	c.of.mutex.Lock()
	defer c.of.mutex.Unlock()
	delete(c.of.open, c.Conn)
	return c.Conn.Close()
}
