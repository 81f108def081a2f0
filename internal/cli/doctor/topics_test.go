package doctor

import (
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/clusterd/clusterd/internal/config"
)

// Each topic has its own rules. A broken one says what is wrong and how to mend it.
func TestTopic(t *testing.T) {
	type settings = map[string]string
	const in, out, clusters, dead = "in", "out", "clusters", "dead"
	const labels, stories, fingerprints = "labels", "stories", "fingerprints"
	for _, tt := range []struct {
		name, topic string
		partitions  int
		settings    settings
		want        Status
		found, do   string
	}{
		{"input", in, 3, settings{"cleanup.policy": "delete"}, OK, "partitions: 3, replicas: 2", ""},
		{"settings unknown", in, 3, nil, OK, "partitions: 3", ""},
		{
			"input compacted", in, 3,
			settings{"cleanup.policy": "compact"},
			Failure,
			"articles with the same key vanish", "--topic in --add-config cleanup.policy=delete",
		},
		{"kept as long as the window", in, 3, settings{"retention.ms": "7200000"}, OK, "", ""},
		{"kept for ever", in, 3, settings{"retention.ms": "-1"}, OK, "", ""},
		{
			"kept too short", in, 3,
			settings{"retention.ms": "7199999"},
			Warning,
			"cluster.window 2h0m0s", "retention.ms=7200000",
		},
		{
			"fingerprints compacted", fingerprints, 3,
			settings{"cleanup.policy": "compact"},
			Failure,
			"its records have no keys", "cleanup.policy=delete",
		},
		{
			"fingerprints with few partitions", fingerprints, 2, nil, Failure,
			"it has 2 partitions, and in has 3", "--topic fingerprints --partitions 3",
		},
		{"fingerprints", fingerprints, 3, nil, OK, "", ""},
		{
			"results compacted", out, 3,
			settings{"cleanup.policy": "compact"},
			Failure,
			"of each cluster only the last result stays", "cleanup.policy=delete",
		},
		{"clusters", clusters, 3, settings{"cleanup.policy": "compact"}, OK, "", ""},
		{
			"clusters deleted", clusters, 3,
			settings{"cleanup.policy": "delete"},
			Failure,
			"clusters would be lost", "cleanup.policy=compact",
		},
		{"stories", stories, 3, settings{"cleanup.policy": "compact,delete"}, OK, "", ""},
		{
			"stories deleted", stories, 3,
			settings{"cleanup.policy": "delete"},
			Warning,
			"stories vanish", "cleanup.policy=compact",
		},
		{"dead letters", dead, 3, settings{"max.message.bytes": "66536"}, OK, "", ""},
		{
			"dead letters without room", dead, 3,
			settings{"max.message.bytes": "66535"},
			Warning,
			"only the beginning fits", "max.message.bytes=66536",
		},
		{"labels", labels, 1, settings{"retention.ms": "-1"}, OK, "", ""},
		{
			"labels that end", labels, 1,
			settings{"retention.ms": "3600000"},
			Warning,
			"retention.ms is 1h0m0s: whoever starts anew", "retention.ms=-1",
		},
		{"labels divided", labels, 2, nil, Warning, "have no order", "one partition"},
		{
			"too few in sync", in, 3,
			settings{"min.insync.replicas": "3"},
			Failure,
			"min.insync.replicas is 3, and 2 of 2 replicas are in sync", "min.insync.replicas=1",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := config.Default()
			c.Input.Topic, c.Fingerprints.Topic, c.Output.Topic = in, fingerprints, out
			c.Output.ClustersTopic, c.Output.DeadLetterTopic = clusters, dead
			c.Labels.Topic, c.Stories.Topic, c.Cluster.Window = labels, stories, 2*time.Hour
			e := examination{config: c, topics: make(map[string]topic)}
			input := partitioned(3)
			input.settings = settings{"max.message.bytes": "1000"}
			e.topics[in] = input
			examined := partitioned(tt.partitions)
			examined.settings = tt.settings
			e.topics[tt.topic] = examined
			e.checkTopic(tt.topic)
			wantOne(t, e.report.Checks, tt.want, tt.found, tt.do)
		})
	}
}

// wantOne expects one check that says this, and advice only where some is wanted.
func wantOne(t *testing.T, got []Check, want Status, found, do string) {
	t.Helper()
	if len(got) != 1 || got[0].Status != want || !strings.Contains(got[0].Found, found) ||
		!strings.Contains(got[0].Do, do) || do == "" && got[0].Do != "" {
		t.Errorf("%+v, want %s, %q, %q", got, want, found, do)
	}
}

// A topic that is not there, or that may not be seen, says who makes it or who grants the right.
func TestTopicIsNotThere(t *testing.T) {
	for _, tt := range []struct {
		name      string
		err       error
		creates   bool
		want      Status
		found, do string
	}{
		{"created", kerr.UnknownTopicOrPartition, true, OK, "clusterd creates it", ""},
		{"missing", kerr.UnknownTopicOrPartition, false, Failure, "does not exist", "create it ("},
		{
			"not to be seen", kerr.TopicAuthorizationFailed, false, Failure, "not even to see it",
			"--operation Write --topic article-clusters",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := config.Default()
			c.Kafka.CreateTopics = tt.creates
			e := examination{config: c, topics: map[string]topic{
				c.Output.Topic: {TopicDetail: kadm.TopicDetail{Err: tt.err}},
			}}
			e.checkTopic(c.Output.Topic)
			wantOne(t, e.report.Checks, tt.want, tt.found, tt.do)
		})
	}
}

// Replicas keep what is written, where there are enough of them and they are in step.
func TestReplicas(t *testing.T) {
	for _, tt := range []struct {
		name             string
		leader           int32
		replicas, insync int
		brokers          int
		want             Status
		found, do        string
	}{
		{"three, two of them needed", 0, 3, 2, 3, OK, "replicas: 3", ""},
		{"the only broker", 0, 1, 1, 1, OK, "replicas: 1", ""},
		{"one replica", 0, 1, 1, 3, Warning, "a broker that is lost", "three replicas"},
		{"one is enough", 0, 3, 1, 3, Warning, "one broker alone", "min.insync.replicas=2"},
		{"no leader", -1, 3, 2, 3, Failure, "partition 0 has no leader", "start the brokers"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := config.Default()
			replicas := []int32{0, 1, 2}[:tt.replicas]
			e := examination{config: c, brokers: tt.brokers, topics: map[string]topic{c.Input.Topic: {
				TopicDetail: kadm.TopicDetail{Partitions: kadm.PartitionDetails{
					0: {Leader: tt.leader, Replicas: replicas, ISR: replicas},
				}},
				settings: map[string]string{"min.insync.replicas": string(rune('0' + tt.insync))},
			}}}
			e.checkTopic(c.Input.Topic)
			wantOne(t, e.report.Checks, tt.want, tt.found, tt.do)
		})
	}
}
