package config

import (
	"log/slog"
	"math"
	"time"

	"github.com/clusterd/clusterd/internal/method"
	"github.com/clusterd/clusterd/internal/secret/redacted"
	"github.com/clusterd/clusterd/internal/story"
)

// Secret is text that is never printed.
type Secret = redacted.Text

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

// Config is the whole configuration of clusterd. Its zero value is not usable;
// begin with Default, Load or Parse.
type Config struct {
	// What the instance does: all clusters articles; fingerprint reads and fingerprints, any number
	// of them, and assign does the rest; serve only answers questions.
	Role string `kind:"word all fingerprint assign serve" default:"all"`

	Fingerprints Fingerprints
	Kafka        Kafka
	Input        Input
	Output       Output
	Text         method.TextSettings
	Fingerprint  method.FingerprintSettings
	Cluster      Cluster
	Contacts     method.ContactSettings
	Signals      Signals
	Labels       Labels
	Stories      Stories
	Batch        Batch
	State        State
	Serve        Serve
	HTTP         HTTP
	Memory       Memory
	Log          Log
	Trace        Trace
	S3           S3
}

// Fingerprints says where articles are on their way from the role fingerprint to the role assign.
type Fingerprints struct {
	// Topic of fingerprinted articles, from the role fingerprint to the role assign.
	Topic string `kind:"topic" default:"article-fingerprints"`
}

// Kafka says how the brokers are reached.
type Kafka struct {
	// Brokers to ask for the cluster at first; several, so that one may be down.
	Brokers []string `kind:"broker" default:"127.0.0.1:9092" least:"1"`
	// Create missing topics; off, so that a misspelt name is an error and not a new topic.
	CreateTopics bool `key:"create_topics"`
	TLS          TLS
	SASL         SASL
}

// TLS says how connections to the brokers are encrypted. The file names are
// absolute, or empty where none was given.
type TLS struct {
	// Encrypt connections; the other TLS keys need it.
	Enabled bool
	// PEM certificates of the authority that signed the brokers'; empty takes the system's.
	CAFile string `key:"ca_file" kind:"file"`
	// PEM certificate of this client, for brokers that ask for one; with key_file.
	CertFile string `key:"cert_file" kind:"file"`
	// PEM private key of that certificate.
	KeyFile string `key:"key_file" kind:"file"`
	// Name that the brokers' certificates must bear; empty takes the host of each broker.
	ServerName string `key:"server_name"`
	// Trust any certificate; for trials only, since anyone on the way can then read and write.
	InsecureSkipVerify bool `key:"insecure_skip_verify"`
}

// SASL says how clusterd names itself to the brokers. Username and Password are
// set exactly when Mechanism is plain or scram. For oauthbearer either TokenFile
// is set, or TokenURL, ClientID and ClientSecret.
type SASL struct {
	// How to authenticate; plain and oauthbearer show password or token to the network unless TLS is
	// on; aws-msk-iam takes the credentials of AWS_ACCESS_KEY_ID and its like.
	Mechanism string `kind:"mechanism" default:"none"`
	// User to authenticate as; for plain and scram.
	Username string
	// Password of that user; better ${NAME} or file:PATH than the words themselves.
	Password Secret
	// File with a token for oauthbearer, which somebody else renews; read at each login.
	TokenFile string `key:"token_file" kind:"file"`
	// Server of tokens for oauthbearer instead, asked with client_id and client_secret.
	TokenURL string `key:"token_url" kind:"url"`
	// PEM certificates of the authority that signed that server's; empty takes the system's.
	TokenCAFile string `key:"token_ca_file" kind:"file"`
	// Id by which that server knows clusterd.
	ClientID string `key:"client_id"`
	// Secret that goes with it; better ${NAME} or file:PATH than the words themselves.
	ClientSecret Secret `key:"client_secret"`
	// Scopes to ask that server for, with spaces between; empty asks for none.
	Scope string
}

