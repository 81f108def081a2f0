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

// showsSome reports whether the result at a position shows these labels of a cluster, or lacks only
// such as were suspended.
func (s *Space) showsSome(entries []label, position int64, result *Shown) bool {
	want := s.carried(entries, result.Size)
	if want == result.carried() || want.trial != result.Trial {
		return want == result.carried()
	}
	mayLack := s.mayLack(position)
	lackable := slices.DeleteFunc(slices.Clone(entries), func(e label) bool {
		return s.carried([]label{e}, 0).labels == 0 || !slices.Contains(mayLack, e.name)
	})
	for lack := range 1 << len(lackable) {
		rest := want.labels
		for i, e := range lackable {
			if lack>>i&1 == 1 {
				rest -= e.name
			}
		}
		if rest == result.Labels {
			return len(lackable) > 0
		}
	}
	return false
}
