package labels

import (
	"fmt"
	"maps"

	"github.com/clusterd/clusterd/internal/audit/model"
)

// except applies a label record that is about an article of a live cluster. It holds for all of the
// cluster's articles that have the fingerprint, and one correction tells of it.
func (s *Space) except(it *item, number int, position int64) error {
	st, size := s.state(it.Cluster), s.model.Cluster(number).Size
	before := s.carried(st.of(it.Print), size)
	st.exceptions = maps.Clone(st.exceptions)
	if st.exceptions == nil {
		st.exceptions = make(map[uint64][]label)
	}
	st.exceptions[it.Print] = it.change(st.exceptions[it.Print], position, false)
	if len(st.exceptions[it.Print]) == 0 {
		delete(st.exceptions, it.Print)
	}
	s.keep(s.model.Cluster(number), st)
	s.changed(st)
	after := s.carried(st.of(it.Print), size)
	if s.rule.Corrections == "" || s.isLoose(it.Cluster) {
		return nil
	}
	t, _, err := s.traces.Get(it.at.Partition, it.at.Offset)
	if err != nil {
		return err
	}
	pending := s.pending[pendingKey{it.at, it.Cluster}] != nil
	wanted := int64(0)
	if before.labels != after.labels {
		wanted = 1
	}
	switch {
	case t.Count > wanted, t.Count < wanted && !pending,
		t.Count == 1 && t.Members != model.Member(it.Member):
		s.told.Violate(s.address(it),
			fmt.Sprintf("%d corrections, of the article at position %d", wanted, it.Member),
			fmt.Sprintf("%d corrections, or another article", t.Count))
	case t.Count == 1 && t.Said != after.labels:
		s.told.Violate(t.First.In(s.rule.Corrections), s.describe(after.labels), s.describe(t.Said))
	}
	return nil
}
