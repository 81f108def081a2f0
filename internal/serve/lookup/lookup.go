// Package lookup answers questions about the clusters that this instance has: what a text would
// join, what a cluster is, which are the largest. A [Service] is told of spaces by whoever keeps
// them, as owner or standby, and asks them beside their one writer. Each answer is as of a
// committed batch, and says as of which. Nothing is stored, and a text costs no more than an
// article.
package lookup

import (
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/message/checkpoint"
	"github.com/clusterd/clusterd/internal/space"
	"github.com/clusterd/clusterd/internal/space/fingerprint"
)

var (
	// ErrUnknown is of a cluster that is not there, or has expired.
	ErrUnknown = errors.New("there is no such cluster: it may have expired")
	// ErrNotReady is the error while the clusters are being loaded. It passes by itself.
	ErrNotReady = errors.New("the clusters are being loaded; ask again in some seconds, or another " +
		"instance")
)

// An InvalidError says what of a question cannot be answered.
type InvalidError struct {
	Field  string // of the question: "content", "partition"
	Reason string
}

func (e *InvalidError) Error() string { return e.Field + ": " + e.Reason }

// An ElsewhereError is of a partition of the input whose clusters another instance has, as
// cluster.scope: partition has it.
type ElsewhereError struct {
	Partition int
	Have      []int // the partitions whose clusters this instance has
}

func (e *ElsewhereError) Error() string {
	return fmt.Sprintf("the clusters of partition %d are with another instance; this one has those "+
		"of %v. An instance with role: serve has all", e.Partition, e.Have)
}

// Options are what a Service takes from outside.
type Options struct {
	Config config.Config
	State  func(space string) string // of a space, such as "live"; nil: nothing is said
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
		return nil, ErrNotReady
	}
	return s.fingerprinter, nil
}

// divided reports whether each partition of the input is a space.
func (s *Service) divided() bool { return s.options.Config.Cluster.Scope != "topic" }

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
		return nil, ErrNotReady
	}
	e := &ElsewhereError{Partition: partition}
	for name := range s.spaces {
		if p, err := strconv.Atoi(name); err == nil {
			e.Have = append(e.Have, p)
		}
	}
	slices.Sort(e.Have)
	return nil, e
}

// Taken reports whether the space here has taken in an article of the input, as far as answers say.
// It is also true if there is nothing to wait for: the address is not of the input, or the space is
// not here.
func (s *Service) Taken(at article.Address) bool {
	if at.Topic != s.options.Config.Input.Topic {
		return true
	}
	of, err := s.of(at.Partition)
	if err != nil {
		return true
	}
	v, err := of.View()
	if err != nil {
		return true
	}
	defer v.Release()
	return v.AsOf().Offsets[at.Partition] > at.Offset
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

// An AsOf says as of when an answer is, and who gives it.
type AsOf struct {
	space.AsOf
	Space       string
	State, Role string // of the space here, and of the instance
}

func (s *Service) asOf(name string, at space.AsOf) AsOf {
	a := AsOf{AsOf: at, Space: name, Role: s.options.Config.Role}
	if s.options.State != nil {
		a.State = s.options.State(name)
	}
	return a
}

// AsOf returns as of when answers about each space are now, by its name.
func (s *Service) AsOf() []AsOf {
	var all []AsOf
	for _, a := range s.all() {
		if v, err := a.View(); err == nil {
			all = append(all, s.asOf(a.name, v.AsOf()))
			v.Release()
		}
	}
	return all
}
