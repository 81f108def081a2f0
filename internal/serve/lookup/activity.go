package lookup

import (
	"time"

	"github.com/clusterd/clusterd/internal/serve/http/api"
)

// Activity returns of each of these clusters how many articles joined it in each of the last
// [api.MaxMinutes] minutes of stream time, the oldest first. It is nil of one that is not known
// here, or has not grown in that time. Since is when counting began, as in [api.Clusters].
func (s *Service) Activity(ids []string) (all [][]int, since time.Time) {
	all = make([][]int, len(ids))
	for i, id := range ids {
		founder, of, err := s.ofAddress(id)
		if err != nil {
			continue
		}
		v, err := of.View()
		if err != nil {
			continue
		}
		c, ok, err := v.Find(founder)
		v.Release()
		if err == nil && ok {
			var counted time.Time
			all[i], counted = of.ranking.activity(c.Seq)
			since = later(since, counted)
		}
	}
	return all, since
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// activity returns how many articles joined a cluster in each minute, nil where none did, and when
// counting began, as since does.
func (r *ranking) activity(seq uint64) (joined []int, since time.Time) {
	r.count()
	r.counting.Lock()
	defer r.counting.Unlock()
	for i := range r.grown {
		b := &r.grown[i]
		n, age := b.joined[seq], r.last-b.minute
		if n == 0 || age >= api.MaxMinutes {
			continue
		}
		if joined == nil {
			joined = make([]int, api.MaxMinutes)
		}
		joined[api.MaxMinutes-1-age] = n
	}
	return joined, r.since(api.MaxMinutes)
}
