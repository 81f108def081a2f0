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
	"os"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/clusterd/clusterd/internal/article"
	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/consumer"
	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/monitor"
	"github.com/clusterd/clusterd/internal/sink"
	"github.com/clusterd/clusterd/internal/state"
)

const (
	// rebalanceGrace is how long a worker that was fenced may be ahead of the generation that gives its
	// space to another member.
	rebalanceGrace = 3 * time.Second
	// rejoinPause is how long to stay out of the group when none came.
	rejoinPause = time.Second
)

// Run works until ctx ends, and then returns nil: the transaction in hand is finished and the group
// left. It returns an error where waiting does not help. What it does and how it is, it tells the monitor.
func Run(ctx context.Context, c config.Config, client *kafka.Client, log *slog.Logger, m *monitor.Monitor) error {
	// The dictionary takes a while: meanwhile this shows whether the brokers are there.
	go func() { _, _ = client.ClusterID(ctx) }()
	fingerprinter, err := load(ctx, c)
	if err != nil {
		return stopped(ctx, err)
	}
	return run(ctx, c, client, log, m, fingerprinter)
}

// load makes the fingerprinter, and does not wait for its dictionary when ctx ends.
func load(ctx context.Context, c config.Config) (*Fingerprinter, error) {
	type loaded struct {
		*Fingerprinter
		error
	}
	done := make(chan loaded, 1)
	go func() {
		f, err := NewFingerprinter(c)
		done <- loaded{f, err}
	}()
	select {
	case l := <-done:
		return l.Fingerprinter, l.error
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func run(ctx context.Context, c config.Config, client *kafka.Client, log *slog.Logger, m *monitor.Monitor, fingerprinter *Fingerprinter) error {
	dir, err := state.OpenDir(c.State.Dir, log)
	if err != nil {
		return err
	}
	defer func() { _ = dir.Close() }() // the lock goes with the process at the latest
	if err := ensureTopics(ctx, c, client, log); err != nil {
		return stopped(ctx, err)
	}
	cache := state.NewCache()
	defer cache.Unref()
	p := &pipeline{
		config: c, client: client, log: log, monitor: m, fingerprinter: fingerprinter, dir: dir, cache: cache,
		workers: make(map[string]*running), ended: make(chan *running), failed: make(chan error),
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
	monitor       *monitor.Monitor
	fingerprinter *Fingerprinter
	dir           *state.Dir
	cache         *state.Cache
	standby       *standby            // of the one space of scope topic, else nil
	workers       map[string]*running // by transactional id
	ended         chan *running
	failed        chan error // of the standby
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
	if p.config.Cluster.Scope == string(consumer.ScopeTopic) {
		replica, err := p.newReplica(ctx, "all", nil)
		if err != nil {
			return err
		}
		p.standby = &standby{replica: replica, failed: p.failed}
		p.standby.resume(ctx)
		defer p.standby.close()
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
		case <-time.After(rejoinPause):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// member joins the group and follows its generations. It returns sink.ErrFenced when a worker was
// fenced and no generation came that says why: then this instance's view of the group is out of date.
func (p *pipeline) member(ctx context.Context) error {
	name, start := p.dir.Instance()
	group := consumer.NewGroup(p.client, p.log, p.config.Input.Group, p.config.Input.Topic, consumer.Member{Instance: name, Start: start},
		consumer.Scope(p.config.Cluster.Scope), p.owned())
	// Workers stop before the group is left, so that whoever takes over need not fence them.
	defer func() {
		if ctx.Err() != nil {
			p.stopAll()
		}
		if err := group.Close(ctx); err != nil {
			p.log.Warn("leaving the consumer group failed: the others wait until the session times out", "error", err)
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
			p.monitor.Joined(partitions)
			if err := p.own(ctx, partitions); err != nil {
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
			rejoin = time.After(rebalanceGrace)
		case err := <-p.failed:
			return err
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
func (p *pipeline) own(ctx context.Context, partitions []int) error {
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

func (p *pipeline) start(ctx context.Context, id string, partitions []int) error {
	r := &running{done: make(chan struct{}), worker: &worker{
		config: p.config, client: p.client, monitor: p.monitor, fingerprinter: p.fingerprinter, partitions: partitions, transactional: id,
		log: p.log, out: outputs{Output: p.config.Output, identity: p.fingerprinter.Identity()},
	}}
	if p.standby != nil {
		r.replica = p.standby.replica
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
			p.standby.pause()
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

// fatal ends the process where a disk cannot go on, in the middle of whatever it does.
func (p *pipeline) fatal(err error) {
	p.log.Error("the clusters on disk cannot be written any more, and nothing can be put in order", "error", err)
	os.Exit(1)
}

// release takes care of the replica of a worker that has ended.
func (p *pipeline) release(ctx context.Context, r *running) {
	if p.standby != nil {
		p.standby.resume(ctx)
	} else {
		r.replica.close()
	}
}

// newReplica is the space of some input partitions, nil for all.
func (p *pipeline) newReplica(ctx context.Context, name string, partitions []int) (*replica, error) {
	topic := p.config.Output.ClustersTopic
	var all []int
	err := kafka.Retry(ctx, p.log, "looking at topic "+topic, func() (err error) {
		all, err = p.client.Partitions(ctx, topic)
		return kafka.Expected(err)
	})
	if err != nil {
		return nil, err
	}
	f := p.fingerprinter
	r := &replica{
		scans: make(map[int]scan),
		settings: settings{check: f.Check, Checkpoint: article.Checkpoint{
			Input: p.config.Input.Topic, Group: p.config.Input.Group, Scope: p.config.Cluster.Scope, Space: name,
			Pipeline: f.Identity(), Threshold: f.Threshold(), Window: p.config.Cluster.Window.String(),
		}},
		config: p.config, client: p.client, log: p.log, monitor: p.monitor,
		identity: p.fingerprinter.Identity(), newIndex: p.fingerprinter.newIndex,
		dir: p.dir.Space(name), name: name, partitions: all, modulus: len(all),
		owns:    func(partition int) bool { return partitions == nil || slices.Contains(partitions, partition) },
		options: state.Options{Cache: p.cache, Log: p.log, Fatal: p.fatal},
	}
	r.tail = r.readTail
	if partitions != nil {
		r.partitions = []int{partitions[0] % len(all)}
	}
	return r, nil
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
			r.replica.close()
		}
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
			err = kafka.Expected(err)
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
