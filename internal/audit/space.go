package audit

import (
	"context"
	"fmt"
	"math"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/clusterd/clusterd/internal/article"
)

// A space is the articles that are compared with one another: what the topics say of each of their
// positions.
type space struct {
	results    *table[resultRow]
	clusters   *table[clusterRow] // by the position of the cluster's last member
	required   int64              // there must be no gap below this position
	tombstones []tombstone
}

// A tombstone says that a cluster has expired, at the latest when its space had taken in the article at
// the position by.
type tombstone struct {
	founder place
	at      place // in the clusters topic
	by      int64
}

// space is that of an input partition.
func (a *audit) space(partition int32) (*space, error) {
	if a.config.Cluster.Scope == "topic" {
		partition = 0
	}
	if s := a.spaces[partition]; s != nil {
		return s, nil
	}
	results, err := newTable[resultRow](a.dir)
	if err != nil {
		return nil, err
	}
	clusters, err := newTable[clusterRow](a.dir)
	if err != nil {
		results.close()
		return nil, err
	}
	a.spaces[partition] = &space{results: results, clusters: clusters}
	return a.spaces[partition], nil
}

// place puts a result at its position.
func (a *audit) place(row resultRow, position int64, at string) error {
	s, err := a.space(row.Source.Partition)
	if err != nil {
		return err
	}
	if position >= a.positions {
		a.order.violated(at, fmt.Sprintf("a position below %d, as many as there can be results", a.positions), fmt.Sprintf("position %d", position))
		return nil
	}
	fresh, err := s.results.put(position, row)
	if err != nil {
		return err
	}
	if !fresh {
		first, _, err := s.results.get(position)
		if err != nil {
			return err
		}
		a.order.violated(at, "a position of its own", fmt.Sprintf("position %d, that of %s", position, first.At.in(a.cut.results.topic)))
		return nil
	}
	if row.Source.Offset < a.cut.committed[row.Source.Partition] {
		s.required = max(s.required, position+1)
	}
	return nil
}

// readClusters puts each record of the clusters topic at its position: not only a cluster's last record
// must be right, but each was when it was written.
func (a *audit) readClusters(ctx context.Context) error {
	dating := dating{open: make(map[lane][]dated), closed: make(map[spaceLane][]dated)}
	n, err := a.read(ctx, a.cut.clusters, kgo.ReadCommitted(), func(r *kgo.Record) error {
		if r.Attrs.IsControl() {
			dating.ended(lane{r.Partition, r.ProducerID})
			return nil
		}
		if isCheckpoint(r) {
			a.takeCheckpoint(r)
			return nil
		}
		a.clusters.Checked++
		founder, err := parsePlace(string(r.Key), a.config.Input.Topic)
		if err != nil {
			a.form.violated(placeOf(r).in(r.Topic), "a cluster's id as the key", err.Error())
			return nil
		}
		s, err := a.space(founder.Partition)
		if err != nil {
			return err
		}
		if r.Value == nil {
			if err := headersAre(r); err != nil {
				a.form.violated(placeOf(r).in(r.Topic), "the form of a tombstone", err.Error())
			}
			a.byFounder(r, founder)
			dating.tombstone(s, r, founder)
			return nil
		}
		return a.takeCluster(r, founder, s, dating)
	})
	a.data += n
	return err
}

// byFounder holds a record of the clusters topic to the partition of its founder, on which recovery depends.
func (a *audit) byFounder(r *kgo.Record, founder place) {
	if want := founder.Partition % int32(len(a.cut.clusters.to)); r.Partition != want {
		a.clusters.violated(placeOf(r).in(r.Topic), fmt.Sprintf("partition %d, by the founder's", want), fmt.Sprintf("partition %d", r.Partition))
	}
}

func (a *audit) takeCluster(r *kgo.Record, founder place, s *space, dating dating) error {
	a.form.Checked++
	at := placeOf(r).in(r.Topic)
	row, position, pipeline, err := parseCluster(r, founder, a.config.Input.Topic)
	if err != nil {
		a.form.violated(at, "the form of a cluster", err.Error())
		return nil
	}
	if err := headersAre(r, article.HeaderPosition); err != nil {
		a.form.violated(at, "the form of a cluster", err.Error())
	}
	a.byFounder(r, founder)
	if pipeline != a.pipeline {
		a.clusters.violated(at, "pipeline "+a.pipeline, fmt.Sprintf("%q", pipeline))
	}
	dating.later(s, r.Partition, position)
	if position >= a.positions {
		a.clusters.violated(at, fmt.Sprintf("a position below %d, as many as there can be results", a.positions), fmt.Sprintf("position %d", position))
		return nil
	}
	fresh, err := s.clusters.put(position, row)
	if err != nil {
		return err
	}
	if !fresh {
		first, _, err := s.clusters.get(position)
		if err != nil {
			return err
		}
		a.clusters.violated(at, "a last member of its own", fmt.Sprintf("position %d, that of %s", position, first.At.in(r.Topic)))
	}
	s.required = max(s.required, position+1)
	return nil
}

// dating finds out when a tombstone was written, in positions: it has none itself. Whatever its space
// says in a later transaction is of a later position. Where nothing comes later in its partition, the
// tombstone may be as late as the last result.
type dating struct {
	open   map[lane][]dated      // of transactions that are not over
	closed map[spaceLane][]dated // of those that are, until something later comes
}

type (
	lane struct {
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

func (d dating) tombstone(s *space, r *kgo.Record, founder place) {
	l := lane{r.Partition, r.ProducerID}
	d.open[l] = append(d.open[l], dated{s, len(s.tombstones)})
	s.tombstones = append(s.tombstones, tombstone{founder, placeOf(r), math.MaxInt64})
}

func (d dating) ended(l lane) {
	for _, t := range d.open[l] {
		to := spaceLane{t.space, l.partition}
		d.closed[to] = append(d.closed[to], t)
	}
	delete(d.open, l)
}

func (d dating) later(s *space, partition int32, position int64) {
	l := spaceLane{s, partition}
	for _, t := range d.closed[l] {
		s.tombstones[t.index].by = position - 1
	}
	delete(d.closed, l)
}
