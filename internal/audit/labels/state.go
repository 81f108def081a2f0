package labels

import (
	"slices"

	"github.com/clusterd/clusterd/internal/audit/wire"
)

// A state is the labels of a cluster, and what its records said of them.
type state struct {
	founder    wire.Address
	entries    []label
	exceptions map[uint64][]label // of articles, by their fingerprints
	waiting    []recorded         // what records said that have labels which are not applied yet
	last       uint64             // the digest of the last record
	known      bool               // there was a record
	loose      bool               // its labels by contacts are not known
}

// A label of a cluster.
type label struct {
	name, entry uint64
	trial       bool
	position    int64
	contact     uint64       // by which the cluster has it, 0 for by hand
	reach       int64        // how many articles carry it then, 0 for all
	at          wire.Address // of the label record, by hand
	marked      []uint64     // contacts, by hand
}

// A recorded is what the record of a cluster says of labels, and where it is.
type recorded struct {
	digest uint64
	at     string
	first  bool // it is of the transaction of the cluster's last member
}

// state returns what is known of a cluster.
func (s *Space) state(founder wire.Address) *state {
	st := s.states[founder]
	if st == nil {
		st = &state{founder: founder}
		s.states[founder] = st
	}
	return st
}

// isLoose reports whether the labels by contacts of a cluster are not known. They are where no
// record of the cluster has any.
func (s *Space) isLoose(founder wire.Address) bool {
	st := s.states[founder]
	return len(s.by[founder]) > 0 && (st != nil && st.loose || s.unsure || !s.rule.Marks)
}

// has returns the index of a label among those of a cluster, -1 for none.
func has(entries []label, name uint64, trial bool) int {
	return slices.IndexFunc(entries, func(e label) bool { return e.name == name && e.trial == trial })
}

// isFull reports whether a label record asks for one label too many. Of once, see [item.change].
func (st *state) isFull(it *item, once bool) bool {
	if st == nil || it.Kind != add {
		return false
	}
	if it.Target == ofArticle {
		of, ok := st.exceptions[it.Print]
		return !ok && len(st.exceptions) == wire.MaxExceptions ||
			len(of) == wire.MaxLabels && has(of, it.Name, it.Trial) < 0
	}
	return len(st.entries) == wire.MaxLabels && has(st.entries, it.Name, it.Trial) < 0 &&
		!(once && has(st.entries, it.Name, !it.Trial) >= 0)
}

// change returns the labels of a cluster after a label record, in a slice of their own. If
// once is set, as in earlier versions, a cluster has a label once, on trial or not.
func (it *item) change(entries []label, position int64, once bool) []label {
	i := has(entries, it.Name, it.Trial)
	if i >= 0 && it.Kind == add && entries[i].contact == 0 {
		return entries
	}
	entries = slices.DeleteFunc(slices.Clone(entries), func(e label) bool {
		return e.name == it.Name && (once || e.trial == it.Trial)
	})
	if it.Kind == add {
		entries = append(entries, label{
			name: it.Name, entry: it.Entry, trial: it.Trial, position: position, at: it.at,
		})
	}
	return entries
}

// of returns the labels of articles of the cluster that have a fingerprint.
func (st *state) of(print uint64) []label {
	if st == nil {
		return nil
	}
	all := slices.Clone(st.entries)
	for _, e := range st.exceptions[print] {
		if i := has(all, e.name, e.trial); i >= 0 {
			all[i].reach = 0
		} else {
			all = append(all, e)
		}
	}
	return all
}

// carried are digests of the labels that results carry, of their trial labels, and of the contacts
// by which the cluster has them.
type carried struct{ labels, trial, by uint64 }

