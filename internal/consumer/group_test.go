package consumer

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"testing"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/testwait"
)

func join(t *testing.T, client *kafka.Client, scope Scope) *Group {
	t.Helper()
	group, err := Join(client, slog.New(slog.DiscardHandler), "clusterd", "articles", scope, nil)
	if err != nil {
		t.Fatal(err)
	}
	return group
}

// watch sends what the member owns, generation after generation.
func watch(ctx context.Context, group *Group) <-chan []int {
	generations := make(chan []int)
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
	ctx, cancel := context.WithTimeout(t.Context(), testwait.Patience)
	defer cancel()

	owner := join(t, client, ScopeTopic)
	owners := watch(ctx, owner)
	await(t, ctx, "the first", owners, 0, 1, 2, 3)
	standby := join(t, client, ScopeTopic)
	defer standby.Close()
	standbys := watch(ctx, standby)
	await(t, ctx, "the first", owners, 0, 1, 2, 3) // it keeps them in the new generation
	await(t, ctx, "the second", standbys)
	if err := owner.Close(); err != nil {
		t.Fatal(err)
	}
	await(t, ctx, "the second", standbys, 0, 1, 2, 3)
}

func TestGroupOfPartitions(t *testing.T) {
	t.Parallel()
	_, client := startBrokers(t, 1, kfake.SeedTopics(4, "articles"))
	ctx, cancel := context.WithTimeout(t.Context(), testwait.Patience)
	defer cancel()

	first := join(t, client, ScopePartition)
	defer first.Close()
	firsts := watch(ctx, first)
	await(t, ctx, "the first", firsts, 0, 1, 2, 3)
	second := join(t, client, ScopePartition)
	seconds := watch(ctx, second)
	await(t, ctx, "the first", firsts, 0, 1)
	await(t, ctx, "the second", seconds, 2, 3)
	if err := second.Close(); err != nil {
		t.Fatal(err)
	}
	await(t, ctx, "the first", firsts, 0, 1, 2, 3)
}

func TestGroupNextEndsWithTheContext(t *testing.T) {
	_, client := startBrokers(t, 1, kfake.SeedTopics(1, "articles"))
	ctx, cancel := context.WithCancel(t.Context())
	group := join(t, client, ScopeTopic)
	defer group.Close()
	await(t, ctx, "the member", watch(ctx, group), 0)
	cancel()
	if partitions, err := group.Next(ctx); err == nil || len(partitions) != 0 {
		t.Errorf("Next = %v, %v", partitions, err)
	}
}

func TestCommittedOffsets(t *testing.T) {
	_, client := startBrokers(t, 1, kfake.SeedTopics(3, "articles"))
	if got, err := Committed(t.Context(), client, "clusterd", "articles", []int{0, 1, 2}); err != nil || len(got) != 0 {
		t.Errorf("before any commit: %v, %v", got, err)
	}
	response, err := (&kafkago.Client{Addr: kafkago.TCP(client.Brokers...)}).OffsetCommit(t.Context(), &kafkago.OffsetCommitRequest{
		GroupID: "clusterd", GenerationID: -1, Topics: map[string][]kafkago.OffsetCommit{"articles": {{Partition: 0, Offset: 0}, {Partition: 1, Offset: 42}}},
	})
	if err != nil || response.Topics["articles"][0].Error != nil {
		t.Fatal(response, err)
	}
	got, err := Committed(t.Context(), client, "clusterd", "articles", []int{0, 1, 2})
	if want := (map[int]int64{0: 0, 1: 42}); err != nil || !maps.Equal(got, want) {
		t.Errorf("got %v, %v; want %v and nothing of the partition without a commit", got, err, want)
	}
	if got, err := Committed(t.Context(), client, "another", "articles", []int{0, 1}); err != nil || len(got) != 0 {
		t.Errorf("another group: %v, %v", got, err)
	}
}

// dead joins the group as its only member and is never heard of again. Its session is longer than a test
// waits.
func dead(t *testing.T, client *kafka.Client) (member string) {
	t.Helper()
	writer := newWriter(t, client)
	join := kmsg.NewPtrJoinGroupRequest()
	join.Group, join.ProtocolType = "clusterd", "consumer"
	patience := int32(testwait.Patience.Milliseconds())
	join.SessionTimeoutMillis, join.RebalanceTimeoutMillis = 2*patience, patience
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
	return join.MemberID
}

// Nobody waits for a member that was expelled, though its session would last for long.
func TestExpel(t *testing.T) {
	_, client := startBrokers(t, 1, kfake.SeedTopics(2, "articles"))
	ctx, cancel := context.WithTimeout(t.Context(), testwait.Patience)
	defer cancel()
	member := dead(t, client)
	for _, id := range []string{member, member, "another"} { // to be sure is no error
		if err := Expel(ctx, client, "clusterd", id); err != nil {
			t.Fatalf("Expel(%s) = %v", id, err)
		}
	}
	if err := Expel(ctx, client, "no such group", member); err != nil {
		t.Errorf("from a group that is not there: %v", err)
	}
	group := join(t, client, ScopeTopic)
	defer group.Close()
	await(t, ctx, "its successor", watch(ctx, group), 0, 1)
}

func TestMember(t *testing.T) {
	_, client := startBrokers(t, 1, kfake.SeedTopics(1, "articles"))
	ctx, cancel := context.WithTimeout(t.Context(), testwait.Patience)
	defer cancel()
	group := join(t, client, ScopeTopic)
	defer group.Close()
	if id := group.Member(); id != "" {
		t.Errorf("before the first generation: %q", id)
	}
	if _, err := group.Next(ctx); err != nil {
		t.Fatal(err)
	}
	first := group.Member()
	if err := Expel(ctx, client, "clusterd", first); err != nil {
		t.Fatal(err)
	}
	if _, err := group.Next(ctx); err != nil {
		t.Fatal(err)
	}
	if second := group.Member(); first == "" || second == "" || second == first {
		t.Errorf("%q, and %q after it was expelled", first, second)
	}
}
