package kafka

import (
	"context"
	"errors"
	"slices"
	"strings"

	kafkago "github.com/segmentio/kafka-go"
)

// Workers returns the hosts of the members of a group that have partitions of a topic, each once.
func (c *Client) Workers(ctx context.Context, group, topic string) (hosts []string, err error) {
	response, err := c.admin().DescribeGroups(ctx, &kafkago.DescribeGroupsRequest{
		GroupIDs: []string{group},
	})
	if err != nil {
		return nil, err
	}
	for _, g := range response.Groups {
		if g.Error != nil {
			return nil, g.Error
		}
		for _, m := range g.Members {
			for _, t := range m.MemberAssignments.Topics {
				if t.Topic == topic && len(t.Partitions) > 0 {
					hosts = append(hosts, strings.TrimPrefix(m.ClientHost, "/"))
				}
			}
		}
	}
	slices.Sort(hosts)
	return slices.Compact(hosts), nil
}

// Members returns how many members a group has. A group that is not there has none.
func (c *Client) Members(ctx context.Context, group string) (n int, err error) {
	response, err := c.admin().DescribeGroups(ctx, &kafkago.DescribeGroupsRequest{
		GroupIDs: []string{group},
	})
	if err != nil {
		return 0, err
	}
	for _, g := range response.Groups {
		switch {
		case errors.Is(g.Error, kafkago.GroupIdNotFound):
		case g.Error != nil:
			return 0, g.Error
		default:
			n += len(g.Members)
		}
	}
	return n, nil
}
