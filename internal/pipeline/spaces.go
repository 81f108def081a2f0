package pipeline

import (
	"context"
	"log/slog"
	"slices"
	"strconv"

	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/consumer"
	"github.com/clusterd/clusterd/internal/pipeline/output"
	"github.com/clusterd/clusterd/internal/space/replica"
	"github.com/clusterd/clusterd/internal/space/state"
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
	wanted := p.config.Owners(partitions)
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

// assignment returns how the group divides what is read: a space is never divided.
func (p *pipeline) assignment() consumer.Assignment {
	switch {
	case p.config.Role == config.FingerprintOnly:
		return consumer.SpreadInput
	case p.config.Cluster.Scope == config.ByTopic:
		return consumer.AllToOne
	default:
		return consumer.Spread
	}
}

// newOwner returns what owns partitions, under the name by which the monitor is told of it.
func (p *pipeline) newOwner(name, id string, partitions []int, log *slog.Logger) owner {
	return owner{
		config: p.config, client: p.client, log: log, monitor: p.monitor,
		fingerprinter: p.fingerprinter, tally: p.tally, tracer: p.tracer,
		name: name, source: p.config.Source(), partitions: partitions, transactional: id,
		out: output.Topics{Output: p.config.Output, Identity: p.fingerprinter.Identity()},
	}
}

func (p *pipeline) start(ctx context.Context, id string, partitions []int) error {
	r := &running{partitions: partitions, transactional: id, done: make(chan struct{})}
	log, name := p.log.With("partition", partitions[0]), strconv.Itoa(partitions[0])
	if p.config.Role == config.FingerprintOnly {
		f := &fingerprinting{
			owner: p.newOwner(name, id, partitions, log),
			wire:  p.fingerprinter.Wire(),
		}
		f.out.Fingerprints = p.config.Fingerprints.Topic
		p.launch(ctx, r, f.run, nil)
		return nil
	}
	var paused <-chan struct{} // of the standby; nil: there is none
	if p.standby != nil {
		r.replica, paused = p.standby.Replica, p.standby.Pause()
		log, name = p.log, r.replica.Name()
	} else {
		var err error
		if r.replica, err = p.newReplica(ctx, name, partitions); err != nil {
			return err
		}
	}
	w := &worker{
		owner: p.newOwner(name, id, partitions, log), replica: r.replica, members: p.members,
	}
	w.out.Corrections, w.out.Stories = p.config.Labels.Corrections, p.config.Stories.Topic
	p.launch(ctx, r, w.run, paused)
	return nil
}

// launch lets a worker run, once the channel is closed, if there is one.
func (p *pipeline) launch(
	ctx context.Context, r *running, run func(context.Context) error, after <-chan struct{},
) {
	p.workers[r.transactional] = r
	// A worker outlives the membership that started it, so its context does too.
	ctx, r.stop = context.WithCancel(context.WithoutCancel(ctx))
	go func() {
		if after != nil {
			<-after
		}
		r.err = run(ctx)
		close(r.done)
		select {
		case p.ended <- r:
		case <-ctx.Done():
		}
	}()
}

// release lets go of the replica of a worker that has ended.
func (p *pipeline) release(ctx context.Context, r *running) {
	switch {
	case p.standby != nil:
		p.standby.Resume(ctx)
	case r.replica != nil:
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
	if p.config.Assigns() {
		o.Source = p.config.Source()
	}
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
		if p.standby == nil && r.replica != nil {
			r.replica.Close()
		}
	}
}
