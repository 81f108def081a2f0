package kafka

import (
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"math"

	"github.com/segmentio/kafka-go/protocol"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/clusterd/clusterd/internal/kafka/login"
)

// TopicIDs returns the ids of topics (KIP-516), without topics that do not exist. A topic that is
// deleted and created again has another id. An id is empty if the brokers give topics no ids:
// brokers before Apache Kafka 2.8, and some proxies.
func (c *Client) TopicIDs(ctx context.Context, topics ...string) (map[string]string, error) {
	response, err := Do[*idsResponse](ctx, c, &idsRequest{topics: topics})
	if err != nil {
		return nil, err
	}
	c.fetchesByID.Store(response.fetchesByID)
	ids := make(map[string]string, len(topics))
	for _, t := range response.Topics {
		if t.Topic == nil {
			continue
		}
		switch err := Code(t.ErrorCode); {
		case NoTopic(err):
		case err != nil:
			return nil, fmt.Errorf("topic %s: %w", *t.Topic, err)
		default:
			ids[*t.Topic] = formatTopicID(t.TopicID)
		}
	}
	return ids, nil
}

// FetchesByID reports whether the broker that gave the last ids takes fetches by them.
func (c *Client) FetchesByID() bool { return c.fetchesByID.Load() }

// formatTopicID writes an id as Kafka's own tools do, empty where there is none.
func formatTopicID(id [16]byte) string {
	if id == ([16]byte{}) {
		return ""
	}
	return base64.RawURLEncoding.EncodeToString(id[:])
}

func parseTopicID(text string) (id [16]byte, err error) {
	b, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || len(b) != len(id) {
		return id, fmt.Errorf("%.40q is not the id of a topic", text)
	}
	return [16]byte(b), nil
}

// idsRequest asks for metadata with the ids of topics, in a version that kafka-go does not know.
type idsRequest struct{ topics []string }

// idsResponse is what a broker answers to it.
type idsResponse struct {
	kmsg.MetadataResponse
	fetchesByID bool
}

func (r *idsRequest) ApiKey() protocol.ApiKey                 { return protocol.Metadata }
func (r *idsResponse) ApiKey() protocol.ApiKey                { return protocol.Metadata }
func (r *idsRequest) Required(map[protocol.ApiKey]int16) bool { return true }

// RawExchange asks what the broker knows first: kafka-go hides versions that it does not know.
func (r *idsRequest) RawExchange(rw io.ReadWriter) (protocol.Message, error) {
	const latest = 12 // of metadata, that is understood here
	var versions kmsg.ApiVersionsResponse
	ask := kmsg.NewPtrApiVersionsRequest()
	if err := login.Exchange(rw, ask, &versions, math.MaxInt32); err != nil {
		return nil, err
	}
	if err := Code(versions.ErrorCode); err != nil {
		return nil, err
	}
	highest := make(map[int16]int16)
	for _, k := range versions.ApiKeys {
		highest[k.ApiKey] = k.MaxVersion
	}
	request := kmsg.NewPtrMetadataRequest()
	request.Version = min(highest[kmsg.Metadata.Int16()], latest)
	for _, name := range r.topics {
		topic := kmsg.NewMetadataRequestTopic()
		topic.Topic = &name
		request.Topics = append(request.Topics, topic)
	}
	response := &idsResponse{fetchesByID: highest[kmsg.Fetch.Int16()] >= fetchByID}
	if err := login.Exchange(rw, request, response, math.MaxInt32); err != nil {
		return nil, err
	}
	return response, nil
}

var _ protocol.RawExchanger = (*idsRequest)(nil)
