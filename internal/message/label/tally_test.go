package label_test

import (
	"testing"

	"github.com/clusterd/clusterd/internal/message/label"
)

// How far a mark is follows from its votes, from those who said that the contact is harmless, and
// from how many clusters it has labelled.
func TestStates(t *testing.T) {
	const number, site = "number:+447700900123", "site:example.org"
	for name, of := range map[string]struct {
		contact string
		mark    label.Mark
		want    label.State
		counts  bool
	}{
		"a number, from any vote on": {
			number, label.Mark{Votes: label.Vote / 16, Reach: 6}, label.Labelling, true,
		},
		"a site with a third of a vote": {
			site, label.Mark{Votes: label.Vote / 3, Reach: 6}, label.Waiting, false,
		},
		"a site with half a vote": {
			site, label.Mark{Votes: label.Vote / 2, Reach: 6}, label.Labelling, true,
		},
		"one that has labelled as many as it may": {
			number, label.Mark{Votes: label.Vote, Reach: 6, Used: 6}, label.UsedUp, true,
		},
		"one click, and one that says harmless": {
			number, label.Mark{Votes: label.Vote, Hams: 1, Reach: 6, Used: 2}, label.Ended, false,
		},
		"two clicks, and one that says harmless": {
			number, label.Mark{Votes: 2 * label.Vote, Hams: 1, Reach: 6}, label.Labelling, true,
		},
		"harmless, and the click was taken back": {
			number, label.Mark{Hams: 1, Reach: 6}, label.Ended, false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			of.mark.Name = "spam"
			if got := of.mark.State(of.contact); got != of.want {
				t.Errorf("it is %s, want %s", got, of.want)
			}
			var got, want label.Tally
			got.Add(of.contact, nil, label.Marks{of.mark})
			if n := got.In(of.want); n != 1 || got.Waiting+got.Labelling+got.UsedUp+got.Ended != 1 {
				t.Errorf("%+v, want one that is %s", got, of.want)
			}
			if of.counts {
				want.Reach, want.Used = of.mark.Reach, of.mark.Used
			}
			if got.Reach != want.Reach || got.Used != want.Used {
				t.Errorf("%+v, want %+v", got, want)
			}
			got.Add(of.contact, label.Marks{of.mark}, nil)
			if got != (label.Tally{}) {
				t.Errorf("%+v are left of it", got)
			}
		})
	}
}
