package label

// A State is how far a mark is.
type State string

// The states.
const (
	Waiting   State = "waiting"   // it has too few votes to label clusters
	Labelling State = "labelling" // it may label further clusters
	UsedUp    State = "used_up"   // it has labelled as many as it may, until somebody clicks again
	Ended     State = "ended"     // there are as many votes against it as for it
)

// States are all states, in the order that a mark goes through.
var States = []State{Waiting, Labelling, UsedUp, Ended}

// State returns how far the mark of a contact is.
func (m *Mark) State(contact string) State {
	switch {
	case m.MayLabel(contact):
		return Labelling
	case m.Counts(contact):
		return UsedUp
	case m.against() > 0 && m.Votes <= m.against():
		return Ended
	default:
		return Waiting
	}
}

// A Tally counts marks.
type Tally struct {
	Waiting, Labelling, UsedUp, Ended int // marks, by their states
	// Reach is how many clusters the marks that count may label, and Used how many they have labelled.
	Reach, Used int
}

// Add counts the marks of a contact, in place of the marks that it had before.
func (t *Tally) Add(contact string, before, now Marks) {
	t.count(contact, before, -1)
	t.count(contact, now, 1)
}

func (t *Tally) count(contact string, all Marks, by int) {
	for i := range all {
		m := &all[i]
		*t.of(m.State(contact)) += by
		if m.Counts(contact) {
			t.Reach += by * m.Reach
			t.Used += by * m.Used
		}
	}
}

// In returns how many marks are in a state.
func (t Tally) In(s State) int { return *t.of(s) }

func (t *Tally) of(s State) *int {
	switch s {
	case Labelling:
		return &t.Labelling
	case UsedUp:
		return &t.UsedUp
	case Ended:
		return &t.Ended
	default:
		return &t.Waiting
	}
}
