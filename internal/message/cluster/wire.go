package cluster

import (
	"fmt"
	"slices"
	"time"

	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/message/label"
	"github.com/clusterd/clusterd/internal/message/signals"
	"github.com/clusterd/clusterd/internal/singlepass"
)

// AppendJSON appends the value of the cluster's record in the clusters topic. Identity says how its
// fingerprint was made. The cluster id is the key of the record, and its Position a header.
func (c *Cluster) AppendJSON(dst []byte, identity string) []byte {
	wire := article.Cluster{
		ClusterID: c.ID(), Seq: c.Seq, Fingerprint: article.Fingerprint(c.Hash),
		Sketch: []byte(c.Sketch), Contacts: slices.Collect(c.Contacts.All()), Size: c.Size,
		Space:          c.Space,
		FirstSeen:      time.UnixMilli(c.FirstSeen).UTC(),
		LastSeen:       time.UnixMilli(c.LastSeen).UTC(),
		Representative: c.Representative, Labels: []byte(c.Labels), KeptMS: c.Kept, Pipeline: identity,
		Exceptions: []byte(c.Exceptions),
		StoryID:    c.Story, StorySimilarity: c.StorySimilarity,
	}
	if c.Signals != "" {
		wire.Signals = &article.ClusterSignals{
			Publishers: article.NewPublishers(c.Signals.Publishers()), Recent: c.Signals.Recent(),
			State: []byte(c.Signals),
		}
	}
	return wire.AppendJSON(dst)
}

// Parse is the inverse of [Cluster.AppendJSON] and [Cluster.AppendBinary], for a record with this
// key and position. Of a record without a value, a tombstone, only the Founder is set. The cluster
// is not validated.
func Parse(key, value []byte, position uint64) (c Cluster, identity string, err error) {
	if value == nil {
		c.Founder, err = article.ParseAddress(string(key))
		return c, "", err
	}
	if len(value) == 0 || value[0] >= '\t' { // JSON begins with a brace or white space
		return parseJSON(key, value, position)
	}
	if c, identity, err = parseBinary(value); err == nil {
		c.Founder, err = article.ParseAddress(string(key))
	}
	if err == nil && c.ID() != string(key) {
		err = fmt.Errorf("the cluster of %s has another key, %.80q", c.Founder, key)
	}
	c.Position = position
	return c, identity, err
}

func parseJSON(key, value []byte, position uint64) (c Cluster, identity string, err error) {
	wire, quick := parseOwn(value)
	if !quick {
		if wire, err = article.ParseCluster(value); err != nil {
			return Cluster{}, "", err
		}
	}
	if c.Founder, err = article.ParseAddress(wire.ClusterID); err != nil {
		return Cluster{}, "", fmt.Errorf("not a cluster: cluster_id: %w", err)
	}
	if wire.ClusterID != string(key) || wire.ClusterID != c.ID() {
		return Cluster{}, "", fmt.Errorf("cluster_id %.80q is not its key", wire.ClusterID)
	}
	c.Seq, c.Hash, c.Sketch = wire.Seq, uint64(wire.Fingerprint), string(wire.Sketch)
	c.Contacts = singlepass.NewContacts(wire.Contacts)
	c.Space = wire.Space
	c.Size, c.Position, c.Representative = wire.Size, position, wire.Representative
	if wire.Signals != nil {
		c.Signals = signals.State(wire.Signals.State)
	}
	c.FirstSeen, c.LastSeen = wire.FirstSeen.UnixMilli(), wire.LastSeen.UnixMilli()
	c.Labels, c.Kept = label.Set(wire.Labels), wire.KeptMS
	c.Exceptions = label.Exceptions(wire.Exceptions)
	c.Story, c.StorySimilarity = wire.StoryID, wire.StorySimilarity
	return c, wire.Pipeline, nil
}
