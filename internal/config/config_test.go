package config

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/clusterd/clusterd/internal/method"
	"github.com/clusterd/clusterd/internal/text/fold"
)

func TestDefault(t *testing.T) {
	want := Config{
		Role: "all", Kafka: Kafka{Brokers: []string{"127.0.0.1:9092"}, SASL: SASL{Mechanism: "none"}},
		Input: Input{
			Topic: "articles", Group: "clusterd", Format: "json", Encoding: "auto", MaxBytes: 4 << 20,
			SessionTimeout: 10 * time.Second,
			Fields: Fields{
				ID: "id", Title: "title", Content: "content", PublishedAt: "published_at", Source: "source",
			},
		},
		Output: Output{
			Topic: "article-clusters", ClustersTopic: "clusters", DeadLetterTopic: "articles-dead",
			Key: "cluster", Partition: "key", Compression: "gzip", ClustersFormat: "json",
			Fields: ResultFields(), Excerpt: 120,
			Headers: []string{"traceparent", "tracestate", "baggage"},
		},
		Fingerprints: Fingerprints{Topic: "article-fingerprints"},
		Text:         method.TextSettings{HTML: "auto", Extract: "all"},
		Fingerprint: method.FingerprintSettings{
			Method: "simhash", Hash: "sdbm", Weight: "log", Features: "words",
			Shingle: method.ShingleSettings{Of: "characters", Size: 5}, Titles: "plain",
			Signature: "fast", Hashes: 128, Sentences: 3,
			Pinyin: method.PinyinSettings{Window: 24, Overlap: .5, Levels: 2, Boundaries: "content"},
		},
		Cluster: Cluster{ThresholdSettings: method.ThresholdSettings{
			Distance: 3, VerifiedDistance: 10, Recall: .999, Index: "btree",
		}, Scope: "topic", GuardSettings: method.GuardSettings{Numbers: "any"}},
		Signals: Signals{Window: time.Hour},
		Labels:  Labels{Allow: []string{"ham"}, Keep: 180 * 24 * time.Hour, Flood: .9},
		Stories: Stories{Threshold: .3, HanThreshold: .18, Merge: .6},
		Batch:   Batch{Records: 10000, Bytes: 8 << 20, Linger: 10 * time.Millisecond},
		State:   State{Dir: "clusterd-data"},
		Serve:   Serve{Content: Shown},
		HTTP:    HTTP{Listen: "127.0.0.1:8080", Rate: 10_000},
		Log:     Log{Level: "info", Format: "auto"},
		Trace:   Trace{Ratio: 1},
		S3:      S3{Endpoint: "https://s3.amazonaws.com"},
	}
	if got := Default(); !reflect.DeepEqual(got, want) {
		t.Errorf("Default() = %+v, want %+v", got, want)
	}
}

func TestDefaultIsNotShared(t *testing.T) {
	c := Default()
	c.Kafka.Brokers[0] = "changed:1"
	if got := Default().Kafka.Brokers[0]; got != "127.0.0.1:9092" {
		t.Errorf("a change to one Default reached another: %s", got)
	}
}

