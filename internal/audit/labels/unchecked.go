package labels

import (
	"maps"
	"slices"

	"github.com/clusterd/clusterd/internal/audit/model"
	"github.com/clusterd/clusterd/internal/audit/wire"
)

// Where label records were deleted, the topics do not say any more what each cluster should carry,
// nor what its contacts should be marked with. Then labels are not checked at all, and what the
// records of clusters say of how long labels keep these is believed.

// unchecked is why labels cannot be checked.
type unchecked struct {
	reasons map[string]bool
	kept    map[wire.Address]int64 // clusters that labels have kept, and for how long at most
}

func newUnchecked() unchecked {
	return unchecked{make(map[string]bool), make(map[wire.Address]int64)}
}

// CannotCheck notes since when labels cannot be checked, before the first space is replayed.
func (l *Labels) CannotCheck(since string) { l.reasons[since] = true }

// Skip says why labels were not checked, if they were not. Without labels l is nil.
func (l *Labels) Skip() {
	if l == nil {
		return
	}
	for _, since := range slices.Sorted(maps.Keys(l.reasons)) {
		l.applied.Skip("cannot be checked since " + since)
		if l.told != nil {
			l.told.Skip("cannot be checked since " + since)
		}
	}
}

// noteKept notes what the record of a cluster says of how long labels keep it.
func (l *Labels) noteKept(founder wire.Address, c *wire.Cluster) {
	if c.KeptMS > 0 {
		l.kept[founder] = max(l.kept[founder], c.KeptMS)
	}
}

// Believe has a cluster outlive others as its records say, if labels cannot be checked.
func (s *Space) Believe(c *model.Cluster) {
	if s != nil && len(s.reasons) > 0 {
		c.Kept = s.kept[c.Founder]
	}
}

// Ends reports whether a tombstone of a cluster is believed, since nothing says when its last label
// was taken off. The cluster expires as one without labels then.
func (s *Space) Ends(c *model.Cluster) bool {
	if s == nil || len(s.reasons) == 0 || c.Kept == 0 {
		return false
	}
	c.Kept = 0
	return true
}
