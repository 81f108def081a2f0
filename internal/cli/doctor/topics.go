package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/kafka/topics"
)

// topic is what a broker says of a topic.
type topic struct {
	kadm.TopicDetail
	settings map[string]string // none where the right to read them is missing
}

func (t *topic) number(name string) (n int64, known bool) {
	n, err := strconv.ParseInt(t.settings[name], 10, 64)
	return n, err == nil
}

// names returns the topics of the configuration, the input first.
func (e *examination) names() (all []string) {
	c := &e.config
	all = append(all, c.Input.Topic)
	if c.Divided() {
		all = append(all, c.Fingerprints.Topic)
	}
	names := []string{
		c.Output.Topic, c.Output.ClustersTopic, c.Output.DeadLetterTopic, c.Labels.Topic,
		c.Labels.Corrections, c.Stories.Topic,
	}
	if c.Role == config.FingerprintOnly {
		names = []string{c.Output.DeadLetterTopic}
	}
	for _, name := range names {
		if name != "" {
			all = append(all, name)
		}
	}
	return all
}

// checkTopics looks at each topic of the configuration.
func (e *examination) checkTopics(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	names := e.names()
	settings, err := e.admin.DescribeTopicConfigs(ctx, names...)
	if err != nil {
		e.warn("topics", "grant DescribeConfigs on the topics", "their settings cannot be read: %v", err)
	}
	for _, name := range names {
		t := topic{settings: make(map[string]string)}
		if details, err := e.admin.ListTopics(ctx, name); err != nil {
			t.Err = err // such as of a missing right, which is of this topic alone
		} else {
			t.TopicDetail = details[name]
		}
		if r, err := settings.On(name, nil); err == nil && r.Err == nil {
			for _, one := range r.Configs {
				t.settings[one.Key] = one.MaybeValue()
			}
		}
		e.topics[name] = t
	}
	e.measure(ctx)
	for _, name := range names {
		e.checkTopic(name)
	}
}

// checkTopic looks at one of the topics, of which the brokers were asked.
func (e *examination) checkTopic(name string) {
	t := e.topics[name]
	before := len(e.report.Checks)
	if e.exists(name, &t) {
		e.checkReplicas(name, &t)
		e.checkRole(name, &t)
	}
	if len(e.report.Checks) == before {
		e.add("topic "+name, OK, e.hint(name), "partitions: %d, replicas: %d", len(t.Partitions),
			t.Partitions.NumReplicas())
	}
}

// checkPlacement looks whether results can go where output.partition says.
func (e *examination) checkPlacement(label string, partitions int) {
	c := &e.config
	of := len(e.topics[c.Input.Topic].Partitions)
	if topics.CheckPlacement(c, of, partitions) != nil {
		e.fail(label, e.divide(c.Output.Topic, of)+"; or set output.partition: key",
			"it has %d partitions, and %s has %d: with output.partition: source each of these needs one "+
				"of its own", partitions, c.Input.Topic, of)
	}
}

// hint returns what could be better about a topic with which nothing is wrong.
func (e *examination) hint(name string) string {
	c := &e.config
	if name != c.Output.Topic || c.Output.Key != "source" ||
		c.Output.Partition == config.PartitionOfSource ||
		len(e.topics[name].Partitions) != len(e.topics[c.Input.Topic].Partitions) {
		return ""
	}
	return "to join results with articles, set output.partition: source: keys alone do not do it " +
		"where producers of articles choose partitions in another way than clusterd (docs/joins.md)"
}

