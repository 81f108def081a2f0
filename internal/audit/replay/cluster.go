package replay

import (
	"fmt"
	"slices"

	"github.com/clusterd/clusterd/internal/audit/report"
)

// checkRecords holds the records of the clusters topic to the cluster of the article at their
// position.
func (r *replay) checkRecords(position int64, number int, first ClusterRow) error {
	r.checkRecord(position, number, first, true)
	var further []ClusterRow
	for at := first.Further; at > 0; {
		row, _, err := r.space.Further.Get(at - 1)
		if err != nil {
			return err
		}
		further, at = append(further, row), row.Before
	}
	for _, row := range slices.Backward(further) {
		r.checkRecord(position, number, row, false)
	}
	return nil
}

// checkRecord holds a record of the clusters topic to the cluster of the article at its position.
func (r *replay) checkRecord(position int64, number int, got ClusterRow, first bool) {
	c, records := r.model.Cluster(number), &r.records[number]
	want := ClusterRow{
		At: got.At, Founder: c.Founder, Fingerprint: c.Fingerprint.Hash, Seq: c.Seq, Size: c.Size,
		ByContact: c.ByContact, FirstSeen: c.FirstSeen, LastSeen: c.LastSeen, Space: c.Space,
		Representative: c.Representative, Sketch: c.Fingerprint.Sketch.Digest,
		Contacts: c.Fingerprint.Contacts.Digest,
		Labels:   got.Labels, Further: got.Further, Before: got.Before,
		Signals: got.Signals, Publishers: got.Publishers, Recent: got.Recent,
	}
	r.checkRecordSignals(got, c)
	if records.earlier || got.Contacts == ErasedContacts {
		want.Contacts = got.Contacts
	}
	if got.ByContact == 0 { // only earlier versions say it
		want.ByContact = 0
	}
	if !c.Fingerprint.Known {
		want.Sketch, want.Contacts = got.Sketch, got.Contacts
		if c.Representative == 0 { // nor did the result say it
			want.Representative = got.Representative
		}
	}
	r.erase(&want.Representative, got.Representative, number)
	at := got.At.In(r.Cut.Clusters.Topic)
	if got != want {
		expected, found := r.describeRecord(want, position), r.describeRecord(got, position)
		if want.Representative != got.Representative {
			expected += ", represented by the founder"
			found += ", with another representative"
		}
		if want.Sketch != got.Sketch {
			expected += ", with the founder's sketch"
			found += ", with another sketch"
		}
		if want.Contacts != got.Contacts {
			expected += ", with the founder's contacts"
			found += ", with other contacts"
		}
		if want.Space != got.Space {
			expected += ", of the space of its articles"
			found += ", of another space"
		}
		if want.ByContact != got.ByContact {
			expected += fmt.Sprintf(", of whom %d joined by a contact", want.ByContact)
			found += fmt.Sprintf(", of whom %d joined by a contact", got.ByContact)
		}
		r.Clusters.Violate(at, expected, found)
	}
	if got.Founder != c.Founder {
		return
	}
	if records.last >= 0 && got.At.Offset < records.lastAt.Offset {
		r.Clusters.Violate(at,
			fmt.Sprintf("the state at position %d to come after that at position %d",
				position, records.last),
			fmt.Sprintf("it comes before, that one being at offset %d", records.lastAt.Offset))
	}
	records.last, records.lastAt = position, got.At
	if r.labels != nil {
		r.labels.Record(c.Founder, got.Labels, first, at)
	}
}

func (r *replay) describeRecord(c ClusterRow, position int64) string {
	return fmt.Sprintf("%s at position %d: seq %d, fingerprint %016x, size %d, seen from %s to %s",
		c.Founder.In(r.Cut.Input.Topic), position, c.Seq, c.Fingerprint, c.Size,
		report.Clock(c.FirstSeen), report.Clock(c.LastSeen))
}

// checkTombstones checks the tombstones that were written by the position.
func (r *replay) checkTombstones(position int64) {
	for r.checked < len(r.space.tombstones) && r.space.tombstones[r.checked].by <= position {
		r.checkTombstone(r.space.tombstones[r.checked], position)
		r.checked++
	}
}

// checkTombstone holds a tombstone to the rule: its cluster must have expired at that position.
func (r *replay) checkTombstone(t tombstone, position int64) {
	id, at := t.founder.In(r.Cut.Input.Topic), t.at.In(r.Cut.Clusters.Topic)
	number := r.expired[t.founder]
	switch {
	case number < 0:
		want := "no tombstone of %s, which nobody has founded up to position %d"
		r.Clusters.Violate(at, fmt.Sprintf(want, id, position), "a tombstone")
	case !r.labels.Expired(r.model, number):
		c := r.model.Cluster(number)
		lastSeen, now := c.LastSeen, r.model.StreamTime(c.Space)
		want := "%s to live at position %d: last seen %s, stream time %s"
		r.Clusters.Violate(at,
			fmt.Sprintf(want, id, position, report.Clock(lastSeen), report.Clock(now)), "a tombstone")
	}
}

// finish checks the tombstones that may be as late as the last article, and at clusters of which
// the topic does not say what it should.
func (r *replay) finish() {
	for _, t := range r.space.tombstones[r.checked:] {
		r.checkTombstone(t, r.next-1)
	}
	for number, records := range r.records {
		r.Counts.Clusters++
		if !r.model.Expired(number) {
			r.Counts.Live++
		}
		founder := r.model.Cluster(number).Founder
		_, hasTombstone := r.expired[founder]
		id := founder.In(r.Cut.Input.Topic)
		if !hasTombstone {
			r.checkErased(number)
		}
		switch {
		case records.last >= records.due || hasTombstone:
		case records.last >= 0:
			r.Clusters.Violate(records.lastAt.In(r.Cut.Clusters.Topic),
				fmt.Sprintf("a later record of %s: it has a member at position %d", id, records.due),
				fmt.Sprintf("the last one is of position %d", records.last))
		case !r.labels.Expired(r.model, number):
			r.Clusters.Violate(id, "a record in "+r.Cut.Clusters.Topic, "none")
		}
	}
}
