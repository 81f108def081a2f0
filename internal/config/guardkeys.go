package config

import (
	"github.com/clusterd/clusterd/internal/config/table"
	"github.com/clusterd/clusterd/internal/config/value"
)

// containmentKeys are those of the section cluster by which more is the same than what is similar.
func (c *Cluster) containmentKeys() []table.Key {
	return []table.Key{
		{
			Path: "cluster.containment", Value: value.Scalar(&c.Containment, value.Share(0, 1), 0),
			Doc: usedBy("cluster.containment") +
				"least share of the shorter text that is in the longer one, such as 0.9, so that cut and " +
				"wrapped copies join; 0 is off.",
		},
	}
}