// carried returns what the article carries with which a cluster of these labels has a size: if
// there are labels that are allowed, no others.
func (l *Labels) carried(entries []label, size int64) (c carried) {
	within := func(e label) bool { return e.reach == 0 || size <= e.reach }
	allowed := slices.ContainsFunc(entries, func(e label) bool {
		return !e.trial && l.allow[e.name] && within(e)
	})
	for _, e := range entries {
		switch {
		case !within(e) || !e.trial && allowed && !l.allow[e.name]:
			continue
		case e.trial:
			c.trial += e.name
		default:
			c.labels += e.name
		}
		if e.contact != 0 {
			c.by += l.byDigest(e.name, e.trial, e.contact)
		}
	}
	return c
}

// A Shown is what a result says of labels.
type Shown struct {
	Labels, Trial, By uint64 // digests
	Print             uint64 // the fingerprint of its article
	Size              int64  // of the cluster, with the article
}

func (r *Shown) carried() carried { return carried{r.Labels, r.Trial, r.By} }

// Result holds the result at a position to the labels of its cluster: before its article is fed to
// the model. A result of a transaction that is later than the last checkpoint is left to the next
// audit.
func (s *Space) Result(position int64, cluster wire.Address, result Shown, at string) error {
	if position >= s.position || len(s.reasons) > 0 {
		return nil
	}
	s.applied.Checked++
	shows := func(entries []label) bool { return s.shows(cluster, entries, position, &result) }
	none := result.carried() == carried{}
	switch now, off := s.entries(cluster), s.off(position); {
	case off != nil && off.all && !none:
		s.applied.Violate(at, "no labels, since labels.topic was empty", s.describeAll(result.carried()))
	case off != nil && off.all, shows(now):
	case off != nil && none:
		s.believe(position, off)
	default:
		if ok, err := s.applyUntil(position, cluster, shows); err != nil {
			return err
		} else if !ok {
			want := s.carried(s.states[cluster].of(result.Print), result.Size)
			s.applied.Violate(at, s.describeAll(want), s.describeAll(result.carried()))
			return nil
		}
	}
	st := s.states[cluster]
	if st == nil {
		return nil
	}
	return s.late(position, cluster, st)
}

func (s *Space) describeAll(c carried) string {
	text := s.describe(c.labels)
	if c.trial != 0 {
		text += ", and on trial " + s.describe(c.trial)
	}
	if c.by != 0 {
		text += ", by a contact"
	}
	return text
}

// entries returns the labels of a cluster.
func (s *Space) entries(cluster wire.Address) []label {
	if st := s.states[cluster]; st != nil {
		return st.entries
	}
	return nil
}

// shows reports whether the result at a position may show what it does, of a cluster that has these
// labels. Of a loose cluster, any labels are believed that a record says it has by a contact.
func (s *Space) shows(
	cluster wire.Address, entries []label, position int64, result *Shown,
) bool {
	st := &state{entries: entries}
	if of := s.states[cluster]; of != nil {
		st.exceptions = of.exceptions
	}
	all := st.of(result.Print)
	if !s.isLoose(cluster) {
		return s.showsSome(all, position, result)
	}
	hand := slices.DeleteFunc(slices.Clone(all), func(e label) bool { return e.contact != 0 })
	by := slices.DeleteFunc(slices.Clone(s.by[cluster]),
		func(e label) bool { return has(hand, e.name, e.trial) >= 0 })
	for some := range 1 << min(len(by), wire.MaxLabels) {
		all = slices.Clone(hand)
		for i, e := range by {
			if some>>i&1 == 1 {
				e.reach = 0
				all = append(all, e)
			}
		}
		loose := *result
		loose.By = s.carried(all, result.Size).by // by another contact, perhaps
		if s.showsSome(all, position, &loose) {
			return true
		}
	}
	return false
}

