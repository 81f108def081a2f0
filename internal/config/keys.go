package config

import (
	"math"
	"slices"
	"strings"
	"time"

	"github.com/clusterd/clusterd/internal/config/table"
	"github.com/clusterd/clusterd/internal/config/value"
	"github.com/clusterd/clusterd/internal/method"
	"github.com/clusterd/clusterd/internal/text/charset"
	"github.com/clusterd/clusterd/internal/text/contact"
)

// maxExcerpt is the most characters of an excerpt that records of clusters may have.
const maxExcerpt = 120

// keys returns the one table of what may be configured, in the order in which it is written out. It
// drives defaults, parsing, checks, suggestions, Config.YAML and Reference.
func (c *Config) keys() []table.Key {
	return slices.Concat(
		roleKeys(c),
		c.Kafka.keys(),
		c.Input.keys(),
		c.Output.keys(),
		textKeys(&c.Text),
		fingerprintKeys(&c.Fingerprint),
		sketchKeys(&c.Fingerprint),
		titleKeys(&c.Fingerprint),
		pinyinKeys(&c.Fingerprint.Pinyin),
		c.Cluster.keys(),
		c.Cluster.containmentKeys(),
		contactKeys(&c.Contacts),
		c.Signals.keys(),
		c.Labels.keys(),
		c.Stories.keys(),
		c.Batch.keys(),
		c.State.keys(),
		c.Serve.keys(),
		c.HTTP.keys(),
		c.Memory.keys(),
		c.Log.keys(),
		c.Trace.keys(),
		c.S3.keys(),
	)
}

// usedBy returns the beginning of the line of a key that only some methods use: their names.
func usedBy(path string) string { return strings.Join(method.Using(path), ", ") + ": " }

func (c *Kafka) keys() []table.Key {
	tls := &c.TLS
	return append([]table.Key{
		{
			Path: "kafka.brokers", Value: value.List(&c.Brokers, 1, value.HostPort(), "127.0.0.1:9092"),
			Doc: "Brokers to ask for the cluster at first; several, so that one may be down.",
		},
		{
			Path: "kafka.create_topics", Value: value.Scalar(&c.CreateTopics, value.Boolean(), false),
			Doc: "Create missing topics; off, so that a misspelt name is an error and not a new topic.",
		},
		{
			Path: "kafka.tls.enabled", Value: value.Scalar(&tls.Enabled, value.Boolean(), false),
			Doc: "Encrypt connections; the other TLS keys need it.",
		},
		{
			Path: "kafka.tls.ca_file", Value: value.Scalar(&tls.CAFile, value.OptionalFile(), ""),
			Doc: "PEM certificates of the authority that signed the brokers'; empty takes the system's.",
		},
		{
			Path: "kafka.tls.cert_file", Value: value.Scalar(&tls.CertFile, value.OptionalFile(), ""),
			Doc: "PEM certificate of this client, for brokers that ask for one; with key_file.",
		},
		{
			Path: "kafka.tls.key_file", Value: value.Scalar(&tls.KeyFile, value.OptionalFile(), ""),
			Doc: "PEM private key of that certificate.",
		},
		{
			Path: "kafka.tls.server_name", Value: value.Scalar(&tls.ServerName, value.AnyText(), ""),
			Doc: "Name that the brokers' certificates must bear; empty takes the host of each broker.",
		},
		{
			Path: "kafka.tls.insecure_skip_verify", Value: value.Scalar(&tls.InsecureSkipVerify,
				value.Boolean(), false),
			Doc: "Trust any certificate; for trials only, since anyone on the way can then read and write.",
		},
	}, c.SASL.keys()...)
}

