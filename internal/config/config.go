// Package config turns a YAML file and the environment into a checked Config.
//
// In: the bytes of one YAML document, a way to look up environment variables
// and a way to read the files that it names. Out: a Config in which every value
// is within its limits, or Errors, which holds every mistake at once with line
// and column. Nothing else in the program reads a configuration or a default:
// the table in keys.go is the one list of keys. Which methods there are, and which keys each of
// them uses, is said by [method.Specs].
//
// A scalar may hold ${NAME} or ${NAME:default}, taken from the environment
// after the YAML is parsed, so that no value can add YAML; $${ stands for a
// literal ${. Paths are taken relative to the directory of the configuration file,
// and without a file to the working directory.
package config

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strconv"
	"time"

	"github.com/clusterd/clusterd/internal/config/table"
	"github.com/clusterd/clusterd/internal/config/value"
	"github.com/clusterd/clusterd/internal/method"
	"github.com/clusterd/clusterd/internal/secret/redacted"
	"github.com/clusterd/clusterd/internal/singlepass"
)

// Config is the whole configuration of clusterd. Its zero value is not usable;
// begin with Default, Load or Parse.
type Config struct {
	Role  string // all, fingerprint, assign, or serve: a standby that never joins the group
	Kafka Kafka
	Input Input
	// Fingerprints are articles on their way from the role fingerprint to the role assign.
	Fingerprints Fingerprints
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

// MethodSettings returns what a method is made by.
func (c Config) MethodSettings() method.Settings {
	return method.Settings{
		Text: c.Text, Fingerprint: c.Fingerprint, Threshold: c.Cluster.ThresholdSettings,
		Contacts: c.Contacts,
	}
}

// Owners returns the partitions of each space, or with role fingerprint of each partition, by the
// transactional id with which instances own it.
func (c Config) Owners(partitions []int) map[string][]int {
	id := c.Input.Group + "-" + c.Input.Topic
	owners := make(map[string][]int)
	switch {
	case len(partitions) == 0:
	case c.Role != FingerprintOnly && c.Cluster.Scope == "topic":
		owners[id] = partitions
	default:
		if c.Role == FingerprintOnly {
			id += "-fingerprint"
		}
		for _, partition := range partitions {
			owners[id+"-"+strconv.Itoa(partition)] = []int{partition}
		}
	}
	return owners
}

// Rule returns the rule by which articles join clusters, beside how near they must be.
func (c Config) Rule() singlepass.Rule {
	return singlepass.Rule{
		Window: c.Cluster.Window, Divided: c.Cluster.Scope == ByField,
	}
}

// Contains reports whether articles are also the same because one contains the other.
func (c Config) Contains() bool {
	return c.Cluster.Containment > 0 && Unused("cluster.containment", c.Fingerprint.Method) == ""
}

// Explains reports whether results say how an article matched its cluster: there is more than one
// way.
func (c Config) Explains() bool { return c.Contains() || c.Contacts.Join }

// Secret is text that is never printed.
type Secret = redacted.Text

// Errors holds every mistake in a configuration, sorted by line.
type Errors = table.Errors

// Fingerprints says where fingerprinted articles are.
type Fingerprints struct{ Topic string }

// Kafka says how the brokers are reached.
type Kafka struct {
	Brokers      []string // at least one, each host:port
	CreateTopics bool
	TLS          TLS
	SASL         SASL
}

// TLS says how connections to the brokers are encrypted. The file names are
// absolute, or empty where none was given.
type TLS struct {
	Enabled            bool
	CAFile             string
	CertFile           string // set exactly when KeyFile is
	KeyFile            string
	ServerName         string
	InsecureSkipVerify bool
}

// SASL says how clusterd names itself to the brokers. Username and Password are
// set exactly when Mechanism is plain or scram. For oauthbearer either TokenFile
// is set, or TokenURL, ClientID and ClientSecret.
type SASL struct {
	Mechanism    string // none, plain, scram-sha-256, scram-sha-512, oauthbearer or aws-msk-iam
	Username     string
	Password     Secret
	TokenFile    string
	TokenURL     string
	TokenCAFile  string
	ClientID     string
	ClientSecret Secret
	Scope        string // words with spaces between
}

// Input says where articles come from and how they are written.
type Input struct {
	Topic    string
	Group    string
	Format   string // json or text
	Encoding string // auto, or a name that charset.Get knows
	Fields   Fields
	MaxBytes int // of one record, 1 KiB to 1 GiB
	// SessionTimeout is how long a member of the group may be silent until others take over.
	SessionTimeout time.Duration
}

// Fields holds the dotted path of each part of an article within its JSON
// object. No path is empty.
type Fields struct {
	ID          string
	Title       string
	Content     string
	PublishedAt string
	Source      string
}

// The forms of a cluster in the clusters topic.
const (
	JSONClusters   = "json"
	BinaryClusters = "binary"
)

// Output says where results go. The three topics differ from one another and
// from Input.Topic.
type Output struct {
	Topic           string
	ClustersTopic   string
	DeadLetterTopic string
	Key             string // cluster or source
	Partition       string // PartitionByKey or PartitionOfSource
	Compression     string // none, gzip, snappy, lz4 or zstd
	ClustersFormat  string // JSONClusters or BinaryClusters
	// Fields are those of [ResultFields] that results have.
	Fields []string
	// Copy are dotted paths of fields of the input that results repeat.
	Copy []string
	// Excerpt is how many characters of its content represent an article without a title.
	Excerpt int
	// Headers are the names of the input's headers that results carry; "*" is all of them.
	Headers []string
}

// ResultFields returns the parts of results that [Output.Fields] may leave out. Anything else in a
// result is short, or there by a setting of its own.
func ResultFields() []string {
	return []string{"representative", "fingerprint", "published_at", "source", "pipeline"}
}

// Cluster says when two articles are taken as the same.
type Cluster struct {
	method.ThresholdSettings
	Window time.Duration // event time until a cluster expires; 0 is never
	Scope  string        // topic, partition or field
	// ScopeField is the field or header whose value divides articles, with Scope [ByField].
	ScopeField string
}

// ByField is the setting of cluster.scope with which each value of a field is a space.
const ByField = "field"

// Batch says how much one Kafka transaction carries: whichever limit is reached
// first ends the batch.
type Batch struct {
	Records int           // 1 to 1,000,000
	Bytes   int           // 64 KiB to 1 GiB
	Linger  time.Duration // 0 to 10 s
}

// State says where what an instance knows is kept.
type State struct {
	Dir string // absolute after Load or Parse; by Default relative to the working directory
}

// Signals say what clusters tell of their articles, beside how many there are.
type Signals struct {
	Enabled bool
	Window  time.Duration // of event time, in which articles are recent; a minute or more
}

// Labels say where labels come from, and what they do. Without a Topic there are none.
type Labels struct {
	Topic       string
	Corrections string   // the topic of corrections; empty is none
	Allow       []string // the labels that win
	// Keep is how long after its last article a labelled cluster lives, where cluster.window is less.
	Keep time.Duration
	// Flood is the share of articles beyond which a label is to be looked at; 1 is no alert.
	Flood float64
}

// Serve says what an instance keeps to answer questions.
type Serve struct {
	Bytes   int     // of disk for the view of members; 0 is no view
	Content Content // whether answers have texts
}

// Content says whether answers have titles, excerpts and texts.
type Content string

// What answers have of texts.
const (
	Shown  Content = "shown"
	Hidden Content = "hidden" // ids and sizes only
)

// HTTP says where an instance answers, and to whom.
type HTTP struct {
	Listen         string // host:port, where no host is every interface; empty is nowhere
	Token          Secret // that has all rights; empty is none
	TokensFile     string // of named tokens; absolute, or empty
	TLS            HTTPTLS
	Hosts          []string // further names by which the instance is called
	Origins        []string // other origins from which a browser may ask
	TrustedProxies []string // addresses or CIDRs
	UserHeader     string   // by which a trusted proxy says who asks
	Rate           int      // requests a second of one client; 0 is no limit
}

// HTTPTLS are the files of the server's certificate. Both are absolute, or both empty.
type HTTPTLS struct {
	CertFile string
	KeyFile  string
}

// Memory says how much memory the process is to live with.
type Memory struct {
	Limit int // bytes, at least 64 MiB; 0 is what the system allows
}

// Log says what is logged and in which form.
type Log struct {
	Level  string // debug, info, warn or error
	Format string // auto, json or text
}

// Severity returns the level as a logger takes it.
func (c Log) Severity() (level slog.Level) {
	if err := level.UnmarshalText([]byte(c.Level)); err != nil {
		return slog.LevelInfo // the configuration has not been checked
	}
	return level
}

// Default returns the configuration of an empty file.
func Default() Config {
	var c Config
	for _, k := range c.keys() {
		k.Value.Reset()
	}
	return c
}

// ErrSecret is the error of a secret on a command line, which every user of the machine can read.
var ErrSecret = errors.New("a secret is taken from the configuration alone, better by file:PATH " +
	"or ${NAME}")

// Set gives the key at path, a dotted path such as cluster.distance, the value that text stands
// for, as a command-line flag does. The key must be a scalar. Text is taken as it is: no variable
// and no file is looked up. The error says what is allowed; rules between keys are not checked. A
// secret is [ErrSecret].
func (c *Config) Set(path, text string) error {
	for _, k := range c.keys() {
		switch {
		case k.Path != path || k.Value.IsList():
		case k.Value.Trait() == value.Secret:
			return fmt.Errorf("%s: %w", path, ErrSecret)
		default:
			return k.Value.Add(text)
		}
	}
	return fmt.Errorf("no key %s", path)
}

// Load reads the configuration file at path, with the environment and the file
// system of this process. An empty path gives Default. Every error is an
// Errors.
func Load(path string) (Config, error) {
	c, _, err := LoadGiven(path)
	return c, err
}

// LoadGiven does what Load does, and also returns which keys the file gives.
func LoadGiven(path string) (Config, Given, error) { return LoadSet(path, nil) }

// LoadSet does what LoadGiven does, and overrides keys of the file by assignments KEY=VALUE, which
// errors name --set KEY. A secret cannot be overridden.
func LoadSet(path string, set []string) (Config, Given, error) {
	if path == "" {
		if len(set) == 0 {
			return Default(), Given{}, nil
		}
		return parseGiven("", nil, set, os.LookupEnv, os.ReadFile)
	}
	data, err := readBounded(path)
	if err != nil {
		return Config{}, Given{}, Errors{{File: path, Problem: fmt.Sprintf("cannot be read: %v", err)}}
	}
	return parseGiven(path, data, set, os.LookupEnv, os.ReadFile)
}

// readBounded reads one byte more than a configuration may have, so that a huge
// file is refused without being read.
func readBounded(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // nothing was written that closing could lose
	return io.ReadAll(io.LimitReader(f, table.MaxBytes+1))
}

// Parse reads a configuration from data, the content of the file named file.
// The name appears in errors, and relative paths within are relative to its
// directory. env looks up an environment variable; readFile reads a secret, and
// shows that the other files named exist. Every error is an Errors, sorted by
// line.
func Parse(
	file string,
	data []byte,
	env func(string) (string, bool),
	readFile func(string) ([]byte, error),
) (Config, error) {
	c, _, err := parseGiven(file, data, nil, env, readFile)
	return c, err
}

func parseGiven(
	file string,
	data []byte,
	set []string,
	env func(string) (string, bool),
	readFile func(string) ([]byte, error),
) (Config, Given, error) {
	c := Default()
	f, err := table.Decode(c.keys(), data, table.Source{File: file, Env: env, ReadFile: readFile})
	if err != nil {
		return Config{}, Given{}, err
	}
	f.Override(c.keys(), "--set", set)
	c.State.Dir = f.Absolute(c.State.Dir) // its default, too, lies beside the file
	rules{f}.check(&c)
	if err := f.Err(); err != nil {
		return Config{}, Given{}, err
	}
	return c, givenKeys(file, f, &c), nil
}
