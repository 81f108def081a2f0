package pipeline

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/zeebo/xxh3"

	"github.com/clusterd/clusterd/internal/article"
	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/singlepass"
	"github.com/clusterd/clusterd/internal/state"
)

// Anybody with the right to write may have written to the clusters topic, so nothing in it is believed: here is
// what a record must be like, and replay holds it to what was there before.

const (
	// maxRecordedBytes is how large a record of the clusters topic may be: the largest sketch, in base64, takes
	// half of it.
	maxRecordedBytes = 1 << 20
	// maxSeenAhead is how far a cluster may have been seen ahead of its record's time, or of now: the day that event
	// times may be ahead, and two for clocks that were set.
	maxSeenAhead = 72 * time.Hour
	// maxRecordedPosition is above all positions, with room to count on.
	maxRecordedPosition = 1 << 53
	// maxKeyBytes is how long a key is named in full.
	maxKeyBytes = 512
)

// settings are of what the clusters of a space are made, and how: what its checkpoints say but for how far it is.
type settings struct {
	article.Checkpoint
	check func(singlepass.Fingerprint) error // of the method
}

// recorded is what a record of the clusters topic says. One of the two is set.
type recorded struct {
	cluster    *state.Cluster
	checkpoint *article.Checkpoint
}

// unexpected is a record of the clusters topic that clusterd cannot have written here.
type unexpected struct {
	kafka.Record
	reason   error
	contrary bool // by itself it is right, but it contradicts one before it
}

func (u *unexpected) Error() string {
	return fmt.Sprintf("%s/%d/%d, with the key %s: %s", u.Topic, u.Partition, u.Offset, quoted(u.Key), u.reason)
}

// notOurs is the reason of a record that no clusterd writes.
func notOurs(format string, args ...any) error {
	return fmt.Errorf("this is no record that clusterd wrote (%w): something else writes to output.clusters_topic", fmt.Errorf(format, args...))
}

const (
	startAnew = "start anew with another input.group and another output.clusters_topic"
	otherWay  = "Set it back, or " + startAnew
)

// read says what a record that is no tombstone says, or that it is not to be believed.
func (r *replica) read(record kafka.Record) (recorded, error) {
	var out recorded
	err := error(nil)
	switch {
	case record.Cut > 0 || len(record.Key) > maxRecordedBytes:
		err = notOurs("it takes more than %d bytes", maxRecordedBytes)
	case article.IsCheckpoint(record.Key):
		out.checkpoint, err = r.readCheckpoint(record)
	default:
		out.cluster, err = r.readCluster(record)
	}
	if err != nil {
		return recorded{}, &unexpected{Record: record, reason: err}
	}
	return out, nil
}

func (r *replica) readCluster(record kafka.Record) (*state.Cluster, error) {
	c, identity, err := parseCluster(record)
	if err == nil {
		err = c.Validate()
	}
	if err == nil {
		err = plausible(c.LastSeen, record)
	}
	if err != nil {
		return nil, notOurs("%w", err)
	}
	switch {
	case c.Founder.Topic != r.config.Input.Topic:
		return nil, fmt.Errorf("it is a cluster of topic %s, not of %s: give each input topic its own output.clusters_topic",
			c.Founder.Topic, r.config.Input.Topic)
	case c.Founder.Partition%r.modulus != record.Partition:
		return nil, fmt.Errorf("it is in another partition than its founder's, %d: the number of partitions of output.clusters_topic was "+
			"changed, which moves its keys. To go on, %s", c.Founder.Partition, startAnew)
	case identity != r.identity:
		return nil, fmt.Errorf("it was made in another way (%s): its fingerprint cannot be compared with new ones. %s",
			difference(identity, r.identity), otherWay)
	}
	if err := r.settings.check(singlepass.Fingerprint{Hash: c.Fingerprint, Sketch: c.Sketch}); err != nil {
		return nil, notOurs("%w", err)
	}
	return &c, nil
}

// parseCluster reads a record of the clusters topic: the cluster, and how its fingerprint was made.
func parseCluster(r kafka.Record) (c state.Cluster, identity string, err error) {
	parsed, err := article.ParseCluster(r.Value)
	if err != nil {
		return state.Cluster{}, "", err
	}
	founder, err := article.ParseAddress(parsed.ClusterID)
	if err != nil {
		return state.Cluster{}, "", err
	}
	if id := founder.String(); id != parsed.ClusterID || id != string(r.Key) {
		return state.Cluster{}, "", fmt.Errorf("cluster_id %s is not its key", quoted([]byte(parsed.ClusterID)))
	}
	c = state.Cluster{
		Seq: parsed.Seq, Fingerprint: uint64(parsed.Fingerprint), Sketch: string(parsed.Sketch), Founder: founder, Size: parsed.Size,
		FirstSeen: parsed.FirstSeen.UnixMilli(), LastSeen: parsed.LastSeen.UnixMilli(), Representative: parsed.Representative,
	}
	c.Position, err = recordPosition(r)
	return c, parsed.Pipeline, err
}

// recordPosition is what the one header says that positionHeader writes.
func recordPosition(r kafka.Record) (position uint64, err error) {
	found := 0
	for _, h := range r.Headers {
		if h.Key != article.HeaderPosition {
			continue
		}
		found++
		if position, err = strconv.ParseUint(string(h.Value), 10, 64); err != nil || strconv.FormatUint(position, 10) != string(h.Value) {
			return 0, fmt.Errorf("header %s: %s is no number", article.HeaderPosition, quoted(h.Value))
		}
	}
	if found != 1 {
		return 0, fmt.Errorf("there are %d headers %s, not one", found, article.HeaderPosition)
	}
	return position, nil
}

// plausible holds a time to when the record was written.
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

