package consumer

import (
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	kafkago "github.com/segmentio/kafka-go"
)

// An Assignment says how the partitions of a topic are divided among the members of a group.
type Assignment string

// The assignments. Their values are the names of protocols, on which the members of a group must
// agree: a member with another one cannot join.
const (
	AllToOne Assignment = "clusterd-topic"     // one member owns all partitions, the others none
	Spread   Assignment = "clusterd-partition" // each member owns an even share
	// SpreadInput is Spread among members that fingerprint only. One that does more cannot join them.
	SpreadInput Assignment = "clusterd-fingerprint"
)

// A balancer divides partitions among the members of a group and lets them stay where they are, as
// far as an even spread allows: whoever takes a partition over has work to do first. It implements
// kafka-go's GroupBalancer. Every member reports what it owns in its user data.
type balancer struct {
	assignment Assignment
	mutex      sync.Mutex // kafka-go asks from a goroutine of its own
	owned      []int
	// missing is set while the last assignment that this member made as the leader had no partitions
	// to give: the topic was not there.
	missing bool
}

// userData is what a member reports to the leader of the group.
type userData struct {
	Owned []int `json:"owned"`
}

func (b *balancer) own(partitions []int) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	b.owned = slices.Clone(partitions)
}

// foundNone reports whether this member led the last rebalance and found no partitions, and forgets
// it.
func (b *balancer) foundNone() bool {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	missing := b.missing
	b.missing = false
	return missing
}

// ProtocolName returns the name by which members agree on an assignment.
func (b *balancer) ProtocolName() string { return string(b.assignment) }

// UserData returns what this member owns.
func (b *balancer) UserData() ([]byte, error) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	data, err := json.Marshal(userData{Owned: b.owned})
	if err != nil {
		return nil, fmt.Errorf("telling the group what is owned: %w", err)
	}
	return data, nil
}

// AssignGroups gives every partition to one member.
func (b *balancer) AssignGroups(
	members []kafkago.GroupMember, partitions []kafkago.Partition,
) kafkago.GroupMemberAssignments {
	b.mutex.Lock()
	b.missing = len(partitions) == 0
	b.mutex.Unlock()
	assignments := make(kafkago.GroupMemberAssignments, len(members))
	for _, m := range members {
		assignments[m.ID] = map[string][]int{}
	}
	topics := make(map[string][]int)
	for _, p := range partitions {
		topics[p.Topic] = append(topics[p.Topic], p.ID)
	}
	owned := ownedBy(members)
	ids := make([]string, 0, len(members))
	for _, m := range members {
		ids = append(ids, m.ID)
	}
	slices.Sort(ids)
	for topic, ps := range topics {
		slices.Sort(ps)
		for id, share := range spread(ids, b.units(ps), owned) {
			assignments[id][topic] = share
		}
	}
	return assignments
}

// units returns the partitions that must be owned together.
func (b *balancer) units(partitions []int) [][]int {
	if b.assignment == AllToOne {
		return [][]int{partitions}
	}
	units := make([][]int, len(partitions))
	for i, p := range partitions {
		units[i] = []int{p}
	}
	return units
}

// ownedBy returns who owns a partition now; of several who claim it, the first by id.
func ownedBy(members []kafkago.GroupMember) map[int]string {
	owned := make(map[int]string)
	for _, m := range members {
		var data userData
		if json.Unmarshal(m.UserData, &data) != nil {
			continue
		}
		for _, p := range data.Owned {
			if id, ok := owned[p]; !ok || m.ID < id {
				owned[p] = m.ID
			}
		}
	}
	return owned
}

// spread gives each member at most its even share of the units: first what it owns already, then
// what is left, to the member that has the fewest. The result is partitions by member.
func spread(members []string, units [][]int, owned map[int]string) map[string][]int {
	shares := make(map[string][]int, len(members))
	if len(members) == 0 {
		return shares
	}
	// With 7 units and 3 members, one may have 3 and the others 2: the larger shares are few.
	small, larger := len(units)/len(members), len(units)%len(members)
	count := make(map[string]int, len(members))
	var rest [][]int
	for _, unit := range units {
		id, ok := owned[unit[0]]
		switch {
		case ok && count[id] < small:
		case ok && count[id] == small && larger > 0:
			larger--
		default:
			rest = append(rest, unit)
			continue
		}
		count[id]++
		shares[id] = append(shares[id], unit...)
	}
	for _, unit := range rest {
		id := slices.MinFunc(members, func(a, b string) int { return count[a] - count[b] })
		count[id]++
		shares[id] = append(shares[id], unit...)
	}
	for _, share := range shares {
		slices.Sort(share)
	}
	return shares
}
