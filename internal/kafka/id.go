package kafka

import (
	"context"

	"github.com/segmentio/kafka-go/protocol/metadata"
)

// ClusterID returns the id of the Kafka cluster, which no other has.
func (c *Client) ClusterID(ctx context.Context) (string, error) {
	response, err := Do[*metadata.Response](ctx, c, &metadata.Request{TopicNames: []string{}})
	if err != nil {
		return "", err
	}
	return response.ClusterID, nil
}
