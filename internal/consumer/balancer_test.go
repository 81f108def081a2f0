package consumer

import (
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"testing"

	kafkago "github.com/segmentio/kafka-go"
)

// member tells what it owns as a real one does.
func member(t *testing.T, assignment Assignment, id string, owned ...int) kafkago.GroupMember {
	t.Helper()
	b := &balancer{assignment: assignment}
	b.own(owned)
	data, err := b.UserData()
	if err != nil {
		t.Fatal(err)
	}
	return kafkago.GroupMember{ID: id, Topics: []string{"articles"}, UserData: data}
}

func partitionsOf(topic string, n int) []kafkago.Partition {
	partitions := make([]kafkago.Partition, n)
	for i := range partitions {
		partitions[i] = kafkago.Partition{Topic: topic, ID: i}
	}
	return partitions
}

func TestAssignGroups(t *testing.T) {
	for name, tt := range map[string]struct {
		assignment Assignment
		owned      map[string][]int // by member
		partitions int
		want       map[string][]int
	}{
		"alone": {
			Spread, map[string][]int{"a": nil}, 3, map[string][]int{"a": {0, 1, 2}},
		},
		"two, nothing owned yet": {
			Spread, map[string][]int{"a": nil, "b": nil}, 4, map[string][]int{"a": {0, 2}, "b": {1, 3}},
		},
		"what is owned stays": {
			Spread,
			map[string][]int{"a": {1, 3}, "b": {0, 2}},
			4,
			map[string][]int{"a": {1, 3}, "b": {0, 2}},
		},
		"a newcomer takes its share": {
			Spread,
			map[string][]int{"a": {0, 1, 2, 3}, "b": nil},
			4,
			map[string][]int{"a": {0, 1}, "b": {2, 3}},
		},
		"the larger share stays": {
			Spread, map[string][]int{"a": {0}, "b": {1, 2}}, 3, map[string][]int{"a": {0}, "b": {1, 2}},
		},
		"somebody left": {
			Spread, map[string][]int{"a": {0}, "b": {1}}, 4, map[string][]int{"a": {0, 2}, "b": {1, 3}},
		},
		"more members than partitions": {
			Spread, map[string][]int{"a": nil, "b": nil, "c": {0}}, 1, map[string][]int{"c": {0}},
		},
		"two claim the same": {
			Spread, map[string][]int{"a": {1}, "b": {1}}, 2, map[string][]int{"a": {1}, "b": {0}},
		},
		"a claim to no partition": {
			Spread, map[string][]int{"a": {7}, "b": nil}, 2, map[string][]int{"a": {0}, "b": {1}},
		},
		"one space, nobody owns it": {
			AllToOne, map[string][]int{"b": nil, "a": nil}, 3, map[string][]int{"a": {0, 1, 2}},
		},
		"one space stays": {
			AllToOne, map[string][]int{"a": nil, "b": {0, 1, 2}}, 3, map[string][]int{"b": {0, 1, 2}},
		},
		"one space with a new partition": {
			AllToOne, map[string][]int{"a": nil, "b": {0, 1}}, 3, map[string][]int{"b": {0, 1, 2}},
		},
		"no partitions": {AllToOne, map[string][]int{"a": nil}, 0, map[string][]int{}},
	} {
		t.Run(name, func(t *testing.T) {
			var members []kafkago.GroupMember
			for id, owned := range tt.owned {
				members = append(members, member(t, tt.assignment, id, owned...))
			}
			assignments := (&balancer{assignment: tt.assignment}).AssignGroups(members,
				partitionsOf("articles", tt.partitions))
			got := make(map[string][]int)
			for id, topics := range assignments {
				if len(topics["articles"]) > 0 {
					got[id] = topics["articles"]
				}
			}
			if !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got %v, want %v", got, tt.want)
			}
			if len(assignments) != len(members) {
				t.Errorf("%d of %d members are told", len(assignments), len(members))
			}
		})
	}
}

