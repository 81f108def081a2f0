// Package state keeps the clusters of a space on local disk, in Pebble. Changes of committed
// transactions go in; single clusters, all centres and those that are overdue come out.
//
// The disk is a cache of the clusters topic in Kafka and never ahead of it. Each write holds the
// changes of committed records and, with them, the offsets up to which the disk is complete: its
// checkpoint. There is no log beside the data, since the topic is the log. After a crash the disk
// is at an earlier checkpoint, with exactly what it held then, and the caller reads the topic from
// there. A disk that cannot be used is removed and recreated from the topic.
package state

import (
	"errors"
	"maps"
	"time"

	"github.com/clusterd/clusterd/internal/message/checkpoint"
)

// What may be wrong with a store, so that it must be recreated.
var (
	ErrDamaged = errors.New("the clusters on disk are damaged")
	ErrForeign = errors.New("the clusters on disk are not those of this space")
)

// Identity says of what a store is a cache. A store with another identity is foreign.
type Identity struct {
	Kafka    string `json:"kafka"`    // id of the Kafka cluster
	Clusters string `json:"clusters"` // the clusters topic
	// Partitions is how many the clusters topic has. Another number moves clusters between them.
	Partitions int    `json:"partitions"`
	Input      string `json:"input"` // the topic of all founders
	Group      string `json:"group"`
	Space      string `json:"space"`
	Pipeline   string `json:"pipeline"` // how fingerprints are made
}

// A Meta is all that a space needs beside its clusters.
type Meta struct {
	// Offsets are the checkpoint of the disk: by partition of the clusters topic, up to where it is
	// complete. Last are the last records before that.
	Offsets map[int]int64      `json:"offsets"`
	Last    map[int]LastRecord `json:"last"`
	// when Apply last wrote, by the wall clock; zero for never
	Written    time.Time `json:"written"`
	StreamTime int64     `json:"stream_time"` // highest event time, Unix milliseconds
	// the next position, above those of all clusters
	Next uint64 `json:"next"`
	// Founders has, by partition of the input topic, the highest offset of a founder ever applied.
	Founders map[int]int64 `json:"founders"`
	// Checkpoint is the last checkpoint record of the space; nil where there was none.
	Checkpoint *checkpoint.Record `json:"checkpoint,omitempty"`
}

// A LastRecord is a record of the clusters topic, by which the topic is recognised.
type LastRecord struct {
	Offset int64  `json:"offset"`
	Key    string `json:"key"`
}

// Clone returns a copy, with maps that can be written to. Of a checkpoint's labels, nobody writes
// to what is there.
func (m Meta) Clone() Meta {
	m.Offsets, m.Last, m.Founders = cloneMap(m.Offsets), cloneMap(m.Last), cloneMap(m.Founders)
	if m.Checkpoint != nil {
		c := *m.Checkpoint
		c.Offsets = cloneMap(c.Offsets)
		if f := c.Fingerprints; f != nil {
			c.Fingerprints = &checkpoint.Fingerprints{Topic: f.Topic, Offsets: maps.Clone(f.Offsets)}
		}
		m.Checkpoint = &c
	}
	return m
}

func cloneMap[V any](m map[int]V) map[int]V {
	if m == nil {
		return make(map[int]V)
	}
	return maps.Clone(m)
}
