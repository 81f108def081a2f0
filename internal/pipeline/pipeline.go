// Package pipeline joins the parts: it reads articles from Kafka, fingerprints and assigns them,
// and writes results, clusters and dead letters back, exactly once. It owns the goroutines, decides
// what this instance works on, and retries a batch that failed. A configuration goes in; [Run]
// returns when it is told to stop or when going on would be wrong.
package pipeline

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/consumer"
	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/kafka/topics"
	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/message/checkpoint"
	"github.com/clusterd/clusterd/internal/monitor"
	"github.com/clusterd/clusterd/internal/monitor/tally"
	"github.com/clusterd/clusterd/internal/pipeline/labelling"
	"github.com/clusterd/clusterd/internal/pipeline/tracing"
	"github.com/clusterd/clusterd/internal/sink"
	"github.com/clusterd/clusterd/internal/space/disk"
	"github.com/clusterd/clusterd/internal/space/fingerprint"
	"github.com/clusterd/clusterd/internal/space/replica"
	"github.com/clusterd/clusterd/internal/space/state"
)

// Members are those of clusters, as the results say.
type Members = labelling.Members

// pauses are how long an instance waits.
type pauses struct {
	// rebalance is how long a worker that was fenced may be ahead of the generation that gives
	// its space to another member.
	rebalance time.Duration
	// rejoin is how long to stay out of the group when none came.
	rejoin time.Duration
	// look is how often an instance looks at the settings of the clusters topic.
	look time.Duration
}

var defaultPauses = pauses{rebalance: 3 * time.Second, rejoin: time.Second, look: time.Minute}

// Options are what a pipeline needs.
type Options struct {
	Config  config.Config
	Client  *kafka.Client
	Log     *slog.Logger
	Monitor *monitor.Monitor // is told what the pipeline does and how it is
	Readers Readers          // nil: nobody asks
	Members Members          // of whom corrections tell; nil where there are none
	Tracer  *tracing.Tracer  // makes a span of each batch; nil: nobody traces
}

// Readers ask spaces while the pipeline works.
type Readers interface {
	// Begin says by which method texts are fingerprinted.
	Begin(*fingerprint.Fingerprinter)
	replica.Readers
}

// Run works until ctx ends, and then returns nil: the transaction in hand is finished and the group
// left. It returns an error where waiting does not help.
func Run(ctx context.Context, o Options) error {
	fingerprinter, err := fingerprint.New(o.Config)
	if err != nil {
		return err
	}
	return run(ctx, o, fingerprinter, defaultPauses)
}

func run(
	ctx context.Context, o Options, fingerprinter *fingerprint.Fingerprinter, wait pauses,
) error {
	c, client, log := o.Config, o.Client, o.Log
	if o.Readers != nil {
		o.Readers.Begin(fingerprinter)
	}
	dir, err := state.OpenDir(c.State.Dir, log)
	if err != nil {
		return err
	}
	defer func() { _ = dir.Close() }() // the lock goes with the process at the latest
	if c.Role != config.ServeOnly {
		if err := topics.Ensure(ctx, c, client, log); err != nil {
			return stopped(ctx, err)
		}
	}
	cache := state.NewCache()
	defer cache.Release()
	p := &pipeline{
		config: c, client: client, log: log, monitor: o.Monitor, readers: o.Readers,
		members: o.Members, fingerprinter: fingerprinter, dir: dir, cache: cache, pauses: wait,
		tracer:  o.Tracer,
		tally:   tally.New(c.Input.Format, article.Fields(c.Input.Fields), c.Input.Encoding),
		workers: make(map[string]*running), ended: make(chan *running), failed: make(chan error),
	}
	if c.Role == config.ServeOnly {
		return stopped(ctx, p.serve(ctx))
	}
	if c.Assigns() {
		go topics.Watch(ctx, &p.config, client, log, wait.look)
	}
	return stopped(ctx, p.run(ctx))
}

// stopped turns an error that only says that ctx ended into nil.
func stopped(ctx context.Context, err error) error {
	if ctx.Err() != nil && (errors.Is(err, ctx.Err()) || errors.Is(err, context.Cause(ctx))) {
		return nil
	}
	return err
}

// pipeline is this instance: its membership in the group, and a worker for each space that it owns,
// or for each partition that it fingerprints.
type pipeline struct {
	config        config.Config
	client        *kafka.Client
	log           *slog.Logger
	monitor       *monitor.Monitor
	readers       Readers // nil: nobody asks
	fingerprinter *fingerprint.Fingerprinter
	tracer        *tracing.Tracer // nil: nobody traces
	tally         *tally.Tally    // of what is odd about articles, for all workers
	dir           *state.Dir
	cache         *disk.Cache
	standby       *replica.Standby    // of the one space of scope topic, else nil
	workers       map[string]*running // by transactional id
	ended         chan *running
	failed        chan error // of the standby
	pauses        pauses
	members       Members
}

// running is a worker at work.
type running struct {
	partitions    []int
	transactional string
	replica       *replica.Replica // nil: it has no clusters
	stop          context.CancelFunc
	done          chan struct{}
	err           error // after done
}

// run is a member of the group until ctx ends or a worker fails for good. A worker lives on through
// rebalances as long as its space stays here.
func (p *pipeline) run(ctx context.Context) error {
	if p.assignment() == consumer.AllToOne {
		r, err := p.newReplica(ctx, checkpoint.WholeTopic, nil)
		if err != nil {
			return err
		}
		p.standby = replica.NewStandby(r, p.failed)
		p.standby.Resume(ctx)
		defer p.standby.Close()
	}
	defer p.stopAll()
	for {
		p.monitor.Joining()
		err := p.member(ctx)
		if !errors.Is(err, sink.ErrFenced) {
			return err
		}
		p.log.Warn("this instance's view of the group is out of date; joining anew")
		select {
		case <-time.After(p.pauses.rejoin):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
