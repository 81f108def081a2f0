package answers

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/clusterd/clusterd/internal/message/article"
	v1 "github.com/clusterd/clusterd/internal/serve/http/v1"
	"github.com/clusterd/clusterd/internal/serve/lookup"
	"github.com/clusterd/clusterd/internal/serve/members"
)

const (
	// freshWait is how long an answer waits at most until what it is made of has caught up.
	freshWait = 5 * time.Second
	// freshLook is how often a space is asked how far it is.
	freshLook = 2 * time.Millisecond
	// maxTold is how many results are remembered that the view has not read yet.
	maxTold = 4096
)

// Fresh keeps answers from saying that something is not there only because it has just been
// committed: the spaces and the view of members follow the topics, and are a moment behind. No
// answer says so before they have all that was committed when the question came. What is there is
// answered at once.
type Fresh struct {
	Spaces *lookup.Service
	View   *members.View // nil: there is none
	// End returns where a partition of the input ends; 0 if there is no such partition.
	End func(ctx context.Context, partition int) (int64, error)

	mutex   sync.Mutex
	results map[string]article.Address // by article id: where results are that the view has not read
	sources map[int]source             // by partition of the input: the last article
}

// source is an article whose result somebody was told, and when.
type source struct {
	article.Address
	told time.Time
}

// known asks, and where there is no such thing asks once more when a wait is over.
func known(
	ctx context.Context, ask func() error, unknown error, wait func(context.Context) error,
) error {
	err := ask()
	if !errors.Is(err, unknown) {
		return err
	}
	if err := patiently(ctx, wait); err != nil {
		return err
	}
	return ask()
}

// patiently waits for some seconds at most. The error is then [v1.ErrLate].
func patiently(ctx context.Context, wait func(context.Context) error) error {
	limited, cancel := context.WithTimeout(ctx, freshWait)
	defer cancel()
	err := wait(limited)
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, members.ErrBehind) {
		return v1.ErrLate
	}
	return err
}

// arrived waits until the space here has taken in the record with the id of a cluster or a story,
// if there is such a record.
func (f *Fresh) arrived(ctx context.Context, id string) error {
	at, err := article.ParseAddress(id)
	if err != nil || f.Spaces.Taken(at) {
		return nil
	}
	end, err := f.End(ctx, at.Partition)
	if err != nil || at.Offset >= end {
		return err
	}
	return f.taken(ctx, at)
}

// taken waits until the space here has taken in a record of the input.
func (f *Fresh) taken(ctx context.Context, at article.Address) error {
	tick := time.NewTicker(freshLook)
	defer tick.Stop()
	for !f.Spaces.Taken(at) {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// note remembers a result that somebody is told, since questions about it may come next.
func (f *Fresh) note(articleID string, result, from article.Address) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	if f.results == nil {
		f.results, f.sources = make(map[string]article.Address), make(map[int]source)
	}
	f.sources[from.Partition] = source{from, time.Now()}
	if f.View == nil || f.View.Has(result) {
		return
	}
	if len(f.results) >= maxTold {
		for id, at := range f.results {
			if f.View.Has(at) {
				delete(f.results, id)
			}
		}
	}
	if len(f.results) < maxTold {
		f.results[articleID] = result
	}
}

// told waits until the view has read the result of an article that somebody was told of, so that
// an earlier article with the same id is not taken for it.
func (f *Fresh) told(ctx context.Context, articleID string) error {
	f.mutex.Lock()
	result, ok := f.results[articleID]
	f.mutex.Unlock()
	if !ok {
		return nil
	}
	err := patiently(ctx, func(ctx context.Context) error { return f.View.Await(ctx, result) })
	if err != nil {
		return err
	}
	f.mutex.Lock()
	defer f.mutex.Unlock()
	if f.results[articleID] == result {
		delete(f.results, articleID)
	}
	return nil
}

// seen waits until the spaces here have taken in the articles that somebody was told of within the
// last seconds. It reports whether an article was missing.
func (f *Fresh) seen(ctx context.Context) (waited bool) {
	f.mutex.Lock()
	var missing []article.Address
	for _, s := range f.sources {
		if time.Since(s.told) < freshWait && !f.Spaces.Taken(s.Address) {
			missing = append(missing, s.Address)
		}
	}
	f.mutex.Unlock()
	for _, at := range missing {
		// If it is not there in time, the answer says up to where it goes.
		_ = patiently(ctx, func(ctx context.Context) error { return f.taken(ctx, at) })
	}
	return len(missing) > 0
}
