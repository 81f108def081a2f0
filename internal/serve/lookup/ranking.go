package lookup

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/clusterd/clusterd/internal/message/cluster"
	"github.com/clusterd/clusterd/internal/serve/http/api"
	"github.com/clusterd/clusterd/internal/space"
)

const (
	// listed is how many clusters a ranking keeps for sure, of the largest and of the newest each.
	listed = 10_000
	minute = 60_000 // milliseconds
)

// A ranking knows of a space which clusters are the largest, the newest, and those that grow. What
// commits change goes in; it takes its time to count that, so that whoever commits does not wait.
type ranking struct {
	mu       sync.Mutex
	waiting  []space.Changes // not counted yet
	clusters int             // in these
	begun    bool            // somebody is about to count them

	counting sync.Mutex
	entries  map[uint64]*entry // by seq: the largest and the newest
	floor    int               // every cluster with so many articles is among the entries
	newest   uint64            // and every cluster that was founded from there on
	grown    [api.MaxMinutes]bucket
	last     int64             // the minute of stream time
	first    int64             // the minute of stream time when counting began
	began    time.Time         // when that was; zero: the space was empty
	sorted   map[string]sorted // what was last asked for
	filling  bool              // what was there before is being read
	filled   bool              // what was there before is among the entries
}

// sorted is a list that is given out for a second, however often it is asked for.
type sorted struct {
	entries []entry
	minutes int
	since   time.Time // when counting of growth began; zero: all of the minutes were counted
	made    time.Time
}

const sortedFor = time.Second

// An entry is what a ranking knows of a cluster.
type entry struct {
	seq    uint64
	size   int
	growth int    // only in what by returns
	title  string // in lower case, with the excerpt
}

// A bucket counts the articles that joined within a minute of stream time, by seq.
type bucket struct {
	minute int64
	joined map[uint64]int
}

// newRanking returns the ranking of a space, which counts its growth beginning now.
func newRanking(of *space.Space, now time.Time) *ranking {
	r := &ranking{entries: make(map[uint64]*entry), sorted: make(map[string]sorted)}
	if s := of.State(); s.Next > 0 {
		r.first, r.began = s.StreamTime/minute, now
		r.last = r.first
	}
	return r
}

// since returns when counting of growth began. It is zero if all articles were counted that joined
// within these minutes up to stream time.
func (r *ranking) since(minutes int) time.Time {
	if r.last-r.first >= int64(minutes) {
		return time.Time{}
	}
	return r.began
}

const (
	// enough changed clusters are counted even if nobody asks: until then their memory is held.
	enough = 1 << 12
	// maxWaiting is how many wait before the one that commits has to count them itself.
	maxWaiting = 1 << 16
)

// add notes what a commit changed.
func (r *ranking) add(c space.Changes) {
	r.mu.Lock()
	r.waiting = append(r.waiting, c)
	r.clusters += len(c.Put) + len(c.Gone)
	n, begin := r.clusters, r.clusters >= enough && !r.begun
	r.begun = r.begun || begin
	r.mu.Unlock()
	switch {
	case n > maxWaiting:
		r.count()
	case begin:
		go r.count()
	}
}

// count counts what waits.
func (r *ranking) count() {
	r.counting.Lock()
	defer r.counting.Unlock()
	r.mu.Lock()
	all := r.waiting
	r.waiting, r.clusters, r.begun = nil, 0, false
	r.mu.Unlock()
	for i := range all {
		r.take(&all[i])
	}
}

func (r *ranking) take(c *space.Changes) {
	r.last = max(r.last, c.StreamTime/minute)
	for i := range c.Put {
		// Until somebody asks, nobody pays: then all that are there are read.
		if r.filling || r.filled {
			r.put(&c.Put[i])
		}
		if c.Joined[i] > 0 {
			r.grow(c.Put[i].Seq, c.Joined[i])
		}
	}
	for i := range c.Gone {
		delete(r.entries, c.Gone[i].Seq)
	}
	if len(r.entries) > 4*listed {
		r.cut()
	}
}

// put takes a cluster in that is among the largest or the newest.
func (r *ranking) put(c *cluster.Cluster) {
	e := r.entries[c.Seq]
	switch {
	case e != nil:
		e.size = max(e.size, c.Size)
	case c.Size >= r.floor || c.Seq >= r.newest:
		r.entries[c.Seq] = &entry{
			seq: c.Seq, size: c.Size, title: titleOf(c),
		}
	}
}

// titleOf returns what titles are looked for in.
func titleOf(c *cluster.Cluster) string {
	return strings.ToLower(c.Representative.Title + "\n" + c.Representative.Excerpt)
}

// cut keeps those entries that are among the largest or the newest.
func (r *ranking) cut() {
	all := slices.Collect(maps.Values(r.entries))
	slices.SortFunc(all, func(a, b *entry) int { return largest(*a, *b) })
	r.floor = max(r.floor, all[listed-1].size)
	large := all[:listed:listed]
	slices.SortFunc(all[listed:], func(a, b *entry) int { return newest(*a, *b) })
	young := all[listed : 2*listed]
	r.newest = max(r.newest, young[len(young)-1].seq)
	clear(r.entries)
	for _, e := range slices.Concat(large, young) {
		r.entries[e.seq] = e
	}
}