// Input says where articles come from and how they are written.
type Input struct {
	// Topic of the articles.
	Topic string `kind:"topic" default:"articles"`
	// Consumer group; its offsets say what is done, so another name starts anew.
	Group string `kind:"required" default:"clusterd"`
	// What a record holds: a JSON object, or nothing but the content (its key is the id).
	Format string `kind:"word json text" default:"json"`
	// Character encoding of records and files; auto tells UTF-8, GB 18030, Big5 and UTF-16 apart, and
	// others must be named.
	Encoding string `kind:"encoding" default:"auto"`
	Fields   Fields
	// Largest record; a larger one is a dead letter, so that one article cannot take all memory.
	MaxBytes int `key:"max_bytes" kind:"size 1KiB 1GiB" default:"4MiB"`
	// How long an instance may be silent until another takes over; brokers refuse less than their
	// group.min.session.timeout.ms, 6s by default.
	SessionTimeout time.Duration `key:"session_timeout" kind:"duration 1s 30m" default:"10s"`
}

// Fields holds the dotted path of each part of an article within its JSON
// object. No path is empty.
type Fields struct {
	// Dotted path of the article's id within the object; without a value, the record's address.
	ID string `kind:"path" default:"id"`
	// Dotted path of the title.
	Title string `kind:"path" default:"title"`
	// Dotted path of the content.
	Content string `kind:"path" default:"content"`
	// Dotted path of the event time: RFC 3339, RFC 822 and other common forms (without a zone: UTC),
	// a Unix time; else the record's time.
	PublishedAt string `key:"published_at" kind:"path" default:"published_at"`
	// Dotted path of the name of who published it.
	Source string `kind:"path" default:"source"`
}

// The settings of output.partition: a result goes where its key puts it, or to the partition that
// has the number of its article's.
const (
	PartitionByKey    = "key"
	PartitionOfSource = "source"
)

// The forms of a cluster in the clusters topic.
const (
	JSONClusters   = "json"
	BinaryClusters = "binary"
)

// AllHeaders stands for the headers of any name.
const AllHeaders = "*"

// Output says where results go. The three topics differ from one another and
// from Input.Topic.
type Output struct {
	// Topic of the results, one for each article.
	Topic string `kind:"topic" default:"article-clusters"`
	// Compacted topic of the clusters; clusterd recovers from it.
	ClustersTopic string `key:"clusters_topic" kind:"topic" default:"clusters"`
	// Topic of the records that are no article, as they came.
	DeadLetterTopic string `key:"dead_letter_topic" kind:"topic" default:"articles-dead"`
	// Key of a result: the cluster id keeps a cluster in one partition, source keeps the input's key.
	Key string `kind:"word cluster source" default:"cluster"`
	// Partition of a result: key is the one that its key gives it, source that of its article, for
	// joins; docs/joins.md.
	Partition string `kind:"word key source" default:"key"`
	// How what is written is compressed: every client reads gzip; zstd is smaller and slower, and
	// some clients need a package for the others.
	Compression string `kind:"word none gzip snappy lz4 zstd" default:"gzip"`
	// Form of clusters and stories in the clusters topic: binary is smaller, and only clusterd reads
	// it; both forms are always read.
	ClustersFormat string `key:"clusters_format" kind:"word json binary" default:"json"`
	// Which of these parts results have; the others they always have. What nobody reads is not worth
	// writing.
	Fields []string `kind:"part" default:"representative fingerprint published_at source pipeline"`
	// Dotted paths of the input's fields that results repeat, such as url or author.
	Copy []string `kind:"path"`
	// How many characters of its content represent a cluster whose founder has no title; 0 leaves
	// texts out of all that is written.
	Excerpt int `kind:"integer 0 120" default:"120"`
	// Names of the input's headers that results carry, by default those of a trace; "*" is all, with
	// those that say how to read the input.
	Headers []string `kind:"required" default:"traceparent tracestate baggage"`
}

// ResultFields returns the parts of results that [Output.Fields] may leave out. Anything else in a
// result is short, or there by a setting of its own.
func ResultFields() []string {
	return []string{"representative", "fingerprint", "published_at", "source", "pipeline"}
}

