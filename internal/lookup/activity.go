package lookup

import "github.com/clusterd/clusterd/internal/article"

// Activity returns of each of these clusters how many articles joined it in each of the last
// [MaxMinutes] minutes of stream time, the oldest first. It is nil of one that is not known here,
// or has not grown in that time.
func (s *Service) Activity(ids []string) [][]int {
	all := make([][]int, len(ids))
	for i, id := range ids {
		founder, err := article.ParseAddress(id)
		if err != nil || founder.Topic != s.options.Config.Input.Topic {
			continue
		}
		of, err := s.of(founder.Partition)
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
			all[i] = of.ranking.activity(c.Seq)
		}
	}
	return all
}

// activity returns how many articles joined a cluster in each minute, nil where none did.
func (r *ranking) activity(seq uint64) []int {
	r.count()
	r.counting.Lock()
	defer r.counting.Unlock()
	last := int64(0)
	for i := range r.grown {
		last = max(last, r.grown[i].minute)
	}
	var joined []int
	for i := range r.grown {
		b := &r.grown[i]
		n, age := b.joined[seq], last-b.minute
		if n == 0 || age >= MaxMinutes {
			continue
		}
		if joined == nil {
			joined = make([]int, MaxMinutes)
		}
		joined[MaxMinutes-1-age] = n
	}
	return joined
}