func TestParseValues(t *testing.T) {
	tests := []struct {
		name, yaml string
		change     func(*Config)
	}{
		{"empty", "", func(*Config) {}},
		{"comment", "# nothing\n", func(*Config) {}},
		{"document marks", "---\n...\n", func(*Config) {}},
		{"null", "null", func(*Config) {}},
		{"empty sections", "kafka:\ninput: {}\ncluster:\n  # distance: 4\n", func(*Config) {}},
		{"byte order mark", "\ufefflog: {level: warn}", func(c *Config) { c.Log.Level = "warn" }},
		{"Windows line ends", "log:\r\n  level: warn\r\n", func(c *Config) { c.Log.Level = "warn" }},
		{"flow", "{log: {level: warn}}", func(c *Config) { c.Log.Level = "warn" }},
		{
			"block list", "kafka:\n  brokers:\n  - a:1\n  - '[::1]:2'\n",
			func(c *Config) { c.Kafka.Brokers = []string{"a:1", "[::1]:2"} },
		},
		{"quoted number", `cluster: {distance: "5"}`, func(c *Config) { c.Cluster.Distance = 5 }},
		{"number as text", "input: {topic: 2024}", func(c *Config) { c.Input.Topic = "2024" }},
		{"folded text", "input:\n  group: >-\n    a\n    b\n", func(c *Config) { c.Input.Group = "a b" }},
		{"folding", "text: {fold: true}", func(c *Config) { c.Text.Fold = fold.Latest }},
		{"an earlier folding", "text: {fold: 1}", func(c *Config) { c.Text.Fold = fold.First }},
		{"size", "input: {max_bytes: 512KiB}", func(c *Config) { c.Input.MaxBytes = 512 << 10 }},
		{"days", "cluster: {window: 7d}", func(c *Config) { c.Cluster.Window = 7 * 24 * time.Hour }},
		{"zero", "batch: {linger: 0}", func(c *Config) { c.Batch.Linger = 0 }},
		{
			"Chinese path", "input: {fields: {title: 文章.标题}}",
			func(c *Config) { c.Input.Fields.Title = "文章.标题" },
		},
		{
			"TLS", "kafka: {tls: {enabled: true, ca_file: ca.pem, cert_file: ./cert.pem, key_file: " +
				"/etc/clusterd/key.pem, server_name: k, insecure_skip_verify: true}}",
			func(c *Config) {
				c.Kafka.TLS = TLS{
					true, "/etc/clusterd/ca.pem", "/etc/clusterd/cert.pem", "/etc/clusterd/key.pem", "k", true,
				}
			},
		},
		{
			"files", "text: {dictionaries: [words/names.txt], stop_words: [../../srv/stop.txt]}",
			func(c *Config) {
				c.Text.Dictionaries, c.Text.StopWords = []string{"/etc/clusterd/words/names.txt"},
					[]string{"/srv/stop.txt"}
			},
		},
		{
			"directory of the state", "state: {dir: ../state}",
			func(c *Config) { c.State.Dir = "/etc/state" },
		},
		{
			"absolute directory of the state", "state: {dir: /var/lib/clusterd/}",
			func(c *Config) { c.State.Dir = "/var/lib/clusterd" },
		},
		{"no HTTP", `http: {listen: ""}`, func(c *Config) { c.HTTP.Listen = "" }},
		{
			"HTTP on a loopback name", `http: {listen: "localhost:1"}`,
			func(c *Config) { c.HTTP.Listen = "localhost:1" },
		},
		{
			"HTTP on IPv6 loopback", `http: {listen: "[::1]:1"}`,
			func(c *Config) { c.HTTP.Listen = "[::1]:1" },
		},
		{"a short token on loopback", `http: {token: x}`, func(c *Config) { c.HTTP.Token = "x" }},
		{"HTTP for all with a token", `http: {listen: ":80", token: 0123456789abcdef}`, func(c *Config) {
			c.HTTP.Listen, c.HTTP.Token = ":80", "0123456789abcdef"
		}},
		{
			"all that is asked and taught", `{
				role: serve, output: {copy: [meta.url], headers: [traceparent]},
				signals: {enabled: true, window: 1d},
				labels: {topic: marks, corrections: fixes, allow: [fine], keep: 30d, flood: 0.5},
				serve: {bytes: 1GiB},
				http: {hosts: [desk.example.com], origins: ["https://desk.example.com"],
				  trusted_proxies: [10.0.0.0/8, "::1"], user_header: X-User, rate: 7},
			}`,
			func(c *Config) {
				c.Role, c.Output.Copy = ServeOnly, []string{"meta.url"}
				c.Output.Headers = []string{"traceparent"}
				c.Signals = Signals{Enabled: true, Window: day}
				c.Labels = Labels{
					Topic: "marks", Corrections: "fixes", Allow: []string{"fine"}, Keep: 30 * day, Flood: .5,
				}
				c.Serve.Bytes = 1 << 30
				c.HTTP.Hosts = []string{"desk.example.com"}
				c.HTTP.Origins = []string{"https://desk.example.com"}
				c.HTTP.TrustedProxies, c.HTTP.UserHeader = []string{"10.0.0.0/8", "::1"}, "X-User"
				c.HTTP.Rate = 7
			},
		},
		{
			"token from a file", `http: {token: file:password.txt}`,
			func(c *Config) { c.HTTP.Token = "file-hunter2" },
		},
		{
			"secret", "fingerprint: {secret: 0123456789abcdef}",
			func(c *Config) { c.Fingerprint.Secret = "0123456789abcdef" },
		},
		{"no secret", `fingerprint: {secret: ""}`, func(*Config) {}},
		{"a secret that may be none", `fingerprint: {secret: "${NONE:}"}`, func(*Config) {}},
		{
			"secret from a file", "fingerprint: {secret: file:secret.txt}",
			func(c *Config) { c.Fingerprint.Secret = "file-hunter2-hunter2" },
		},
		{"memory", "memory: {limit: 2GiB}", func(c *Config) { c.Memory.Limit = 2 << 30 }},
		{"memory as the system says", "memory: {limit: auto}", func(*Config) {}},

		{
			"variable", `kafka: {brokers: ["${BROKER}", "${NONE:b:1}"]}`,
			func(c *Config) { c.Kafka.Brokers = []string{"kafka-1:9092", "b:1"} },
		},
		{
			"variable as number", "cluster:\n  distance: ${DISTANCE}",
			func(c *Config) { c.Cluster.Distance = 4 },
		},
		{
			"variable within text", "input:\n  topic: a-${DISTANCE}-${NONE:z}",
			func(c *Config) { c.Input.Topic = "a-4-z" },
		},
		{"empty default", "input:\n  group: x${NONE:}", func(c *Config) { c.Input.Group = "x" }},
		{
			"set to nothing is set", "input:\n  group: x${EMPTY:y}", func(c *Config) { c.Input.Group = "x" },
		},
		{
			"a value adds no YAML", "input:\n  group: ${YAML}",
			func(c *Config) { c.Input.Group = "x\ninput: {topic: evil}" },
		},
		{
			"a value is not looked at again", "input:\n  group: ${REFERENCE}",
			func(c *Config) { c.Input.Group = "${BROKER}" },
		},
		{
			"literal", "input:\n  group: a$${BROKER}$b$$",
			func(c *Config) { c.Input.Group = "a${BROKER}$b$$" },
		},

		{"password", "kafka: {sasl: {mechanism: plain, username: u, password: p}}", sasl("p")},
		{
			"password from a variable",
			`kafka: {sasl: {mechanism: plain, username: u, password: "${PASSWORD}"}}`, sasl("env-hunter2"),
		},
		{
			"password from a file",
			"kafka: {sasl: {mechanism: plain, username: u, password: file:password.txt}}",
			sasl("file-hunter2"),
		},
		{
			"password from a Windows file",
			"kafka: {sasl: {mechanism: plain, username: u, password: file:windows.txt}}",
			sasl("file-hunter2"),
		},
		{
			"only one line end is cut",
			"kafka: {sasl: {mechanism: plain, username: u, password: file:two-lines.txt}}", sasl("a\n"),
		},
		{
			"password from a file by variable",
			`kafka: {sasl: {mechanism: plain, username: u, password: "file:${NONE:password}.txt"}}`,
			sasl("file-hunter2"),
		},
		{
			"a variable names no file",
			`kafka: {sasl: {mechanism: plain, username: u, password: "${FILE}"}}`, sasl("file:password.txt"),
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := parse(tt.yaml)
			if err != nil {
				t.Fatal(err)
			}
			want := Default()
			want.State.Dir = "/etc/clusterd/clusterd-data"
			tt.change(&want)
			if !reflect.DeepEqual(got, want) {
				t.Errorf("got:\n%+v\nwant:\n%+v", got, want)
			}
			checkRoundTrip(t, got)
		})
	}
}

