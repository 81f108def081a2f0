package replica

import (
	"fmt"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/zeebo/xxh3"

	"github.com/clusterd/clusterd/internal/consumer"
	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/message/checkpoint"
	"github.com/clusterd/clusterd/internal/message/cluster"
	"github.com/clusterd/clusterd/internal/space/state"
)

// Anybody with the right to write may have written to the clusters topic, so nothing in it is
// believed: decode says what a record must be like by itself, and apply holds it to what was there
// before.

const (
	// maxRecordBytes is how large a record of the clusters topic may be: the largest sketch, in
	// base64, takes half of it.
	maxRecordBytes = 1 << 20
	// maxSeenAhead is how far a cluster may have been seen ahead of its record's time, or of now: the
	// day that event times may be ahead, and two for clocks that were set.
	maxSeenAhead = 72 * time.Hour
	// maxKeyBytes is how long a key is named in full.
	maxKeyBytes = 512
)

// A statement is what a record of the clusters topic says: a cluster, a story, a contact or a
// checkpoint. Of one that is removed, only the founder or the key is set. What says nothing to this
// space is none.
type statement struct {
	cluster    *cluster.Cluster
	story      *cluster.Story
	contact    *cluster.Contact
	checkpoint *checkpoint.Record
	removed    bool
}

// unexpected is a record of the clusters topic that clusterd cannot have written here.
type unexpected struct {
	kafka.Record
	reason      error
	contradicts bool // by itself it is right, but it contradicts one before it
}

func (u *unexpected) Error() string {
	return fmt.Sprintf("%s/%d/%d, with the key %.80q: %s", u.Topic, u.Partition, u.Offset, u.Key,
		u.reason)
}

// notOurs is the reason of a record that no clusterd writes.
const notOurs = "this is no record that clusterd wrote (%w): output.clusters_topic is another " +
	"topic than before, which is to be set back, or something else writes to it"

// A misfit is the reason of a record that clusterd has written, and not with this configuration. To
// take it out would lose it.
type misfit struct{ error }

// decode returns what a record says. The error is [unexpected] where it is not to be believed.
func (r *Replica) decode(record kafka.Record) (said statement, err error) {
	said.removed = record.Value == nil && record.Cut == 0
	latest := latestSeen(record)
	switch {
	case record.Unreadable != nil:
		return said, fmt.Errorf("offsets %d to %d of %s/%d cannot be read (%s): it is a record batch "+
			"that clusterd did not write. Nothing was skipped. Find out who else writes to "+
			"output.clusters_topic, and start anew with another input.group and another "+
			"output.clusters_topic", record.Offset, record.Unreadable.Last, record.Topic,
			record.Partition, record.Unreadable.Reason)
	case record.Cut > 0 || len(record.Key) > maxRecordBytes && !said.removed:
		err = fmt.Errorf(notOurs, fmt.Errorf("it takes more than %d bytes", maxRecordBytes))
	case cluster.IsStory(record.Key):
		said.story, err = r.decodeStory(record, latest)
	case cluster.IsContact(record.Key):
		said.contact, err = r.decodeContact(record)
	case !checkpoint.Is(record.Key):
		said.cluster, err = r.decodeCluster(record, latest)
	case string(record.Key) == r.Options.Space.Key() && said.removed:
		said.checkpoint = &r.Options.Space
	case !said.removed:
		said.checkpoint, err = r.decodeCheckpoint(record, latest)
	}
	if err != nil {
		return statement{}, &unexpected{Record: record, reason: err}
	}
	return said, nil
}

// decodeCluster returns the cluster of a record, and nil for a tombstone of something else.
func (r *Replica) decodeCluster(record kafka.Record, latest int64) (*cluster.Cluster, error) {
	position, noPosition := recordPosition(record)
	c, identity, err := cluster.Parse(record.Key, record.Value, position)
	s := &r.Options.Space
	if record.Value == nil {
		if err != nil || c.Founder.Topic != s.Input {
			return nil, nil
		}
		return &c, nil
	}
	if err == nil {
		err = noPosition
	}
	if err == nil {
		err = c.Validate()
	}
	if err == nil && c.LastSeen > latest {
		err = inTheFuture(c.LastSeen)
	}
	switch {
	case err != nil:
		return nil, fmt.Errorf(notOurs, err)
	case c.Founder.Topic != s.Input:
		return nil, otherInput("cluster", c.Founder.Topic, s.Input)
	case c.Founder.Partition%r.modulus != record.Partition:
		return nil, misfit{fmt.Errorf("it is in another partition than its founder's, %d: the number of "+
			"partitions of output.clusters_topic was changed, which moves its keys. To go on, %s",
			c.Founder.Partition, StartAnew)}
	case checkpoint.WithoutContacts(identity) != s.Pipeline:
		was := checkpoint.WithoutContacts(identity)
		return nil, misfit{fmt.Errorf("it was made in another way (%s): its fingerprint cannot be "+
			"compared with new ones. %s", checkpoint.Difference(was, s.Pipeline),
			otherWay(was, s.Pipeline))}
	}
	if identity != s.Pipeline {
		c.Contacts = c.Contacts.Without(oldNumbers)
	}
	if err := r.Check(c.Fingerprint); err != nil {
		return nil, fmt.Errorf(notOurs, err)
	}
	return &c, nil
}

// otherInput is the reason of a record that is of another input topic.
func otherInput(what, was, is string) error {
	return misfit{fmt.Errorf("it is a %s of topic %s, and input.topic is %s. Nothing was read. If "+
		"input.topic has changed, set it back; else give this input an output.clusters_topic of its own",
		what, was, is)}
}