// exists reports whether a topic is there; it has said what is to be done if not.
func (e *examination) exists(name string, t *topic) bool {
	label := "topic " + name
	switch {
	case errors.Is(t.Err, kerr.UnknownTopicOrPartition):
		if e.config.Kafka.CreateTopics && e.config.Role != config.ServeOnly {
			e.ok(label, "is not there yet: clusterd creates it (kafka.create_topics)")
			return false
		}
		partitions := len(e.topics[e.config.Input.Topic].Partitions)
		spec := kafka.TopicSpec{Name: name, Partitions: partitions}
		if name == e.config.Output.ClustersTopic || name == e.config.Stories.Topic {
			spec.Configs = map[string]string{"cleanup.policy": "compact"}
		}
		e.fail(label, "create it ("+spec.Command(e.config.Kafka.Brokers)+
			"), or set kafka.create_topics: true", "it does not exist")
		return false
	case errors.Is(t.Err, kerr.TopicAuthorizationFailed):
		right := kmsg.ACLOperationRead
		for _, n := range e.needs() {
			if n.topic == name {
				right = n.rights[0] // which brings the right to see it
				break
			}
		}
		e.fail(label, e.grant(right, name), "no right to it is granted, not even to see it")
		return false
	case t.Err != nil:
		e.fail(label, advice(t.Err), "%v", t.Err)
		return false
	}
	return true
}

// checkReplicas looks whether a topic can be written, and outlives a broker.
func (e *examination) checkReplicas(name string, t *topic) {
	label := "topic " + name
	insync, _ := t.number("min.insync.replicas")
	replicas := t.Partitions.NumReplicas()
	for _, p := range t.Partitions.Sorted() {
		switch {
		case p.Leader < 0:
			e.fail(label, "start the brokers that have its replicas", "partition %d has no leader",
				p.Partition)
			return
		case insync > int64(len(p.ISR)):
			e.fail(label, "start the brokers that have its replicas, or alter min.insync.replicas ("+
				e.alter(name, fmt.Sprint("min.insync.replicas=", max(1, len(p.ISR)-1)))+")",
				"partition %d cannot be written: min.insync.replicas is %d, and %d of %d replicas are in sync",
				p.Partition, insync, len(p.ISR), len(p.Replicas))
			return
		}
	}
	switch {
	case replicas < 2 && e.brokers > 1:
		e.warn(label, "give it three replicas (kafka-reassign-partitions)",
			"it has one replica: a broker that is lost takes it along")
	case replicas > 2 && insync == 1:
		e.warn(label, e.alter(name, "min.insync.replicas=2"),
			"min.insync.replicas is 1: what one broker alone has taken counts as written")
	}
}

// alter returns the command that changes a setting of a topic.
func (e *examination) alter(topic, setting string) string {
	return fmt.Sprintf("kafka-configs --alter --topic %s --add-config %s --bootstrap-server %s", topic,
		setting, e.servers())
}

// divide returns the command that gives a topic so many partitions.
func (e *examination) divide(topic string, partitions int) string {
	return fmt.Sprintf("kafka-topics --alter --topic %s --partitions %d --bootstrap-server %s", topic,
		partitions, e.servers())
}

func (e *examination) servers() string { return strings.Join(e.config.Kafka.Brokers, ",") }

