// Package checkpoint has the record of the clusters topic that says how far a space is, and by
// which settings. It goes in and out as JSON; what is read is checked.
package checkpoint

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Prefix begins the key of a checkpoint. No cluster id begins so: a topic's name has no
// colon.
const Prefix = "checkpoint:"

// What [Record.JSON] writes has one of two forms. An earlier clusterd, which knows the first alone,
// stops at the second rather than go on without the marks of contacts.
const (
	plain  = 1
	marked = 2 // labels are on, and mark contacts
)

// A Record is a checkpoint. It stands in the clusters topic beside the clusters of a space and says
// of what they were made: with each transaction, up to where the input was read, and by which
// settings.
type Record struct {
	Version int    `json:"version"`
	Input   string `json:"input"` // the topic
	Group   string `json:"group"` // the consumer group
	Scope   string `json:"scope"` // as in the configuration
	// ScopeField is what divides the articles of the space, as in the configuration; empty: nothing.
	ScopeField string `json:"scope_field,omitempty"`
	Space      string `json:"space"`    // "all", or the number of the input partition
	Pipeline   string `json:"pipeline"` // how fingerprints are made
	// Threshold is from where on articles are the same, as name=value pairs.
	Threshold string `json:"threshold"`
	// Window is after which clusters expire, as Go writes durations.
	Window string `json:"window"`
	// Offsets are, by input partition, the first that were not read.
	Offsets      map[int]int64 `json:"offsets"`
	NextPosition uint64        `json:"next_position"` // of the next article that is clustered
	StreamTime   int64         `json:"stream_time"`   // the highest event time, Unix milliseconds
	// Labels is how far the space is with labels; nil where it never had any.
	Labels *Labels `json:"labels,omitempty"`
	// Fingerprints is how far the topic of fingerprinted articles was read; nil where the input itself
	// was. Offsets then are those behind the last articles that were assigned.
	Fingerprints *Fingerprints `json:"fingerprints,omitempty"`
	// Placements are what output.partition was, in order; none: always key.
	Placements []Placement `json:"placements,omitempty"`
	// Output is the topic of the results; empty: an earlier version wrote the checkpoint.
	Output string `json:"output,omitempty"`
	// Begins are, by partition of the clusters topic, where it begins: as long as nobody deletes
	// records, that stays. None: an earlier version wrote the checkpoint.
	Begins map[int]int64 `json:"begins,omitempty"`
	// StoriesSince is the position from which on stories were never off; nil: they are off, or an
	// earlier version wrote the checkpoint. Nothing else tells results of then from damaged ones.
	StoriesSince *uint64 `json:"stories_since,omitempty"`
	// IDs are, by name, the ids of the topics that the space reads (KIP-516): a topic that was deleted
	// and created again has another one. None: the brokers give none, or an earlier version wrote the
	// checkpoint.
	IDs map[string]string `json:"ids,omitempty"`
	// Accepted says who has taken topics over as they are, the last ones.
	Accepted []Accepted `json:"accepted,omitempty"`
}

// Accepted is who took topics over that were not as the checkpoint said, and why.
type Accepted struct {
	By  string    `json:"by,omitempty"`
	At  time.Time `json:"at"`
	Why string    `json:"why"` // what was refused before
}

// maxIDs is of how many topics a checkpoint has ids: clusters, labels and what is assigned.
const maxIDs = 3

// MaxAccepted is how many of them a checkpoint keeps.
const MaxAccepted = 8

// Fingerprints are how far a topic of fingerprinted articles was read.
type Fingerprints struct {
	Topic   string        `json:"topic"`
	Offsets map[int]int64 `json:"offsets"` // by partition: the first that were not read
}

// StoriesOn returns StoriesSince of a space that goes on from a checkpoint with stories on or off.
// The checkpoint of a new space is nil.
func (c *Record) StoriesOn(on bool) *uint64 {
	switch {
	case !on:
		return nil
	case c == nil:
		return new(uint64)
	case c.StoriesSince != nil:
		return c.StoriesSince
	}
	since := c.NextPosition
	return &since
}

// Unmarked reports whether an earlier version wrote the checkpoint, whose labels marked no
// contacts.
func (c *Record) Unmarked() bool { return c.Version == plain && c.Labels != nil }

// Key returns the key of the checkpoint's record. Each group and space has its own, so that none
// takes another's away.
func (c *Record) Key() string { return Prefix + c.Group + "/" + c.Space }

// Is reports whether a record of the clusters topic with this key is a checkpoint, not a
// cluster.
func Is(key []byte) bool { return strings.HasPrefix(string(key), Prefix) }

