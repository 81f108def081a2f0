package pipeline

import (
	"context"
	"errors"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/clusterd/clusterd/internal/consumer"
	"github.com/clusterd/clusterd/internal/sink"
)

// member joins the group and follows its generations. It returns sink.ErrFenced when a worker was
// fenced and no generation came that says why: then this instance's view of the group is out of
// date.
func (p *pipeline) member(ctx context.Context) error {
	name, start := p.dir.Instance()
	source := p.config.Source()
	group := consumer.NewGroup(p.client, p.log, source.Group, source.Topic,
		consumer.Member{Instance: name, Start: start, Session: p.config.Input.SessionTimeout},
		p.assignment(), p.owned())
	// Workers stop before the group is left, so that whoever takes over need not fence them.
	defer func() {
		if ctx.Err() != nil {
			p.stopAll()
		}
		if err := group.Close(ctx); err != nil {
			p.log.Warn("leaving the consumer group failed: the others wait until the session times out",
				"error", err)
		}
	}()
	membership, cancel := context.WithCancelCause(ctx)
	generations, follow := make(chan []int), errgroup.Group{}
	follow.Go(func() error {
		err := generationsOf(membership, group, generations)
		cancel(err)
		return err
	})
	defer follow.Wait() //nolint:errcheck // its error is the cause of membership's end
	defer cancel(nil)
	var rejoin <-chan time.Time
	for {
		select {
		case partitions := <-generations:
			rejoin = nil
			p.monitor.Joined(partitions)
			if err := p.reconcile(ctx, partitions); err != nil {
				return err
			}
		case r := <-p.ended:
			if p.workers[r.transactional] != r {
				continue // it was stopped, and perhaps another one started in its place
			}
			delete(p.workers, r.transactional)
			p.release(ctx, r)
			if !errors.Is(r.err, sink.ErrFenced) {
				return r.err
			}
			p.log.Warn("another instance has taken over", "partitions", r.partitions, "error", r.err)
			rejoin = time.After(p.pauses.rebalance)
		case err := <-p.failed:
			return err
		case <-rejoin:
			return sink.ErrFenced
		case <-membership.Done():
			return context.Cause(membership)
		}
	}
}

// generationsOf hands on the partitions of each generation of the group, until ctx ends or the
// group does.
func generationsOf(ctx context.Context, group *consumer.Group, to chan<- []int) error {
	for {
		partitions, err := group.Next(ctx)
		if err != nil {
			return err
		}
		select {
		case to <- partitions:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