func (c *Input) keys() []table.Key {
	return []table.Key{
		{
			Path: "input.topic", Value: value.Scalar(&c.Topic, value.Topic(), "articles"),
			Doc: "Topic of the articles.",
		},
		{
			Path: "input.group", Value: value.Scalar(&c.Group, value.Required(), "clusterd"),
			Doc: "Consumer group; its offsets say what is done, so another name starts anew.",
		},
		{
			Path: "input.format", Value: value.Scalar(&c.Format, value.OneOf("json", "text"), "json"),
			Doc: "What a record holds: a JSON object, or nothing but the content (its key is the id).",
		},
		{
			Path: "input.encoding", Value: value.Scalar(&c.Encoding, value.Encoding(), charset.Auto),
			Doc: "Character encoding of records and files; auto tells UTF-8, GB 18030, Big5 and UTF-16 " +
				"apart, and others must be named.",
		},
		{
			Path: "input.fields.id", Value: value.Scalar(&c.Fields.ID, value.FieldPath(), "id"),
			Doc: "Dotted path of the article's id within the object; without a value, the record's address.",
		},
		{
			Path: "input.fields.title", Value: value.Scalar(&c.Fields.Title, value.FieldPath(), "title"),
			Doc: "Dotted path of the title.",
		},
		{
			Path: "input.fields.content", Value: value.Scalar(&c.Fields.Content, value.FieldPath(),
				"content"),
			Doc: "Dotted path of the content.",
		},
		{
			Path: "input.fields.published_at", Value: value.Scalar(&c.Fields.PublishedAt, value.FieldPath(),
				"published_at"),
			Doc: "Dotted path of the event time: RFC 3339, RFC 822 and other common forms (without a " +
				"zone: UTC), a Unix time; else the record's time.",
		},
		{
			Path: "input.fields.source", Value: value.Scalar(&c.Fields.Source, value.FieldPath(), "source"),
			Doc: "Dotted path of the name of who published it.",
		},
		{
			Path: "input.max_bytes", Value: value.Scalar(&c.MaxBytes, value.Size(1*value.KiB, 1*value.GiB),
				4*value.MiB),
			Doc: "Largest record; a larger one is a dead letter, " +
				"so that one article cannot take all memory.",
		},
		{
			Path: "input.session_timeout", Value: value.Scalar(&c.SessionTimeout,
				value.Duration(time.Second, 30*time.Minute), 10*time.Second),
			Doc: "How long an instance may be silent until another takes over; brokers refuse less than " +
				"their group.min.session.timeout.ms, 6s by default.",
		},
	}
}

// The settings of output.partition: a result goes where its key puts it, or to the partition that
// has the number of its article's.
const (
	PartitionByKey    = "key"
	PartitionOfSource = "source"
)

func (c *Output) keys() []table.Key {
	return []table.Key{
		{
			Path: "output.topic", Value: value.Scalar(&c.Topic, value.Topic(), "article-clusters"),
			Doc: "Topic of the results, one for each article.",
		},
		{
			Path: "output.clusters_topic", Value: value.Scalar(&c.ClustersTopic, value.Topic(), "clusters"),
			Doc: "Compacted topic of the clusters; clusterd recovers from it.",
		},
		{
			Path: "output.dead_letter_topic", Value: value.Scalar(&c.DeadLetterTopic, value.Topic(),
				"articles-dead"),
			Doc: "Topic of the records that are no article, as they came.",
		},
		{
			Path: "output.key", Value: value.Scalar(&c.Key, value.OneOf("cluster", "source"), "cluster"),
			Doc: "Key of a result: the cluster id keeps a cluster in one partition, source keeps the " +
				"input's key.",
		},
		{
			Path: "output.partition", Value: value.Scalar(&c.Partition,
				value.OneOf(PartitionByKey, PartitionOfSource), PartitionByKey),
			Doc: "Partition of a result: key is the one that its key gives it, source that of its " +
				"article, for joins; docs/joins.md.",
		},
		{
			Path: "output.compression", Value: value.Scalar(&c.Compression,
				value.OneOf("none", "gzip", "snappy", "lz4", "zstd"), "gzip"),
			Doc: "How what is written is compressed: every client reads gzip; zstd is smaller and slower, " +
				"and some clients need a package for the others.",
		},
		{
			Path: "output.clusters_format", Value: value.Scalar(&c.ClustersFormat,
				value.OneOf(JSONClusters, BinaryClusters), JSONClusters),
			Doc: "Form of clusters and stories in the clusters topic: binary is smaller, and only " +
				"clusterd reads it; both forms are always read.",
		},
		{
			Path: "output.fields", Value: value.List(&c.Fields, 0, value.OneOf(ResultFields()...),
				ResultFields()...),
			Doc: "Which of these parts results have; the others they always have. What nobody reads is " +
				"not worth writing.",
		},
		{
			Path: "output.copy", Value: value.List(&c.Copy, 0, value.FieldPath()),
			Doc: "Dotted paths of the input's fields that results repeat, such as url or author.",
		},
		{
			Path: "output.excerpt", Value: value.Scalar(&c.Excerpt, value.Integer(0, maxExcerpt),
				maxExcerpt),
			Doc: "How many characters of its content represent a cluster whose founder has no title; 0 " +
				"leaves texts out of all that is written.",
		},
		{
			Path: "output.headers", Value: value.List(&c.Headers, 0, value.HeaderName(), "traceparent",
				"tracestate", "baggage"),
			Doc: `Names of the input's headers that results carry, by default those of a trace; "*" is all, ` +
				"with those that say how to read the input.",
		},
	}
}