func sasl(password Secret) func(*Config) {
	return func(c *Config) {
		c.Kafka.SASL = SASL{Mechanism: "plain", Username: "u", Password: password}
	}
}

// checkRoundTrip holds c to what its own YAML gives, but for the secret.
func checkRoundTrip(t *testing.T, c Config) {
	t.Helper()
	if c.HTTP.Token != "" {
		c.HTTP.Listen = "" // the mask is too short for a token, so that nobody takes it for one
	}
	yaml := c.YAML()
	if secret := c.Fingerprint.Secret; secret != "" {
		// Nor is the mask a secret of its own.
		if _, err := parse(string(yaml)); err == nil ||
			!strings.Contains(err.Error(), "fingerprint.secret: ***") ||
			strings.Contains(string(yaml), secret.Reveal()) {
			t.Errorf("what is printed of a secret is taken for one, or is one: %v\n%s", err, yaml)
		}
		c.Fingerprint.Secret = ""
		yaml = c.YAML()
	}
	if p := c.Kafka.SASL.Password.Reveal(); len(p) > 8 && strings.Contains(string(yaml), p) {
		t.Errorf("the password is in the YAML:\n%s", yaml)
	}
	again, err := Parse("/elsewhere/again.yaml", yaml,
		func(string) (string, bool) { return "", false },
		func(string) ([]byte, error) { return nil, nil })
	if err != nil {
		t.Fatalf("its own YAML does not parse: %v\n%s", err, yaml)
	}
	c.Kafka.SASL.Password = Secret(c.Kafka.SASL.Password.String())
	c.HTTP.Token = Secret(c.HTTP.Token.String())
	c.Fingerprint.Secret = ""
	if !reflect.DeepEqual(again, c) {
		t.Errorf("its own YAML gives\n%+v\nfor\n%+v\n%s", again, c, yaml)
	}
}

