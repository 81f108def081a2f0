package replay

import (
	"math"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/clusterd/clusterd/internal/audit/labels"
	"github.com/clusterd/clusterd/internal/audit/model"
	"github.com/clusterd/clusterd/internal/audit/spill"
	"github.com/clusterd/clusterd/internal/audit/topics"
	"github.com/clusterd/clusterd/internal/audit/wire"
)

// A Space is the articles that are compared with one another: what the topics say of each of their
// positions.
type Space struct {
	Results  *spill.Table[ResultRow]
	Clusters *spill.Table[ClusterRow] // by the position of the cluster's last member
	Further  *spill.Table[ClusterRow] // further ones of that position
	Required int64                    // there must be no gap below this position
	// Highest is the highest position of a record of Clusters, by partition of the clusters topic. It
	// is for whoever puts them.
	Highest    map[int32]int64
	tombstones []tombstone
	Last       *Last // nil where there is none
	// unclustered are the articles that took no position, by their places in the input.
	unclustered *spill.Partitions[unclusteredRow]
}

// A ResultRow is what is kept of a result of an article that was clustered, and of its input
// record.
type ResultRow struct {
	Article        model.Article
	At             wire.Address // in the topic of results
	Size           int64
	Representative uint64       // a digest of what the result says; 0 where it says nothing
	Matched        Match        // likewise
	Timeless       bool         // only the stream time says when it was published
	ID             uint64       // a digest of the article's id
	Shown          labels.Shown // what the result says of labels
	Earlier        bool         // a version wrote it in which articles joined clusters by contacts

	Publishers, Recent  int64 // that the result says
	FirstSeen, LastSeen int64 // likewise, Unix milliseconds
}

// An unclusteredRow is what is kept of a result of an article that was not clustered.
type unclusteredRow struct {
	At       wire.Address // in the topic of results
	Position int64        // of the next article that was clustered
}

// A Match is how a result says that its article joined.
type Match uint8

const (
	unexplained Match = iota
	byText
	contained
	byContact
)

// matches has them by their names.
var matches = map[string]Match{
	"": unexplained, wire.MatchedText: byText, wire.MatchedContained: contained,
	wire.MatchedContact: byContact,
}

// A ClusterRow is what is kept of a record of the clusters topic.
type ClusterRow struct {
	At          wire.Address // in the clusters topic
	Founder     wire.Address
	Fingerprint uint64
	Seq         int64
	Size        int64
	ByContact   int64
	FirstSeen   int64 // Unix milliseconds
	LastSeen    int64 // Unix milliseconds

	Representative, Sketch, Contacts, Space uint64 // digests

	Labels             uint64 // a digest
	Signals            bool   // it has signals
	Publishers, Recent int64
	Further, Before    int64 // where further ones are, plus 1: the last one, and the one before it
}

// A tombstone says that a cluster has expired, at the latest when its space had taken in the
// article at the position by.
type tombstone struct {
	founder wire.Address
	at      wire.Address // in the clusters topic
	by      int64
}

// MatchOf returns the match of a name.
func MatchOf(name string) Match { return matches[name] }

// NewSpace returns an empty space of articles of an input.
func NewSpace(dir *spill.Dir, input topics.Span) (s *Space, err error) {
	s = &Space{
		Highest:     make(map[int32]int64),
		unclustered: spill.NewPartitions[unclusteredRow](dir, input.From, input.To),
	}
	if s.Results, err = spill.NewTable[ResultRow](dir); err != nil {
		return nil, err
	}
	if s.Clusters, err = spill.NewTable[ClusterRow](dir); err != nil {
		return nil, err
	}
	s.Further, err = spill.NewTable[ClusterRow](dir)
	return s, err
}

// PutUnclustered puts the result of an article that was not clustered.
func (s *Space) PutUnclustered(source, at wire.Address, position int64) error {
	_, err := s.unclustered.Put(source.Partition, source.Offset, unclusteredRow{at, position})
	return err
}

// PutCluster puts a record at the position of its cluster's last member. If there is one already,
// it is not put, and the first comes back: see [Space.PutFurther].
func (s *Space) PutCluster(
	position int64, row ClusterRow,
) (first ClusterRow, fresh bool, err error) {
	if fresh, err = s.Clusters.Put(position, row); fresh || err != nil {
		return row, fresh, err
	}
	first, _, err = s.Clusters.Get(position)
	return first, false, err
}

// PutFurther puts a further record of the cluster that has its last member at a position: labels
// are applied between two members.
func (s *Space) PutFurther(position int64, first, row ClusterRow) error {
	row.Before = first.Further
	first.Further = s.Further.End() + 1
	if err := s.Further.Set(first.Further-1, row); err != nil {
		return err
	}
	return s.Clusters.Set(position, first)
}

// A Dating finds out when a tombstone was written, in positions: it has none itself. Whatever its
// space says in a later transaction is of a later position. Where nothing comes later in its
// partition, the tombstone may be as late as the last result.
type Dating struct {
	open   map[producerLane][]dated // of transactions that are not over
	closed map[spaceLane][]dated    // of those that are, until something later comes
}

type (
	producerLane struct {
		partition int32
		producer  int64
	}
	spaceLane struct {
		space     *Space
		partition int32
	}
	dated struct {
		space *Space
		index int // of the tombstone
	}
)

// NewDating returns one of no tombstone.
func NewDating() Dating {
	return Dating{open: make(map[producerLane][]dated), closed: make(map[spaceLane][]dated)}
}

// Add adds a tombstone to its space.
func (d Dating) Add(s *Space, r *kgo.Record, founder wire.Address) {
	l := producerLane{r.Partition, r.ProducerID}
	d.open[l] = append(d.open[l], dated{s, len(s.tombstones)})
	s.tombstones = append(s.tombstones, tombstone{founder, wire.AddressOf(r), math.MaxInt64})
}

// End notes a control record, which ends a transaction.
func (d Dating) End(control *kgo.Record) {
	l := producerLane{control.Partition, control.ProducerID}
	for _, t := range d.open[l] {
		to := spaceLane{t.space, l.partition}
		d.closed[to] = append(d.closed[to], t)
	}
	delete(d.open, l)
}

// Later notes that a partition has a later cluster record of a space, of a position.
func (d Dating) Later(s *Space, partition int32, position int64) {
	l := spaceLane{s, partition}
	for _, t := range d.closed[l] {
		s.tombstones[t.index].by = position - 1
	}
	delete(d.closed, l)
}
