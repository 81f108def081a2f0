package replica

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/message/checkpoint"
)

// reads returns the topics that the space reads.
func (r *Replica) reads() []string {
	return slices.DeleteFunc([]string{r.Topic, r.Source.Topic, r.Labels},
		func(topic string) bool { return topic == "" })
}

// identify asks for the ids of the topics that the space reads.
func (r *Replica) identify(ctx context.Context) error {
	var found map[string]string
	err := kafka.Retry(ctx, r.Log, "asking for the ids of topics", func() (err error) {
		found, err = r.Client.TopicIDs(ctx, r.reads()...)
		return err
	})
	if err != nil {
		return err
	}
	topics := len(found)
	maps.DeleteFunc(found, func(_, id string) bool { return id == "" })
	if len(found) < topics && r.Source.Topic != "" {
		r.Log.Warn("the brokers give topics no ids: that a topic was deleted and created again is " +
			"noticed by its offsets alone")
	}
	r.ids = found
	return nil
}

// TopicID returns the id that a topic has had since the last recovery, empty where it is not known.
func (r *Replica) TopicID(topic string) string { return r.ids[topic] }

// keepIDs keeps the ids of a checkpoint for topics of which the brokers give none now.
func (r *Replica) keepIDs(last *checkpoint.Record) {
	for _, topic := range r.reads() {
		if id, ok := last.IDs[topic]; ok && r.ids[topic] == "" {
			r.ids[topic] = id
		}
	}
}

// changedID returns the id of a topic in a checkpoint, and now, if both are known and differ.
func (r *Replica) changedID(last *checkpoint.Record, topic string) (was, is string, changed bool) {
	if last != nil {
		was = last.IDs[topic]
	}
	is = r.ids[topic]
	return was, is, was != "" && is != "" && was != is
}

// checkIDs returns an error if a topic is another one than in the last checkpoint.
func (r *Replica) checkIDs(last *checkpoint.Record) error {
	var topics, said []string
	for _, topic := range r.reads() {
		if was, is, changed := r.changedID(last, topic); changed {
			topics = append(topics, topic)
			said = append(said, fmt.Sprintf("topic %s is another one than before: its id was %s and is %s",
				topic, was, is))
		}
	}
	if topics == nil {
		return nil
	}
	anew := "its articles would be passed over or counted twice, so " + InputAnew
	if slices.Equal(topics, []string{r.Labels}) {
		anew = LabelsAnew(r.Labels)
	}
	return fmt.Errorf("%s. Nothing was read or written. If it was deleted and created again, %s. If "+
		"it has the same records at the same offsets, as after a restore or in another Kafka cluster, "+
		"stop all instances and run: clusterd state accept -c FILE --topic %s", strings.Join(said, ", "),
		anew, strings.Join(topics, " --topic "))
}

// LabelsAnew returns what to do where the topic of labels is another one, or lacks records.
func LabelsAnew(topic string) string {
	return fmt.Sprintf("stop all instances and run: clusterd state accept -c FILE --topic %s "+
		"--from-beginning, by which all of its records are new; or set labels.topic to another topic",
		topic)
}
