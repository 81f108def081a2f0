// Package pipeline joins the parts: it reads articles from Kafka, fingerprints and assigns them,
// and writes results, clusters and dead letters back, exactly once. It owns the goroutines, decides
// what this instance works on, and begins again after a batch that failed. A configuration goes
// in; [Run] returns when it is told to stop or when going on would be wrong.
//
// [File] does the same for a file, without Kafka.
package pipeline

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/consumer"
	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/sink"
)

const (
	// rebalanceGrace is how long a worker that was fenced may be ahead of the generation that gives its
	// space to another member.
	rebalanceGrace = 3 * time.Second
	// rejoinPause is how long to stay out of the group when none came.
	rejoinPause = time.Second
)

// Run works until ctx ends, and then returns nil: the transaction in hand is finished and the group
// left. It returns an error where waiting does not help.
func Run(ctx context.Context, c config.Config, client *kafka.Client, log *slog.Logger) error {
	fingerprinter, err := NewFingerprinter(c)
	if err != nil {
		return err
	}
	return run(ctx, c, client, log, fingerprinter)
}

func run(ctx context.Context, c config.Config, client *kafka.Client, log *slog.Logger, fingerprinter *Fingerprinter) error {
	if err := ensureTopics(ctx, c, client, log); err != nil {
		return stopped(ctx, err)
	}
	p := &pipeline{
		config: c, client: client, log: log, fingerprinter: fingerprinter,
		workers: make(map[string]*running), ended: make(chan *running),
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

// pipeline is this instance: its membership in the group, and a worker for each space that it owns.
type pipeline struct {
	config        config.Config
	client        *kafka.Client
	log           *slog.Logger
	fingerprinter *Fingerprinter
	workers       map[string]*running // by transactional id
	ended         chan *running
}

// running is a worker at work.
type running struct {
	*worker
	stop context.CancelFunc
	done chan struct{}
	err  error // after done
}

// run is a member of the group until ctx ends or a worker fails for good. A worker lives on through
// rebalances as long as its space stays here.
func (p *pipeline) run(ctx context.Context) error {
	defer p.stopAll()
	for {
		err := p.member(ctx)
		if !errors.Is(err, sink.ErrFenced) {
			return err
		}
		p.log.Warn("this instance's view of the group is out of date; joining anew")
		select {
		case <-time.After(rejoinPause):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// member joins the group and follows its generations. It returns sink.ErrFenced when a worker was
// fenced and no generation came that says why: then this instance's view of the group is out of date.
func (p *pipeline) member(ctx context.Context) error {
	group, err := consumer.Join(p.client, p.log, p.config.Input.Group, p.config.Input.Topic, consumer.Scope(p.config.Cluster.Scope), p.owned())
	if err != nil {
		return err
	}
	// Workers stop before the group is left, so that whoever takes over need not fence them.
	defer func() {
		if ctx.Err() != nil {
			p.stopAll()
		}
		if err := group.Close(); err != nil {
			p.log.Warn("leaving the consumer group failed", "error", err)
		}
	}()
	membership, cancel := context.WithCancelCause(ctx)
	generations, follow := make(chan []int), errgroup.Group{}
	follow.Go(func() error {
		for {
			partitions, err := group.Next(membership)
			if err != nil {
				cancel(err)
				return err
			}
			select {
			case generations <- partitions:
			case <-membership.Done():
				return membership.Err()
			}
		}
	})
	defer follow.Wait() // its error is the cause of membership's end
	defer cancel(nil)
	var rejoin <-chan time.Time
	for {
		select {
		case partitions := <-generations:
			rejoin = nil
			p.own(ctx, partitions)
		case r := <-p.ended:
			if p.workers[r.transactional] != r {
				continue // it was stopped, and perhaps another one started in its place
			}
			delete(p.workers, r.transactional)
			if !errors.Is(r.err, sink.ErrFenced) {
				return r.err
			}
			p.log.Warn("another instance has taken over", "partitions", r.partitions, "error", r.err)
			rejoin = time.After(rebalanceGrace)
		case <-rejoin:
			return sink.ErrFenced
		case <-membership.Done():
			return context.Cause(membership)
		}
	}
}

// owned are the partitions that are worked on.
func (p *pipeline) owned() []int {
	var partitions []int
	for _, r := range p.workers {
		partitions = append(partitions, r.partitions...)
	}
	return partitions
}

// own makes the workers those of the partitions that this member was given: what it has no longer
// is stopped, what it still has goes on, what is new is started.
func (p *pipeline) own(ctx context.Context, partitions []int) {
	wanted := p.spaces(partitions)
	for id, r := range p.workers {
		if !slices.Equal(wanted[id], r.partitions) {
			p.log.Info("giving up partitions", "partitions", r.partitions)
			p.stop(r)
		}
	}
	for id, partitions := range wanted {
		if p.workers[id] == nil {
			p.start(ctx, id, partitions)
		}
	}
	if len(wanted) == 0 {
		p.log.Info("standing by: other members of the group own all partitions")
	}
}

// spaces are the partitions of each space, by its transactional id.
func (p *pipeline) spaces(partitions []int) map[string][]int {
	id := p.config.Input.Group + "-" + p.config.Input.Topic
	spaces := make(map[string][]int)
	switch {
	case len(partitions) == 0:
	case p.config.Cluster.Scope == string(consumer.ScopeTopic):
		spaces[id] = partitions
	default:
		for _, partition := range partitions {
			spaces[id+"-"+strconv.Itoa(partition)] = []int{partition}
		}
	}
	return spaces
}

func (p *pipeline) start(ctx context.Context, id string, partitions []int) {
	// A worker outlives the membership that started it, so its context does too.
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	r := &running{stop: stop, done: make(chan struct{}), worker: &worker{
		config: p.config, client: p.client, fingerprinter: p.fingerprinter, partitions: partitions, transactional: id,
		log: p.log, out: outputs{Output: p.config.Output},
	}}
	if len(partitions) == 1 {
		r.log = p.log.With("partition", partitions[0])
	}
	p.workers[id] = r
	go func() {
		r.err = r.run(ctx)
		close(r.done)
		select {
		case p.ended <- r:
		case <-ctx.Done():
		}
	}()
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
	}
}

// ensureTopics makes sure that the topics are there and fit, or says what to do.
func ensureTopics(ctx context.Context, c config.Config, client *kafka.Client, log *slog.Logger) error {
	input, partitions, err := ensureTopic(ctx, c, client, log, kafka.TopicSpec{Name: c.Input.Topic})
	if err != nil {
		return err
	}
	for _, spec := range []kafka.TopicSpec{
		{Name: c.Output.Topic},
		{Name: c.Output.ClustersTopic, Configs: map[string]string{"cleanup.policy": "compact"}},
		// A dead letter is its record with headers added, and a record can be as large as its topic allows.
		{Name: c.Output.DeadLetterTopic, Configs: map[string]string{"max.message.bytes": strconv.Itoa(input.MaxMessageBytes + deadLetterRoom)}},
	} {
		spec.Partitions = partitions
		settings, _, err := ensureTopic(ctx, c, client, log, spec)
		if err != nil {
			return err
		}
		if spec.Name == c.Output.ClustersTopic && settings.CleanupPolicy != "" && settings.CleanupPolicy != "compact" {
			return fmt.Errorf("topic %s has cleanup.policy=%s, so its clusters would be lost: it must be compact "+
				"(kafka-configs --alter --topic %s --add-config cleanup.policy=compact)", spec.Name, settings.CleanupPolicy, spec.Name)
		}
	}
	return nil
}

// deadLetterRoom is how much larger than its record a dead letter may be.
const deadLetterRoom = 64 << 10

func ensureTopic(ctx context.Context, c config.Config, client *kafka.Client, log *slog.Logger, spec kafka.TopicSpec) (settings kafka.TopicConfig, partitions int, err error) {
	err = kafka.Retry(ctx, log, "looking at topic "+spec.Name, func() error {
		ids, err := client.Partitions(ctx, spec.Name)
		if errors.Is(err, kafka.ErrNoTopic) {
			if !c.Kafka.CreateTopics {
				return fmt.Errorf("%w: create it (%s), or set kafka.create_topics: true", err, spec.Command())
			}
			if err := client.CreateTopic(ctx, spec); err != nil {
				return err
			}
			log.Info("created topic", "topic", spec.Name)
			ids, err = client.Partitions(ctx, spec.Name)
		}
		if err != nil {
			return err
		}
		partitions = len(ids)
		settings, err = client.TopicConfig(ctx, spec.Name)
		return err
	})
	return settings, partitions, err
}
