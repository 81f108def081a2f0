//go:build integration

package integration

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
)

// Of three brokers with three replicas, of which two must be in sync, any one may go, for a while
// or for good, or become hard to reach: nothing is lost and nothing is doubled. Where another
// broker can do what it did, articles go on without it.
func TestThreeBrokers(t *testing.T) {
	t.Parallel()
	n := newNetwork(t, mostBrokers)
	for _, row := range []struct {
		name string
		hurt func(*hardship)
	}{
		{"rolling restart", (*hardship).rollingRestart},
		{"frozen", (*hardship).frozen},
		{"lost for good", (*hardship).lost},
		{"leaders moved", (*hardship).leadersMoved},
		{"coordinator of the group killed", (*hardship).groupCoordinatorKilled},
		{"coordinator of the transactions killed", (*hardship).transactionCoordinatorKilled},
		{"slow network", (*hardship).slow},
		{"narrow network", (*hardship).narrow},
		{"connections cut", (*hardship).cut},
		{"requests lost", (*hardship).requestsLost},
		{"answers lost", (*hardship).answersLost},
		{"half-closed", (*hardship).halfClosed},
		{"broker killed unheard", (*hardship).killedUnheard},
	} {
		if !t.Run(row.name, func(t *testing.T) { n.under(t, row.hurt) }) {
			break // a broker may be away
		}
	}
}

// hardship is what instances work under.
type hardship struct {
	*world
	network *network
	pair    [2]*instance // one that works and one that stands by
	worst   time.Duration
}

// under has two instances cluster a stream while something goes wrong.
func (n *network) under(t *testing.T, hurt func(*hardship)) {
	began := time.Now()
	h := &hardship{world: n.newWorld(t, 4, n.settings()+noLinger), network: n}
	stream := h.stream(perSecond)
	h.pair = [2]*instance{h.start(), h.start()}
	h.goesOn("the start")
	h.worst = 0
	witness := h.witness()
	hurt(h)
	n.heal()
	h.goesOn("all is well again")
	stream.stop()
	h.done()
	h.pair[0].stop()
	h.pair[1].stop()
	r := h.audit("--aborted", "--seen", witness.end())
	t.Logf("%d articles in %.0f s, %d records of aborted transactions, longest wait %.1f s",
		stream.sent.Load(), time.Since(began).Seconds(), r.Counts.Aborted, h.worst.Seconds())
	for _, c := range r.Checks {
		if c.Violations > 0 {
			t.Errorf("%s %s: %d of %d", c.ID, c.Verdict, c.Violations, c.Checked)
		}
	}
}

// goesOn waits until more is committed than is now, and says how long that took.
func (h *hardship) goesOn(what string) {
	h.Helper()
	began, before := time.Now(), h.consumed()
	h.eventually("progress after "+what, func() bool { return h.consumed() > before })
	took := time.Since(began)
	h.worst = max(h.worst, took)
	h.Logf("%s: progress after %.1f s", what, took.Seconds())
}

// on runs a command of integration/kafka on one broker.
func (h *hardship) on(broker int32, command string) {
	h.Helper()
	h.do(command, "--broker", strconv.Itoa(int(broker)))
}

// inSync waits until all replicas of all topics are.
func (h *hardship) inSync() {
	h.Helper()
	h.eventually("all replicas to be in sync", func() bool {
		topics, err := h.admin.ListTopicsWithInternal(h.Context())
		if err != nil || len(topics) == 0 {
			return false
		}
		behind := 0
		topics.EachPartition(func(p kadm.PartitionDetail) {
			if len(p.ISR) < len(p.Replicas) || len(p.Replicas) < len(h.addresses) {
				behind++
			}
		})
		return behind == 0
	})
}

func (h *hardship) rollingRestart() {
	for n := range h.addresses {
		broker := int32(n + 1)
		h.on(broker, "stop")
		h.goesOn(fmt.Sprintf("stop of broker %d", broker))
		h.on(broker, "start")
		h.inSync()
	}
}

// frozen freezes the broker that leads the first partition for longer than requests and sessions
// last.
func (h *hardship) frozen() {
	broker := h.leader(h.input, 0)
	began := time.Now()
	h.on(broker, "pause")
	h.goesOn("freezing a broker")
	h.eventually("the end of the frost", func() bool { return time.Since(began) > frozenFor })
	h.on(broker, "continue")
	h.inSync()
}