func (r *replica) readCheckpoint(record kafka.Record) (*article.Checkpoint, error) {
	c, err := article.ParseCheckpoint(record.Value)
	if err == nil {
		err = r.possible(&c, record)
	}
	if err != nil {
		return nil, notOurs("%w", err)
	}
	return &c, r.sameSettings(&c)
}

func (r *replica) possible(c *article.Checkpoint, record kafka.Record) error {
	partition, err := 0, error(nil)
	if c.Space != "all" {
		partition, err = strconv.Atoi(c.Space)
	}
	switch {
	case err != nil || partition < 0 || (c.Space == "all") != (c.Scope == "topic"):
		return fmt.Errorf("space %s with scope %s", quoted([]byte(c.Space)), quoted([]byte(c.Scope)))
	case c.Key() != string(record.Key):
		return fmt.Errorf("its key is that of another group or space than %s", quoted([]byte(c.Key())))
	case partition%r.modulus != record.Partition:
		return fmt.Errorf("that of space %s belongs into partition %d", c.Space, partition%r.modulus)
	case c.NextPosition > maxRecordedPosition:
		return fmt.Errorf("next_position %d", c.NextPosition)
	case c.StreamTime < 0:
		return fmt.Errorf("stream_time %d", c.StreamTime)
	}
	for p, offset := range c.Offsets {
		if p < 0 || offset < 0 || offset > 1<<62 || c.Space != "all" && p != partition {
			return fmt.Errorf("offset %d of partition %d", offset, p)
		}
	}
	return plausible(c.StreamTime, record)
}

// sameSettings is an error of a checkpoint by other settings than these. It may be that of another space.
func (r *replica) sameSettings(c *article.Checkpoint) error {
	now := &r.settings.Checkpoint
	var changed []string
	for _, s := range []struct{ name, was, is string }{
		{"input.topic", c.Input, now.Input},
		{"input.group", c.Group, now.Group},
		{"cluster.scope", c.Scope, now.Scope},
		{"cluster.window", c.Window, now.Window},
	} {
		if s.was != s.is {
			changed = append(changed, fmt.Sprintf("%s was %s and is %s", s.name, quoted([]byte(s.was)), s.is))
		}
	}
	if c.Pipeline != now.Pipeline {
		changed = append(changed, difference(c.Pipeline, now.Pipeline))
	} else if c.Threshold != now.Threshold {
		changed = append(changed, "cluster."+strings.ReplaceAll(difference(c.Threshold, now.Threshold), ", ", ", cluster."))
	}
	switch {
	case changed == nil:
		return nil
	case c.Group != now.Group:
		return fmt.Errorf("its clusters are those of group %s, and this is group %s (%s). Two groups that write the same clusters would spoil them "+
			"for each other: nothing was read. Give this one an output.clusters_topic and an output.topic of its own, or set input.group back",
			quoted([]byte(c.Group)), now.Group, strings.Join(changed, ", "))
	default:
		return fmt.Errorf("its clusters were made by other settings: %s. Clusters of both kinds would not fit together: nothing was read. %s",
			strings.Join(changed, ", "), otherWay)
	}
}

// recordKey tells records of the clusters topic apart, in a short text.
func recordKey(r kafka.Record) string {
	key := string(r.Key)
	if len(key) > maxKeyBytes || !utf8.ValidString(key) {
		key = fmt.Sprintf("%x", xxh3.Hash128(r.Key).Bytes())
	}
	position, err := recordPosition(r)
	switch {
	case err == nil:
		return fmt.Sprint(key, " at ", position)
	case r.Value != nil:
		return fmt.Sprintf("%s, %016x", key, xxh3.Hash(r.Value))
	default:
		return key
	}
}

// takeOut is how to take a record out of the clusters topic.
func (r *replica) takeOut(record kafka.Record) string {
	const clusterIsGone = "if it is the id of a cluster, that cluster is gone with it"
	if record.Key == nil {
		return "It has no key, so that no tombstone takes it out: " + startAnew
	}
	// Of an empty line kcat makes no record: the key must be in it.
	command := fmt.Sprintf(`printf '%%s\t\n' %s | kcat -b %s -P -t %s -p %d -K '\t' -Z`,
		shellQuoted(record.Key), strings.Join(r.config.Kafka.Brokers, ","), record.Topic, record.Partition)
	// The shell takes a NUL away, kcat a line break and a tab.
	if len(record.Key) > maxKeyBytes || bytes.ContainsAny(record.Key, "\x00\n\t") {
		command = "a record with that key, in that partition, without a value"
	}
	return fmt.Sprintf("Where this record alone is wrong, a tombstone to its key takes it out at the next start (%s): %s", clusterIsGone, command)
}

// shellQuoted is a key as an argument of a command.
func shellQuoted(key []byte) string {
	plain := utf8.Valid(key) && !strings.ContainsFunc(string(key), func(c rune) bool { return !strconv.IsPrint(c) || c == '\'' })
	if plain {
		return "'" + string(key) + "'"
	}
	var b strings.Builder
	b.WriteString(`"$(printf '`)
	for _, c := range key {
		fmt.Fprintf(&b, `\%03o`, c)
	}
	return b.String() + `')"`
}

// quoted is text from outside for a message: short, and without what a terminal obeys.
func quoted(text []byte) string {
	const most = 80
	if len(text) > most {
		return fmt.Sprintf("%q… (%d bytes)", text[:most], len(text))
	}
	return fmt.Sprintf("%q", text)
}

// explain says what to do about a record that is not to be believed.
func (r *replica) explain(err error) error {
	var u *unexpected
	if !errors.As(err, &u) {
		return err
	}
	return fmt.Errorf("%w. %s", err, r.takeOut(u.Record))
}
