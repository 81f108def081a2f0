package cluster

import (
	"fmt"
	"time"

	"github.com/clusterd/clusterd/internal/article"
	"github.com/clusterd/clusterd/internal/singlepass"
)

// AppendJSON appends the value of the cluster's record in the clusters topic. Identity says how its
// fingerprint was made. The cluster id is the key of the record, and its Position a header.
func (c *Cluster) AppendJSON(dst []byte, identity string) []byte {
	return (&article.Cluster{
		ClusterID: c.ID(), Seq: c.Seq, Fingerprint: article.Fingerprint(c.Hash), Sketch: []byte(c.Sketch), Size: c.Size,
		FirstSeen: time.UnixMilli(c.FirstSeen).UTC(), LastSeen: time.UnixMilli(c.LastSeen).UTC(),
		Representative: c.Representative, Pipeline: identity,
	}).AppendJSON(dst)
}

// Parse is the inverse of [Cluster.AppendJSON], for a record with this key and position. The error says
// what no clusterd can have written. Fingerprint and sketch are the method's to judge.
func Parse(key, value []byte, position uint64) (c Cluster, identity string, err error) {
	wire, err := article.ParseCluster(value)
	if err != nil {
		return Cluster{}, "", err
	}
	founder, err := article.ParseAddress(wire.ClusterID)
	if err != nil {
		return Cluster{}, "", err
	}
	if id := founder.String(); id != wire.ClusterID || id != string(key) {
		return Cluster{}, "", fmt.Errorf("cluster_id %.80q is not its key", wire.ClusterID)
	}
	c = Cluster{
		Centre: singlepass.Centre{
			Fingerprint: singlepass.Fingerprint{Hash: uint64(wire.Fingerprint), Sketch: string(wire.Sketch)},
			Seq:         wire.Seq,
		},
		Founder: founder, Representative: wire.Representative, Size: wire.Size,
		FirstSeen: wire.FirstSeen.UnixMilli(), LastSeen: wire.LastSeen.UnixMilli(), Position: position,
	}
	return c, wire.Pipeline, c.Validate()
}
