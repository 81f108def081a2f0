package space

import (
	"errors"
	"sync"

	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/message/checkpoint"
	"github.com/clusterd/clusterd/internal/message/cluster"
	"github.com/clusterd/clusterd/internal/singlepass"
	"github.com/clusterd/clusterd/internal/space/state"
)

// ErrNoView is the error of who asks a space that is not loaded yet, or closed.
var ErrNoView = errors.New("the clusters are not loaded")

// A View is the clusters of a space as they were at one of its commits. It is safe for concurrent
// use, and has to be released.
type View struct {
	snapshot *state.Snapshot
	state    singlepass.State
	rule     *singlepass.Space
	window   singlepass.Rule
	stories  int64 // milliseconds after which a story expires; 0: never
	// checkpoint is as of when the view is, nil for what the store says. The clusters may be ahead of
	// it: those founded since are passed over.
	checkpoint *checkpoint.Record
	all        *views
	readers    int // that have it; under the lock of all
	current    bool
}

// views are those of a space that somebody has, and the current one.
type views struct {
	mu      sync.Mutex
	current *View
	open    sync.WaitGroup // of the readers
	err     error          // of closing snapshots
}

// View returns the clusters as of the last commit, or [ErrNoView].
func (s *Space) View() (*View, error) { return s.views.acquire() }

func (a *views) acquire() (*View, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.current == nil {
		return nil, ErrNoView
	}
	a.current.readers++
	a.open.Add(1)
	return a.current, nil
}

// Release lets go of the view. Nothing may be asked of it afterwards.
func (v *View) Release() {
	v.all.mu.Lock()
	defer v.all.mu.Unlock()
	if v.readers--; v.readers == 0 && !v.current {
		v.all.err = errors.Join(v.all.err, v.snapshot.Close())
	}
	v.all.open.Done()
}

// swap makes a view the current one, nil for none, and returns the one before, nil for none, which
// has to be released.
func (a *views) swap(next *View) (before *View) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if before = a.current; before != nil {
		before.current = false
		before.readers++
		a.open.Add(1)
	}
	if a.current = next; next != nil {
		next.current, next.all = true, a
	}
	return before
}

// close waits until all views are released, after which there are none.
func (a *views) close() error {
	if last := a.swap(nil); last != nil {
		last.Release()
	}
	a.open.Wait()
	return a.err
}

// publish makes the store as it is now what readers see. Given are what was founded and reached
// elsewhere, and what has gone.
func (s *Space) publish(c singlepass.Commit) {
	v := &View{snapshot: s.store.Snapshot(), rule: s.rule, window: s.options.Rule}
	v.stories = s.options.Stories.Rule.Window.Milliseconds()
	m := v.snapshot.Meta()
	v.state = singlepass.State{StreamTime: m.StreamTime, Next: m.Next}
	if v.checkpoint = s.settled; v.checkpoint == nil {
		v.checkpoint = m.Checkpoint
	}
	if at := v.checkpoint; at != nil {
		v.state = singlepass.State{StreamTime: at.StreamTime, Next: at.NextPosition}
	}
	var before *View
	c.State, c.Publish = v.state, func() { before = s.views.swap(v) }
	s.rule.Commit(c)
	if before != nil {
		before.Release()
	}
}

// Settle has readers see what was applied as of a checkpoint, until the next Settle or Commit: of
// what was written behind it, only a part may be there. Nil is as of the last that was applied.
func (s *Space) Settle(c *checkpoint.Record) {
	s.settled = c
	s.publish(singlepass.Commit{})
}

// Changes are what a commit did to the clusters. Nobody writes to them.
type Changes struct {
	Put        []cluster.Cluster // founded or changed
	Joined     []int             // articles that joined since the commit before, one for each Put
	Gone       []cluster.Cluster
	StreamTime int64 // Unix milliseconds
}

// Watch has do called with what each commit changes, by whoever commits: it must be quick. It is
// for the one that assigns.
func (s *Space) Watch(do func(Changes)) { s.watch = do }

func (s *Space) tell(c Changes) {
	if s.watch != nil {
		s.watch(c)
	}
}

func centresOf(clusters []cluster.Cluster) []singlepass.Centre {
	centres := make([]singlepass.Centre, len(clusters))
	for i := range clusters {
		centres[i] = clusters[i].Centre
	}
	return centres
}

// An AsOf says as of when an answer is.
type AsOf struct {
	Position   uint64        // articles that the space had assigned
	StreamTime int64         // highest event time, Unix milliseconds; below 0 before the first article
	Offsets    map[int]int64 // by input partition: up to where it was read; not to be changed
	// Labels is how far it was with labels, nil where it never had any; not to be changed.
	Labels *checkpoint.Labels
}

// AsOf returns as of when the view is.
func (v *View) AsOf() AsOf {
	a := AsOf{Position: v.state.Next, StreamTime: v.state.StreamTime}
	if c := v.checkpoint; c != nil {
		a.Offsets, a.Labels = c.Offsets, c.Labels
	}
	return a
}

// Len returns the number of clusters, with those that have expired and were not removed yet.
func (v *View) Len() int { return v.snapshot.Len() }

// Labelled returns the centres of the clusters that have labels, in founding order, without their
// contacts, those that have expired included. It must not be changed.
func (v *View) Labelled() []singlepass.Centre { return v.snapshot.Labelled() }

// Find returns the cluster of this founder, and whether there is one that has not expired.
func (v *View) Find(founder article.Address) (cluster.Cluster, bool, error) {
	return v.live(v.snapshot.Find(founder))
}

// Get returns the cluster of this seq, and whether there is one that has not expired.
func (v *View) Get(seq uint64) (cluster.Cluster, bool, error) {
	return v.live(v.snapshot.Get(seq))
}

// Before returns the clusters whose seqs are below one, the youngest first, at most so many, and
// those that have expired included.
func (v *View) Before(seq uint64, limit int) ([]cluster.Cluster, error) {
	return v.snapshot.Before(seq, limit)
}

func (v *View) live(c cluster.Cluster, ok bool, err error) (cluster.Cluster, bool, error) {
	if !ok || v.window.Expired(c.SeenAs(), v.streamTime(&c)) || c.Seq >= v.state.Next {
		return cluster.Cluster{}, false, err
	}
	return c, true, err
}

// streamTime returns the stream time by which a cluster expires. Those of the values of a divided
// space are as of the last commit, which may be behind the view: then fewer clusters live.
func (v *View) streamTime(c *cluster.Cluster) int64 {
	if !v.window.Divided {
		return v.state.StreamTime
	}
	return v.rule.CommittedStreamTime(c.Space)
}