// checkRole looks whether a topic is as clusterd uses it.
func (e *examination) checkRole(name string, t *topic) {
	c, label := &e.config, "topic "+name
	policy := t.settings["cleanup.policy"]
	alter := func(setting string) string { return e.alter(name, setting) }
	switch name {
	case c.Input.Topic:
		if policy != "" && policy != "delete" {
			e.fail(label, alter("cleanup.policy=delete"), "cleanup.policy is %s: articles with the same "+
				"key vanish, maybe before they are read", policy)
		}
		e.checkRetention(label, t, alter)
	case c.Fingerprints.Topic:
		if policy != "" && policy != "delete" {
			e.fail(label, alter("cleanup.policy=delete"), "cleanup.policy is %s, and its records have no "+
				"keys: the brokers refuse them", policy)
		}
		if of := len(e.topics[c.Input.Topic].Partitions); len(t.Partitions) < of {
			e.fail(label, e.divide(name, of), "it has %d partitions, and %s has %d: each needs one of its "+
				"own", len(t.Partitions), c.Input.Topic, of)
		}
		e.checkRetention(label, t, alter)
	case c.Output.Topic:
		if policy != "" && policy != "delete" {
			e.fail(label, alter("cleanup.policy=delete"),
				"cleanup.policy is %s: of each cluster only the last result stays", policy)
		}
		e.checkPlacement(label, len(t.Partitions))
		e.checkRetention(label, t, alter)
	case c.Output.ClustersTopic:
		if policy != "" && policy != "compact" {
			e.fail(label, "set output.clusters_topic back if it was another; else "+
				alter("cleanup.policy=compact"),
				"cleanup.policy is %s: clusters would be lost; it must be compact", policy)
		}
	case c.Stories.Topic:
		if policy != "" && policy != "compact" && policy != "compact,delete" {
			e.warn(label, alter("cleanup.policy=compact"),
				"cleanup.policy is %s: stories vanish that nothing was written of lately", policy)
		}
	case c.Output.DeadLetterTopic:
		input := e.topics[c.Input.Topic]
		most, known := input.number("max.message.bytes")
		room, alsoKnown := t.number("max.message.bytes")
		if want := most + topics.DeadLetterRoom; known && alsoKnown && room < want {
			e.warn(label, alter(fmt.Sprintf("max.message.bytes=%d", want)),
				"max.message.bytes is %d: of the largest records only the beginning fits", room)
		}
	case c.Labels.Topic:
		if kept, known := t.number("retention.ms"); known && kept >= 0 && policy != "compact" {
			e.warn(label, alter("retention.ms=-1"),
				"retention.ms is %s: whoever starts anew no longer sees older labels", milliseconds(kept))
		}
		if n := len(t.Partitions); n > 1 {
			e.warn(label, "use a topic with one partition",
				"it has %d partitions: labels of different partitions have no order", n)
		}
	}
}

// checkRetention holds what is kept against the window.
func (e *examination) checkRetention(label string, t *topic, alter func(string) string) {
	kept, known := t.number("retention.ms")
	window := e.config.Cluster.Window
	if !known || kept < 0 || window == 0 || milliseconds(kept) >= window {
		return
	}
	e.warn(label, alter(fmt.Sprintf("retention.ms=%d", window.Milliseconds())),
		"retention.ms is %s, cluster.window %s: texts and members of older articles cannot be shown, "+
			"and no correction is written for them", milliseconds(kept), window)
}

func milliseconds(n int64) time.Duration { return time.Duration(n) * time.Millisecond }

// measure finds out how many records the input got within the last hour, and how many the clusters
// topic has.
func (e *examination) measure(ctx context.Context) {
	input, clusters := e.config.Input.Topic, e.config.Output.ClustersTopic
	before, err := e.admin.ListOffsetsAfterMilli(ctx, e.now.Add(-time.Hour).UnixMilli(), input)
	came, err := e.since(ctx, input, before, err)
	e.growth, e.unknown = float64(came), err
	if !e.hasClusters() {
		return
	}
	first, err := e.admin.ListStartOffsets(ctx, clusters)
	e.stored, err = e.since(ctx, clusters, first, err)
	e.unknown = cmp.Or(e.unknown, err)
}

// since returns how many records a topic has behind some offsets: 0 if the topic does not exist.
func (e *examination) since(
	ctx context.Context, topic string, from kadm.ListedOffsets, err error,
) (n int64, failed error) {
	ends, endErr := e.admin.ListEndOffsets(ctx, topic)
	err = cmp.Or(err, from.Error(), endErr, ends.Error())
	switch {
	case errors.Is(err, kerr.UnknownTopicOrPartition):
		return 0, nil
	case err != nil:
		return 0, fmt.Errorf("topic %s: %w", topic, err)
	}
	ends.Each(func(end kadm.ListedOffset) {
		if begin, ok := from.Lookup(end.Topic, end.Partition); ok {
			n += max(0, end.Offset-begin.Offset)
		}
	})
	return n, nil
}
