// Package replica keeps the clusters of a space, on disk and in the index, in step with the
// clusters topic. Records of the topic go in; a [space.Space] that holds what they say comes out.
// The topic is the truth: a disk that cannot be used is recreated from it. A [Standby] follows the
// topic while nobody works on the space; an owner catches up before it goes live, and then commits
// what it has written to the topic.
package replica

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/message/checkpoint"
	"github.com/clusterd/clusterd/internal/monitor"
	"github.com/clusterd/clusterd/internal/singlepass"
	"github.com/clusterd/clusterd/internal/space"
	"github.com/clusterd/clusterd/internal/space/state"
)

// errUnusable marks a disk that does not fit the clusters topic, and says why.
var errUnusable = errors.New("it does not fit the clusters topic")

// unusable reports whether err says that a disk is to be recreated.
func unusable(err error) bool {
	return errors.Is(err, state.ErrDamaged) || errors.Is(err, state.ErrForeign) ||
		errors.Is(err, errUnusable)
}

// Options say which space a replica is of, and what it takes from outside.
type Options struct {
	Client  *kafka.Client
	Log     *slog.Logger
	Monitor *monitor.Monitor
	Readers Readers // nil: nobody asks

	Topic      string   // of the clusters
	Labels     string   // the topic of labels, empty where they are off
	Brokers    []string // for commands in errors
	FetchBytes int      // of a fetch
	// Space is what the checkpoints of the space say, but for how far it is: of what its clusters are
	// made, and how.
	Space checkpoint.Record
	// Inputs are the input partitions of the space, nil for all.
	Inputs []int
	Rule   space.Options // how articles are assigned

	NewIndex func() (singlepass.Index, error)
	Check    func(singlepass.Fingerprint) error // of the method

	// Source is what the group reads to assign, by which the clusters topic is checked; the zero value
	// is that nobody is to assign.
	Source config.Source

	// DiskOnly is whether the index stays empty: nobody is to ask the space, or to assign. Then the
	// clusters topic is taken as it is.
	DiskOnly bool

	Dir   string // of the disk
	State state.Options
}

// Readers ask a space beside its one writer.
type Readers interface {
	// Publish says that a space is loaded.
	Publish(name string, s *space.Space)
	// Withdraw says that it is about to be closed, or never was loaded.
	Withdraw(name string)
}

// A Replica is the clusters of one space as of some offset of the clusters topic. It is not safe
// for concurrent use.
type Replica struct {
	Options
	partitions []int // of the clusters topic, that hold the space's clusters
	modulus    int   // how many partitions the clusters topic has

	scanTail func(ctx context.Context, partition int, from int64, each func(kafka.Record)) (end int64,
		err error)
	scans map[int]scan // by partition of the clusters topic

	space   *space.Space // nil: not open
	rebuild *rebuild     // the disk was empty, and what it has since is not all yet; else nil

	advanced uint64            // how many checkpoints were read
	begins   map[int]int64     // by partition of the clusters topic: its first offset
	ids      map[string]string // of topics, by name; see checkpoint.Record.IDs
	accepted []checkpoint.Accepted
}

// New returns the replica of a space, which is not open yet. It waits for the clusters topic.
func New(ctx context.Context, o Options) (*Replica, error) {
	var all []int
	err := kafka.Retry(ctx, o.Log, "looking at topic "+o.Topic, func() (err error) {
		all, err = o.Client.Partitions(ctx, o.Topic)
		return kafka.MarkRetriable(err)
	})
	if err != nil {
		return nil, err
	}
	r := &Replica{Options: o, scans: make(map[int]scan), partitions: all, modulus: len(all)}
	r.scanTail = r.readTail
	if o.Inputs != nil {
		r.partitions = []int{o.Inputs[0] % len(all)}
	}
	return r, nil
}

// Name returns the name of the space.
func (r *Replica) Name() string { return r.Options.Space.Space }

// Partitions returns how many partitions the clusters topic had when the replica was made. Another
// number moves its keys.
func (r *Replica) Partitions() int { return r.modulus }

// Space returns the space, nil while it is not open.
func (r *Replica) Space() *space.Space { return r.space }

// owns reports whether an input partition belongs to the space.
func (r *Replica) owns(partition int) bool {
	return r.Inputs == nil || slices.Contains(r.Inputs, partition)
}

// open opens the disk unless it is open.
func (r *Replica) open(ctx context.Context) error {
	if r.space != nil {
		return nil
	}
	broker, err := r.broker(ctx)
	if err != nil {
		return err
	}
	return r.openOf(broker)
}

// broker returns the id of the Kafka cluster.
func (r *Replica) broker(ctx context.Context) (id string, err error) {
	err = kafka.Retry(ctx, r.Log, "asking for the cluster's id", func() (err error) {
		id, err = r.Client.ClusterID(ctx)
		return err
	})
	return id, err
}

// identity returns of what the disk is a copy, in this Kafka cluster.
func (r *Replica) identity(broker string) state.Identity {
	s := &r.Options.Space
	return state.Identity{
		Kafka: broker, Clusters: r.Topic, Partitions: r.modulus, Input: s.Input, Group: s.Group,
		Space: s.Space, Pipeline: s.Pipeline,
	}
}

// openOf opens the disk as a copy of a topic of this Kafka cluster.
func (r *Replica) openOf(broker string) error {
	index, err := r.NewIndex()
	if err != nil {
		return err
	}
	store, err := state.Open(r.Dir, r.identity(broker), r.State)
	if err != nil {
		return err
	}
	r.space = space.New(index, store, r.Rule, time.Now)
	return nil
}

// load fills the index from the disk unless it is.
func (r *Replica) load(ctx context.Context) error {
	if r.DiskOnly || r.space.Loaded() {
		return nil
	}
	r.Monitor.Recovering(r.Name(), "filling the index")
	if err := r.space.Load(ctx, r.Check); err != nil {
		return errors.Join(err, r.close()) // and the index with it, which is half full
	}
	if r.Readers != nil {
		r.Readers.Publish(r.Name(), r.space)
	}
	return nil
}

// Discard throws the disk away, which is safe: Kafka has all that was on it.
func (r *Replica) Discard(reason error) error {
	kind := monitor.Stale
	switch {
	case errors.Is(reason, state.ErrDamaged):
		kind = monitor.Damaged
	case errors.Is(reason, state.ErrForeign):
		kind = monitor.Foreign
	}
	r.Monitor.Rebuilt(kind)
	r.Log.Warn("the clusters on disk cannot be used; reading all of them back from Kafka, which has "+
		"them", "dir", r.Dir, "reason", reason)
	_ = r.close() // the reason says what is wrong with it
	return state.Remove(r.Dir)
}

// Close leaves the disk as it is, complete up to its checkpoint.
func (r *Replica) Close() {
	if err := r.close(); err != nil {
		r.Log.Warn("closing the clusters on disk failed; what is missing is read from Kafka again", "dir",
			r.Dir, "error", err)
	}
}

// close closes the disk if it is open.
func (r *Replica) close() (err error) {
	if r.rebuild != nil {
		err = r.rebuild.wait() // the disk says it, too, if anything is to be said
	}
	if r.space != nil {
		if r.Readers != nil {
			r.Readers.Withdraw(r.Name())
		}
		r.Monitor.Unloaded(r.Name())
		err = errors.Join(err, r.space.Close())
	}
	r.space, r.rebuild = nil, nil
	return err
}