func TestLoad(t *testing.T) {
	if got, err := Load(""); err != nil || !reflect.DeepEqual(got, Default()) {
		t.Errorf("Load of no file = %+v, %v; want Default", got, err)
	}

	dir := t.TempDir()
	t.Setenv("CLUSTERD_TEST_LEVEL", "debug")
	write(t, dir, "words.txt", "词 1 n\n")
	path := write(t, dir, "c.yaml",
		"log:\n  level: ${CLUSTERD_TEST_LEVEL}\ntext: {dictionaries: [words.txt]}\n")
	got, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	if words := filepath.Join(dir, "words.txt"); got.Log.Level != "debug" ||
		got.Text.Dictionaries[0] != words {
		t.Errorf("Load = %+v, want level debug and dictionary %s", got, words)
	}
}

// A path relative to the working directory gives absolute paths, so that the
// resolved configuration means the same elsewhere; so does the default of one.
func TestLoadRelative(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	write(t, dir, "words.txt", "")
	write(t, dir, "c.yaml", "text: {stop_words: [words.txt]}\n")
	got, err := Load("c.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if !filepath.IsAbs(got.State.Dir) {
		t.Errorf("state in %s, want an absolute path", got.State.Dir)
	}
	if !filepath.IsAbs(got.Text.StopWords[0]) {
		t.Errorf("stop words at %s, want an absolute path", got.Text.StopWords[0])
	}
}

func TestLoadErrors(t *testing.T) {
	dir := t.TempDir()
	huge := write(t, dir, "huge.yaml", "")
	if err := os.Truncate(huge, 100<<20); err != nil {
		t.Fatal(err)
	}
	for name, path := range map[string]string{
		"missing":   filepath.Join(dir, "missing.yaml"),
		"directory": dir,
		"huge":      huge,
		"wrong":     write(t, dir, "wrong.yaml", "log: {level: x}"),
	} {
		_, err := Load(path)
		var all Errors
		if !errors.As(err, &all) || len(all) != 1 || all[0].File != path {
			t.Errorf("%s: %v, want one Error about %s", name, err, path)
		}
	}
}

func write(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

const examples = "../../configs/"

func TestSet(t *testing.T) {
	for _, test := range []struct{ key, text, want string }{
		{"cluster.distance", "2", ""},
		{"cluster.window", "3d", ""},
		{"input.format", "text", ""},
		{"state.dir", "elsewhere", ""},
		{"memory.limit", "1GiB", ""},
		{"cluster.similarity", "0.8", ""},
		{"cluster.similarity", "1.5", "must be between 0.01 and 1"},
		{"cluster.similarity", "NaN", "must be auto or a share such as 0.8"},
		{"cluster.long_similarity", "0.7", ""},
		{"cluster.long_similarity", "1.5", "must be between 0 and 1"},
		{"memory.limit", "much", "must be auto or a size"},
		{"cluster.distance", "9", "between 0 and 6"},
		{"cluster.distance", "${HOME}", "between 0 and 6"},
		{
			"fingerprint.secret", "hunter2-hunter2-hunter2",
			"a secret is taken from the configuration alone",
		},
		{"kafka.sasl.password", "hunter2", "a secret is taken from the configuration alone"},
		{"kafka.brokers", "a:1", "no key kafka.brokers"},
		{"cluster", "x", "no key cluster"},
	} {
		c := Default()
		switch err := c.Set(test.key, test.text); {
		case test.want == "" && err != nil:
			t.Errorf("Set(%s, %s): %v", test.key, test.text, err)
		case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)):
			t.Errorf("Set(%s, %s): %v, want %q", test.key, test.text, err, test.want)
		case test.want == "" && bytes.Equal(c.YAML(), Default().YAML()):
			t.Errorf("Set(%s, %s) changed nothing", test.key, test.text)
		}
	}
}
