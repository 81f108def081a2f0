package audit

import (
	"context"
	"fmt"
	"hash/maphash"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/clusterd/clusterd/internal/audit/replay"
	"github.com/clusterd/clusterd/internal/audit/wire"
	"github.com/clusterd/clusterd/internal/singlepass"
)

// readClusters puts each record of the clusters topic at its position: not only a cluster's last
// record must be right, but each was when it was written.
func (a *audit) readClusters(ctx context.Context) error {
	dating := replay.NewDating()
	n, err := a.topics.Read(ctx, a.cut.Clusters, kgo.ReadCommitted(), func(r *kgo.Record) error {
		switch {
		case r.Attrs.IsControl():
			dating.End(r)
			return nil
		case wire.IsCheckpoint(r):
			a.addCheckpoint(r)
			return nil
		}
		if wire.IsContact(r) {
			return a.addContact(r)
		}
		if id, ok := wire.StoryID(r); ok {
			a.addState(r, id)
			return nil
		}
		return a.addClusterRecord(r, dating)
	})
	a.data += n
	return err
}

// addClusterRecord checks the key and partition of a record of the clusters topic, and adds what
// it says.
func (a *audit) addClusterRecord(r *kgo.Record, dating replay.Dating) error {
	a.clusters.Checked++
	at := wire.AddressOf(r).In(r.Topic)
	founder, err := wire.ParseAddress(string(r.Key), a.config.Input.Topic)
	if err != nil {
		a.form.Violate(at, "a cluster's id as the key", err.Error())
		return nil
	}
	s, err := a.space(founder.Partition)
	if err != nil {
		return err
	}
	if r.Value != nil {
		return a.addCluster(r, founder, s, dating)
	}
	if err := wire.CheckHeaders(r); err != nil {
		a.form.Violate(at, "the form of a tombstone", err.Error())
	}
	a.checkClusterPartition(r, founder)
	dating.Add(s, r, founder)
	return nil
}

// checkClusterPartition holds a record of the clusters topic to the partition of its founder, on
// which recovery depends.
func (a *audit) checkClusterPartition(r *kgo.Record, founder wire.Address) {
	want := wire.ClusterPartition(founder, len(a.cut.Clusters.To))
	if r.Partition != want {
		a.clusters.Violate(wire.AddressOf(r).In(r.Topic),
			fmt.Sprintf("partition %d, by the founder's", want), fmt.Sprintf("partition %d", r.Partition))
	}
}

// checkSpacePartition holds a record of the clusters topic to the partition of its space.
func (a *audit) checkSpacePartition(r *kgo.Record, space int32) {
	want := wire.ClusterPartition(wire.Address{Partition: space}, len(a.cut.Clusters.To))
	if r.Partition != want {
		a.clusters.Violate(wire.AddressOf(r).In(r.Topic),
			fmt.Sprintf("partition %d, that of its space", want), fmt.Sprintf("partition %d", r.Partition))
	}
}

// addCluster puts a cluster at the position of its last member.
func (a *audit) addCluster(
	r *kgo.Record, founder wire.Address, s *replay.Space, dating replay.Dating,
) error {
	a.form.Checked++
	at := wire.AddressOf(r).In(r.Topic)
	c, err := wire.ParseCluster(r, founder, a.config.Input.Topic)
	if err != nil {
		a.form.Violate(at, "the form of a cluster", err.Error())
		return nil
	}
	if err := wire.CheckHeaders(r, wire.HeaderPosition); err != nil {
		a.form.Violate(at, "the form of a cluster", err.Error())
	}
	a.checkClusterPartition(r, founder)
	if want := a.expected.Pipeline(); !wire.SamePipeline(c.Pipeline, want) {
		a.clusters.Violate(at, "pipeline "+want, fmt.Sprintf("%q", c.Pipeline))
	}
	if a.hasNewMember(s, r, c.Position) {
		dating.Later(s, r.Partition, c.Position)
	}
	if c.Position >= a.positions {
		a.clusters.Violate(at,
			fmt.Sprintf("a position below %d, as many as there can be results", a.positions),
			fmt.Sprintf("position %d", c.Position))
		return nil
	}
	if a.stories != nil {
		a.stories.Cluster(founder, &c, at)
	}
	contacts, known := a.labels.Restore(c.Contacts)
	row := replay.ClusterRow{
		At: wire.AddressOf(r), Founder: founder, Fingerprint: c.Fingerprint, Seq: c.Seq, Size: c.Size,
		FirstSeen: c.FirstSeen, LastSeen: c.LastSeen,
		Representative: a.represents(founder, c.Representative), ByContact: c.ByContact,
		Contacts: a.digest(string(singlepass.NewContacts(contacts))), Space: a.digest(c.Space),
	}
	if !known {
		row.Contacts = replay.ErasedContacts
	}
	if len(c.Sketch) > 0 {
		row.Sketch = maphash.Bytes(a.seed, c.Sketch)
	}
	if c.Signals != nil {
		row.Signals = true
		row.Publishers, row.Recent = int64(c.Signals.Publishers), c.Signals.Recent
	}
	if a.labels != nil {
		if row.Labels, err = a.labels.AddCluster(founder, &c); err != nil {
			return err
		}
	}
	s.Required = max(s.Required, c.Position+1)
	return a.putCluster(s, c.Position, row)
}

// hasNewMember reports whether the last member of a cluster, at a position, is of the transaction
// of the cluster's record. Where there are labels, it may be of an earlier one, whose record of the
// cluster may have been compacted away: then it is not known.
func (a *audit) hasNewMember(s *replay.Space, r *kgo.Record, position int64) bool {
	if a.labels == nil {
		return true
	}
	highest, ok := s.Highest[r.Partition]
	s.Highest[r.Partition] = max(highest, position)
	for a.there[r.Partition].Has(a.intact[r.Partition]) {
		a.intact[r.Partition]++
	}
	return (!ok || position > highest) && r.Offset < a.intact[r.Partition]
}

// putCluster puts a record at the position of its cluster's last member.
func (a *audit) putCluster(s *replay.Space, position int64, row replay.ClusterRow) error {
	first, fresh, err := s.PutCluster(position, row)
	if err != nil || fresh {
		return err
	}
	if a.labels != nil && first.Founder == row.Founder {
		return s.PutFurther(position, first, row)
	}
	a.clusters.Violate(row.At.In(a.cut.Clusters.Topic), "a last member of its own",
		fmt.Sprintf("position %d, that of %s", position, first.At.In(a.cut.Clusters.Topic)))
	return nil
}