func TestAssignGroupsWithUserDataThatIsNotOurs(t *testing.T) {
	members := []kafkago.GroupMember{
		{ID: "a", UserData: []byte("\x00\x01")}, {ID: "b"}, member(t, Spread, "c", 0),
	}
	got := (&balancer{assignment: Spread}).AssignGroups(members, partitionsOf("articles", 3))
	want := kafkago.GroupMemberAssignments{
		"a": {"articles": {1}}, "b": {"articles": {2}}, "c": {"articles": {0}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := (&balancer{assignment: Spread}).AssignGroups(nil,
		partitionsOf("articles", 3)); len(got) != 0 {
		t.Errorf("without members: %v", got)
	}
}

func TestAssignmentsCannotShareAGroup(t *testing.T) {
	if a, b := (&balancer{assignment: AllToOne}).ProtocolName(),
		(&balancer{assignment: Spread}).ProtocolName(); a == b {
		t.Errorf("both assignments are called %s", a)
	}
}

// Members of different versions share a group, so the names of the protocols stay.
func TestProtocolNames(t *testing.T) {
	if AllToOne != "clusterd-topic" || Spread != "clusterd-partition" {
		t.Errorf("the protocols are called %s and %s", AllToOne, Spread)
	}
}

// Whatever the members claim: every partition is given once; shares differ by at most one; as many
// stay with their owner as an even spread allows; the order of the input does not count.
func TestAssignGroupsProperties(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 3))
	for range 2000 {
		assignment := []Assignment{AllToOne, Spread}[random.IntN(2)]
		partitions := partitionsOf("articles", 1+random.IntN(12))
		claims := make(map[int]string) // each partition by at most one member
		owned := make(map[string][]int)
		members := make([]kafkago.GroupMember, 1+random.IntN(5))
		for i := range members {
			owned["m"+strconv.Itoa(i)] = nil
		}
		for _, p := range partitions {
			if i := random.IntN(len(members) + 1); i < len(members) {
				id := "m" + strconv.Itoa(i)
				claims[p.ID] = id
				owned[id] = append(owned[id], p.ID)
			}
		}
		for i := range members {
			id := "m" + strconv.Itoa(i)
			members[i] = member(t, assignment, id, owned[id]...)
		}
		b := &balancer{assignment: assignment}
		got := b.AssignGroups(members, partitions)

		var all []int
		smallest, largest, kept := len(partitions), 0, 0
		for id, topics := range got {
			share := topics["articles"]
			all = append(all, share...)
			smallest, largest = min(smallest, len(share)), max(largest, len(share))
			for _, p := range share {
				if claims[p] == id {
					kept++
				}
			}
			if !slices.IsSorted(share) {
				t.Fatalf("%v is not ascending", share)
			}
		}
		slices.Sort(all)
		for i, p := range all {
			if i != p {
				t.Fatalf("given: %v, want every partition of %d once", all, len(partitions))
			}
		}
		if len(all) != len(partitions) {
			t.Fatalf("%d of %d partitions are given", len(all), len(partitions))
		}
		switch assignment {
		case AllToOne:
			if largest != len(partitions) {
				t.Fatalf("%v: one member must own all", got)
			}
			if id, ok := claims[0]; ok && len(got[id]["articles"]) == 0 {
				t.Fatalf("%v: %s owned the space and lost it", got, id)
			}
		case Spread:
			if largest-smallest > 1 {
				t.Fatalf("%v is not even", got)
			}
			if want := mostKept(owned, len(partitions)); kept != want {
				t.Fatalf("%d partitions stay, want %d: %v had %v", kept, want, got, owned)
			}
		}

		random.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
		random.Shuffle(len(partitions),
			func(i, j int) { partitions[i], partitions[j] = partitions[j], partitions[i] })
		if again := b.AssignGroups(members, partitions); !reflect.DeepEqual(again, got) {
			t.Fatalf("in another order: %v, then %v", got, again)
		}
	}
}

// mostKept returns how many partitions can stay where they are in an even spread, by trying which
// members have the larger shares.
func mostKept(owned map[string][]int, partitions int) int {
	ids := slices.Collect(maps.Keys(owned))
	best := 0
	for larger := range 1 << len(ids) {
		shares, kept := 0, 0
		for i, id := range ids {
			share := partitions/len(ids) + larger>>i&1
			shares += share
			kept += min(share, len(owned[id]))
		}
		if shares == partitions {
			best = max(best, kept)
		}
	}
	return best
}
