package labels

import (
	"hash/maphash"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/clusterd/clusterd/internal/audit/model"
	"github.com/clusterd/clusterd/internal/audit/wire"
)

// AddCluster notes what the record of a cluster says of labels. It returns a digest of that.
func (l *Labels) AddCluster(founder wire.Address, c *wire.Cluster) (digest uint64, err error) {
	digest = keptDigest(c.KeptMS)
	l.noteNames(founder, c)
	l.noteKept(founder, c)
	var byContact []label
	for i := range c.Labels {
		e := l.labelOf(&c.Labels[i])
		digest += l.entryDigest(&e)
		if e.contact != 0 {
			byContact = append(byContact, e)
			continue
		}
		if err := l.noteEntry(&c.Labels[i]); err != nil {
			return 0, err
		}
	}
	for i := range c.Exceptions {
		of, err := c.Exceptions[i].Print()
		if err != nil {
			return 0, err
		}
		for j := range c.Exceptions[i].Labels {
			e := l.labelOf(&c.Exceptions[i].Labels[j])
			digest += l.exceptionDigest(of, &e)
			if err := l.noteEntry(&c.Exceptions[i].Labels[j]); err != nil {
				return 0, err
			}
		}
	}
	if byContact != nil {
		l.parts[digest] = byContact
		for _, e := range byContact {
			if has(l.by[founder], e.name, e.trial) < 0 {
				l.by[founder] = append(l.by[founder], e)
			}
		}
	}
	return digest, nil
}

// labelOf returns a label as the record of a cluster has it.
func (l *Labels) labelOf(e *wire.ClusterLabel) label {
	l.Set([]string{e.Label})
	own := label{
		name: l.remember(e.Label), trial: e.Trial, position: e.Position, reach: e.Reach,
		entry: maphash.Comparable(l.seed,
			entry{e.Label, e.By, e.Note, e.Record, e.At.UnixMilli(), e.Trial}),
	}
	if e.Contact != "" {
		own.contact = l.contactDigest(e.Contact)
	}
	return own
}

// noteEntry notes what the record of a cluster says of a label record that is about it: where that
// was applied, and what it has marked.
func (l *Labels) noteEntry(e *wire.ClusterLabel) error {
	at, err := wire.ParseAddress(e.Record, l.rule.Topic)
	if err != nil {
		return nil // of another topic of labels
	}
	l.marked[at] = nil
	for _, contact := range e.Marked {
		l.marked[at] = append(l.marked[at], l.contactDigest(contact))
	}
	t, _, err := l.traces.Get(at.Partition, at.Offset)
	if err != nil || t.Position != 0 {
		return err
	}
	t.Position = e.Position + 1
	return l.traces.Set(at.Partition, at.Offset, t)
}

// entryDigest returns that of a label of a cluster. Those of all are added.
func (l *Labels) entryDigest(e *label) uint64 {
	return maphash.Comparable(l.seed, [4]uint64{
		e.entry, uint64(e.position), e.contact, uint64(e.reach),
	})
}

// exceptionDigest returns that of a label of the articles of a cluster that have a fingerprint.
func (l *Labels) exceptionDigest(print uint64, e *label) uint64 {
	return maphash.Comparable(l.seed, [2]uint64{l.entryDigest(e), print})
}

// AddCorrection notes a correction of an article with this fingerprint, and holds it to its label
// record. What it says of its member is for others to check.
func (l *Labels) AddCorrection(c *wire.Correction, print uint64, r *kgo.Record) error {
	l.told.Checked++
	at := wire.AddressOf(r)
	where := at.In(r.Topic)
	of, err := wire.ParseAddress(c.Record, l.rule.Topic)
	if err != nil {
		l.told.Violate(where, "record: a label record", err.Error())
		return nil
	}
	row, ok, err := l.records.Get(of.Partition, of.Offset)
	if err != nil {
		return err
	}
	if !ok || row.Kind != add && row.Kind != remove {
		if of.Offset >= l.from[of.Partition] {
			l.told.Violate(where, c.Record+" to put a label on a cluster, or to take one off", "none of it")
		}
		return nil
	}
	own := maphash.Comparable(l.seed,
		change{c.ClusterID, c.Label, c.Action, c.By, c.Note, c.Record, c.At.UnixMilli()})
	want, target := row.Change, row.Target
	if c.Contact != "" { // of another article of the cluster, or of another cluster
		target = ofCluster
		own = maphash.Comparable(l.seed, change{"", "", "", c.By, c.Note, c.Record, c.At.UnixMilli()})
		want = row.Cause
	}
	if own != want || (c.Target == wire.TargetArticle) != (target == ofArticle) {
		l.told.Violate(where, "what "+c.Record+" says", "something else")
	}
	if err := wire.CheckLabels(c.Labels); err != nil {
		l.told.Violate(where, "labels in their order", err.Error())
	}
	if c.MemberPosition >= c.Position {
		l.told.Violate(where, "a member before the position of the change", "a later one")
	}
	return l.addTold(c, print, target, of, at, where)
}

// addTold notes what a correction says of its cluster.
func (l *Labels) addTold(
	c *wire.Correction, print uint64, of target, record, at wire.Address, where string,
) error {
	cluster, err := wire.ParseAddress(c.ClusterID, l.rule.Input)
	if err != nil {
		return nil // it was reported
	}
	key := spreadKey{record, cluster}
	t, spread := l.spread[key], c.Contact != ""
	if !spread {
		if t, _, err = l.traces.Get(record.Partition, record.Offset); err != nil {
			return err
		}
	}
	labels := l.Set(c.Labels)
	if of != ofArticle && l.excepted[exceptionKey{cluster, print}] {
		l.members[record] = append(l.members[record], toldOfMember{cluster, print, labels, at})
	} else {
		if t.Plain == 0 {
			t.Said = labels
		}
		t.Labels += labels
		t.Plain++
	}
	if t.Count == 0 {
		t.First = at
	}
	if t.Position == 0 {
		t.Position = c.Position + 1
	}
	if t.Position != c.Position+1 {
		l.told.Violate(where, "the position that others say of "+c.Record, "another one")
	}
	t.Count++
	t.Members += model.Member(c.MemberPosition)
	if spread {
		l.spread[key] = t
		return nil
	}
	return l.traces.Set(record.Partition, record.Offset, t)
}