func fingerprintKeys(c *method.FingerprintSettings) []table.Key {
	return []table.Key{
		{
			Path: "fingerprint.method", Value: value.Scalar(&c.Method, value.OneOf(method.Names()...),
				method.Names()[0]),
			Doc: "How articles are compared; docs/quality.md says which method is for what.",
		},
		{
			Path: "fingerprint.secret", Value: value.Scalar(&c.Secret, value.HashSecret(), ""),
			Doc: "Secret of 16 bytes or more, made at random, so that nobody can make articles for a " +
				"cluster; file:PATH. Another one starts anew.",
		},
		{
			Path: "fingerprint.hash", Value: value.Scalar(&c.Hash, value.OneOf("sdbm", "sdbm-raw", "xxh3"),
				"sdbm"),
			Doc: "simhash without a secret: hash of a token; sdbm-raw only to match old fingerprints, " +
				"since it merges unrelated articles.",
		},
		{
			Path: "fingerprint.weight", Value: value.Scalar(&c.Weight,
				value.OneOf("log", "tf", "set", "tfidf"), "log"),
			Doc: "simhash: weight of a token: logarithm of its count, the count, 1, or logarithm times " +
				"rarity; tf lets frequent words rule.",
		},
		{
			Path: "fingerprint.features", Value: value.Scalar(&c.Features,
				value.OneOf(method.Words, method.Pairs), method.Words),
			Doc: "simhash: what is weighed: words, or also each pair of neighbours, which tells order and " +
				"is stricter.",
		},
		{
			Path: "fingerprint.idf", Value: value.Scalar(&c.IDF, value.OptionalFile(), ""),
			Doc: "simhash with weight tfidf: table of how rare words are, as 'clusterd idf' writes it; " +
				"empty takes the built-in one.",
		},
	}
}

func (c *Cluster) keys() []table.Key {
	return []table.Key{
		{
			Path: "cluster.distance", Value: value.Scalar(&c.Distance, value.Integer(0, 6), 3),
			Doc: usedBy("cluster.distance") +
				"how many of the 64 bits may differ from the centre; more finds more and errs more.",
		},
		{
			Path: "cluster.verified_distance", Value: value.Scalar(&c.VerifiedDistance, value.Integer(0, 10),
				10),
			Doc: usedBy("cluster.verified_distance") +
				"how many of the 64 bits may differ where the sketches are similar.",
		},
		{
			Path: "cluster.similarity", Value: value.Scalar(&c.Similarity, value.ShareOrAuto(0.01, 1), 0),
			Doc: usedBy("cluster.similarity") +
				"least similarity to the centre; auto is what docs/quality.md measured for the method.",
		},
		{
			Path: "cluster.recall", Value: value.Scalar(&c.Recall, value.Share(0.5, 1), 0.999),
			Doc: usedBy("cluster.recall") +
				"probability that a centre of the least similarity is found; 1 finds all, for more memory.",
		},
		{
			Path: "cluster.index", Value: value.Scalar(&c.Index, value.OneOf("btree", "mih", "auto"),
				"btree"),
			Doc: usedBy("cluster.index") +
				"how centres within the distance are found; the results are the same.",
		},
		{
			Path: "cluster.window", Value: value.Scalar(&c.Window, value.Duration(0, math.MaxInt64), 0),
			Doc: "Event time after its last article until a cluster expires, such as 3d; 0s keeps all, " +
				"and memory grows.",
		},
		{
			Path:  "cluster.scope",
			Value: value.Scalar(&c.Scope, value.OneOf("topic", "partition", ByField), "topic"),
			Doc: "What is compared: the whole topic by one member, or each partition by itself, spread " +
				"over members, or within each partition the articles that have the same value of a field.",
		},
		{
			Path: "cluster.scope_field", Value: value.Scalar(&c.ScopeField, value.ScopeField(), ""),
			Doc: "With cluster.scope: field, the field: a dotted path in the JSON of an article, such as " +
				"meta.tenant, or header:NAME. Key the records by it.",
		},
	}
}