// lost takes the disk of a broker away. One that has nothing comes in its place, and carries on
// alone with one other when the third goes.
func (h *hardship) lost() {
	broker := h.leader(h.clusters, 0)
	h.on(broker, "lose")
	h.goesOn("loss of a broker")
	h.on(broker, "start")
	h.inSync()
	other := broker%int32(len(h.addresses)) + 1
	h.on(other, "kill")
	h.goesOn("death of another, with a new one in place of the lost")
	h.on(other, "start")
	h.inSync()
}

func (h *hardship) groupCoordinatorKilled() {
	found := h.admin.FindGroupCoordinators(h.Context(), h.group)
	if err := found.Error(); err != nil {
		h.Fatal(err)
	}
	h.killed(found[h.group].NodeID)
}

func (h *hardship) transactionCoordinatorKilled() {
	found, err := h.admin.ListTransactions(h.Context(), nil, nil)
	if err != nil {
		h.Fatal(err)
	}
	own := slices.DeleteFunc(found.Sorted(), func(l kadm.ListedTransaction) bool {
		return !strings.HasPrefix(l.TxnID, h.group)
	})
	if len(own) != 1 {
		h.Fatalf("transactions of the group: %+v", own)
	}
	h.killed(own[0].Coordinator)
}

// killed kills a broker, which comes back when there is progress without it.
func (h *hardship) killed(broker int32) {
	h.Helper()
	h.on(broker, "kill")
	h.goesOn(fmt.Sprintf("death of broker %d", broker))
	h.on(broker, "start")
	h.inSync()
}

// leader returns the broker that leads a partition.
func (h *hardship) leader(topic string, partition int32) int32 {
	h.Helper()
	topics, err := h.admin.ListTopics(h.Context(), topic)
	if err != nil {
		h.Fatal(err)
	}
	return topics[topic].Partitions[partition].Leader
}

// leadersMoved takes every partition away from its leader, and gives it to a broker that has
// nothing of it, by Kafka's own tools. Those of groups and transactions are among them.
func (h *hardship) leadersMoved() {
	topics := h.topics()
	before := leaders(topics)
	h.reassign(topics, func(p kadm.PartitionDetail) []int32 { return others(p) })
	h.goesOn("leaders taken from all partitions")
	h.reassign(topics, func(p kadm.PartitionDetail) []int32 { return append(others(p), p.Leader) })
	h.inSync()
	h.do("tool", "leader-election", "--election-type", "preferred", "--all-topic-partitions")
	h.goesOn("election of preferred leaders")
	for partition, leader := range leaders(h.topics()) {
		if was, there := before[partition]; there && was == leader {
			h.Errorf("%s is still led by broker %d", partition, leader)
		}
	}
}

// topics returns its own topics and those of groups and transactions. Others may be on their way
// out.
func (h *hardship) topics() kadm.TopicDetails {
	h.Helper()
	topics, err := h.admin.ListTopicsWithInternal(h.Context())
	if err != nil {
		h.Fatal(err)
	}
	maps.DeleteFunc(topics, func(name string, _ kadm.TopicDetail) bool {
		return !strings.HasPrefix(name, h.group) && !strings.HasPrefix(name, "__")
	})
	return topics
}

// leaders returns those of all partitions.
func leaders(topics kadm.TopicDetails) map[string]int32 {
	leaders := make(map[string]int32)
	topics.EachPartition(func(p kadm.PartitionDetail) {
		leaders[fmt.Sprintf("%s/%d", p.Topic, p.Partition)] = p.Leader
	})
	return leaders
}

// others returns the replicas of a partition but for its leader.
func others(p kadm.PartitionDetail) []int32 {
	return slices.DeleteFunc(slices.Clone(p.Replicas), func(b int32) bool { return b == p.Leader })
}

// reassign has each partition where the function says, and waits until it is.
func (h *hardship) reassign(topics kadm.TopicDetails, to func(kadm.PartitionDetail) []int32) {
	h.Helper()
	type move struct {
		Topic     string  `json:"topic"`
		Partition int32   `json:"partition"`
		Replicas  []int32 `json:"replicas"`
	}
	var moves []move
	topics.EachPartition(func(p kadm.PartitionDetail) {
		moves = append(moves, move{Topic: p.Topic, Partition: p.Partition, Replicas: to(p)})
	})
	plan, err := json.Marshal(map[string]any{"version": 1, "partitions": moves})
	if err != nil {
		h.Fatal(err)
	}
	file := filepath.Join(h.dir, "moves.json")
	if err := os.WriteFile(file, plan, 0o600); err != nil {
		h.Fatal(err)
	}
	h.do("tool", "reassign-partitions", "--reassignment-json-file", file, "--execute")
	h.eventually("the end of the moves", func() bool {
		now, err := h.admin.ListPartitionReassignments(h.Context(), nil)
		return err == nil && len(now) == 0
	})
}
