// Package lookup answers questions about the clusters that this instance has: what a text would
// join, what a cluster is, which are the largest. A [Service] is told of spaces by whoever keeps
// them, as owner or standby, and asks them beside their one writer. Each answer is as of a
// committed batch, and says as of which. Nothing is stored, and a text costs no more than an
// article.
package lookup

import (
	"context"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/message/checkpoint"
	"github.com/clusterd/clusterd/internal/serve/http/api"
	"github.com/clusterd/clusterd/internal/space"
	"github.com/clusterd/clusterd/internal/space/fingerprint"
)

// Options are what a Service takes from outside.
type Options struct {
	Config config.Config
	State  func(space string) string // of a space, such as "live"; nil: nothing is said
	// End returns where a partition of the input ends; 0 if there is no such partition.
	End func(ctx context.Context, partition int) (int64, error)
}

// A Service answers questions. It is safe for concurrent use.
type Service struct {
	options Options
	turns   chan struct{} // held by each who fingerprints, so that the stream is not starved

	mu            sync.RWMutex
	fingerprinter *fingerprint.Fingerprinter // nil: the pipeline has not begun
	spaces        map[string]*asked

	sharingMutex sync.Mutex
	sharing      sharing

	suspecting sync.Mutex
	suspects   suspects

	toldMutex sync.Mutex
	told      map[int]told // by partition of the input: the last article
}

// asked is a space that is asked.
type asked struct {
	*space.Space
	name    string
	ranking *ranking
	stories topStories
}

// New returns a Service that knows of no space yet.
func New(o Options) *Service {
	return &Service{
		options: o, turns: make(chan struct{}, runtime.GOMAXPROCS(0)), spaces: make(map[string]*asked),
		told: make(map[int]told),
	}
}

// Begin says by which method texts are fingerprinted from now on.
func (s *Service) Begin(f *fingerprint.Fingerprinter) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fingerprinter = f
}

// Publish makes a space one that is asked. It must be loaded, and is called by its one writer.
func (s *Service) Publish(name string, of *space.Space) {
	a := &asked{Space: of, name: name, ranking: newRanking(of, time.Now())}
	of.Watch(a.ranking.add)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.spaces[name] = a
}

// Withdraw says that a space is about to be closed. That waits for who asks it.
func (s *Service) Withdraw(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.spaces, name)
}

// method returns what texts are fingerprinted by.
func (s *Service) method() (*fingerprint.Fingerprinter, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.fingerprinter == nil {
		return nil, api.ErrNotReady
	}
	return s.fingerprinter, nil
}

// divided reports whether each partition of the input is a space.
func (s *Service) divided() bool { return s.options.Config.Cluster.Scope != config.ByTopic }

// of returns the space that has an input partition.
func (s *Service) of(partition int) (*asked, error) {
	name := checkpoint.WholeTopic
	if s.divided() {
		name = strconv.Itoa(partition)
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	if a, ok := s.spaces[name]; ok {
		return a, nil
	}
	if !s.divided() || len(s.spaces) == 0 {
		return nil, api.ErrNotReady
	}
	var have []int
	for name := range s.spaces {
		if p, err := strconv.Atoi(name); err == nil {
			have = append(have, p)
		}
	}
	slices.Sort(have)
	return nil, &api.ElsewhereError{
		Space: name, Reason: fmt.Sprintf("the clusters of partition %d are with another instance; "+
			"this one has those of %v. An instance with role: serve has all", partition, have),
	}
}

// all returns the spaces by name.
func (s *Service) all() []*asked {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return slices.SortedFunc(maps.Values(s.spaces), func(a, b *asked) int {
		return compareNames(a.name, b.name)
	})
}

// compareNames orders partitions as the numbers that they are.
func compareNames(a, b string) int {
	x, _ := strconv.Atoi(a)
	y, _ := strconv.Atoi(b)
	return x - y
}

// AsOf returns as of when answers about each space are now.
func (s *Service) AsOf() []api.AsOf {
	all := []api.AsOf{}
	for _, a := range s.all() {
		if v, err := a.View(); err == nil {
			all = append(all, s.asOf(a.name, v.AsOf()))
			v.Release()
		}
	}
	return all
}
