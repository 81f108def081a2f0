package state_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/clusterd/clusterd/internal/message/cluster"
	"github.com/clusterd/clusterd/internal/message/label"
	"github.com/clusterd/clusterd/internal/space/state"
)

// A store knows how many marks it has, whatever becomes of contacts, and when it is opened again.
func TestMarksAreCounted(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 0))
	disk, most := vfs.NewMem(), 0
	s := open(t, disk)
	for step := range 60 {
		var changes []state.ContactChange
		for n := range 4 {
			if rng.IntN(2) == 0 {
				changes = append(changes, state.ContactChange{Contact: randomContact(rng, n)})
			}
		}
		m := s.Meta()
		m.Next = uint64(step)
		if err := s.Apply(nil, nil, m, state.ChangesOf(nil, changes)...); err != nil {
			t.Fatal(err)
		}
		if step%7 == 0 {
			closeStore(t, s)
			s = open(t, disk)
		}
		var want label.Tally
		err := s.Contacts(func(c *cluster.Contact) bool {
			want.Add(c.Name, nil, c.Marks)
			return true
		})
		if got := s.Marks(); err != nil || got != want {
			t.Fatalf("step %d: it counts %+v, %v; there are %+v", step, got, err, want)
		}
		most = max(most, want.Labelling+want.UsedUp+want.Ended)
	}
	closeStore(t, s)
	if most < 5 {
		t.Errorf("there were never more than %d marks", most)
	}
}

// randomContact is a contact of two values of a divided space that has marks, or none any more.
func randomContact(rng *rand.Rand, n int) cluster.Contact {
	c := cluster.Contact{Name: fmt.Sprintf("number:%d", n/2), Value: string(rune('a' + n%2))}
	if rng.IntN(4) == 0 {
		return c
	}
	for _, trial := range []bool{false, true}[:1+rng.IntN(2)] {
		c.Marks = c.Marks.With(label.Mark{
			Name: "spam", Trial: trial, Votes: label.Vote * (1 + rng.IntN(2)), Hams: rng.IntN(3), Reach: 6,
			Used: rng.IntN(7),
		})
	}
	return c
}
