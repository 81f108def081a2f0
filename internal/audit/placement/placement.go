// Package placement holds messages to the partitions that their keys give them. Messages of input
// records go in, and which of them are elsewhere comes out.
package placement

import (
	"fmt"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/clusterd/clusterd/internal/audit/report"
	"github.com/clusterd/clusterd/internal/audit/spill"
	"github.com/clusterd/clusterd/internal/audit/topics"
	"github.com/clusterd/clusterd/internal/audit/wire"
)

// Placements are where the messages of input records are, by the input record.
type Placements struct {
	rows  *spill.Partitions[placement]
	byKey kgo.TopicPartitioner // as Kafka's own clients choose a partition
}

// A placement is where the message of an input record is: 17 bytes.
type placement struct {
	At   wire.Address
	Dead bool   // among the dead letters
	Hash uint32 // modulo the number of partitions it is the partition
}

// New returns empty placements, of input records in this span.
func New(dir *spill.Dir, input topics.Span) *Placements {
	return &Placements{
		rows:  spill.NewPartitions[placement](dir, input.From, input.To),
		byKey: kgo.StickyKeyPartitioner(nil).ForTopic(""),
	}
}

// AddResult notes a result: it is where its key puts it, and without a key where its input
// partition does.
func (p *Placements) AddResult(r *kgo.Record, source wire.Address) error {
	hash := uint32(source.Partition)
	if r.Key != nil {
		hash = uint32(p.byKey.Partition(r, 1<<31)) // Kafka takes 31 bits
	}
	return p.add(source, placement{At: wire.AddressOf(r), Hash: hash})
}

// AddDeadLetter notes a dead letter: it is where its input partition puts it.
func (p *Placements) AddDeadLetter(r *kgo.Record, source wire.Address) error {
	hash := uint32(source.Partition)
	return p.add(source, placement{At: wire.AddressOf(r), Dead: true, Hash: hash})
}

func (p *Placements) add(source wire.Address, row placement) error {
	_, err := p.rows.Put(source.Partition, source.Offset, row)
	return err
}

// fewStrays is how many messages of an input partition may be elsewhere than the present number of
// partitions says, and count as misplaced. More of them mean that the topic was given more
// partitions.
const fewStrays = 10

// Check holds each message to the partition that its key gives it. A topic may have been given
// more partitions meanwhile: their number never falls, in the order in which an input partition
// was assigned. Then each message is held to the smallest number that all before it allow.
func (p *Placements) Check(results, dead topics.Span, check *report.Check) error {
	type messages struct {
		topics.Span
		strays     int
		partitions uint32 // as many as all before allow
	}
	for _, partition := range p.rows.All() {
		kinds := map[bool]*messages{
			false: {Span: results, partitions: 1}, true: {Span: dead, partitions: 1},
		}
		err := p.rows.Each(partition, func(row placement) {
			if m := kinds[row.Dead]; row.Hash%uint32(len(m.To)) != uint32(row.At.Partition) {
				m.strays++
			}
		})
		if err != nil {
			return err
		}
		err = p.rows.Each(partition, func(row placement) {
			m := kinds[row.Dead]
			all := uint32(len(m.To))
			n := m.partitions
			if m.strays < fewStrays {
				n = all
			}
			for n <= all && row.Hash%n != uint32(row.At.Partition) {
				n++
			}
			if n > all {
				check.Violate(row.At.In(m.Topic),
					fmt.Sprintf("partition %d of %d, by its key", row.Hash%all, all),
					fmt.Sprintf("partition %d", row.At.Partition))
				return
			}
			m.partitions = n
		})
		if err != nil {
			return err
		}
	}
	return nil
}
