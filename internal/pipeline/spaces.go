package pipeline

import (
	"context"
	"slices"
	"strconv"

	"github.com/clusterd/clusterd/internal/consumer"
	"github.com/clusterd/clusterd/internal/replica"
	"github.com/clusterd/clusterd/internal/state"
)

// owned returns the partitions that are worked on.
func (p *pipeline) owned() []int {
	var partitions []int
	for _, r := range p.workers {
		partitions = append(partitions, r.partitions...)
	}
	return partitions
}

// reconcile makes the workers those of the partitions that this member was given: what it has no
// longer is stopped, what it still has goes on, what is new is started.
func (p *pipeline) reconcile(ctx context.Context, partitions []int) error {
	wanted := p.spaces(partitions)
	for id, r := range p.workers {
		if !slices.Equal(wanted[id], r.partitions) {
			p.log.Info("giving up partitions", "partitions", r.partitions)
			p.stop(r)
			p.release(ctx, r)
		}
	}
	for id, partitions := range wanted {
		if p.workers[id] == nil {
			if err := p.start(ctx, id, partitions); err != nil {
				return err
			}
		}
	}
	if len(wanted) == 0 {
		p.log.Info("standing by: other members of the group own all partitions")
	}
	return nil
}

// assignment returns how the group divides the input: a space is never divided.
func (p *pipeline) assignment() consumer.Assignment {
	if p.config.Cluster.Scope == "topic" {
		return consumer.AllToOne
	}
	return consumer.Spread
}

// spaces returns the partitions of each space, by its transactional id.
func (p *pipeline) spaces(partitions []int) map[string][]int {
	id := p.config.Input.Group + "-" + p.config.Input.Topic
	spaces := make(map[string][]int)
	switch {
	case len(partitions) == 0:
	case p.assignment() == consumer.AllToOne:
		spaces[id] = partitions
	default:
		for _, partition := range partitions {
			spaces[id+"-"+strconv.Itoa(partition)] = []int{partition}
		}
	}
	return spaces
}

func (p *pipeline) start(ctx context.Context, id string, partitions []int) error {
	r := &running{done: make(chan struct{}), worker: &worker{
		config: p.config, client: p.client, monitor: p.monitor, fingerprinter: p.fingerprinter,
		tally: p.tally, tracer: p.tracer,
		partitions: partitions, transactional: id, log: p.log,
		out: outputs{
			Output: p.config.Output, identity: p.fingerprinter.Identity(),
			corrections: p.config.Labels.Corrections,
		},
		members: p.members,
	}}
	var paused <-chan struct{} // of the standby
	if p.standby != nil {
		r.replica, paused = p.standby.Replica, p.standby.Pause()
	} else {
		r.log = p.log.With("partition", partitions[0])
		var err error
		if r.replica, err = p.newReplica(ctx, strconv.Itoa(partitions[0]), partitions); err != nil {
			return err
		}
	}
	p.workers[id] = r
	// A worker outlives the membership that started it, so its context does too.
	ctx, r.stop = context.WithCancel(context.WithoutCancel(ctx))
	go func() {
		if p.standby != nil {
			<-paused
		}
		r.err = r.run(ctx)
		close(r.done)
		select {
		case p.ended <- r:
		case <-ctx.Done():
		}
	}()
	return nil
}

// release lets go of the replica of a worker that has ended.
func (p *pipeline) release(ctx context.Context, r *running) {
	if p.standby != nil {
		p.standby.Resume(ctx)
	} else {
		r.replica.Close()
	}
}

// newReplica returns the replica of the space of some input partitions, nil for all.
func (p *pipeline) newReplica(
	ctx context.Context, name string, partitions []int,
) (*replica.Replica, error) {
	o := replica.OptionsOf(&p.config, p.fingerprinter, name, partitions)
	o.Client, o.Log, o.Monitor, o.Readers = p.client, p.log, p.monitor, p.readers
	o.Dir, o.State = p.dir.Space(name), state.Options{Cache: p.cache, Log: p.log}
	return replica.New(ctx, o)
}

func (p *pipeline) stop(r *running) {
	r.stop()
	<-r.done
	delete(p.workers, r.transactional)
}

func (p *pipeline) stopAll() {
	for _, r := range p.workers {
		r.stop()
	}
	for _, r := range p.workers {
		p.stop(r)
		if p.standby == nil {
			r.replica.Close()
		}
	}
}
