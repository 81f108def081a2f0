// Package members is a view of the results topic on local disk: which articles a cluster has, and
// which cluster an article is in. Committed results go in; pages of members, timelines and single
// articles come out.
//
// The topic is the truth and the view a cache of it, which may lag and says by how much. It is made
// anew where it is lost, damaged or of another topic. What it takes on disk is bounded: it is two
// databases, and when the newer one is full, the older one is removed and another begun. So the
// results that were read first go first, and that costs nothing.
package members

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"sync"

	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/serve/http/api"
	"github.com/clusterd/clusterd/internal/space/disk"
)

// MaxPage is how many members one question returns at most.
const MaxPage = 1000

// errDamaged is of a view that must be made anew.
var errDamaged = errors.New("the members on disk are damaged")

// A Member is one article of a cluster, as its result says.
type Member struct {
	ArticleID string
	ClusterID string // empty of an article that was not clustered
	Status    article.Status
	Distance  *float64 // as in [article.Result]
	Matched   article.Match
	Publisher string
	// Fingerprint is that of the article; nil if the result does not say it.
	Fingerprint *article.Fingerprint
	Position    uint64
	EventTime   int64 // that counted, Unix milliseconds
	// Size is how many articles the cluster had with this one. So the founder has 1, and members count
	// on by one.
	Size        int
	Labels      []string // that the cluster carried then
	TrialLabels []string
	Source      article.Address // in the input topic
	Result      article.Address // in the results topic
	Written     int64           // timestamp of the result, Unix milliseconds
}

// Options are what a view needs.
type Options struct {
	Client *kafka.Client
	Log    *slog.Logger
	Dir    string // for the view alone; made where it is not there
	Topic  string // of the results
	Input  string // the topic of all articles
	Bytes  int64  // of disk, at most
	// FetchBytes is about how much is read at once; 0 is 1 MiB. It costs some times as much memory.
	FetchBytes int
	// OnPoll, if it is set, is told with each fetch how the view stands.
	OnPoll func(Stats)
}

// A View is the view of a results topic. [View.Run] keeps it up to date. Its other methods are safe
// for concurrent use.
type View struct {
	Options
	cache *disk.Cache

	// asking is held by questions, and against them while generations come or go. What it guards
	// changes with mutex held, too.
	asking      sync.RWMutex
	generations []*generation // the older one, if there is one, and the newer; none: not open
	broken      chan struct{} // gets a value when a question met damage

	mutex sync.Mutex // of reads, and of what generations say of themselves
	reads reading

	recalling sync.Mutex // of recalls and what is in them
	recalls   map[question]*recall
	asked     chan struct{} // gets a value when one has no answer
	leftOut   chan struct{} // and when the view has left its members out

	toldMutex sync.Mutex
	told      map[string]article.Address // by article id: results that the view has not read
}

// A reading is how far the results topic was read.
type reading struct {
	next     map[int]int64 // by partition: the offset to be read next
	ends     map[int]int64 // behind the last record, committed or not, when it was last seen
	caughtUp bool          // once since the view was opened
	moved    chan struct{} // closed when next moves
}

// New returns a view that is not open yet.
func New(o Options) *View {
	if o.FetchBytes == 0 {
		o.FetchBytes = 1 << 20
	}
	return &View{
		Options: o, broken: make(chan struct{}, 1), asked: make(chan struct{}, 1),
		recalls: make(map[question]*recall), leftOut: make(chan struct{}, 1),
		reads: reading{moved: make(chan struct{})}, told: make(map[string]article.Address),
	}
}

// Stats are what a view holds and how far it is.
type Stats struct {
	Lag     int64  // records of the results topic that were not read; -1 before it is open
	Bytes   int64  // on disk
	Members uint64 // articles, with those that were not clustered
	// Oldest is when the oldest result of the view was written, Unix milliseconds; 0 for none.
	Oldest int64
	// Complete says that nothing was left out for want of space, and that the topic was read to its
	// end.
	Complete bool
}

// Stats returns what the view holds now.
func (v *View) Stats() Stats {
	v.mutex.Lock()
	defer v.mutex.Unlock()
	s := Stats{Lag: -1}
	if len(v.generations) == 0 {
		return s
	}
	s.Lag, s.Oldest = v.reads.lag(), v.generations[0].meta.Since
	for _, g := range v.generations {
		s.Bytes += g.size
		s.Members += g.meta.Results
	}
	s.Complete = v.reads.caughtUp && !v.newest().meta.Evicted
	return s
}

func (r *reading) lag() (lag int64) {
	for p, end := range r.ends {
		lag += max(0, end-r.next[p])
	}
	return lag
}

// lag returns how many records were not read.
func (v *View) lag() int64 {
	v.mutex.Lock()
	defer v.mutex.Unlock()
	return v.reads.lag()
}

// newest returns the generation that is written to. The caller holds a mutex, or is the one
// goroutine that writes.
func (v *View) newest() *generation { return v.generations[len(v.generations)-1] }

// read calls do, while no generation comes or goes. Where it meets damage, the view is made anew.
func (v *View) read(do func([]*generation) error) error {
	v.asking.RLock()
	defer v.asking.RUnlock()
	if len(v.generations) == 0 {
		return api.ErrNotReady
	}
	err := do(v.generations)
	if errors.Is(err, errDamaged) {
		select {
		case v.broken <- struct{}{}:
		default: // it is said already
		}
		return api.ErrNotReady
	}
	return err
}

// catchUp waits until the view has read all results that are committed now. If it has very much to
// read, the error is [api.ErrLate].
func (v *View) catchUp(ctx context.Context) error {
	v.mutex.Lock()
	open, lag := len(v.generations) > 0, v.reads.lag()
	partitions := slices.Collect(maps.Keys(v.reads.ends))
	v.mutex.Unlock()
	switch {
	case !open:
		return api.ErrNotReady
	case lag > manyBehind:
		return api.ErrLate
	}
	ends, err := v.Client.StableOffsets(ctx, v.Topic, partitions)
	if err != nil {
		return err
	}
	return v.await(ctx, ends)
}

// has reports whether the view has read the result at an address.
func (v *View) has(result article.Address) bool {
	v.mutex.Lock()
	defer v.mutex.Unlock()
	return v.reads.next[result.Partition] > result.Offset
}

// await waits until the view has read up to these offsets.
func (v *View) await(ctx context.Context, ends map[int]int64) error {
	for {
		v.mutex.Lock()
		moved, there := v.reads.moved, len(v.generations) > 0 && reached(v.reads.next, ends)
		v.mutex.Unlock()
		if there {
			return nil
		}
		select {
		case <-moved:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// replace makes others the generations, when no question is under way.
func (v *View) replace(generations []*generation) {
	v.asking.Lock()
	defer v.asking.Unlock()
	v.mutex.Lock()
	defer v.mutex.Unlock()
	v.generations = generations
}

// progress tells who waits that the view has moved. The caller holds the mutex.
func (r *reading) progress() {
	r.caughtUp = r.caughtUp || r.lag() == 0
	close(r.moved)
	r.moved = make(chan struct{})
}
