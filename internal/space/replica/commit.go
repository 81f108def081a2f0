package replica

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/message/checkpoint"
	"github.com/clusterd/clusterd/internal/space"
)

// Checkpoint returns that of the space when the batch in hand is committed, by which the input is
// read up to these offsets.
func (r *Replica) Checkpoint(offsets map[int]int64) *checkpoint.Record {
	c, now := r.Options.Space, r.space.State()
	c.NextPosition, c.StreamTime, c.Offsets = now.Next, max(0, now.StreamTime), offsets
	c.Begins, c.IDs, c.Accepted = r.begins, r.ids, r.accepted
	return &c
}

// Store writes a batch to disk that is committed in the clusters topic, with this checkpoint, as
// [space.Space.Store] does. Written
// are the last records of the topic's partitions that the transaction wrote, with their offsets.
// One of which the offset is not known is left out, and is read again at the next start.
func (r *Replica) Store(b space.Batch, c *checkpoint.Record, written []kafka.Record) error {
	m := r.space.Meta()
	for _, record := range written {
		p, next := record.Partition, record.Offset+1
		if next <= m.Offsets[p] {
			return fmt.Errorf("%s/%d took clusters at offset %d, and had clusters up to offset %d before: "+
				"the topic was made anew while clusterd "+
				"ran. Its older clusters are gone from it. Start anew with another input.group and another "+
				"output.clusters_topic",
				record.Topic, p, next-1, m.Offsets[p])
		}
		m.Offsets[p], m.Last[p] = next, lastRecord(record)
	}
	m.Checkpoint = c
	return r.space.Store(&b, m)
}

// CheckOffsets compares the offsets that a group has committed for a topic with those of the last
// transaction. Where they were set back, articles would be counted twice.
func (r *Replica) CheckOffsets(topic, group string, last, committed map[int]int64) error {
	var behind, commands []string
	for _, p := range slices.Sorted(maps.Keys(last)) {
		reached := last[p]
		switch at, ok := committed[p]; {
		case ok && at == reached:
		case ok && at > reached:
			r.Log.Warn("articles were skipped: the offsets of the group were set forward. If that was not "+
				"meant, stop all instances now and start anew, or write these articles to the topic again",
				"group", group, "topic", topic, "partition", p, "from", reached, "to", at)
		default:
			where := "has no offset"
			if ok {
				where = fmt.Sprintf("is at offset %d", at)
			}
			behind = append(behind, fmt.Sprintf("%s of %s/%d, of which it has made clusters up to offset %d",
				where, topic, p, reached))
			commands = append(commands, reset(r.Brokers, group, topic, p, fmt.Sprint("offset ", reached)))
		}
	}
	if behind == nil {
		return nil
	}
	why, anew := "its offsets were set back, or expired", ""
	if was, is, _ := r.changedID(r.space.Meta().Checkpoint, topic); was == "" || is == "" {
		why += ", or the topic was deleted and created again"
		anew = fmt.Sprintf("If the topic was deleted and created again, %s: its new articles are at "+
			"offsets that were read before, and would be passed over. Else put", InputAnew)
	}
	return fmt.Errorf("group %s %s: %s. To read on from there would count articles twice; nothing "+
		"was read. %s the offsets back: stop all instances, and run (%s)", group,
		strings.Join(behind, ", "), why, cmp.Or(anew, "Put"), strings.Join(commands, "; "))
}

// Reset returns a function that returns the command by which a group goes on with the first record
// that a partition has.
func Reset(c *config.Config, source config.Source) func(partition int) string {
	return func(partition int) string {
		return reset(c.Kafka.Brokers, source.Group, source.Topic, partition, "earliest")
	}
}

func reset(brokers []string, group, topic string, partition int, to string) string {
	return fmt.Sprintf("kafka-consumer-groups --bootstrap-server %s --group %s --topic %s:%d "+
		"--reset-offsets --to-%s --execute", strings.Join(brokers, ","), group, topic, partition, to)
}

// CheckFounders makes sure that no cluster was founded by an article that is still to be read, from
// these offsets on: its id, the founder's address, would be minted a second time for another
// article.
func (r *Replica) CheckFounders(next map[int]int64) error {
	founders := r.space.Meta().Founders
	for _, p := range slices.Sorted(maps.Keys(founders)) {
		at := article.Address{Topic: r.Options.Space.Input, Partition: p, Offset: founders[p]}
		if from, ok := next[p]; ok && at.Offset >= from {
			return fmt.Errorf("cluster %s was founded by a record that is still to be read (from offset "+
				"%d on): the topic was deleted and created again, or the offsets of group %s were set back. "+
				"Nothing was read. What to do: %s", at, from, r.Options.Space.Group, InputAnew)
		}
	}
	return nil
}