func contactKeys(c *method.ContactSettings) []table.Key {
	return []table.Key{
		{
			Path: "contacts.join", Value: value.Scalar(&c.Join, value.Boolean(), false),
			Doc: "Whether a label on a cluster marks the contacts of its founder, so that texts in other " +
				"words get it too: a site, page, address, number, name or code; not for news.",
		},
		{
			Path: "contacts.ignore", Value: value.List(&c.Ignore, 0, value.RequiredFile()),
			Doc: "Files of contacts that honest texts share, one a line as results name them, beside the " +
				"built-in platforms and names.",
		},
		{
			Path: "contacts.regions",
			Value: value.List(&c.Regions, 0,
				value.Listed("an ISO 3166 code such as GB", contact.RegionNames())),
			Doc: "Countries, as [GB, US]: a telephone number without a calling code is that of the first " +
				"one in which it is possible, and so the same contact as with the code.",
		},
		{
			Path: "contacts.limit", Value: value.Scalar(&c.Limit, value.Integer(0, 1_000_000), 0),
			Doc: "Ignored, and to be removed: no article joins a cluster by a contact any more. What a " +
				"label reaches by a contact follows from the clicks.",
		},
	}
}

func (c *Batch) keys() []table.Key {
	return []table.Key{
		{
			Path: "batch.records", Value: value.Scalar(&c.Records, value.Integer(1, 1_000_000), 10_000),
			Doc: "Most records in one transaction; larger is faster and takes longer to redo.",
		},
		{
			Path: "batch.bytes", Value: value.Scalar(&c.Bytes, value.Size(64*value.KiB, 1*value.GiB),
				8*value.MiB),
			Doc: "Most bytes of records, with all that is kept of them, in one transaction; memory grows " +
				"with several times that.",
		},
		{
			Path: "batch.linger", Value: value.Scalar(&c.Linger, value.Duration(0, 10*time.Second),
				10*time.Millisecond),
			Doc: "Longest wait for a batch to fill; the least delay of a result when articles are few.",
		},
	}
}

func (c *State) keys() []table.Key {
	return []table.Key{
		{
			Path: "state.dir", Value: value.Scalar(&c.Dir, value.Required(), "clusterd-data"),
			Doc: "Folder of the clusters on local disk: a cache of the clusters topic; each instance its " +
				"own.",
		},
	}
}

func (c *Memory) keys() []table.Key {
	return []table.Key{
		{
			Path: "memory.limit", Value: value.Scalar(&c.Limit, value.SizeOrAuto(64*value.MiB, math.MaxInt),
				0),
			Live: true,
			Doc: "Memory at which Go collects garbage harder; auto takes 90 % of the cgroup's limit; the " +
				"variable GOMEMLIMIT goes first.",
		},
	}
}

func (c *Log) keys() []table.Key {
	return []table.Key{
		{
			Path: "log.level", Value: value.Scalar(&c.Level, value.OneOf("debug", "info", "warn", "error"),
				"info"),
			Live: true,
			Doc:  "Least severity that is logged.",
		},
		{
			Path: "log.format", Value: value.Scalar(&c.Format, value.OneOf("auto", "json", "text"), "auto"),
			Doc: "Form of a log line; auto is text on a terminal, JSON elsewhere.",
		},
	}
}
