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

// Outlives has the cluster that the result of an article names outlive others by its labels, if
// labels cannot be checked and the article comes too late without: no record may say it any more.
func (s *Space) Outlives(a *model.Article) {
	if s == nil || len(s.reasons) == 0 || !a.Joined {
		return
	}
	if number, ok := s.model.Number(a.Cluster); ok {
		s.model.Outlive(number, a.EventTime, s.rule.Kept.Milliseconds())
	}
}

// Expired reports whether a cluster has expired, which has a tombstone or no record. If labels
// cannot be checked, its last label was taken off by then: it expires as one without labels.
func (s *Space) Expired(m *model.Model, number int) bool {
	if s != nil && len(s.reasons) > 0 {
		m.Cluster(number).Kept = 0
	}
	return m.Expired(number)
}
