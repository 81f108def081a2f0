package config

import (
	"math"
	"time"

	"github.com/clusterd/clusterd/internal/config/table"
	"github.com/clusterd/clusterd/internal/config/value"
)

// The roles of an instance.
const (
	// All is to fingerprint and assign articles, or to stand by until it is this instance's turn.
	All = "all"
	// FingerprintOnly is to fingerprint articles, for others to assign.
	FingerprintOnly = "fingerprint"
	// AssignOnly is to assign articles that others have fingerprinted, or to stand by.
	AssignOnly = "assign"
	// ServeOnly is to stand by for ever, and to answer questions.
	ServeOnly = "serve"
)

const day = 24 * time.Hour

func roleKeys(c *Config) []table.Key {
	return []table.Key{{
		Path: "role", Value: value.Scalar(&c.Role,
			value.OneOf(All, FingerprintOnly, AssignOnly, ServeOnly), All),
		Doc: "What the instance does: all clusters articles; fingerprint reads and fingerprints, " +
			"any number of them, and assign does the rest; serve only answers questions.",
	}, {
		Path: "fingerprints.topic", Value: value.Scalar(&c.Fingerprints.Topic, value.Topic(),
			"article-fingerprints"),
		Doc: "Topic of fingerprinted articles, from the role fingerprint to the role assign.",
	}}
}

// Source is a topic that is read, and the group whose offsets say how far.
type Source struct{ Topic, Group string }

// Source returns what an instance of this role reads to work on it.
func (c *Config) Source() Source {
	if c.Role == AssignOnly {
		return Source{c.Fingerprints.Topic, c.AssignGroup()}
	}
	return Source{c.Input.Topic, c.Input.Group}
}

// Assigns reports whether an instance of this role assigns articles to clusters.
func (c *Config) Assigns() bool { return c.Role == All || c.Role == AssignOnly }

// Divided reports whether instances fingerprint for others to assign.
func (c *Config) Divided() bool { return c.Role == FingerprintOnly || c.Role == AssignOnly }

// AssignGroup returns the group of instances with role assign, which is not that of those that read
// the input.
func (c *Config) AssignGroup() string { return c.Input.Group + "-assign" }

func (c *Signals) keys() []table.Key {
	return []table.Key{
		{
			Path: "signals.enabled", Value: value.Scalar(&c.Enabled, value.Boolean(), false),
			Doc: "Whether results and clusters carry publishers, recent articles, first and last seen.",
		},
		{
			Path: "signals.window", Value: value.Scalar(&c.Window, value.Duration(time.Minute, 90*day),
				time.Hour),
			Doc: "Event time in which an article is recent.",
		},
	}
}

func (c *Labels) keys() []table.Key {
	return []table.Key{
		{
			Path: "labels.topic", Value: value.Scalar(&c.Topic, value.OptionalTopic(), ""),
			Doc: "Topic of labels for clusters, from the HTTP interface or any producer; empty is none.",
		},
		{
			Path: "labels.corrections", Value: value.Scalar(&c.Corrections, value.OptionalTopic(), ""),
			Doc: "Topic that gets a record for each earlier article of a cluster whose labels change; " +
				"needs serve.bytes; empty is none.",
		},
		{
			Path: "labels.allow", Value: value.List(&c.Allow, 0, value.Label(), "ham"),
			Doc: "Labels that win: a cluster that has one carries no other.",
		},
		{
			Path: "labels.keep", Value: value.Scalar(&c.Keep, value.Duration(0, math.MaxInt64), 180*day),
			Doc: "Event time after its last article that a labelled cluster lives, where " +
				"cluster.window is " +
				"less: the next wave is caught.",
		},
		{
			Path: "labels.flood", Value: value.Scalar(&c.Flood, value.Share(0.01, 1), 0.9),
			Doc: "Share of 1,000 articles beyond which a label is to be looked at: a metric and an alert " +
				"say so, and results carry it; 1 is no alert.",
		},
	}
}

// Trace says where spans of batches go.
type Trace struct {
	Endpoint string  // URL of a collector of OpenTelemetry; empty is none
	Ratio    float64 // share of batches that have a span
}

func (c *Trace) keys() []table.Key {
	return []table.Key{
		{
			Path: "trace.endpoint", Value: value.Scalar(&c.Endpoint, value.OptionalURL(), ""),
			Doc: "URL of a collector of OpenTelemetry (OTLP over HTTP) that gets a span of each batch, " +
				"such as http://127.0.0.1:4318; empty is none.",
		},
		{
			Path: "trace.ratio", Value: value.Scalar(&c.Ratio, value.Share(0, 1), 1),
			Doc: "Share of batches that have a span.",
		},
	}
}

func (c *Serve) keys() []table.Key {
	return []table.Key{{
		Path: "serve.content", Value: value.Scalar(&c.Content, value.OneOf(Shown, Hidden), Shown),
		Doc: "What the page and /v1 have of articles: all, or ids and sizes, and no titles, excerpts, " +
			"contacts and texts.",
	}, {
		Path: "serve.bytes", Value: value.Scalar(&c.Bytes, value.SizeOrNone(64*value.MiB,
			math.MaxInt), 0),
		Doc: "Disk for a view of the results, by which members of clusters and articles are " +
			"found; 0 is " +
			"none.",
	}}
}