// applyUntil applies, of the label records that may be applied by now, the fewest after which the
// labels of a cluster are as wanted. They are of one partition, as records with the same key are.
func (s *Space) applyUntil(
	position int64, cluster wire.Address, wanted func([]label) bool,
) (ok bool, err error) {
	for _, p := range partitions(s.queues) {
		entries := s.entries(cluster)
		for i, it := range s.queues[p] {
			if it.first > position || it.Cluster != cluster || it.Dead != notDead ||
				it.Target != ofCluster || it.Kind != add && it.Kind != remove {
				continue
			}
			if entries = it.change(entries, position, position < s.upgraded); wanted(entries) {
				return true, s.apply(p, i+1, position)
			}
		}
	}
	return false, nil
}

// Record holds what the record of a cluster says of labels to those that the cluster has after its
// last member. Labels that were applied later may be in it, as long as there is no later member.
// The first record of a member is of its transaction.
func (s *Space) Record(cluster wire.Address, digest uint64, first bool, at string) {
	if len(s.reasons) > 0 {
		return
	}
	st := s.states[cluster]
	if st == nil {
		if digest == 0 {
			return
		}
		st = s.state(cluster)
	}
	st.waiting = append(st.waiting, recorded{digest, at, first})
	s.recorded(cluster, st)
}

// changed looks again at what records said of a cluster, after a change of its labels.
func (s *Space) changed(st *state) {
	for len(st.waiting) > 0 && s.says(st.waiting[0], st, st.entries) {
		st.last, st.known = st.waiting[0].digest, true
		st.waiting = st.waiting[1:]
	}
}

// recorded does so with a record that has just come. A loose cluster has the labels by contacts
// that the record says, if it is of the transaction of the last member.
func (s *Space) recorded(cluster wire.Address, st *state) {
	r := st.waiting[len(st.waiting)-1]
	if s.changed(st); len(st.waiting) > 0 || !st.loose || !r.first || s.unsure {
		return
	}
	st.entries = slices.DeleteFunc(slices.Clone(st.entries),
		func(e label) bool { return e.contact != 0 })
	st.entries = append(st.entries, s.parts[r.digest]...)
	st.loose = false
	if number, ok := s.model.Number(cluster); ok {
		s.keep(s.model.Cluster(number), st)
	}
}

// says reports whether a record may say of a cluster that it has these labels.
func (s *Space) says(r recorded, st *state, entries []label) bool {
	if !s.isLoose(st.founder) {
		return r.digest == s.digest(entries, st.exceptions)
	}
	hand := slices.DeleteFunc(slices.Clone(entries), func(e label) bool { return e.contact != 0 })
	return r.digest == s.digest(append(hand, s.parts[r.digest]...), st.exceptions)
}

// late reports records that said of a cluster what it did not have by its next member, at a
// position.
func (s *Space) late(position int64, cluster wire.Address, st *state) error {
	s.changed(st) // its labels by contacts may be unknown since
	for len(st.waiting) > 0 {
		says := func(entries []label) bool { return s.says(st.waiting[0], st, entries) }
		if ok, err := s.applyUntil(position, cluster, says); err != nil {
			return err
		} else if !ok && position == s.position && s.isBehind() {
			return nil // it may be of the next transaction, which is left to the next audit
		} else if !ok {
			s.applied.Violate(st.waiting[0].at,
				"the labels of the cluster, and how long they keep it", "others")
			st.waiting = st.waiting[1:]
		}
	}
	return nil
}

// digest returns that of what the record of a cluster says.
func (s *Space) digest(entries []label, exceptions map[uint64][]label) (digest uint64) {
	for i := range entries {
		digest += s.entryDigest(&entries[i])
	}
	for print, of := range exceptions {
		for i := range of {
			digest += s.exceptionDigest(print, &of[i])
		}
	}
	if len(entries)+len(exceptions) > 0 {
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
	if !ok || s.model.Expired(number) || s.isLoose(founder) {
		return nil
	}
	now := s.digest(st.entries, st.exceptions)
	if st.known && st.last != now || !st.known && now != 0 {
		s.applied.Violate(founder.In(s.rule.Input),
			"a record in the clusters topic that has all labels of the cluster, and no others", "none")
	}
	return nil
}
