package members

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/tidwall/gjson"

	"github.com/clusterd/clusterd/internal/consumer"
	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/serve/http/api"
)

// A question is for which members of a cluster somebody asks.
type question struct {
	founder article.Address
	before  uint64
}

// A recall is what is known of the answer. It is kept for the pages that follow.
type recall struct {
	question
	from uint64 // the first position that was asked for
	// as is the newest generation while the view has all members; nil where it has not, or nobody has
	// looked.
	as *generation
	// leftOut says that the view has not all members, so that they must be read from the topic.
	leftOut bool
	// recalled says that the members from the first position to the position to were read from it.
	recalled bool
	members  []article.Member // ascending
	to       uint64
}

func (r *recall) answered() bool { return r.as != nil || r.recalled }

const (
	// maxRecalls is how many questions are remembered before those that are answered are forgotten.
	maxRecalls = 4096
	// maxRecalled is how many members one reading of the topic recalls, about, and how many are kept:
	// more take another reading.
	maxRecalled = 100_000
)

// Before returns the members of a cluster whose positions are in [from, before), in ascending
// order, at most limit. Fewer are all that there are. It does not wait: complete is false, and
// nothing is returned, while it is not certain that the answer has all results that were committed
// when it was first asked for this cluster and position. Ask again then.
//
// What the view has left out for want of space comes from the results topic itself. What not even
// that has any more is missing, and logged.
func (v *View) Before(
	ctx context.Context, clusterID string, from, before uint64, limit int,
) (found []article.Member, complete bool, err error) {
	founder, err := article.ParseAddress(clusterID)
	if err != nil {
		return nil, false, err
	}
	limit = min(max(limit, 1), MaxPage)
	v.recalling.Lock()
	defer v.recalling.Unlock()
	r := v.remember(question{founder, before}, from)
	switch {
	case r.recalled && from >= r.from && from < r.to:
		first, _ := slices.BinarySearchFunc(r.members, from, func(m article.Member, at uint64) int {
			return cmp.Compare(m.Position, at)
		})
		rest := r.members[first:]
		if len(rest) >= limit || r.to >= before {
			return rest[:min(limit, len(rest))], true, nil
		}
	case r.as != nil:
		if found, complete, err = v.page(ctx, r, from, limit); complete || err != nil {
			return found, complete, err
		}
	}
	if r.answered() || !r.leftOut {
		r.as, r.leftOut, r.recalled, r.members, r.from = nil, false, false, nil, from
		wake(v.asked)
	}
	return nil, false, nil
}

// remember returns what is known of a question, which is nothing at first.
func (v *View) remember(q question, from uint64) *recall {
	if r := v.recalls[q]; r != nil {
		return r
	}
	if len(v.recalls) >= maxRecalls {
		maps.DeleteFunc(v.recalls, func(_ question, r *recall) bool { return r.answered() })
	}
	r := &recall{question: q, from: from}
	v.recalls[q] = r
	return r
}

// page answers from the view, unless a generation has come or gone.
func (v *View) page(
	ctx context.Context, r *recall, from uint64, limit int,
) (found []article.Member, complete bool, err error) {
	err = v.read(func(generations []*generation) error {
		if complete = generations[len(generations)-1] == r.as; !complete {
			return nil
		}
		c, err := v.cluster(generations, r.founder)
		if err != nil {
			return err
		}
		all, _, err := c.members(ctx, from, r.before, limit)
		for i := range all {
			found = append(found, brief(&all[i]))
		}
		return err
	})
	if errors.Is(err, api.ErrNotReady) {
		return nil, false, nil
	}
	return found, complete, err
}

func brief(m *Member) article.Member {
	return article.Member{
		ArticleID: m.ArticleID, Position: m.Position, Source: m.Source, Fingerprint: m.Fingerprint,
		Size: m.Size,
	}
}

// wake tells who waits for values of a channel that there is something to do.
func wake(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default: // it is said already
	}
}

// whenever calls do when there is something to do, until it has done it or ctx ends.
func (v *View) whenever(
	ctx context.Context, asked <-chan struct{}, what string, do func(context.Context) error,
) {
	retries := kafka.NewRetryLogger(v.Log, what)
	for {
		select {
		case <-asked:
		case <-ctx.Done():
			return
		}
		for err := do(ctx); err != nil; err = do(ctx) {
			if retries.Wait(ctx, err) != nil {
				return
			}
		}
		retries.Succeeded()
	}
}

// A search is for the answer of a question, from a position on.
type search struct {
	question
	from   uint64
	recall *recall // that gets it
}

// searches returns the questions without an answer: those whose members the view has left out, or
// those of which that is not known.
func (v *View) searches(leftOut bool) (open []search) {
	v.recalling.Lock()
	defer v.recalling.Unlock()
	for _, r := range v.recalls {
		if !r.answered() && r.leftOut == leftOut {
			open = append(open, search{r.question, r.from, r})
		}
	}
	return open
}

// ends returns where the results topic ends now, all that is committed included.
func (v *View) ends(ctx context.Context) (map[int]int64, error) {
	partitions, err := v.Client.Partitions(ctx, v.Topic)
	if err != nil {
		return nil, err
	}
	return v.Client.Offsets(ctx, v.Topic, partitions, kafka.Last)
}

// find waits until the view has all that is committed now, and looks whether it has all members
// that are searched for.
func (v *View) find(ctx context.Context) error {
	open := v.searches(false)
	if len(open) == 0 {
		return nil
	}
	ends, err := v.ends(ctx)
	if err != nil {
		return err
	}
	if err := v.await(ctx, ends); err != nil {
		return err
	}
	for _, s := range open {
		as, err := v.whole(ctx, s.question)
		if err != nil {
			return err
		}
		v.recalling.Lock()
		s.recall.as, s.recall.leftOut = as, as == nil
		v.recalling.Unlock()
		if as == nil {
			wake(v.leftOut)
		}
	}
	return nil
}