// orders compare clusters, the first first.
var orders = map[string]func(a, b entry) int{
	api.BySize: largest, api.ByGrowth: fastest, api.Newest: newest,
}

func largest(a, b entry) int {
	return cmp.Or(cmp.Compare(b.size, a.size), cmp.Compare(b.seq, a.seq))
}

func newest(a, b entry) int { return cmp.Compare(b.seq, a.seq) }

func fastest(a, b entry) int {
	return cmp.Or(cmp.Compare(b.growth, a.growth), largest(a, b))
}

// grow counts articles that joined a cluster. Of a minute in which very many clusters grow, those
// that grow by little are forgotten.
func (r *ranking) grow(seq uint64, joined int) {
	b := &r.grown[r.last%api.MaxMinutes]
	if b.joined == nil || b.minute < r.last {
		b.minute, b.joined = r.last, make(map[uint64]int)
	}
	b.joined[seq] += joined
	for least := 2; len(b.joined) > 4*listed; least *= 2 {
		maps.DeleteFunc(b.joined, func(_ uint64, n int) bool { return n < least })
	}
}

// growth returns how many articles joined each cluster within so many minutes up to stream time.
func (r *ranking) growth(minutes int) map[uint64]int {
	total := make(map[uint64]int)
	for i := range r.grown {
		if b := &r.grown[i]; b.joined != nil && b.minute > r.last-int64(minutes) {
			for seq, n := range b.joined {
				total[seq] += n
			}
		}
	}
	return total
}

// by returns the entries in an order, and whether what was there before the first commit is among
// them. Growth is that within so many minutes; in the order of growth there are those that grew.
func (r *ranking) by(order string, minutes int) (found sorted, complete bool) {
	r.count()
	r.counting.Lock()
	defer r.counting.Unlock()
	if known, ok := r.sorted[order]; ok && known.minutes == minutes &&
		time.Since(known.made) < sortedFor {
		return known, r.filled
	}
	var all []entry
	growth := r.growth(minutes)
	if order == api.ByGrowth {
		for seq, n := range growth {
			e := entry{seq: seq}
			if known := r.entries[seq]; known != nil {
				e = *known
			}
			e.growth = n
			all = append(all, e)
		}
	} else {
		for _, known := range r.entries {
			e := *known
			e.growth = growth[e.seq]
			all = append(all, e)
		}
	}
	slices.SortFunc(all, orders[order])
	if len(all) > 2*listed {
		all = slices.Clone(all[:2*listed])
	}
	found = sorted{all, minutes, r.since(minutes), time.Now()}
	r.sorted[order] = found
	return found, r.filled
}

// forget takes out a cluster that is not there any more.
func (r *ranking) forget(seq uint64) {
	r.counting.Lock()
	defer r.counting.Unlock()
	delete(r.entries, seq)
}

// fillChunk is how many clusters are read at once, from a view of their own: an old view keeps the
// disk from giving space free.
const fillChunk = 2000

// fill reads all clusters that are there, once, and again where so many have gone that smaller or
// older ones are among the first now. The newest it reads before it returns, so that a small space
// is listed whole at once; the rest later, while it leaves the processor to others for most of the
// time.
func (r *ranking) fill(of *space.Space) {
	r.counting.Lock()
	few := r.filled && len(r.entries) < listed/2 && (r.floor > 0 || r.newest > 0)
	wanted := !r.filling && (!r.filled || few)
	if wanted {
		r.filling, r.floor, r.newest = true, 0, 0
	}
	r.counting.Unlock()
	if !wanted {
		return
	}
	began := time.Now()
	before, more, ok := r.read(of, math.MaxUint64)
	if !more {
		r.end(ok)
		return
	}
	go func() {
		for more {
			time.Sleep(3 * time.Since(began))
			began = time.Now()
			before, more, ok = r.read(of, before)
		}
		r.end(ok)
	}()
}

// read reads a chunk of the clusters of a space that were founded before one, the newest first. It
// returns the oldest of them, whether there are more, and whether they could be read.
func (r *ranking) read(of *space.Space, before uint64) (oldest uint64, more, ok bool) {
	v, err := of.View()
	if err != nil {
		return 0, false, false
	}
	chunk, err := v.Before(before, fillChunk)
	v.Release()
	if err != nil {
		return 0, false, false
	}
	r.counting.Lock()
	defer r.counting.Unlock()
	for i := range chunk {
		r.put(&chunk[i])
	}
	if len(r.entries) > 4*listed {
		r.cut()
	}
	if len(chunk) < fillChunk {
		return 0, false, true
	}
	return chunk[len(chunk)-1].Seq, true, true
}

// end notes that nobody fills any more.
func (r *ranking) end(whole bool) {
	r.counting.Lock()
	defer r.counting.Unlock()
	r.filling, r.filled = false, whole
}
