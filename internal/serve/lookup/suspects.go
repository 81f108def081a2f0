package lookup

import (
	"cmp"
	"context"
	"math"
	"slices"
	"time"

	"github.com/clusterd/clusterd/internal/method"
	"github.com/clusterd/clusterd/internal/serve/http/api"
)

const (
	// MaxSuspects is how many suspects are named.
	MaxSuspects = 50
	// suspected is how many clusters of each order are looked at.
	suspected = 500
	// suspectsFor is for how long suspects are not looked for again.
	suspectsFor = 10 * time.Second
	// strangers is how many bits apart the nearest of thousands of unrelated texts are, about.
	strangers = 16
)

// suspects are those that were found last.
type suspects struct {
	at    time.Time
	found []api.Suspect
}

// Suspects returns the clusters that are nearest to labelled ones and have no label, the nearest
// first: of those that grow fastest, are largest and newest, as of ten seconds ago at most.
func (s *Service) Suspects(ctx context.Context) ([]api.Suspect, error) {
	s.suspecting.Lock()
	defer s.suspecting.Unlock()
	if time.Since(s.suspects.at) < suspectsFor {
		return s.suspects.found, nil
	}
	by, err := s.method()
	if err != nil {
		return nil, err
	}
	within := s.near(by.Threshold())
	var all []api.Suspect
	for _, of := range s.all() {
		v, err := of.View()
		if err != nil {
			continue // it is being closed
		}
		at := v.AsOf()
		v.Release()
		found, err := of.Suspects(ctx, of.candidates(), within)
		if err != nil {
			return nil, notReady(err)
		}
		for i := range found {
			one := &found[i]
			all = append(all, api.Suspect{
				Cluster: s.cluster(&one.Cluster, of.name, at.StreamTime),
				Near: api.Near{
					Cluster:  s.cluster(&one.Near.Cluster, of.name, at.StreamTime),
					Distance: one.Near.Distance,
				},
			})
		}
	}
	slices.SortStableFunc(all, func(a, b api.Suspect) int {
		return cmp.Compare(a.Near.Distance, b.Near.Distance)
	})
	s.suspects = suspects{time.Now(), all[:min(len(all), MaxSuspects)]}
	return s.suspects.found, nil
}

// near returns the distance up to which clusters are suspect: half way from the threshold to where
// texts that have nothing to do with each other are.
func (s *Service) near(threshold float64) float64 {
	spec, _ := method.SpecOf(s.options.Config.Fingerprint.Method) // it is in use
	switch {
	case len(spec.Thresholds) == 0:
		return math.Inf(1)
	case spec.Thresholds[0].Unit == method.Bits:
		return (threshold + strangers) / 2
	}
	return (threshold + 1) / 2
}

// candidates returns the clusters that are looked at.
func (a *asked) candidates() (seqs []uint64) {
	a.ranking.fill(a.Space)
	known := make(map[uint64]bool)
	for _, order := range []string{api.ByGrowth, api.BySize, api.Newest} {
		found, _ := a.ranking.by(order, api.MaxMinutes)
		for _, e := range found.entries[:min(len(found.entries), suspected)] {
			if !known[e.seq] {
				known[e.seq] = true
				seqs = append(seqs, e.seq)
			}
		}
	}
	return seqs
}