// The settings of cluster.scope: what a space is.
const (
	ByTopic     = "topic"     // the whole input
	ByPartition = "partition" // each partition of the input
	ByField     = "field"     // each value of a field, within a partition
)

// Cluster says when two articles are taken as the same.
type Cluster struct {
	method.ThresholdSettings
	// Event time after its last article until a cluster expires, such as 3d; 0s keeps all, and memory
	// grows.
	Window time.Duration `kind:"duration 0s"`
	// What is compared: the whole topic by one member, or each partition by itself, spread over
	// members, or within each partition the articles that have the same value of a field.
	Scope string `kind:"word topic partition field" default:"topic"`
	// With cluster.scope: field, the field: a dotted path in the JSON of an article, such as
	// meta.tenant, or header:NAME. Key the records by it.
	ScopeField string `key:"scope_field" kind:"scope_field"`
	method.GuardSettings
}

// Signals say what clusters tell of their articles, beside how many there are.
type Signals struct {
	// Whether results and clusters carry publishers, recent articles, first and last seen.
	Enabled bool
	// Event time in which an article is recent.
	Window time.Duration `kind:"duration 1m 90d" default:"1h"`
}

// Labels say where labels come from, and what they do. Without a Topic there are none.
type Labels struct {
	// Topic of labels for clusters, from the HTTP interface or any producer; empty is none.
	Topic string `kind:"topic_or_none"`
	// Topic that gets a record for each earlier article of a cluster whose labels change; needs
	// serve.bytes; empty is none.
	Corrections string `kind:"topic_or_none"`
	// Labels that win: a cluster that has one carries no other.
	Allow []string `kind:"label" default:"ham"`
	// Event time after its last article that a labelled cluster lives, where cluster.window is less:
	// the next wave is caught.
	Keep time.Duration `kind:"duration 0s" default:"180d"`
	// Share of 1,000 articles beyond which a label is to be looked at: a metric and an alert say so,
	// and results carry it; 1 is no alert.
	Flood float64 `kind:"share 0.01 1" default:"0.9"`
}

// Stories say how clusters are joined to stories. Without a Topic there are none.
type Stories struct {
	// Topic of stories: clusters of one event, in words of their own, with the newest state of each;
	// empty is no stories.
	Topic string `kind:"topic_or_none"`
	// Event time after its last article that a story lives; at least cluster.window; 0 is for ever.
	Window time.Duration `kind:"duration 0s"`
	// Least similarity (cosine) of a new cluster to the story that it joins.
	Threshold float64 `kind:"share 0.01 1" default:"0.3"`
	// The same for a text of mostly Chinese words.
	HanThreshold float64 `key:"han_threshold" kind:"share 0.01 1" default:"0.18"`
	// Least similarity of two stories that become one, when an article could join both.
	Merge float64 `kind:"share 0.01 1" default:"0.6"`
	// File of publishers, one a line, the best first: whose title is the headline of a story; empty
	// takes the earliest.
	Ranks string `kind:"file"`
}

// Rule returns the rule that the settings give.
func (c *Stories) Rule() story.Options {
	o := story.Defaults()
	millionths := func(share float64) uint32 { return uint32(math.Round(share * 1e6)) }
	o.Threshold, o.Han = millionths(c.Threshold), millionths(c.HanThreshold)
	o.Merge, o.Window = millionths(c.Merge), c.Window
	return o
}

// Batch says how much one Kafka transaction carries: whichever limit is reached
// first ends the batch.
type Batch struct {
	// Most records in one transaction; larger is faster and takes longer to redo.
	Records int `kind:"integer 1 1000000" default:"10000"`
	// Most bytes of records, with all that is kept of them, in one transaction; memory grows with
	// several times that.
	Bytes int `kind:"size 64KiB 1GiB" default:"8MiB"`
	// Longest wait for a batch to fill; the least delay of a result when articles are few.
	Linger time.Duration `kind:"duration 0s 10s" default:"10ms"`
}

// State says where what an instance knows is kept.
type State struct {
	// Folder of the clusters on local disk: a cache of the clusters topic; each instance its own.
	Dir string `kind:"required" default:"clusterd-data"`
}

