package consumer

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"maps"
	"net"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/testutil/wait"
)

// session is that of members of these tests.
const session = 10 * time.Second

func join(t *testing.T, client *kafka.Client, assignment Assignment) *Group {
	t.Helper()
	return joinAs(t, client, assignment, Member{Instance: rand.Text(), Start: 1, Session: session})
}

func joinAs(t *testing.T, client *kafka.Client, assignment Assignment, member Member) *Group {
	t.Helper()
	group := NewGroup(client, slog.New(slog.DiscardHandler), "clusterd", "articles", member,
		assignment, nil)
	t.Cleanup(func() { leave(t, group) })
	return group
}

func leave(t *testing.T, group *Group) {
	t.Helper()
	if err := group.Close(context.WithoutCancel(t.Context())); err != nil {
		t.Error(err)
	}
}

// watch sends what the member owns, generation after generation, until ctx ends, which must be
// before the test does.
func watch(t *testing.T, ctx context.Context, group *Group) <-chan []int {
	t.Helper()
	generations := make(chan []int)
	t.Cleanup(func() { // before the group is left
		for range generations {
		}
	})
	go func() {
		defer close(generations)
		for {
			partitions, err := group.Next(ctx)
			if err != nil {
				return
			}
			select {
			case generations <- partitions:
			case <-ctx.Done():
				return
			}
		}
	}()
	return generations
}

// await waits for a generation in which the member owns these partitions.
func await(t *testing.T, ctx context.Context, who string, generations <-chan []int, want ...int) {
	t.Helper()
	for {
		select {
		case got, ok := <-generations:
			if !ok {
				t.Fatalf("%s is no member any more", who)
			}
			if slices.Equal(got, want) {
				return
			}
		case <-ctx.Done():
			t.Fatalf("%s never owned %v", who, want)
		}
	}
}

func TestGroupOfOneSpace(t *testing.T) {
	t.Parallel()
	_, client := startBrokers(t, 1, kfake.SeedTopics(4, "articles"))
	ctx, cancel := context.WithTimeout(t.Context(), wait.Timeout)
	defer cancel()

	owner := join(t, client, AllToOne)
	watching, stopOwner := context.WithCancel(ctx)
	defer stopOwner()
	owners := watch(t, watching, owner)
	await(t, ctx, "the first", owners, 0, 1, 2, 3)
	standby := join(t, client, AllToOne)
	standbys := watch(t, ctx, standby)
	await(t, ctx, "the first", owners, 0, 1, 2, 3) // it keeps them in the new generation
	await(t, ctx, "the second", standbys)
	stopOwner()
	for range owners { // nobody else may use it now
	}
	leave(t, owner)
	await(t, ctx, "the second", standbys, 0, 1, 2, 3)
}

func TestGroupOfPartitions(t *testing.T) {
	t.Parallel()
	_, client := startBrokers(t, 1, kfake.SeedTopics(4, "articles"))
	ctx, cancel := context.WithTimeout(t.Context(), wait.Timeout)
	defer cancel()

	first := join(t, client, Spread)
	firsts := watch(t, ctx, first)
	await(t, ctx, "the first", firsts, 0, 1, 2, 3)
	second := join(t, client, Spread)
	watching, stopSecond := context.WithCancel(ctx)
	defer stopSecond()
	seconds := watch(t, watching, second)
	await(t, ctx, "the first", firsts, 0, 1)
	await(t, ctx, "the second", seconds, 2, 3)
	stopSecond()
	for range seconds { // nobody else may use it now
	}
	leave(t, second)
	await(t, ctx, "the first", firsts, 0, 1, 2, 3)
}

// The first broker of the list takes connections and never answers, as one does that is frozen.
func TestJoinPastABrokerThatHangs(t *testing.T) {
	t.Parallel()
	_, client := startBrokers(t, 1, kfake.SeedTopics(1, "articles"))
	hangs, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer hangs.Close()
	client.Brokers = append([]string{hangs.Addr().String()}, client.Brokers...)
	ctx, cancel := context.WithTimeout(t.Context(), wait.Timeout)
	defer cancel()
	await(t, ctx, "the member", watch(t, ctx, join(t, client, AllToOne)), 0)
}

