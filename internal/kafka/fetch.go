package kafka

import (
	"io"
	"math"

	"github.com/segmentio/kafka-go/protocol"
	"github.com/segmentio/kafka-go/protocol/fetch"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/clusterd/clusterd/internal/kafka/login"
)

// fetchByID is the first version of a fetch that names topics by their ids (KIP-516).
const fetchByID = 13

// A FetchRequest is kafka-go's fetch request, but its response is a [*FetchResponse]: record
// batches stay as they came. In kafka-go's own they are decompressed whole, however large they
// become.
type FetchRequest struct {
	fetch.Request
	// TopicID is the id of the only topic of the request: a broker sends nothing of another topic of
	// that name. Empty: by name.
	TopicID string
	version int16 // the highest that the broker and kafka-go both know
}

// A FetchResponse is what a broker answers to a [FetchRequest].
type FetchResponse struct{ kmsg.FetchResponse }

// ApiKey returns the key of fetch requests.
func (r *FetchResponse) ApiKey() protocol.ApiKey { return protocol.Fetch }

// Required makes kafka-go leave the exchange to [FetchRequest.RawExchange].
func (r *FetchRequest) Required(versions map[protocol.ApiKey]int16) bool {
	r.version = versions[protocol.Fetch]
	return true
}

// RawExchange sends the request and reads the response, which share no connection with others.
func (r *FetchRequest) RawExchange(rw io.ReadWriter) (protocol.Message, error) {
	request := kmsg.NewPtrFetchRequest()
	request.Version = r.version
	if r.TopicID != "" {
		request.Version = fetchByID
	}
	request.MaxWaitMillis, request.MinBytes, request.MaxBytes = r.MaxWaitTime, r.MinBytes, r.MaxBytes
	request.IsolationLevel = r.IsolationLevel
	request.SessionEpoch = r.SessionEpoch
	for _, t := range r.Topics {
		topic := kmsg.NewFetchRequestTopic()
		topic.Topic = t.Topic
		if r.TopicID != "" {
			var err error
			if topic.TopicID, err = parseTopicID(r.TopicID); err != nil {
				return nil, err
			}
		}
		for _, p := range t.Partitions {
			partition := kmsg.NewFetchRequestTopicPartition()
			partition.Partition, partition.FetchOffset = p.Partition, p.FetchOffset
			partition.PartitionMaxBytes = p.PartitionMaxBytes
			topic.Partitions = append(topic.Partitions, partition)
		}
		request.Topics = append(request.Topics, topic)
	}
	response := &FetchResponse{}
	if err := login.Exchange(rw, request, response, math.MaxInt32); err != nil {
		return nil, err
	}
	return response, nil
}

var _ protocol.RawExchanger = (*FetchRequest)(nil)
