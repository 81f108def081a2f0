package doctor

import (
	"net"
	"strings"
	"testing"
	"time"

	"github.com/rivo/uniseg"
	"github.com/twmb/franz-go/pkg/kadm"

	"github.com/clusterd/clusterd/internal/config"
)

// A report fits its width, but for words that are longer, and steers no terminal.
func TestShow(t *testing.T) {
	r := Report{Checks: []Check{
		{"disk", OK, "/var/lib/clusterd: 71.4 GiB free, a flush takes 200µs", ""},
		{
			"topic articles", Failure, "cleanup.policy is compact: articles with the same key vanish, " +
				"maybe before they are read", "kafka-configs --alter --topic articles --add-config " +
				"cleanup.policy=delete",
		},
		{"configuration", Warning, "文章\x1b[31m很长很长很长很长很长很长很长 很长很长很长很长很长很长很长很长", "change it"},
	}}
	const want = `ok       disk: /var/lib/clusterd: 71.4 GiB free, a
         flush takes 200µs
failure  topic articles: cleanup.policy is
         compact: articles with the same key
         vanish, maybe before they are read
         → kafka-configs --alter --topic articles
         --add-config cleanup.policy=delete
warning  configuration:
         文章\x1b[31m很长很长很长很长很长很长很长
         很长很长很长很长很长很长很长很长
         → change it

3 checks: 1 failures, 1 warnings
`
	var out strings.Builder
	if err := r.Show(&out, 50, false); err != nil || out.String() != want {
		t.Errorf("%v:\n%s\nwant:\n%s", err, &out, want)
	}
	for line := range strings.Lines(out.String()) {
		if n := uniseg.StringWidth(strings.TrimSuffix(line, "\n")); n > 50 {
			t.Errorf("%d cells: %s", n, line)
		}
	}
}

// What cannot be known is not said to be nothing.
func TestMemoryIsNotKnown(t *testing.T) {
	hangs, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { hangs.Close() })
	for name, tt := range map[string]struct {
		role, broker, ca string
		want             Status
		found            string
	}{
		"a broker that hangs": {
			config.All, hangs.Addr().String(), "", Warning, "is not known: ",
		},
		"no connection": {
			config.All, "127.0.0.1:1", "/nowhere/ca.pem", Warning, "is not known: kafka.tls.ca_file",
		},
		"an instance without clusters": {
			config.FingerprintOnly, "127.0.0.1:1", "", OK, "has no clusters, and takes 400 MiB",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := config.Default()
			c.Role, c.Kafka.Brokers, c.Memory.Limit = tt.role, []string{tt.broker}, 1<<30
			if tt.ca != "" {
				c.Kafka.TLS.Enabled, c.Kafka.TLS.CAFile = true, tt.ca
			}
			c.State.Dir = t.TempDir()
			var memory Check
			for _, check := range Examine(t.Context(), c).Checks {
				if check.Name == "memory" {
					memory = check
				}
			}
			if memory.Status != tt.want || !strings.Contains(memory.Found, tt.found) ||
				strings.Contains(memory.Found, "At most") {
				t.Errorf("%+v, want %s, %q", memory, tt.want, tt.found)
			}
		})
	}
}

// What the window brings is held against the limit.
func TestMemory(t *testing.T) {
	for _, tt := range []struct {
		name   string
		limit  int
		window time.Duration
		method string
		growth float64 // articles an hour
		stored int64   // clusters
		want   Status
		found  string
	}{
		{"plenty", 1 << 30, 72 * time.Hour, "simhash", 10_000, 9, OK, "720000 clusters"},
		{"too little", 1 << 30, 720 * time.Hour, "minhash", 100_000, 9, Warning, "19.8 GiB"},
		{"too little for none", 64 << 20, time.Hour, "simhash", 0, 0, Failure, "without clusters"},
		{"no window", 1 << 30, 0, "simhash", 10_000, 5, Warning, "that is at most 7200005"},
		{"many clusters", 1 << 30, time.Hour, "minhash", 0, 9_000_000, Warning, "9000000 clusters"},
		{"more than a number holds", 1 << 30, 0, "simhash", 1e18, 0, Warning, "GiB"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := config.Default()
			c.Memory.Limit, c.Cluster.Window, c.Fingerprint.Method = tt.limit, tt.window, tt.method
			e := examination{config: c, growth: tt.growth, stored: tt.stored}
			e.checkMemory()
			if got := e.report.Checks[0]; got.Status != tt.want || !strings.Contains(got.Found, tt.found) {
				t.Errorf("%+v, want %s, %q", got, tt.want, tt.found)
			}
		})
	}
}

// Results that are to be in the partitions of their articles need as many. Where only that is
// missing for a join, the doctor says so, and all is well.
func TestPlacement(t *testing.T) {
	for _, tt := range []struct {
		name            string
		key, partition  string
		inputs, results int
		want            Status
		do              string // what is said, "" for nothing
	}{
		{"by cluster", "cluster", "key", 3, 3, OK, ""},
		{"a join is at hand", "source", "key", 3, 3, OK, "set output.partition: source"},
		{"other numbers", "source", "key", 3, 4, OK, ""},
		{"for joins", "source", "source", 3, 3, OK, ""},
		{"more than needed", "source", "source", 3, 4, OK, ""},
		{"too few", "source", "source", 3, 2, Failure, "--topic article-clusters --partitions 3"},
		{"fewer, by key", "source", "key", 3, 2, OK, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := config.Default()
			c.Output.Key, c.Output.Partition = tt.key, tt.partition
			e := examination{config: c, topics: map[string]topic{
				c.Input.Topic: partitioned(tt.inputs), c.Output.Topic: partitioned(tt.results),
			}}
			e.checkTopic(c.Output.Topic)
			got := e.report.Checks
			if len(got) != 1 || got[0].Status != tt.want || !strings.Contains(got[0].Do, tt.do) ||
				tt.do == "" && got[0].Do != "" {
				t.Errorf("%+v, want %s, %q", got, tt.want, tt.do)
			}
		})
	}
}

// partitioned is a topic that has so many partitions, of two replicas each.
func partitioned(n int) topic {
	var t topic
	t.Partitions = make(kadm.PartitionDetails)
	for p := range int32(n) {
		t.Partitions[p] = kadm.PartitionDetail{
			Partition: p, Replicas: []int32{0, 1}, ISR: []int32{0, 1},
		}
	}
	return t
}
