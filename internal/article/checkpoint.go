package article

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// CheckpointPrefix begins the key of a checkpoint. No cluster id begins so: a topic's name has no
// colon.
const CheckpointPrefix = "checkpoint:"

// checkpointVersion is the form of what [Checkpoint.JSON] writes.
const checkpointVersion = 1

// A Checkpoint stands in the clusters topic beside the clusters of a space and says of what they
// were made: with each transaction, up to where the input was read, and by which settings.
type Checkpoint struct {
	Version  int    `json:"version"`
	Input    string `json:"input"`    // the topic
	Group    string `json:"group"`    // the consumer group
	Scope    string `json:"scope"`    // as in the configuration
	Space    string `json:"space"`    // "all", or the number of the input partition
	Pipeline string `json:"pipeline"` // how fingerprints are made
	// Threshold is from where on articles are the same, as name=value pairs.
	Threshold string `json:"threshold"`
	// Window is after which clusters expire, as Go writes durations.
	Window string `json:"window"`
	// Offsets are, by input partition, the first that were not read.
	Offsets      map[int]int64 `json:"offsets"`
	NextPosition uint64        `json:"next_position"` // of the next article that is clustered
	StreamTime   int64         `json:"stream_time"`   // the highest event time, Unix milliseconds
}

// Key returns the key of the checkpoint's record. Each group and space has its own, so that none
// takes another's away.
func (c *Checkpoint) Key() string { return CheckpointPrefix + c.Group + "/" + c.Space }

// IsCheckpoint reports whether a record of the clusters topic with this key is a checkpoint, not a
// cluster.
func IsCheckpoint(key []byte) bool { return strings.HasPrefix(string(key), CheckpointPrefix) }

// JSON writes the checkpoint as one line without a line break, in this form's version.
func (c Checkpoint) JSON() []byte {
	c.Version = checkpointVersion
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(c) // strings and numbers always can be, and a buffer takes all
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// ParseCheckpoint reads what [Checkpoint.JSON] wrote. An error says what it cannot have written.
func ParseCheckpoint(value []byte) (Checkpoint, error) {
	var c Checkpoint
	if err := json.Unmarshal(value, &c); err != nil {
		return Checkpoint{}, fmt.Errorf("not a checkpoint: %w", err)
	}
	if c.Version != checkpointVersion {
		return Checkpoint{}, fmt.Errorf("not a checkpoint of this clusterd: version %d, and this one "+
			"writes %d", c.Version, checkpointVersion)
	}
	if c.Input == "" || c.Group == "" || c.Scope == "" || c.Space == "" || c.Offsets == nil {
		return Checkpoint{}, errors.New(
			"not a checkpoint: input, group, scope, space or offsets are missing")
	}
	return c, nil
}