// whole returns the newest generation if the view has all members of a cluster before a position.
// Each has the size of the cluster with it: so they are as many as the last one says.
func (v *View) whole(ctx context.Context, q question) (as *generation, err error) {
	err = v.read(func(generations []*generation) error {
		c, err := v.cluster(generations, q.founder)
		if err != nil || c.founder == nil {
			return err
		}
		count, size := 0, 0
		err = c.each(ctx, func(m *Member) error {
			if m.Position < q.before {
				count, size = count+1, max(size, m.Size)
			}
			return nil
		})
		if err == nil && count == size {
			as = generations[len(generations)-1]
		}
		return err
	})
	return as, err
}

// recollect reads all of the topic, once for all members that are searched for and that the view
// has left out.
func (v *View) recollect(ctx context.Context) error {
	left := v.searches(true)
	if len(left) == 0 {
		return nil
	}
	ends, err := v.ends(ctx)
	if err != nil {
		return err
	}
	v.Log.Info("reading members from the results topic, since the view has left them out",
		"clusters", len(left), "first", left[0].founder.String())
	wanted := make(map[string][]*recollection)
	for _, s := range left {
		id := s.founder.String()
		wanted[id] = append(wanted[id], &recollection{
			search: s, clusterView: clusterView{View: v, keys: keysOfCluster(s.founder)}, to: s.before,
			limit: max(MaxPage, maxRecalled/len(left)),
		})
	}
	err = v.readTo(ctx, ends, func(record *kafka.Record) error {
		all := wanted[gjson.GetBytes(record.Value, "cluster_id").Str]
		if all == nil {
			return nil
		}
		m, ok := v.parse(record)
		if !ok {
			return nil
		}
		m, err := v.decode(m.encode(nil), all[0].keys) // a copy, without its record
		for _, r := range all {
			r.take(m)
		}
		return err
	})
	if err != nil {
		return err
	}
	v.recalling.Lock()
	defer v.recalling.Unlock()
	// Those of before take memory, and nobody may want them any more. Else they are asked for again.
	maps.DeleteFunc(v.recalls, func(_ question, r *recall) bool { return r.recalled })
	for _, all := range wanted {
		for _, r := range all {
			r.finish()
		}
	}
	return nil
}

// A recollection is members that were read from the topic: the first of those that are searched
// for.
type recollection struct {
	search
	clusterView
	members []Member
	to      uint64 // the position up to which these are all
	limit   int    // how many are kept
	size    int    // of the cluster, as its members say
}

// take takes over a member of the cluster, if it is searched for.
func (r *recollection) take(m Member) {
	if m.Status == article.New {
		r.clusterView.founder = &m // of several, the last one counts
	}
	if m.Position >= r.before {
		return
	}
	r.size = max(r.size, m.Size)
	if m.Position < r.from || m.Position >= r.to {
		return
	}
	if r.members = append(r.members, m); len(r.members) > 2*r.limit {
		r.shorten()
	}
}

// finish makes the members the answer. The caller holds the mutex.
func (r *recollection) finish() {
	r.shorten()
	missing := r.size - len(r.members)
	if r.from == 0 && r.to == r.before && missing > 0 {
		r.Log.Warn("members of a cluster are in no result any more: the results topic has not kept them",
			"cluster", r.search.founder.String(), "members", r.size, "missing", missing)
	}
	all := make([]article.Member, len(r.members))
	for i := range r.members {
		all[i] = brief(&r.members[i])
	}
	r.recall.members, r.recall.from, r.recall.to, r.recall.recalled = all, r.from, r.to, true
}

// shorten puts the members in order, each position once, and keeps the first of them.
func (r *recollection) shorten() {
	r.members = slices.DeleteFunc(r.members, func(m Member) bool { return r.stale(&m) })
	slices.SortStableFunc(r.members, func(a, b Member) int {
		return cmp.Or(byPosition(a, b), cmp.Compare(b.Written, a.Written))
	})
	r.members = slices.CompactFunc(r.members, func(a, b Member) bool {
		return a.Position == b.Position
	})
	if len(r.members) > r.limit {
		r.to = r.members[r.limit].Position
		r.members = slices.Clip(r.members[:r.limit])
	}
}

// readTo hands on the committed records of the results topic up to these offsets. It rests between
// chunks, as the view does that has much to read.
func (v *View) readTo(
	ctx context.Context, ends map[int]int64, each func(*kafka.Record) error,
) error {
	partitions := make([]int, 0, len(ends))
	for p := range ends {
		partitions = append(partitions, p)
	}
	next, err := v.Client.Offsets(ctx, v.Topic, partitions, kafka.First)
	if err != nil {
		return err
	}
	log := consumer.NewLog(v.Client, v.Log, v.Topic, next, v.FetchBytes)
	log.MaxValue = maxResult
	reading := log.Start(ctx)
	defer reading.Stop()
	for !reached(next, ends) {
		select {
		case chunk := <-reading.Chunks:
			began := time.Now()
			for i := range chunk.Records {
				if r := &chunk.Records[i]; r.Offset < ends[chunk.Partition] {
					if err := each(r); err != nil {
						return err
					}
				}
			}
			next[chunk.Partition] = chunk.Next
			rest(ctx, min(restShare*time.Since(began), longestRest))
		case err := <-reading.Failed:
			return err
		}
	}
	return nil
}

func reached(next, ends map[int]int64) bool {
	for p, end := range ends {
		if next[p] < end {
			return false
		}
	}
	return true
}
