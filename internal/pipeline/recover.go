package pipeline

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/clusterd/clusterd/internal/consumer"
	"github.com/clusterd/clusterd/internal/kafka"
)

// recover reads the live clusters of the owned partitions back from the clusters topic. It must
// come after fencing: nothing is written any more then by a previous owner.
//
// It reads up to where the partitions end now, not to the last stable offset: another space's open
// transaction may hold that back while records of ours lie behind it.
func (w *worker) recover(ctx context.Context) (*space, error) {
	began := time.Now()
	topic := w.out.ClustersTopic
	partitions := w.clusterPartitions()
	first, err := w.offsets(ctx, topic, partitions, kafka.First)
	if err != nil {
		return nil, err
	}
	last, err := w.offsets(ctx, topic, partitions, kafka.Last)
	if err != nil {
		return nil, err
	}
	live := make(map[string]cluster)
	err = w.readUntil(ctx, topic, first, last, func(r kafka.Record) error { return w.replay(live, r) })
	if err != nil {
		return nil, err
	}
	s, err := newSpace(w.config.Cluster.Index, w.config.Cluster.Distance, w.config.Cluster.Window, w.fingerprinter.Identity(), time.Now)
	if err != nil {
		return nil, err
	}
	for _, c := range live {
		if err := s.restore(c); err != nil {
			return nil, err
		}
	}
	w.log.Info("recovered the clusters", "clusters", len(live), "took", time.Since(began).Round(time.Millisecond))
	return s, nil
}

// clusterPartitions are the partitions of the clusters topic that hold this space's clusters.
func (w *worker) clusterPartitions() []int {
	var partitions []int
	for _, p := range w.partitions {
		partitions = append(partitions, p%len(w.out.partitions[w.out.ClustersTopic]))
	}
	slices.Sort(partitions)
	return slices.Compact(partitions)
}

func (w *worker) offsets(ctx context.Context, topic string, partitions []int, which int64) (map[int]int64, error) {
	var offsets map[int]int64
	err := kafka.Retry(ctx, w.log, "listing offsets", func() (err error) {
		offsets, err = w.client.Offsets(ctx, topic, partitions, which)
		return err
	})
	return offsets, err
}

// readUntil reads the committed records from the offsets first to the offsets last, by partition.
func (w *worker) readUntil(ctx context.Context, topic string, first, last map[int]int64, do func(kafka.Record) error) error {
	open := 0
	for p := range last {
		if first[p] < last[p] {
			open++
		}
	}
	if open == 0 {
		return nil
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	chunks, failed := make(chan consumer.Chunk), make(chan error, 1)
	go func() {
		failed <- consumer.NewLog(w.client, w.log, topic, first, w.config.Batch.Bytes).Read(ctx, chunks)
	}()
	at := first
	for open > 0 {
		select {
		case chunk := <-chunks:
			for _, r := range chunk.Records {
				if err := do(r); err != nil {
					return err
				}
			}
			if p := chunk.Partition; at[p] < last[p] && chunk.Next >= last[p] {
				open--
			}
			at[chunk.Partition] = chunk.Next
		case err := <-failed:
			return err
		}
	}
	return nil
}

// replay takes one record of the clusters topic into live. Clusters of other spaces that share the
// partition are passed over; what this space cannot have written is an error.
func (w *worker) replay(live map[string]cluster, r kafka.Record) error {
	if r.Value == nil {
		delete(live, string(r.Key))
		return nil
	}
	c, err := parseCluster(r)
	if err != nil {
		return fmt.Errorf("%s/%d/%d is no cluster that clusterd wrote (%w): is output.clusters_topic used for something else?",
			r.Topic, r.Partition, r.Offset, err)
	}
	if c.founder.Topic != w.config.Input.Topic {
		return fmt.Errorf("%s/%d/%d is a cluster of topic %s, not of %s: give each input topic its own output.clusters_topic",
			r.Topic, r.Partition, r.Offset, c.founder.Topic, w.config.Input.Topic)
	}
	if c.founder.Partition%len(w.out.partitions[w.out.ClustersTopic]) != r.Partition {
		return fmt.Errorf("%s/%d/%d is in another partition than its founder's, %d: the number of partitions of output.clusters_topic was "+
			"changed, which moves its keys. Start anew with another input.group and another output.clusters_topic",
			r.Topic, r.Partition, r.Offset, c.founder.Partition)
	}
	if c.Pipeline != w.fingerprinter.Identity() {
		return fmt.Errorf("the clusters in %s were made in another way (%s): their fingerprints cannot be compared with new ones. "+
			"Set it back, or start anew with another input.group and another output.clusters_topic",
			r.Topic, difference(c.Pipeline, w.fingerprinter.Identity()))
	}
	if slices.Contains(w.partitions, c.founder.Partition) {
		live[c.ClusterID] = c
	}
	return nil
}

// checkFounders makes sure that no cluster was founded by an article that is still to be read: its id,
// the founder's address, would be minted a second time for another article.
func (w *worker) checkFounders(s *space, next map[int]int64) error {
	for _, c := range s.clusters {
		if at := c.founder; at.Offset >= next[at.Partition] {
			return fmt.Errorf("cluster %s was founded by a record that is still to be read (from offset %d on): the topic was made anew, or the "+
				"offsets of group %s were set back. Nothing was read. Start anew with another input.group and another output.clusters_topic",
				c.ClusterID, next[at.Partition], w.config.Input.Group)
		}
	}
	return nil
}

// difference says in which parts two identities differ.
func difference(was, is string) string {
	now := make(map[string]string)
	for _, part := range strings.Split(is, ",") {
		name, value, _ := strings.Cut(part, "=")
		now[name] = value
	}
	var parts []string
	before := strings.Split(was, ",")
	for _, part := range before {
		name, value, _ := strings.Cut(part, "=")
		if now[name] != value {
			parts = append(parts, fmt.Sprintf("%s was %s and is %s", name, value, now[name]))
		}
	}
	if parts == nil || len(before) != len(now) {
		return fmt.Sprintf("it was %q and is %q", was, is)
	}
	return strings.Join(parts, ", ")
}
