package replica

import (
	"fmt"
	"strconv"
	"time"

	"github.com/clusterd/clusterd/internal/article"
	"github.com/clusterd/clusterd/internal/cluster"
	"github.com/clusterd/clusterd/internal/kafka"
)

// Anybody with the right to write may have written to the clusters topic, so nothing in it is
// believed: decode says what a record must be like by itself, and apply holds it to what was there before.

const (
	// maxRecordBytes is how large a record of the clusters topic may be: the largest sketch, in base64,
	// takes half of it.
	maxRecordBytes = 1 << 20
	// maxSeenAhead is how far a cluster may have been seen ahead of its record's time, or of now: the day
	// that event times may be ahead, and two for clocks that were set.
	maxSeenAhead = 72 * time.Hour
	// maxNextPosition is above all positions, with room to count on.
	maxNextPosition = cluster.MaxPosition + 1
	// maxKeyBytes is how long a key is named in full.
	maxKeyBytes = 512
)

// A statement is what a record of the clusters topic says: a cluster, a checkpoint, or with neither a
// tombstone.
type statement struct {
	key        []byte
	cluster    *cluster.Cluster
	checkpoint *article.Checkpoint
}

// unexpected is a record of the clusters topic that clusterd cannot have written here.
type unexpected struct {
	kafka.Record
	reason      error
	contradicts bool // by itself it is right, but it contradicts one before it
}

func (u *unexpected) Error() string {
	return fmt.Sprintf("%s/%d/%d, with the key %.80q: %s", u.Topic, u.Partition, u.Offset, u.Key, u.reason)
}

// notOurs is the reason of a record that no clusterd writes.
func notOurs(format string, args ...any) error {
	return fmt.Errorf("this is no record that clusterd wrote (%w): something else writes to output.clusters_topic", fmt.Errorf(format, args...))
}

// decode returns what a record says. The error is [unexpected] where it is not to be believed.
func (r *Replica) decode(record kafka.Record) (said statement, err error) {
	said.key = record.Key
	switch {
	case record.Unreadable != nil:
		return said, fmt.Errorf("offsets %d to %d of %s/%d cannot be read (%s): it is a record batch that clusterd did not write. Nothing was skipped. "+
			"Find out who else writes to output.clusters_topic, and start anew with another input.group and another output.clusters_topic",
			record.Offset, record.Unreadable.Last, record.Topic, record.Partition, record.Unreadable.Reason)
	case record.Value == nil && record.Cut == 0:
		return said, nil
	case record.Cut > 0 || len(record.Key) > maxRecordBytes:
		err = notOurs("it takes more than %d bytes", maxRecordBytes)
	case article.IsCheckpoint(record.Key):
		said.checkpoint, err = r.decodeCheckpoint(record)
	default:
		said.cluster, err = r.decodeCluster(record)
	}
	if err != nil {
		return statement{}, &unexpected{Record: record, reason: err}
	}
	return said, nil
}

func (r *Replica) decodeCluster(record kafka.Record) (*cluster.Cluster, error) {
	position, err := recordPosition(record)
	if err != nil {
		return nil, notOurs("%w", err)
	}
	c, identity, err := cluster.Parse(record.Key, record.Value, position)
	if err == nil {
		err = plausible(c.LastSeen, record)
	}
	if err != nil {
		return nil, notOurs("%w", err)
	}
	s := &r.Options.Space
	switch {
	case c.Founder.Topic != s.Input:
		return nil, fmt.Errorf("it is a cluster of topic %s, not of %s: give each input topic its own output.clusters_topic",
			c.Founder.Topic, s.Input)
	case c.Founder.Partition%r.modulus != record.Partition:
		return nil, fmt.Errorf("it is in another partition than its founder's, %d: the number of partitions of output.clusters_topic was "+
			"changed, which moves its keys. To go on, %s", c.Founder.Partition, StartAnew)
	case identity != s.Pipeline:
		return nil, fmt.Errorf("it was made in another way (%s): its fingerprint cannot be compared with new ones. %s",
			difference(identity, s.Pipeline), otherWay)
	}
	if err := r.Check(c.Fingerprint); err != nil {
		return nil, notOurs("%w", err)
	}
	return &c, nil
}

// recordPosition returns what the one header with the position says.
func recordPosition(record kafka.Record) (position uint64, err error) {
	found := 0
	for _, h := range record.Headers {
		if h.Key != article.HeaderPosition {
			continue
		}
		found++
		if position, err = strconv.ParseUint(string(h.Value), 10, 64); err != nil || strconv.FormatUint(position, 10) != string(h.Value) {
			return 0, fmt.Errorf("header %s: %.80q is no number", article.HeaderPosition, h.Value)
		}
	}
	if found != 1 {
		return 0, fmt.Errorf("there are %d headers %s, not one", found, article.HeaderPosition)
	}
	return position, nil
}

// plausible holds a time, in Unix milliseconds, to when the record was written.
func plausible(seen int64, record kafka.Record) error {
	latest := time.Now()
	if record.Time.After(latest) {
		latest = record.Time
	}
	if latest = latest.Add(maxSeenAhead); seen > latest.UnixMilli() {
		return fmt.Errorf("the time %s is in the future", time.UnixMilli(seen).UTC().Format(time.RFC3339))
	}
	return nil
}