func TestGroupNextEndsWithTheContext(t *testing.T) {
	t.Parallel()
	_, client := startBrokers(t, 1, kfake.SeedTopics(1, "articles"))
	ctx, cancel := context.WithCancel(t.Context())
	group := join(t, client, AllToOne)
	await(t, ctx, "the member", watch(t, ctx, group), 0)
	cancel()
	if partitions, err := group.Next(ctx); err == nil || len(partitions) != 0 {
		t.Errorf("Next = %v, %v", partitions, err)
	}
}

func TestCommittedOffsets(t *testing.T) {
	t.Parallel()
	_, client := startBrokers(t, 1, kfake.SeedTopics(3, "articles"))
	if got, err := Committed(t.Context(), client, "clusterd", "articles",
		[]int{0, 1, 2}); err != nil || len(got) != 0 {
		t.Errorf("before any commit: %v, %v", got, err)
	}
	response, err := (&kafkago.Client{Addr: kafkago.TCP(client.Brokers...)}).OffsetCommit(t.Context(),
		&kafkago.OffsetCommitRequest{
			GroupID: "clusterd", GenerationID: -1,
			Topics: map[string][]kafkago.OffsetCommit{"articles": {
				{Partition: 0, Offset: 0}, {Partition: 1, Offset: 42},
			}},
		})
	if err != nil || response.Topics["articles"][0].Error != nil {
		t.Fatal(response, err)
	}
	got, err := Committed(t.Context(), client, "clusterd", "articles", []int{0, 1, 2})
	if want := (map[int]int64{0: 0, 1: 42}); err != nil || !maps.Equal(got, want) {
		t.Errorf("got %v, %v; want %v and nothing of the partition without a commit", got, err, want)
	}
	if got, err := Committed(t.Context(), client, "another", "articles", []int{0, 1}); err != nil ||
		len(got) != 0 {
		t.Errorf("another group: %v, %v", got, err)
	}
}

// ghost joins the group and is never heard of again. Its session is longer than a test waits.
func ghost(t *testing.T, client *kafka.Client, clientID string) {
	t.Helper()
	writer := newWriter(t, client, kgo.ClientID(clientID))
	join := kmsg.NewPtrJoinGroupRequest()
	join.Group, join.ProtocolType = "clusterd", "consumer"
	timeout := int32(wait.Timeout.Milliseconds())
	join.SessionTimeoutMillis, join.RebalanceTimeoutMillis = 2*timeout, 2*timeout
	protocol := kmsg.NewJoinGroupRequestProtocol()
	protocol.Name = "clusterd-topic"
	join.Protocols = append(join.Protocols, protocol)
	for range 2 { // the first answer only tells its id
		response, err := join.RequestWith(t.Context(), writer)
		if err != nil {
			t.Fatal(err)
		}
		join.MemberID = response.MemberID
		switch err := kerr.ErrorForCode(response.ErrorCode); {
		case errors.Is(err, kerr.MemberIDRequired):
			continue
		case err != nil:
			t.Fatal(err)
		}
		sync := kmsg.NewPtrSyncGroupRequest()
		sync.Group, sync.MemberID, sync.Generation = join.Group, join.MemberID, response.Generation
		if response, err := sync.RequestWith(t.Context(), writer); err != nil || response.ErrorCode != 0 {
			t.Fatal(response, err)
		}
	}
}

// members returns the client ids of the group's members.
func members(t *testing.T, client *kafka.Client) (ids []string) {
	t.Helper()
	groups, err := kadm.NewClient(newWriter(t, client)).DescribeGroups(t.Context(), "clusterd")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range groups["clusterd"].Members {
		ids = append(ids, m.ClientID)
	}
	slices.Sort(ids)
	return ids
}

// Nobody waits for a member of the instance's earlier starts, though its session would last for
// long.
func TestGroupRemovesDeadMembers(t *testing.T) {
	t.Parallel()
	_, client := startBrokers(t, 1, kfake.SeedTopics(2, "articles"))
	ctx, cancel := context.WithTimeout(t.Context(), wait.Timeout)
	defer cancel()
	ghost(t, client, "clusterd-one-3")
	group := joinAs(t, client, AllToOne, Member{Instance: "one", Start: 4, Session: session})
	if partitions, err := group.Next(ctx); err != nil || !slices.Equal(partitions, []int{0, 1}) {
		t.Errorf("Next = %v, %v", partitions, err)
	}
	if got := members(t, client); !slices.Equal(got, []string{"clusterd-one-4"}) {
		t.Errorf("members %q", got)
	}
}

