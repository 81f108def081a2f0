// Package state keeps the clusters of a space on local disk, in Pebble. Changes of committed
// transactions go in; single clusters, all centres and those that are overdue come out.
//
// The disk is a cache of the clusters topic in Kafka and never ahead of it: each write holds the changes
// of committed records and, with them, the offsets up to which the disk is complete, its mark. There is
// no log beside the data, since the topic is the log: after a crash the disk is at an earlier mark, with
// exactly what it held then, and the caller reads the topic on from there. A disk that cannot be used is
// removed and made anew from the topic.
package state

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"time"

	"github.com/clusterd/clusterd/internal/article"
)

// What may be wrong with a store, so that it must be made anew.
var (
	ErrDamaged = errors.New("the clusters on disk are damaged")
	ErrForeign = errors.New("the clusters on disk are not those of this space")
)

// Cluster is a live cluster: what a join needs and a result shows.
type Cluster struct {
	Seq                 uint64 // position of the founder, the order of founding; what a cluster is known by
	Fingerprint         uint64
	Sketch              string          // what its method compares beside the fingerprint; may be empty
	Founder             article.Address // its String is the cluster id
	Size                int
	FirstSeen, LastSeen int64  // Unix milliseconds
	Position            uint64 // of the last member
	Representative      article.Representative

	entry int64 // the time under which its expiry entry stands
	read  *view // in which that was read, nil for never
}

// The largest values of a cluster that was made here, with room to count on.
const (
	maxPosition = 1<<53 - 1              // all of JSON's numbers are exact up to it
	maxOffset   = 1<<62 - 1              // of the founder
	maxTime     = int64(253402300799999) // the end of the year 9999, the last that RFC 3339 writes
	maxTitle    = article.MaxTitleBytes + len("…")
)

// Validate is an error of a cluster that no clusterd can have made, whatever its articles were: what is read from
// outside goes through it before anything is done with it. Its fingerprint and sketch are the method's to judge.
func (c *Cluster) Validate() error {
	switch {
	case c.Founder.Topic == "" || c.Founder.Partition < 0 || c.Founder.Partition > math.MaxInt32 || c.Founder.Offset < 0 || c.Founder.Offset > maxOffset:
		return fmt.Errorf("founder %s: the address of no record", c.Founder)
	case c.Position > maxPosition:
		return fmt.Errorf("position %d: at most %d is possible", c.Position, uint64(maxPosition))
	case c.Seq > c.Position:
		return fmt.Errorf("seq %d, the founder's position, is above %d, the last member's", c.Seq, c.Position)
	case c.Size < 1 || uint64(c.Size) > c.Position-c.Seq+1 || c.Size == 1 && c.Seq != c.Position:
		return fmt.Errorf("size %d: the founder has position %d, the last member %d", c.Size, c.Seq, c.Position)
	case c.FirstSeen < 0 || c.LastSeen < c.FirstSeen || c.LastSeen > maxTime:
		return fmt.Errorf("seen from %d to %d ms since 1970: not from 1970 on, one after the other", c.FirstSeen, c.LastSeen)
	case len(c.Representative.ID) > article.MaxIDBytes || len(c.Representative.Title) > maxTitle:
		return fmt.Errorf("the representative's id has %d bytes, its title %d: at most %d and %d are possible",
			len(c.Representative.ID), len(c.Representative.Title), article.MaxIDBytes, maxTitle)
	}
	return nil
}

// view is the store between two calls of Apply.
type view struct {
	moved map[uint64]int64 // by seq: the times to which Overdue has moved expiry entries
}

func newView() *view { return &view{moved: make(map[uint64]int64)} }

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

// Meta is all that a space needs beside its clusters.
type Meta struct {
	Offsets    map[int]int64      `json:"offsets"`     // the mark: by partition of the clusters topic, up to where the disk is complete
	Last       map[int]LastRecord `json:"last"`        // by partition of the clusters topic: the last record before the mark
	Written    time.Time          `json:"written"`     // when Apply last wrote, by the wall clock; zero for never
	StreamTime int64              `json:"stream_time"` // highest event time, Unix milliseconds
	Next       uint64             `json:"next"`        // the next position, above those of all clusters
	Founders   map[int]int64      `json:"founders"`    // by partition of the input topic: highest offset of a founder ever applied
	// Checkpoint is the last one of the space; nil where there was none, as a clusterd of before writes none.
	Checkpoint *article.Checkpoint `json:"checkpoint,omitempty"`
}

// LastRecord is a record of the clusters topic, by which the topic is known again.
type LastRecord struct {
	Offset int64  `json:"offset"`
	Key    string `json:"key"`
}

// clone is a deep copy, with maps that can be written to.
func (m Meta) clone() Meta {
	m.Offsets, m.Last, m.Founders = cloneMap(m.Offsets), cloneMap(m.Last), cloneMap(m.Founders)
	if m.Checkpoint != nil {
		c := *m.Checkpoint
		c.Offsets = cloneMap(c.Offsets)
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
