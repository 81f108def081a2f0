// placement.go holds messages to the partitions that their keys give them. Messages of input
// records go in, and which of them are elsewhere comes out.

package audit

import (
	"fmt"
	"strconv"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/clusterd/clusterd/internal/audit/report"
	"github.com/clusterd/clusterd/internal/audit/spill"
	"github.com/clusterd/clusterd/internal/audit/topics"
	"github.com/clusterd/clusterd/internal/audit/wire"
	"github.com/clusterd/clusterd/internal/config"
)

// placements are where the messages of input records are, by the input record.
type placements struct {
	rows  *spill.Partitions[placement]
	byKey kgo.TopicPartitioner // as Kafka's own clients choose a partition

	config      *config.Config
	checkpoints map[string]*wire.Checkpoint // the last ones, by space
}

// A placement is where the message of an input record is: 17 bytes.
type placement struct {
	At   wire.Address
	Dead bool   // among the dead letters
	Hash uint32 // modulo the number of partitions it is the partition
}

// newPlacements returns empty placements, of input records in this span.
func newPlacements(dir *spill.Dir, input topics.Span, c *config.Config) *placements {
	return &placements{
		rows:   spill.NewPartitions[placement](dir, input.From, input.To),
		byKey:  kgo.StickyKeyPartitioner(nil).ForTopic(""),
		config: c, checkpoints: make(map[string]*wire.Checkpoint),
	}
}

// Checkpoint notes a checkpoint, which says what output.partition was: results of before a change
// stay where they are.
func (p *placements) Checkpoint(c *wire.Checkpoint) {
	if c.Group == p.config.Input.Group {
		p.checkpoints[c.Space] = c
	}
}

// of returns what output.partition was for the result of an input record, empty where that is not
// known any more.
func (p *placements) of(source wire.Address) string {
	space := "all"
	if p.config.Cluster.Scope != config.ByTopic {
		space = strconv.Itoa(int(source.Partition))
	}
	if c := p.checkpoints[space]; c != nil {
		return c.Placed(source)
	}
	return p.config.Output.Partition
}

// Limit says so where the configuration has another output.partition than the last results: then
// it is not in force yet.
func (p *placements) Limit() string {
	want := p.config.Output.Partition
	for _, c := range p.checkpoints {
		if now := c.PlacedNow(); now != want {
			return fmt.Sprintf("output.partition: %s: by the checkpoints, results are placed by %s so far",
				want, now)
		}
	}
	return ""
}

// AddResult notes a result. Where its key counts, it is where that puts it, and without a key where
// its input partition does; else it has the number of its input partition.
func (p *placements) AddResult(r *kgo.Record, source wire.Address, check *report.Check) error {
	switch p.of(source) {
	case "key":
	case "source":
		if r.Partition != source.Partition {
			check.Violate(wire.AddressOf(r).In(r.Topic),
				fmt.Sprintf("partition %d, that of its article", source.Partition),
				fmt.Sprintf("partition %d", r.Partition))
		}
		return nil
	default:
		return nil
	}
	hash := uint32(source.Partition)
	if r.Key != nil {
		hash = uint32(p.byKey.Partition(r, 1<<31)) // Kafka takes 31 bits
	}
	return p.add(source, placement{At: wire.AddressOf(r), Hash: hash})
}

// AddDeadLetter notes a dead letter: it is where its input partition puts it.
func (p *placements) AddDeadLetter(r *kgo.Record, source wire.Address) error {
	hash := uint32(source.Partition)
	return p.add(source, placement{At: wire.AddressOf(r), Dead: true, Hash: hash})
}

func (p *placements) add(source wire.Address, row placement) error {
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
func (p *placements) Check(results, dead topics.Span, check *report.Check) error {
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