// JSON writes the checkpoint as one line without a line break, in this form's version.
func (c Record) JSON() []byte {
	c.Version = plain
	if c.Labels != nil {
		c.Version = marked
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(c) // strings and numbers always can be, and a buffer takes all
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// Parse reads what [Record.JSON] wrote, in a record with this key. An error says what
// no clusterd can have written.
func Parse(key, value []byte) (Record, error) {
	var c Record
	if err := json.Unmarshal(value, &c); err != nil {
		return Record{}, fmt.Errorf("not a checkpoint: %w", err)
	}
	if c.Version != plain && c.Version != marked {
		return Record{}, fmt.Errorf("not a checkpoint of this clusterd: version %d, and this one "+
			"reads %d and %d. Upgrade this instance to the version that wrote it", c.Version, plain, marked)
	}
	if c.Input == "" || c.Group == "" || c.Scope == "" || c.Space == "" || c.Offsets == nil {
		return Record{}, errors.New(
			"not a checkpoint: input, group, scope, space or offsets are missing")
	}
	if c.Key() != string(key) {
		return Record{}, fmt.Errorf("its key is that of another group or space than %.80q", c.Key())
	}
	return c, c.validate()
}

// The largest values of a checkpoint that was made here, with room to count on.
const (
	maxNextPosition = 1 << 53
	maxNextOffset   = 1 << 62
)

func (c *Record) validate() error {
	partition, err := c.Partition()
	switch {
	case err != nil || partition < 0 || (c.Space == WholeTopic) != (c.Scope == "topic"):
		return fmt.Errorf("space %.80q with scope %.80q", c.Space, c.Scope)
	case c.NextPosition > maxNextPosition:
		return fmt.Errorf("next_position %d", c.NextPosition)
	case c.StoriesSince != nil && *c.StoriesSince > c.NextPosition:
		return fmt.Errorf("stories_since %d, after next_position %d", *c.StoriesSince, c.NextPosition)
	case c.StreamTime < 0:
		return fmt.Errorf("stream_time %d", c.StreamTime)
	}
	if err := c.validateOffsets(partition, c.Offsets); err != nil {
		return err
	}
	if f := c.Fingerprints; f != nil {
		if f.Topic == "" || f.Offsets == nil {
			return errors.New("fingerprints without topic or offsets")
		}
		if err := c.validateOffsets(partition, f.Offsets); err != nil {
			return fmt.Errorf("fingerprints: %w", err)
		}
	}
	for p, offset := range c.Begins {
		if p < 0 || offset < 0 || offset > maxNextOffset {
			return fmt.Errorf("begins: offset %d of partition %d", offset, p)
		}
	}
	for topic, id := range c.IDs {
		if topic == "" || id == "" || len(c.IDs) > maxIDs {
			return fmt.Errorf("ids: topic %.80q with id %.80q, of %d", topic, id, len(c.IDs))
		}
	}
	if len(c.Accepted) > MaxAccepted {
		return fmt.Errorf("accepted %d times", len(c.Accepted))
	}
	for _, p := range c.Placements {
		if p.Partition == "" || len(c.Placements) > MaxPlacements {
			return fmt.Errorf("%d placements, one of them %.80q", len(c.Placements), p.Partition)
		}
		if err := c.validateOffsets(partition, p.From); err != nil {
			return fmt.Errorf("placements: %w", err)
		}
	}
	return c.Labels.validate()
}

// validateOffsets checks offsets by partition. A space of one partition has that one alone.
func (c *Record) validateOffsets(partition int, offsets map[int]int64) error {
	for p, offset := range offsets {
		if p < 0 || offset < 0 || offset > maxNextOffset || c.Space != WholeTopic && p != partition {
			return fmt.Errorf("offset %d of partition %d", offset, p)
		}
	}
	return nil
}

// WholeTopic is the name of the space of all input partitions.
const WholeTopic = "all"

// Partition returns the input partition that is the space, and 0 for the space of all. The clusters
// topic has the checkpoint in that partition, modulo how many it has.
func (c *Record) Partition() (int, error) {
	if c.Space == WholeTopic {
		return 0, nil
	}
	return strconv.Atoi(c.Space)
}

// Changed says which settings of the space are others now than they were for c; empty is none.
func (c *Record) Changed(now *Record) string {
	var changed []string
	for _, s := range []struct{ name, was, is string }{
		{"input.topic", c.Input, now.Input},
		{"input.group", c.Group, now.Group},
		{"cluster.scope", c.Scope, now.Scope},
		{"cluster.scope_field", c.ScopeField, now.ScopeField},
		{"cluster.window", c.Window, now.Window},
	} {
		if s.was != s.is {
			changed = append(changed, fmt.Sprintf("%s was %.80q and is %s", s.name, s.was, s.is))
		}
	}
	pipeline, threshold := WithoutContacts(c.Pipeline), WithoutContacts(c.Threshold)
	if pipeline != now.Pipeline {
		changed = append(changed, Difference(pipeline, now.Pipeline))
	} else if threshold != now.Threshold {
		changed = append(changed, differentThresholds(threshold, now.Threshold))
	}
	return strings.Join(changed, ", ")
}

// WithoutContacts returns an identity, or the settings of a threshold, without what an earlier
// version said in it of contacts. Articles joined clusters by them then, and now they do not.
func WithoutContacts(settings string) string {
	parts := slices.DeleteFunc(strings.Split(settings, ","), func(part string) bool {
		return strings.HasPrefix(part, "contacts=") || strings.HasPrefix(part, "contacts.limit=")
	})
	return strings.Join(parts, ",")
}

// differentThresholds does what [Difference] does, for settings of section cluster but where they
// name another one.
func differentThresholds(was, is string) string {
	parts := strings.Split(Difference(was, is), ", ")
	for i, part := range parts {
		if name, _, _ := strings.Cut(part, " "); !strings.Contains(name, ".") {
			parts[i] = "cluster." + part
		}
	}
	return strings.Join(parts, ", ")
}

// FoldedBefore returns the version of folding in an identity, if it is an earlier one than that of
// another identity; otherwise 0.
func FoldedBefore(was, is string) int {
	before, now := folding(was), folding(is)
	if before < now {
		return before
	}
	return 0
}

func folding(identity string) (version int) {
	for part := range strings.SplitSeq(identity, ",") {
		if text, ok := strings.CutPrefix(part, "fold="); ok {
			version, _ = strconv.Atoi(text)
		}
	}
	return version
}

// Difference says in which parts two identities differ, which are name=value pairs joined by
// commas.
func Difference(was, is string) string {
	now := make(map[string]string)
	for part := range strings.SplitSeq(is, ",") {
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
