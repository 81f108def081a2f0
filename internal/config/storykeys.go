package config

import (
	"math"
	"time"

	"github.com/clusterd/clusterd/internal/config/table"
	"github.com/clusterd/clusterd/internal/config/value"
	"github.com/clusterd/clusterd/internal/story"
)

// Stories say how clusters are joined to stories. Without a Topic there are none.
type Stories struct {
	Topic  string
	Window time.Duration // of event time, after which a story expires; 0 is never
	// Threshold is the least similarity of an article to the story that it joins, and HanThreshold
	// that of an article of mostly Chinese words.
	Threshold, HanThreshold float64
	Merge                   float64 // the least similarity of stories that become one
	Ranks                   string  // the file of publishers, the best first; empty is none
}

// Rule returns the rule that the settings give.
func (c *Stories) Rule() story.Options {
	o := story.Defaults()
	millionths := func(share float64) uint32 { return uint32(math.Round(share * 1e6)) }
	o.Threshold, o.Han = millionths(c.Threshold), millionths(c.HanThreshold)
	o.Merge, o.Window = millionths(c.Merge), c.Window
	return o
}

func (c *Stories) keys() []table.Key {
	return []table.Key{
		{
			Path: "stories.topic", Value: value.Scalar(&c.Topic, value.OptionalTopic(), ""),
			Doc: "Topic of stories: clusters of one event, in words of their own, with the newest state " +
				"of each; empty is no stories.",
		},
		{
			Path: "stories.window", Value: value.Scalar(&c.Window, value.Duration(0, math.MaxInt64), 0),
			Doc: "Event time after its last article that a story lives; at least cluster.window; " +
				"0 is for ever.",
		},
		{
			Path:  "stories.threshold",
			Value: value.Scalar(&c.Threshold, value.Share(0.01, 1), 0.3),
			Doc:   "Least similarity (cosine) of a new cluster to the story that it joins.",
		},
		{
			Path:  "stories.han_threshold",
			Value: value.Scalar(&c.HanThreshold, value.Share(0.01, 1), 0.18),
			Doc:   "The same for a text of mostly Chinese words.",
		},
		{
			Path:  "stories.merge",
			Value: value.Scalar(&c.Merge, value.Share(0.01, 1), 0.6),
			Doc:   "Least similarity of two stories that become one, when an article could join both.",
		},
		{
			Path: "stories.ranks", Value: value.Scalar(&c.Ranks, value.OptionalFile(), ""),
			Doc: "File of publishers, one a line, the best first: whose title is the headline of a story; " +
				"empty takes the earliest.",
		},
	}
}

// checkStories has the story of a live cluster live, and keeps values of a field, which are not
// compared, from sharing stories.
func (r rules) checkStories(c *Config) {
	const topic, window, scope = "stories.topic", "stories.window", "cluster.scope"
	if c.Stories.Topic == "" || r.Failed(topic, window, scope) {
		return
	}
	if c.Cluster.Scope == ByField {
		r.Report(r.Where(topic), topic, c.Stories.Topic, "is given while "+scope+" is "+ByField+
			": stories are for the scopes topic and partition; remove this")
	}
	const shortest = "cluster.window"
	if c.Stories.Window > 0 && !r.Failed(shortest) &&
		(c.Cluster.Window == 0 || c.Cluster.Window > c.Stories.Window) {
		r.Report(r.Where(window, topic), window, "", "is shorter than "+shortest+", so that clusters "+
			"would outlive their stories: make it as long, or 0")
	}
}
