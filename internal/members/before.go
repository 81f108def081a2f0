package members

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/clusterd/clusterd/internal/article"
	"github.com/clusterd/clusterd/internal/consumer"
	"github.com/clusterd/clusterd/internal/kafka"
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
	// recalled says that the members from the first position to the position to were read from the
	// topic.
	recalled bool
	members  []article.Member // ascending
	to       uint64
}

const (
	// maxRecalls is how many questions are remembered.
	maxRecalls = 16
	// maxRecalled is how many members of one are in memory: more take another reading of the topic.
	maxRecalled = 20_000
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
	r.as, r.recalled, r.members, r.from = nil, false, nil, from
	select {
	case v.asked <- struct{}{}:
	default: // it is said already
	}
	return nil, false, nil
}

// remember returns what is known of a question, which is nothing at first.
func (v *View) remember(q question, from uint64) *recall {
	for _, r := range v.recalls {
		if r.question == q {
			return r
		}
	}
	if len(v.recalls) == maxRecalls {
		v.recalls = slices.Delete(v.recalls, 0, 1)
	}
	r := &recall{question: q, from: from}
	v.recalls = append(v.recalls, r)
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
	if errors.Is(err, ErrNotReady) {
		return nil, false, nil
	}
	return found, complete, err
}

func brief(m *Member) article.Member {
	return article.Member{ArticleID: m.ArticleID, Position: m.Position, Source: m.Source}
}

// answer looks for the answers of what was asked, one after the other, until ctx ends.
func (v *View) answer(ctx context.Context) {
	retries := kafka.NewRetryLogger(v.Log, "looking for the members of labelled clusters")
	for {
		select {
		case <-v.asked:
		case <-ctx.Done():
			return
		}
		for r, from := v.unanswered(); r != nil; r, from = v.unanswered() {
			if err := v.find(ctx, r, from); err != nil {
				if retries.Wait(ctx, err) != nil {
					return
				}
				continue
			}
			retries.Succeeded()
		}
	}
}

// unanswered returns a question without an answer, and from which position on it is wanted.
func (v *View) unanswered() (r *recall, from uint64) {
	v.recalling.Lock()
	defer v.recalling.Unlock()
	for _, r := range v.recalls {
		if r.as == nil && !r.recalled {
			return r, r.from
		}
	}
	return nil, 0
}

// find waits until the view has all that is committed now, and looks whether it has all members.
// Where it has not, it reads them from the topic.
func (v *View) find(ctx context.Context, r *recall, from uint64) error {
	partitions, err := v.Client.Partitions(ctx, v.Topic)
	if err != nil {
		return err
	}
	ends, err := v.Client.Offsets(ctx, v.Topic, partitions, kafka.Last)
	if err != nil {
		return err
	}
	if err := v.await(ctx, ends); err != nil {
		return err
	}
	as, err := v.whole(ctx, r.question)
	if err != nil {
		return err
	}
	if as != nil {
		v.recalling.Lock()
		defer v.recalling.Unlock()
		r.as = as
		return nil
	}
	return v.recollect(ctx, ends, r, from)
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

// recollect reads all of the topic up to ends, for the members that a question is about.
func (v *View) recollect(
	ctx context.Context, ends map[int]int64, r *recall, from uint64,
) error {
	id := r.founder.String()
	v.Log.Info("reading members from the results topic, since the view has left them out",
		"cluster", id, "from", from, "before", r.before)
	c := clusterView{View: v, keys: keysOfCluster(r.founder)}
	read := recollection{clusterView: &c, to: r.before}
	mark, size := []byte(id), 0
	err := v.readTo(ctx, ends, func(record *kafka.Record) error {
		if !bytes.Contains(record.Value, mark) {
			return nil
		}
		m, ok := v.parse(record)
		if !ok || m.ClusterID != id || m.Position >= r.before {
			return nil
		}
		m, err := v.decode(m.encode(nil), c.keys) // a copy, without its record
		if err != nil {
			return err
		}
		if m.Status == article.New {
			c.founder = &m // of several, the last one counts
		}
		size = max(size, m.Size)
		if m.Position >= from && m.Position < read.to {
			read.add(m)
		}
		return nil
	})
	if err != nil {
		return err
	}
	read.shorten()
	if missing := size - len(read.members); from == 0 && read.to == r.before && missing > 0 {
		v.Log.Warn("members of a cluster are in no result any more: the results topic has not kept them",
			"cluster", id, "members", size, "missing", missing)
	}
	all := make([]article.Member, len(read.members))
	for i := range read.members {
		all[i] = brief(&read.members[i])
	}
	v.recalling.Lock()
	defer v.recalling.Unlock()
	r.members, r.from, r.to, r.recalled = all, from, read.to, true
	return nil
}

// A recollection is members that were read from the topic: the first of those that were asked for.
type recollection struct {
	*clusterView
	members []Member
	to      uint64 // the position up to which these are all
}

func (r *recollection) add(m Member) {
	if r.members = append(r.members, m); len(r.members) > 2*maxRecalled {
		r.shorten()
	}
}

// shorten puts the members in order, each position once, and keeps the first of them.
func (r *recollection) shorten() {
	r.members = slices.DeleteFunc(r.members, func(m Member) bool { return r.stale(&m) })
	slices.SortStableFunc(r.members, func(a, b Member) int {
		if a.Position == b.Position {
			return cmp.Compare(b.Written, a.Written)
		}
		return cmp.Compare(a.Position, b.Position)
	})
	r.members = slices.CompactFunc(r.members, func(a, b Member) bool {
		return a.Position == b.Position
	})
	if len(r.members) > maxRecalled {
		r.to = r.members[maxRecalled].Position
		r.members = slices.Clip(r.members[:maxRecalled])
	}
}

// readTo hands on the committed records of the results topic up to these offsets.
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
	ctx, cancel := context.WithCancel(ctx)
	chunks, failed := make(chan consumer.Chunk), make(chan error, 1)
	log := consumer.NewLog(v.Client, v.Log, v.Topic, next, v.FetchBytes)
	log.MaxValue = maxResult
	go func() { failed <- log.Read(ctx, chunks) }()
	defer func() {
		cancel()
		<-failed //nolint:errcheck // it is that of cancel, or is returned
	}()
	for !reached(next, ends) {
		select {
		case chunk := <-chunks:
			for i := range chunk.Records {
				if r := &chunk.Records[i]; r.Offset < ends[chunk.Partition] {
					if err := each(r); err != nil {
						return err
					}
				}
			}
			next[chunk.Partition] = chunk.Next
		case err := <-failed:
			failed <- err
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