// Content says whether answers have titles, excerpts and texts.
type Content string

// What answers have of texts.
const (
	Shown  Content = "shown"
	Hidden Content = "hidden" // ids and sizes only
)

// Serve says what an instance keeps to answer questions.
type Serve struct {
	// What the page and /v1 have of articles: all, or ids and sizes, and no titles, excerpts,
	// contacts and texts.
	Content Content `kind:"word shown hidden" default:"shown"`
	// Disk for a view of the results, by which members of clusters and articles are found; 0 is none.
	Bytes int `kind:"size_or_none 64MiB"`
}

// HTTP says where an instance answers, and to whom.
type HTTP struct {
	// Where questions, health and metrics are answered; empty is nowhere, and other hosts than
	// loopback need a token.
	Listen string `kind:"listen" default:"127.0.0.1:8080"`
	// A token with all rights (Authorization: Bearer ...); better ${NAME} or file:PATH than the words
	// themselves.
	Token Secret `kind:"bearer"`
	// File of named tokens, a line each: NAME RIGHTS TOKEN, where rights are of read, label and
	// write; read again when it changes.
	TokensFile string `key:"tokens_file" kind:"file"`
	TLS        HTTPTLS
	// Further host names by which clients call the instance; others are refused, so that no web page
	// reaches it by a name of its own.
	Hosts []string `kind:"host"`
	// Other origins from which a browser may ask (CORS), such as https://desk.example.com.
	Origins []string `kind:"origin"`
	// Addresses or networks of proxies that say who asks, such as 10.0.0.0/8.
	TrustedProxies []string `key:"trusted_proxies" kind:"network"`
	// Header in which a trusted proxy names who asks, such as X-Forwarded-User.
	UserHeader string `key:"user_header" kind:"header"`
	// Requests a second that one client may make, by its token or address; 0 is no limit.
	Rate int `kind:"integer 0 1000000" default:"10000" live:"true"`
}

// HTTPTLS are the files of the server's certificate. Both are absolute, or both empty.
type HTTPTLS struct {
	// PEM certificate of the server, with key_file; read again when it changes.
	CertFile string `key:"cert_file" kind:"file"`
	// PEM private key of that certificate.
	KeyFile string `key:"key_file" kind:"file"`
}

// Memory says how much memory the process is to live with.
type Memory struct {
	// Memory at which Go collects garbage harder; auto takes 90 % of the cgroup's limit; the variable
	// GOMEMLIMIT goes first.
	Limit int `kind:"size_or_auto 64MiB" live:"true"`
}

// Log says what is logged and in which form.
type Log struct {
	// Least severity that is logged.
	Level string `kind:"word debug info warn error" default:"info" live:"true"`
	// Form of a log line; auto is text on a terminal, JSON elsewhere.
	Format string `kind:"word auto json text" default:"auto"`
}

// Severity returns the level as a logger takes it.
func (c Log) Severity() (level slog.Level) {
	if err := level.UnmarshalText([]byte(c.Level)); err != nil {
		return slog.LevelInfo // the configuration has not been checked
	}
	return level
}

// Trace says where spans of batches go.
type Trace struct {
	// URL of a collector of OpenTelemetry (OTLP over HTTP) that gets a span of each batch, such as
	// http://127.0.0.1:4318; empty is none.
	Endpoint string `kind:"url"`
	// Share of batches that have a span.
	Ratio float64 `kind:"share 0 1" default:"1"`
}

// S3 says where buckets for snapshots are, and who asks for them.
type S3 struct {
	// Server of the buckets that state export and import name, S3 or one like it.
	Endpoint string `kind:"url" default:"https://s3.amazonaws.com"`
	// Region of the bucket; empty takes AWS_REGION, or asks the server.
	Region string
	// Id of the credentials; empty takes AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.
	AccessKey string `key:"access_key"`
	// Secret that goes with it; better ${NAME} or file:PATH than the words themselves.
	SecretKey Secret `key:"secret_key"`
}
