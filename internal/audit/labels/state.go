package labels

import (
	"slices"

	"github.com/clusterd/clusterd/internal/audit/wire"
)

// A state is the labels of a cluster, and what its records said of them.
type state struct {
	entries []label
	waiting []recorded // what records said that have labels which are not applied yet
	last    uint64     // the digest of the last record
	known   bool       // there was a record
}

// A label of a cluster.
type label struct {
	name, entry uint64
	trial       bool
	position    int64
}

// A recorded is what the record of a cluster says of labels, and where it is.
type recorded struct {
	digest uint64
	at     string
}

// isFull reports whether a label record asks for one label too many.
func (st *state) isFull(it *item) bool {
	return st != nil && it.Kind == add && len(st.entries) == wire.MaxLabels &&
		!slices.ContainsFunc(st.entries, func(e label) bool { return e.name == it.Name })
}

// change returns the labels of a cluster after a label record, in a slice of their own.
func (it *item) change(entries []label, position int64) []label {
	i := slices.IndexFunc(entries, func(e label) bool { return e.name == it.Name })
	if i >= 0 && it.Kind == add && entries[i].trial == it.Trial {
		return entries
	}
	entries = slices.Clone(entries)
	if i >= 0 {
		entries = slices.Delete(entries, i, i+1)
	}
	if it.Kind == add {
		entries = append(entries, label{it.Name, it.Entry, it.Trial, position})
	}
	return entries
}

// carried returns digests of what a cluster with these labels carries, and of its trial labels: if
// it has labels that are allowed, no others.
func (l *Labels) carried(entries []label) (labels, trial uint64) {
	allowed := slices.ContainsFunc(entries, func(e label) bool { return !e.trial && l.allow[e.name] })
	for _, e := range entries {
		switch {
		case e.trial:
			trial += e.name
		case allowed && !l.allow[e.name]:
		default:
			labels += e.name
		}
	}
	return labels, trial
}

// Result holds the result at a position to the labels of its cluster: before its article is fed to
// the model. A result of a transaction that is later than the last checkpoint is left to the next
// audit.
func (s *Space) Result(
	position int64, cluster wire.Address, labels, trial uint64, at string,
) error {
	if position >= s.position {
		return nil
	}
	s.applied.Checked++
	shows := func(entries []label) bool { return s.shows(entries, position, labels, trial) }
	if now := s.entries(cluster); !shows(now) {
		if ok, err := s.applyUntil(position, cluster, shows); err != nil {
			return err
		} else if !ok {
			want, wantTrial := s.carried(now)
			s.applied.Violate(at, s.describeBoth(want, wantTrial), s.describeBoth(labels, trial))
			return nil
		}
	}
	st := s.states[cluster]
	if st == nil {
		return nil
	}
	return s.late(position, cluster, st)
}

func (s *Space) describeBoth(labels, trial uint64) string {
	if trial == 0 {
		return s.describe(labels)
	}
	return s.describe(labels) + ", and on trial " + s.describe(trial)
}

// entries returns the labels of a cluster.
func (s *Space) entries(cluster wire.Address) []label {
	if st := s.states[cluster]; st != nil {
		return st.entries
	}
	return nil
}

// applyUntil applies, of the label records that may be applied by now, the fewest after which the
// labels of a cluster are as wanted. They are of one partition, as records with the same key are.
func (s *Space) applyUntil(
	position int64, cluster wire.Address, wanted func([]label) bool,
) (ok bool, err error) {
	for _, p := range partitions(s.queues) {
		entries := s.entries(cluster)
		for i, it := range s.queues[p] {
			if it.first > position || it.Kind == resume || it.Cluster != cluster || it.Dead != notDead {
				continue
			}
			if entries = it.change(entries, position); wanted(entries) {
				return true, s.apply(p, i+1, position)
			}
		}
	}
	return false, nil
}

// Record holds what the record of a cluster says of labels to those that the cluster has after its
// last member. Labels that were applied later may be in it, as long as there is no later member.
func (s *Space) Record(cluster wire.Address, digest uint64, at string) {
	st := s.states[cluster]
	if st == nil {
		if digest == 0 {
			return
		}
		st = new(state)
		s.states[cluster] = st
	}
	st.waiting = append(st.waiting, recorded{digest, at})
	s.changed(st)
}

// changed looks again at what records said of a cluster, after a change of its labels.
func (s *Space) changed(st *state) {
	for len(st.waiting) > 0 && st.waiting[0].digest == s.digest(st.entries) {
		st.last, st.known = st.waiting[0].digest, true
		st.waiting = st.waiting[1:]
	}
}

// late reports records that said of a cluster what it did not have by its next member, at a
// position.
func (s *Space) late(position int64, cluster wire.Address, st *state) error {
	for len(st.waiting) > 0 {
		says := func(entries []label) bool {
			return s.digest(entries) == st.waiting[0].digest
		}
		if ok, err := s.applyUntil(position, cluster, says); err != nil {
			return err
		} else if !ok {
			s.applied.Violate(st.waiting[0].at,
				"the labels of the cluster, and how long they keep it", "others")
			st.waiting = st.waiting[1:]
		}
	}
	return nil
}

// digest returns that of what the record of a cluster says.
func (s *Space) digest(entries []label) (digest uint64) {
	for _, e := range entries {
		digest += s.entryDigest(e.entry, e.position)
	}
	if len(entries) > 0 {
		digest += keptDigest(s.rule.Kept.Milliseconds())
	}
	return digest
}

// checkLast checks that the last record of a cluster says what labels it has.
func (s *Space) checkLast(founder wire.Address, st *state) error {
	if err := s.late(s.position, founder, st); err != nil {
		return err
	}
	number, ok := s.model.Number(founder)
	if !ok || s.model.Expired(number) {
		return nil
	}
	if now := s.digest(st.entries); st.known && st.last != now || !st.known && now != 0 {
		s.applied.Violate(founder.In(s.rule.Input),
			"a record in the clusters topic that has all labels of the cluster, and no others", "none")
	}
	return nil
}