// oldNumbers begins the contacts that are telephone numbers. An earlier version wrote one number as
// several contacts, and several numbers as one: those that it found are not to be marked.
const oldNumbers = "number:"

// decodeContact returns the contact of a record, and nil for one of another space.
func (r *Replica) decodeContact(record kafka.Record) (*cluster.Contact, error) {
	position, noPosition := recordPosition(record)
	c, ours, err := cluster.ParseContact(record.Key, record.Value, position, r.Name())
	if record.Value != nil && err == nil && ours {
		if err = noPosition; err == nil {
			err = c.Validate()
		}
	}
	switch {
	case err != nil:
		return nil, fmt.Errorf(notOurs, err)
	case !ours:
		return nil, nil
	}
	return &c, nil
}

func (r *Replica) decodeCheckpoint(record kafka.Record, latest int64) (*checkpoint.Record, error) {
	c, err := checkpoint.Parse(record.Key, record.Value)
	partition, _ := c.Partition()
	switch partition %= r.modulus; {
	case err != nil:
	case partition != record.Partition:
		err = fmt.Errorf("that of space %s belongs into partition %d", c.Space, partition)
	case c.StreamTime > latest:
		err = inTheFuture(c.StreamTime)
	}
	if err != nil {
		return nil, fmt.Errorf(notOurs, err)
	}
	return &c, r.sameSettings(&c)
}

// StartAnew is what to do where the clusters of a topic cannot be gone on with.
const StartAnew = "start anew with another input.group and another output.clusters_topic"

// InputAnew is what to do where the articles of the input are others than before. Labels are of
// articles by their addresses.
const InputAnew = StartAnew + ", and with labels another labels.topic"

// otherWay says what to do where clusters were made in another way than now.
func otherWay(was, is string) string {
	keep := "Set it back"
	if v := checkpoint.FoldedBefore(was, is); v > 0 {
		keep = fmt.Sprintf("Set text.fold: %d to go on with these clusters and the folding by which "+
			"they were made", v)
	}
	return keep + ", or move over without an outage with `clusterd migrate plan` " +
		"(docs/migration.md), or " + StartAnew
}

// sameSettings returns an error for a checkpoint by other settings than these. It may be that of
// another space.
func (r *Replica) sameSettings(c *checkpoint.Record) error {
	now := &r.Options.Space
	changed := c.Changed(now)
	switch {
	case changed == "":
		return nil
	case c.Group != now.Group:
		return misfit{fmt.Errorf("its clusters are those of group %.80q, and this is group %s (%s). Two "+
			"groups that write the same clusters would spoil them for each other: nothing was read. Give "+
			"this one an output.clusters_topic and an output.topic of its own, or set input.group back",
			c.Group, now.Group, changed)}
	default:
		return misfit{fmt.Errorf("its clusters were made by other settings: %s. Clusters of both kinds "+
			"would not fit together: nothing was read. %s", changed, otherWay(c.Pipeline, now.Pipeline))}
	}
}

// unapplied returns the records of a chunk that are not on disk yet. The first may be: it was the
// last one before, and shows that the topic is still the one that the disk is a copy of.
func (c *changes) unapplied(chunk consumer.Chunk) ([]kafka.Record, error) {
	records, last := chunk.Records, c.meta.Last[chunk.Partition]
	if len(records) == 0 {
		return nil, nil
	}
	c.meta.Last[chunk.Partition] = lastRecord(records[len(records)-1])
	if first := records[0]; first.Offset == last.Offset && last.Key != "" {
		if key := recordKey(first); key != last.Key {
			return nil, fmt.Errorf("%w: at %s/%d/%d it has cluster %s, not %s", errUnusable, first.Topic,
				first.Partition, first.Offset, key, last.Key)
		}
		records = records[1:]
	}
	return records, nil
}

// lastRecord returns by what a record is recognised.
func lastRecord(record kafka.Record) state.LastRecord {
	return state.LastRecord{Offset: record.Offset, Key: recordKey(record)}
}

// recordKey tells records of the clusters topic apart, in a short text.
func recordKey(record kafka.Record) string {
	key := string(record.Key)
	if len(key) > maxKeyBytes || !utf8.ValidString(key) {
		key = fmt.Sprintf("%x", xxh3.Hash128(record.Key).Bytes())
	}
	position, err := recordPosition(record)
	switch {
	case err == nil:
		return fmt.Sprint(key, " at ", position)
	case record.Value != nil:
		return fmt.Sprintf("%s, %016x", key, xxh3.Hash(record.Value))
	default:
		return key
	}
}

// recordPosition returns what the one header with the position says.
func recordPosition(record kafka.Record) (position uint64, err error) {
	found := 0
	for _, h := range record.Headers {
		if h.Key != article.HeaderPosition {
			continue
		}
		found++
		if position, err = strconv.ParseUint(string(h.Value), 10, 64); err != nil ||
			strconv.FormatUint(position, 10) != string(h.Value) {
			return 0, fmt.Errorf("header %s: %.80q is no number", article.HeaderPosition, h.Value)
		}
	}
	if found != 1 {
		return 0, fmt.Errorf("there are %d headers %s, not one", found, article.HeaderPosition)
	}
	return position, nil
}

// latestSeen returns the last time, in Unix milliseconds, at which an article can have been seen
// when the record was written.
func latestSeen(record kafka.Record) int64 {
	latest := time.Now()
	if record.Time.After(latest) {
		latest = record.Time
	}
	return latest.Add(maxSeenAhead).UnixMilli()
}

func inTheFuture(milliseconds int64) error {
	return fmt.Errorf("the time %s is in the future",
		time.UnixMilli(milliseconds).UTC().Format(time.RFC3339))
}
