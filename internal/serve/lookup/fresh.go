package lookup

import (
	"context"
	"time"

	"github.com/clusterd/clusterd/internal/message/article"
	"github.com/clusterd/clusterd/internal/serve/fresh"
)

// freshLook is how often a space is asked how far it is.
const freshLook = 2 * time.Millisecond

// told is an article whose result somebody was told, and when.
type told struct {
	article.Address
	at time.Time
}

// Told notes that somebody is told the result of an article of the input: a check that comes next
// has to see it.
func (s *Service) Told(source article.Address) {
	s.toldMutex.Lock()
	defer s.toldMutex.Unlock()
	s.told[source.Partition] = told{source, time.Now()}
}

// awaitTold waits until the spaces here have taken in the articles that somebody was told of within
// the last seconds. It reports whether an article was missing.
func (s *Service) awaitTold(ctx context.Context) (waited bool) {
	s.toldMutex.Lock()
	var missing []article.Address
	for _, t := range s.told {
		if time.Since(t.at) < fresh.Wait && !s.taken(t.Address) {
			missing = append(missing, t.Address)
		}
	}
	s.toldMutex.Unlock()
	for _, at := range missing {
		// If it is not there in time, the answer says up to where it goes.
		_ = fresh.Within(ctx, func(ctx context.Context) error { return s.await(ctx, at) })
	}
	return len(missing) > 0
}

// known asks about a cluster or a story, and once more if there is none with this id and the space
// may not have taken its article in yet.
func (s *Service) known(ctx context.Context, id string, ask func() error) error {
	return fresh.Ask(ctx, ask, func(ctx context.Context) error {
		at, err := article.ParseAddress(id)
		if err != nil || s.taken(at) {
			return nil
		}
		end, err := s.options.End(ctx, at.Partition)
		if err != nil || at.Offset >= end {
			return err
		}
		return s.await(ctx, at)
	})
}

// await waits until the space here has taken in an article of the input.
func (s *Service) await(ctx context.Context, at article.Address) error {
	tick := time.NewTicker(freshLook)
	defer tick.Stop()
	for !s.taken(at) {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// taken reports whether the space here has taken in an article of the input, as far as answers say.
// It is also true if there is nothing to wait for: the address is not of the input, or the space is
// not here.
func (s *Service) taken(at article.Address) bool {
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
