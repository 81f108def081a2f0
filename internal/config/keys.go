package config

import (
	"math"
	"slices"
	"strings"
	"time"

	"github.com/clusterd/clusterd/internal/charset"
	"github.com/clusterd/clusterd/internal/method"
)

// key is one row of the table: a scalar or a list of the configuration.
type key struct {
	path  string // dotted
	value value  // bound to its place in a Config
	doc   string // one line, for the reference
}

// keys is the one table of what may be configured, in the order in which it is
// written out. It drives defaults, parsing, checks, suggestions, Config.YAML
// and Reference.
func (c *Config) keys() []key {
	return slices.Concat(
		c.Kafka.keys(),
		c.Input.keys(),
		c.Output.keys(),
		textKeys(&c.Text),
		fingerprintKeys(&c.Fingerprint),
		c.Cluster.keys(),
		c.Batch.keys(),
		c.State.keys(),
		c.HTTP.keys(),
		c.Memory.keys(),
		c.Log.keys(),
	)
}

// usedBy begins the line of a key that only some methods use, with their names.
func usedBy(path string) string { return strings.Join(method.Using(path), ", ") + ": " }

func (c *Kafka) keys() []key {
	tls, sasl := &c.TLS, &c.SASL
	return []key{
		{
			"kafka.brokers", list(&c.Brokers, 1, hostPort(), "127.0.0.1:9092"),
			"Brokers to ask for the cluster at first; several, so that one may be down.",
		},
		{
			"kafka.create_topics", scalar(&c.CreateTopics, boolean(), false),
			"Create missing topics; off, so that a misspelt name is an error and not a new topic.",
		},
		{
			"kafka.tls.enabled", scalar(&tls.Enabled, boolean(), false),
			"Encrypt connections; the other TLS keys need it.",
		},
		{
			"kafka.tls.ca_file", scalar(&tls.CAFile, optionalFile(), ""),
			"PEM certificates of the authority that signed the brokers'; empty takes the system's.",
		},
		{
			"kafka.tls.cert_file", scalar(&tls.CertFile, optionalFile(), ""),
			"PEM certificate of this client, for brokers that ask for one; with key_file.",
		},
		{
			"kafka.tls.key_file", scalar(&tls.KeyFile, optionalFile(), ""),
			"PEM private key of that certificate.",
		},
		{
			"kafka.tls.server_name", scalar(&tls.ServerName, anyText(), ""),
			"Name that the brokers' certificates must bear; empty takes the host of each broker.",
		},
		{
			"kafka.tls.insecure_skip_verify", scalar(&tls.InsecureSkipVerify, boolean(), false),
			"Trust any certificate; for trials only, since anyone on the way can then read and write.",
		},
		{
			"kafka.sasl.mechanism", scalar(&sasl.Mechanism, oneOf("none", "plain", "scram-sha-256", "scram-sha-512"), "none"),
			"How to authenticate; plain shows the password to the network unless TLS is on.",
		},
		{
			"kafka.sasl.username", scalar(&sasl.Username, anyText(), ""),
			"User to authenticate as; needed unless the mechanism is none.",
		},
		{
			"kafka.sasl.password", scalar(&sasl.Password, password(), ""),
			"Password of that user; better ${NAME} or file:PATH than the words themselves.",
		},
	}
}

func (c *Input) keys() []key {
	return []key{
		{
			"input.topic", scalar(&c.Topic, topic(), "articles"),
			"Topic of the articles.",
		},
		{
			"input.group", scalar(&c.Group, required(), "clusterd"),
			"Consumer group; its offsets say what is done, so another name starts anew.",
		},
		{
			"input.format", scalar(&c.Format, oneOf("json", "text"), "json"),
			"What a record holds: a JSON object, or nothing but the content (its key is the id).",
		},
		{
			"input.encoding", scalar(&c.Encoding, characterEncoding(), charset.Auto),
			"Character encoding of records and files; auto tells UTF-8, GB 18030, Big5 and UTF-16 apart, and others must be named.",
		},
		{
			"input.fields.id", scalar(&c.Fields.ID, fieldPath(), "id"),
			"Dotted path of the article's id within the object; without a value, the record's address.",
		},
		{
			"input.fields.title", scalar(&c.Fields.Title, fieldPath(), "title"),
			"Dotted path of the title.",
		},
		{
			"input.fields.content", scalar(&c.Fields.Content, fieldPath(), "content"),
			"Dotted path of the content.",
		},
		{
			"input.fields.published_at", scalar(&c.Fields.PublishedAt, fieldPath(), "published_at"),
			"Dotted path of the event time: RFC 3339, RFC 822 and other common forms (without a zone: UTC), a Unix time; else the record's time.",
		},
		{
			"input.fields.source", scalar(&c.Fields.Source, fieldPath(), "source"),
			"Dotted path of the name of who published it.",
		},
		{
			"input.max_bytes", scalar(&c.MaxBytes, size(1*kib, 1*gib), 4*mib),
			"Largest record; a larger one is a dead letter, so that one article cannot take all memory.",
		},
	}
}

