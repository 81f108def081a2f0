package wire

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// A Cluster is a record of the clusters topic that is no tombstone.
type Cluster struct {
	Seq            int64
	Fingerprint    uint64
	Sketch         []byte // empty where the method has none
	Contacts       []string
	Size           int64
	ByContact      int64
	Space          string // that its articles have in common; empty for none
	FirstSeen      int64  // Unix milliseconds
	LastSeen       int64  // Unix milliseconds
	Representative Representative
	Pipeline       string
	Labels         []ClusterLabel
	Exceptions     []Exception
	KeptMS         int64    // by how much it outlives others, for its labels
	Signals        *Signals // nil where it has none
	Position       int64    // of the last member
	// Story is the id of its story, empty for none.
	Story           string
	StorySimilarity Similarity
}

// ParseCluster reads the record of the cluster that founder founded, in either form.
func ParseCluster(r *kgo.Record, founder Address, input string) (c Cluster, err error) {
	if len(r.Value) > 0 && (r.Value[0] == binaryVersion || r.Value[0] == binaryExcepting) {
		c, err = parseBinary(r.Value)
	} else {
		c, err = parseJSON(r.Value, founder.In(input))
	}
	if err != nil {
		return Cluster{}, err
	}
	for i := range c.Exceptions {
		if _, err := c.Exceptions[i].Print(); err != nil {
			return Cluster{}, fmt.Errorf("exceptions: %w", err)
		}
	}
	c.Position, err = NumberHeader(r, HeaderPosition)
	return c, err
}

func parseJSON(value []byte, id string) (c Cluster, err error) {
	var v struct {
		ClusterID       string         `json:"cluster_id"`
		Seq             int64          `json:"seq"`
		Fingerprint     string         `json:"fingerprint"`
		Sketch          []byte         `json:"sketch"`
		Contacts        []string       `json:"contacts"`
		Size            int64          `json:"size"`
		ByContact       int64          `json:"by_contact"`
		Space           string         `json:"space"`
		FirstSeen       time.Time      `json:"first_seen"`
		LastSeen        time.Time      `json:"last_seen"`
		Representative  Representative `json:"representative"`
		Labels          []ClusterLabel `json:"labels"`
		Exceptions      []Exception    `json:"exceptions"`
		KeptMS          int64          `json:"kept_ms"`
		Signals         *Signals       `json:"signals"`
		StoryID         string         `json:"story_id"`
		StorySimilarity Similarity     `json:"story_similarity"`
		Pipeline        string         `json:"pipeline"`
	}
	if err := json.Unmarshal(value, &v); err != nil {
		return Cluster{}, err
	}
	if v.ClusterID != id {
		return Cluster{}, fmt.Errorf("cluster_id %q under the key %s", v.ClusterID, id)
	}
	c = Cluster{
		Seq: v.Seq, Sketch: v.Sketch, Contacts: v.Contacts, Size: v.Size, ByContact: v.ByContact,
		Representative: v.Representative, Pipeline: v.Pipeline,
		FirstSeen: v.FirstSeen.UnixMilli(), LastSeen: v.LastSeen.UnixMilli(),
		Space: v.Space, Labels: v.Labels, Exceptions: v.Exceptions, KeptMS: v.KeptMS, Signals: v.Signals,
		Story: v.StoryID, StorySimilarity: v.StorySimilarity,
	}
	c.Fingerprint, err = parseFingerprint(v.Fingerprint)
	return c, err
}

// ClusterPartition returns the partition of the clusters topic for a cluster, by its founder's.
func ClusterPartition(founder Address, partitions int) int32 {
	return founder.Partition % int32(partitions)
}

// checkpointPrefix begins the keys of checkpoints. No cluster id begins so.
const checkpointPrefix = "checkpoint:"

// A Checkpoint says up to where a space has read the input, and labels.
type Checkpoint struct {
	Version      int // 1 before labels marked contacts
	Input        string
	Group        string
	Scope        string
	Space        string
	Pipeline     string
	Window       string
	Output       string          // empty in those of earlier versions
	Offsets      map[int32]int64 // by input partition
	NextPosition int64           `json:"next_position"`
	StreamTime   int64           `json:"stream_time"` // the highest event time, Unix milliseconds
	Labels       *LabelProgress  // nil where it never had any
	// Fingerprints is how far the topic of fingerprinted articles was read; nil where the input was.
	Fingerprints *struct {
		Topic   string
		Offsets map[int32]int64
	}
	Placements []Placement // none: results are where their keys put them
	// StoriesSince is the position from which on stories were never off, nil where they are off or an
	// earlier version wrote the checkpoint.
	StoriesSince *int64 `json:"stories_since"`
	// Unknown is a field of it that no checkpoint has, empty if there is no such field.
	Unknown string `json:"-"`
}

// A Placement is what output.partition was, by input partition from the first of these records on.
type Placement struct {
	Partition string
	From      map[int32]int64
}

// mostPlacements is how many a checkpoint keeps. Where it has as many, those before are not known.
const mostPlacements = 8

// byKey is what output.partition is where no placement says it.
const byKey = "key"

// PlacedNow returns what output.partition was for the last results.
func (c *Checkpoint) PlacedNow() string {
	if n := len(c.Placements); n > 0 {
		return c.Placements[n-1].Partition
	}
	return byKey
}

// Placed returns what output.partition was for the result of an input record; empty where that is
// not known.
func (c *Checkpoint) Placed(source Address) string {
	partition := byKey
	if len(c.Placements) >= mostPlacements {
		partition = ""
	}
	for _, p := range c.Placements {
		if source.Offset >= p.From[source.Partition] {
			partition = p.Partition
		}
	}
	return partition
}

// Partition returns the input partition that is the space, 0 for that of all.
func (c *Checkpoint) Partition() int32 {
	n, _ := strconv.ParseInt(c.Space, 10, 32) // "all" is none
	return int32(n)
}

// IsCheckpoint reports whether a record of the clusters topic is a checkpoint, or the tombstone of
// one.
func IsCheckpoint(r *kgo.Record) bool { return strings.HasPrefix(string(r.Key), checkpointPrefix) }

// CheckpointKey returns the key of the checkpoints of a space.
func CheckpointKey(group, space string) string { return checkpointPrefix + group + "/" + space }

// ParseCheckpoint reads a checkpoint that is no tombstone.
func ParseCheckpoint(r *kgo.Record) (Checkpoint, error) {
	var c Checkpoint
	err := json.Unmarshal(r.Value, &c)
	if err == nil && (c.Offsets == nil || string(r.Key) != CheckpointKey(c.Group, c.Space)) {
		err = errors.New("no offsets, or another group or space than in its key")
	}
	c.Unknown = unknownOfCheckpoint(r.Value)
	return c, err
}