// A member that the coordinator does not know any more joins again.
func TestGroupJoinsAgain(t *testing.T) {
	t.Parallel()
	_, client := startBrokers(t, 1, kfake.SeedTopics(1, "articles"))
	ctx, cancel := context.WithTimeout(t.Context(), wait.Timeout)
	defer cancel()
	member := Member{Instance: "one", Start: 1, Session: session}
	group := joinAs(t, client, AllToOne, member)
	if _, err := group.Next(ctx); err != nil {
		t.Fatal(err)
	}
	if err := joinAs(t, client, AllToOne, member).removeDeadMembers(ctx); err != nil {
		t.Fatal(err)
	}
	if got := members(t, client); len(got) != 0 {
		t.Fatalf("members %q", got)
	}
	if partitions, err := group.Next(ctx); err != nil || !slices.Equal(partitions, []int{0}) {
		t.Errorf("Next = %v, %v", partitions, err)
	}
}

// A topic that is made anew while its partitions are divided has a member after that.
func TestGroupOfATopicThatComes(t *testing.T) {
	t.Parallel()
	cluster, client := startBrokers(t, 1, kfake.SeedTopics(2, "articles"))
	var asked atomic.Bool
	cluster.ControlKey(int16(kmsg.Metadata), func(r kmsg.Request) (kmsg.Response, error, bool) {
		request := r.(*kmsg.MetadataRequest)
		if len(request.Topics) == 0 || asked.Swap(true) {
			return nil, nil, false
		}
		response := request.ResponseKind().(*kmsg.MetadataResponse)
		topic := kmsg.NewMetadataResponseTopic()
		topic.Topic, topic.ErrorCode = request.Topics[0].Topic, kerr.UnknownTopicOrPartition.Code
		response.Topics = append(response.Topics, topic)
		return response, nil, true
	})
	ctx, cancel := context.WithTimeout(t.Context(), wait.Timeout)
	defer cancel()
	partitions, err := join(t, client, AllToOne).Next(ctx)
	if err != nil || !slices.Equal(partitions, []int{0, 1}) {
		t.Errorf("Next = %v, %v", partitions, err)
	}
}

// Who is told to stop while it waits for others to join leaves at once, and is no member after
// that.
func TestGroupCloseWhileJoining(t *testing.T) {
	t.Parallel()
	_, client := startBrokers(t, 1, kfake.SeedTopics(1, "articles"))
	ghost(t, client, "clusterd-two-1") // another instance's: the group waits for it
	ctx, cancel := context.WithCancel(t.Context())
	group := NewGroup(client, slog.New(slog.DiscardHandler), "clusterd", "articles",
		Member{Instance: "one", Start: 1, Session: session}, AllToOne, nil)
	ended := make(chan error, 1)
	go func() {
		_, err := group.Next(ctx)
		ended <- err
	}()
	wait.Until(t, "the member to join", func() bool { return len(members(t, client)) == 2 })
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("Next = %v", err)
	}
	closed := make(chan error, 1)
	go func() { closed <- group.Close(ctx) }()
	select {
	case err := <-closed:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(wait.Timeout):
		t.Fatal("Close waits for the group")
	}
	if got := members(t, client); !slices.Equal(got, []string{"clusterd-two-1"}) {
		t.Errorf("members %q", got)
	}
}

func TestMemberDead(t *testing.T) {
	member := Member{Instance: "one", Start: 12, Session: session}
	for clientID, dead := range map[string]bool{
		"clusterd-one-12": true, "clusterd-one-3": true,
		"clusterd-one-13": false, "clusterd-two-1": false, "clusterd-one-": false,
		"clusterd-one-x": false, "clusterd-one": false,
		"clusterd": false, "": false, "clusterd-one-1-1": false,
	} {
		if got := member.dead(clientID); got != dead {
			t.Errorf("dead(%q) = %t", clientID, got)
		}
	}
}