func (c *Output) keys() []key {
	return []key{
		{
			"output.topic", scalar(&c.Topic, topic(), "article-clusters"),
			"Topic of the results, one for each article.",
		},
		{
			"output.clusters_topic", scalar(&c.ClustersTopic, topic(), "clusters"),
			"Compacted topic of the clusters; clusterd recovers from it.",
		},
		{
			"output.dead_letter_topic", scalar(&c.DeadLetterTopic, topic(), "articles-dead"),
			"Topic of the records that are no article, as they came.",
		},
		{
			"output.key", scalar(&c.Key, oneOf("cluster", "source"), "cluster"),
			"Key of a result: the cluster id keeps a cluster in one partition, source keeps the input's key.",
		},
		{
			"output.compression", scalar(&c.Compression, oneOf("none", "gzip", "snappy", "lz4", "zstd"), "gzip"),
			"How what is written is compressed: every client reads gzip; zstd is smaller and slower, and some clients need a package for the others.",
		},
	}
}

func textKeys(c *method.TextSettings) []key {
	return []key{
		{
			"text.dictionaries", list(&c.Dictionaries, 0, requiredFile()),
			"Files of words to add to the built-in dictionary, such as names and terms of your field.",
		},
		{
			"text.stop_words", list(&c.StopWords, 0, requiredFile()),
			"Files of words to leave out beside the built-in ones, such as your sites' boilerplate.",
		},
		{
			"text.html", scalar(&c.HTML, oneOf("auto", "always", "never"), "auto"),
			"Whether to strip mark-up; auto does where the text looks like HTML.",
		},
		{
			"text.extract", scalar(&c.Extract, oneOf("all", "article"), "all"),
			"What of a whole HTML page is compared: all its text, or what looks like the article, without menus and adverts.",
		},
	}
}

func fingerprintKeys(c *method.FingerprintSettings) []key {
	return []key{
		{
			"fingerprint.method", scalar(&c.Method, oneOf(method.Names()...), method.Names()[0]),
			"How articles are compared; docs/quality.md says which method is for what.",
		},
		{
			"fingerprint.secret", scalar(&c.Secret, hashSecret(), ""),
			"Secret of 16 bytes or more, made at random, so that nobody can make articles for a cluster; file:PATH. Another one starts anew.",
		},
		{
			"fingerprint.hash", scalar(&c.Hash, oneOf("sdbm", "sdbm-raw", "xxh3"), "sdbm"),
			"simhash without a secret: hash of a token; sdbm-raw only to match old fingerprints, since it merges unrelated articles.",
		},
		{
			"fingerprint.weight", scalar(&c.Weight, oneOf("log", "tf", "set", "tfidf"), "log"),
			"simhash: weight of a token: logarithm of its count, the count, 1, or logarithm times rarity; tf lets frequent words rule.",
		},
		{
			"fingerprint.features", scalar(&c.Features, oneOf(method.Words, method.Pairs), method.Words),
			"simhash: what is weighed: words, or also each pair of neighbours, which tells order and is stricter.",
		},
		{
			"fingerprint.idf", scalar(&c.IDF, optionalFile(), ""),
			"simhash with weight tfidf: table of how rare words are, as 'clusterd idf' writes it; empty takes the built-in one.",
		},
		{
			"fingerprint.shingle.of", scalar(&c.Shingle.Of, oneOf(method.OfCharacters, method.OfWords), method.OfCharacters),
			usedBy("fingerprint.shingle.of") + "what a shingle is a run of; characters need no dictionary.",
		},
		{
			"fingerprint.shingle.size", scalar(&c.Shingle.Size, integer(1, 64), 5),
			usedBy("fingerprint.shingle.size") + "how many of them a shingle has; more is stricter.",
		},
		{
			"fingerprint.signature", scalar(&c.Signature, oneOf("fast", "permutation", "functions"), "fast"),
			usedBy("fingerprint.signature") + "fast similarity sketching, one permutation with densification, or a hash function for each place (slow).",
		},
		{
			"fingerprint.hashes", scalar(&c.Hashes, integer(16, 1024), 128),
			usedBy("fingerprint.hashes") + "places of a signature, a byte each; more tells more and costs more.",
		},
		{
			"fingerprint.sentences", scalar(&c.Sentences, integer(1, 1000), 3),
			usedBy("fingerprint.sentences") + "how many of the longest sentences must be the same.",
		},
		{
			"fingerprint.pinyin.window", scalar(&c.Pinyin.Window, integer(8, 10_000), 24),
			usedBy("fingerprint.pinyin.window") + "characters in a window; larger ones tolerate more and match less.",
		},
		{
			"fingerprint.pinyin.overlap", scalar(&c.Pinyin.Overlap, share(0, 0.9), 0.5),
			usedBy("fingerprint.pinyin.overlap") + "share of a window that the next one has too.",
		},
		{
			"fingerprint.pinyin.levels", scalar(&c.Pinyin.Levels, integer(2, 10), 2),
			usedBy("fingerprint.pinyin.levels") + "how finely the frequency of a letter is told; finer is stricter.",
		},
		{
			"fingerprint.pinyin.boundaries", scalar(&c.Pinyin.Boundaries, oneOf("content", "fixed"), "content"),
			usedBy("fingerprint.pinyin.boundaries") + "whether windows begin where the content says so, or at the first character, as published.",
		},
	}
}

