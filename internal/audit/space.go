package audit

import (
	"fmt"
	"math"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/clusterd/clusterd/internal/audit/model"
	"github.com/clusterd/clusterd/internal/audit/spill"
	"github.com/clusterd/clusterd/internal/audit/wire"
)

// A space is the articles that are compared with one another: what the topics say of each of their
// positions.
type space struct {
	results    *spill.Table[resultRow]
	clusters   *spill.Table[clusterRow] // by the position of the cluster's last member
	required   int64                    // there must be no gap below this position
	tombstones []tombstone
}

// A resultRow is what is kept of a result of an article that was clustered, and of its input
// record.
type resultRow struct {
	Article        model.Article
	At             wire.Address // in the topic of results
	Size           int64
	Representative uint64 // a digest of what the result says
	Matched        match  // likewise
	Timeless       bool   // only the stream time says when it was published
}

// A match is how a result says that its article joined.
type match uint8

const (
	unexplained match = iota
	byText
	contained
	byContact
)

// matches has them by their names.
var matches = map[string]match{
	"": unexplained, wire.MatchedText: byText, wire.MatchedContained: contained,
	wire.MatchedContact: byContact,
}

// A clusterRow is what is kept of a record of the clusters topic.
type clusterRow struct {
	At          wire.Address // in the clusters topic
	Founder     wire.Address
	Fingerprint uint64
	Seq         int64
	Size        int64
	ByContact   int64
	FirstSeen   int64 // Unix milliseconds
	LastSeen    int64 // Unix milliseconds

	Representative, Sketch, Contacts uint64 // digests
}

// A tombstone says that a cluster has expired, at the latest when its space had taken in the
// article at the position by.
type tombstone struct {
	founder wire.Address
	at      wire.Address // in the clusters topic
	by      int64
}

// space returns that of an input partition.
func (a *audit) space(partition int32) (*space, error) {
	if a.config.Cluster.Scope == "topic" {
		partition = 0
	}
	if s := a.spaces[partition]; s != nil {
		return s, nil
	}
	results, err := spill.NewTable[resultRow](a.dir)
	if err != nil {
		return nil, err
	}
	clusters, err := spill.NewTable[clusterRow](a.dir)
	if err != nil {
		return nil, err
	}
	a.spaces[partition] = &space{results: results, clusters: clusters}
	return a.spaces[partition], nil
}

// addAt puts a result at its position.
func (a *audit) addAt(position int64, row resultRow, at string) error {
	s, err := a.space(row.Article.Source.Partition)
	if err != nil {
		return err
	}
	if position >= a.positions {
		a.order.Violate(at,
			fmt.Sprintf("a position below %d, as many as there can be results", a.positions),
			fmt.Sprintf("position %d", position))
		return nil
	}
	fresh, err := s.results.Put(position, row)
	if err != nil {
		return err
	}
	if !fresh {
		first, _, err := s.results.Get(position)
		if err != nil {
			return err
		}
		a.order.Violate(at, "a position of its own",
			fmt.Sprintf("position %d, that of %s", position, first.At.In(a.cut.Results.Topic)))
		return nil
	}
	if row.Article.Source.Offset < a.cut.Committed[row.Article.Source.Partition] {
		s.required = max(s.required, position+1)
	}
	return nil
}

// A dating finds out when a tombstone was written, in positions: it has none itself. Whatever its
// space says in a later transaction is of a later position. Where nothing comes later in its
// partition, the tombstone may be as late as the last result.
type dating struct {
	open   map[producerLane][]dated // of transactions that are not over
	closed map[spaceLane][]dated    // of those that are, until something later comes
}

type (
	producerLane struct {
		partition int32
		producer  int64
	}
	spaceLane struct {
		space     *space
		partition int32
	}
	dated struct {
		space *space
		index int // of the tombstone
	}
)

func newDating() dating {
	return dating{open: make(map[producerLane][]dated), closed: make(map[spaceLane][]dated)}
}

// add adds a tombstone to its space.
func (d dating) add(s *space, r *kgo.Record, founder wire.Address) {
	l := producerLane{r.Partition, r.ProducerID}
	d.open[l] = append(d.open[l], dated{s, len(s.tombstones)})
	s.tombstones = append(s.tombstones, tombstone{founder, wire.AddressOf(r), math.MaxInt64})
}

// end notes a control record, which ends a transaction.
func (d dating) end(control *kgo.Record) {
	l := producerLane{control.Partition, control.ProducerID}
	for _, t := range d.open[l] {
		to := spaceLane{t.space, l.partition}
		d.closed[to] = append(d.closed[to], t)
	}
	delete(d.open, l)
}

// later notes that a partition has a later cluster record of a space, of a position.
func (d dating) later(s *space, partition int32, position int64) {
	l := spaceLane{s, partition}
	for _, t := range d.closed[l] {
		s.tombstones[t.index].by = position - 1
	}
	delete(d.closed, l)
}
