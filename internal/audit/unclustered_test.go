package audit

import (
	"slices"
	"testing"
)

// Results of unclustered articles that an earlier version wrote have neither position nor event
// time. They may stand between others.
func TestUnclusteredOfEarlierVersions(t *testing.T) {
	t.Parallel()
	items := long(200)
	for every := 1; every <= 2; every++ {
		s := newStage(t, nil)
		s.cluster(items, s.input(items))
		n := 0
		for i, it := range unrejected(items) {
			if it.kind != "unclustered" {
				continue
			}
			if n++; n%every == 0 {
				setHeader(setHeader(s.result(i), "clusterd.position", ""), "clusterd.event_time", "")
			}
		}
		s.write()
		found := s.audit(Options{})
		if n < 4 || found.Violations() > 0 || found.Counts.Unclustered != int64(n) {
			t.Errorf("of %d unclustered results one in %d is an earlier one: %q", n, every,
				violations(found))
		}
	}
}

// unrejected returns the items that come out as results.
func unrejected(items []item) []item {
	return slices.DeleteFunc(slices.Clone(items), func(it item) bool { return bad[it.kind] != "" })
}

// Behind the last article that was clustered there is one position that is right.
func TestLastUnclustered(t *testing.T) {
	t.Parallel()
	items := append(slices.Clone(story), item{0, 0, 12, "unclustered"}, item{1, 0, 13, "unclustered"})
	for position, want := range map[string]int64{"9": 1, "10": 0, "11": 1} {
		s := newStage(t, nil)
		s.cluster(items, s.input(items))
		setHeader(s.result(12), "clusterd.position", position)
		s.write()
		found := s.audit(Options{})
		if found.Violations() != want {
			t.Errorf("position %s: %q", position, violations(found))
		}
	}
	s := newStage(t, nil) // nothing was clustered
	items = items[12:]
	s.cluster(items, s.input(items))
	setHeader(s.result(1), "clusterd.position", "1")
	s.write()
	if found := s.audit(Options{}); found.Violations() != 1 {
		t.Errorf("position 1 where nothing was clustered: %q", violations(found))
	}
}