func (c *Cluster) keys() []key {
	return []key{
		{
			"cluster.distance", scalar(&c.Distance, integer(0, 6), 3),
			usedBy("cluster.distance") + "how many of the 64 bits may differ from the centre; more finds more and errs more.",
		},
		{
			"cluster.verified_distance", scalar(&c.VerifiedDistance, integer(0, 10), 10),
			usedBy("cluster.verified_distance") + "how many of the 64 bits may differ where the sketches are similar.",
		},
		{
			"cluster.similarity", scalar(&c.Similarity, shareOrAuto(0.01, 1), 0),
			usedBy("cluster.similarity") + "least similarity to the centre; auto is what docs/quality.md measured for the method.",
		},
		{
			"cluster.recall", scalar(&c.Recall, share(0.5, 1), 0.999),
			usedBy("cluster.recall") + "probability that a centre of the least similarity is found; 1 finds all, for more memory.",
		},
		{
			"cluster.index", scalar(&c.Index, oneOf("btree", "mih", "auto"), "btree"),
			usedBy("cluster.index") + "how centres within the distance are found; the results are the same.",
		},
		{
			"cluster.window", scalar(&c.Window, duration(0, math.MaxInt64), 0),
			"Event time after its last article until a cluster expires, such as 3d; 0s keeps all, and memory grows.",
		},
		{
			"cluster.scope", scalar(&c.Scope, oneOf("topic", "partition"), "topic"),
			"What is compared: the whole topic by one member, or each partition by itself, spread over members.",
		},
	}
}

func (c *Batch) keys() []key {
	return []key{
		{
			"batch.records", scalar(&c.Records, integer(1, 1_000_000), 20_000),
			"Most records in one transaction; larger is faster and takes longer to redo.",
		},
		{
			"batch.bytes", scalar(&c.Bytes, size(64*kib, 1*gib), 8*mib),
			"Most bytes of records, with all that is kept of them, in one transaction; memory grows with several times that.",
		},
		{
			"batch.linger", scalar(&c.Linger, duration(0, 10*time.Second), 20*time.Millisecond),
			"Longest wait for a batch to fill; the least delay of a result when articles are few.",
		},
	}
}

func (c *State) keys() []key {
	return []key{
		{
			"state.dir", scalar(&c.Dir, required(), "clusterd-data"),
			"Folder of the clusters on local disk: a cache of the clusters topic; each instance its own.",
		},
	}
}

func (c *HTTP) keys() []key {
	return []key{
		{
			"http.listen", scalar(&c.Listen, listenAddress(), "127.0.0.1:8080"),
			"Where /livez, /readyz and /metrics are served; empty is nowhere, and other hosts than loopback need a token.",
		},
		{
			"http.token", scalar(&c.Token, bearerToken(), ""),
			"What requests must bear (Authorization: Bearer ...), except to /livez; better ${NAME} or file:PATH than the words themselves.",
		},
	}
}

func (c *Memory) keys() []key {
	return []key{
		{
			"memory.limit", scalar(&c.Limit, sizeOrAuto(64*mib, math.MaxInt), 0),
			"Memory at which Go collects garbage harder; auto takes 90 % of the cgroup's limit; the variable GOMEMLIMIT goes first.",
		},
	}
}

func (c *Log) keys() []key {
	return []key{
		{
			"log.level", scalar(&c.Level, oneOf("debug", "info", "warn", "error"), "info"),
			"Least severity that is logged.",
		},
		{
			"log.format", scalar(&c.Format, oneOf("auto", "json", "text"), "auto"),
			"Form of a log line; auto is text on a terminal, JSON elsewhere.",
		},
	}
}
