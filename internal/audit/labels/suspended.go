package labels

import (
	"slices"

	"github.com/clusterd/clusterd/internal/audit/wire"
)

// A suspension is labels that results of articles from one position to another may lack: an earlier
// version left a label out that hit too many articles.
type suspension struct {
	from, to int64
	names    []uint64
}

// suspend takes up which labels were suspended when a checkpoint was written. The articles of its
// transaction, from first on, may lack them, and those of the next.
func (s *Space) suspend(c *wire.Checkpoint, first int64) {
	if n := len(s.suspensions); n > 0 && s.suspensions[n-1].to < 0 {
		s.suspensions[n-1].to = c.NextPosition
	}
	var names []uint64
	for name, f := range c.Labels.Flood {
		if f.Suspended {
			names = append(names, s.name(name))
		}
	}
	if names != nil {
		s.suspensions = append(s.suspensions, suspension{from: first, to: -1, names: names})
	}
}

// mayLack returns which labels the result at a position may lack. Positions ascend.
func (s *Space) mayLack(position int64) (names []uint64) {
	for len(s.suspensions) > 0 && s.suspensions[0].to >= 0 && s.suspensions[0].to <= position {
		s.suspensions = s.suspensions[1:]
	}
	for i := range s.suspensions {
		if s.suspensions[i].from > position {
			break
		}
		names = append(names, s.suspensions[i].names...)
	}
	return names
}

// shows reports whether the result at a position may show these labels of a cluster that has these
// entries, and these on trial.
func (s *Space) shows(entries []label, position int64, labels, trial uint64) bool {
	want, wantTrial := s.carried(entries)
	if want == labels || wantTrial != trial {
		return want == labels && wantTrial == trial
	}
	mayLack := s.mayLack(position)
	lackable := slices.DeleteFunc(slices.Clone(entries), func(e label) bool {
		one, _ := s.carried([]label{e})
		return one == 0 || !slices.Contains(mayLack, e.name)
	})
	for lack := range 1 << len(lackable) {
		rest := want
		for i, e := range lackable {
			if lack>>i&1 == 1 {
				rest -= e.name
			}
		}
		if rest == labels {
			return true
		}
	}
	return false
}
