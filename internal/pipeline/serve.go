package pipeline

import (
	"context"
	"strconv"
	"time"

	"github.com/clusterd/clusterd/internal/consumer"
	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/message/checkpoint"
	"github.com/clusterd/clusterd/internal/space/replica"
)

// partitionsInterval is how often an instance that serves looks whether the input has more
// partitions.
const partitionsInterval = 30 * time.Second

// serve follows all spaces until ctx ends or one of them fails for good. It never joins the group,
// and writes nothing to Kafka.
func (p *pipeline) serve(ctx context.Context) error {
	p.monitor.Serving()
	following := make(map[string]*replica.Standby)
	defer func() {
		for _, s := range following {
			s.Pause() // all at once
		}
		for _, s := range following {
			s.Close()
		}
	}()
	for {
		spaces, err := p.followed(ctx)
		if err != nil {
			return err
		}
		for name, partitions := range spaces {
			if following[name] != nil {
				continue
			}
			r, err := p.newReplica(ctx, name, partitions)
			if err != nil {
				return err
			}
			following[name] = replica.NewStandby(r, p.failed)
			following[name].Resume(ctx)
		}
		select {
		case <-time.After(partitionsInterval):
		case err := <-p.failed:
			return err
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// followed returns the input partitions of each space by its name, nil for all.
func (p *pipeline) followed(ctx context.Context) (map[string][]int, error) {
	if p.assignment() == consumer.AllToOne {
		return map[string][]int{checkpoint.WholeTopic: nil}, nil
	}
	spaces, topic := make(map[string][]int), p.config.Input.Topic
	err := kafka.Retry(ctx, p.log, "looking at topic "+topic, func() error {
		partitions, err := p.client.Partitions(ctx, topic)
		for _, id := range partitions {
			spaces[strconv.Itoa(id)] = []int{id}
		}
		return kafka.MarkRetriable(err)
	})
	return spaces, err
}
