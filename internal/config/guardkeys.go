package config

import (
	"github.com/clusterd/clusterd/internal/config/table"
	"github.com/clusterd/clusterd/internal/config/value"
	"github.com/clusterd/clusterd/internal/method"
)

// titleKeys say how much a title counts.
func titleKeys(c *method.FingerprintSettings) []table.Key {
	return []table.Key{{
		Path: "fingerprint.titles", Value: value.Scalar(&c.Titles,
			value.OneOf(method.PlainTitles, method.Weighed), method.PlainTitles),
		Doc: usedBy("fingerprint.titles") +
			"weighed keeps articles apart that have unlike titles over a short body, such as a notice " +
			"of copyright.",
	}}
}

// containmentKeys are those of the section cluster by which more than the similarity decides that
// articles are the same.
func (c *Cluster) containmentKeys() []table.Key {
	return []table.Key{
		{
			Path: "cluster.containment", Value: value.Scalar(&c.Containment, value.Share(0, 1), 0),
			Doc: usedBy("cluster.containment") +
				"least share of the shorter text that is in the longer one, such as 0.9, so that cut and " +
				"wrapped copies join; 0 is off.",
		},
		{
			Path: "cluster.long_similarity", Value: value.Scalar(&c.LongSimilarity, value.Share(0, 1), 0),
			Doc: usedBy("cluster.long_similarity") +
				"least similarity of two texts with at least 150 different shingles each, which share more " +
				"by chance; 0 is cluster.similarity.",
		},
		{
			Path: "cluster.numbers", Value: value.Scalar(&c.Numbers,
				value.OneOf(method.AnyNumbers, method.Differ), method.AnyNumbers),
			Doc: usedBy("cluster.numbers") +
				"differ keeps texts apart whose numbers are not all the same, such as daily reports; " +
				"for a similarity of 0.65 or more.",
		},
	}
}
