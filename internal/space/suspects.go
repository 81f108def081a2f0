package space

import (
	"context"
	"math"
	"slices"

	"github.com/clusterd/clusterd/internal/message/cluster"
	"github.com/clusterd/clusterd/internal/singlepass"
)

// A Suspect is a cluster without labels, and the nearest one that has some.
type Suspect struct {
	cluster.Cluster
	Near Neighbour
}

// maxComparedAll is how many bytes of fingerprints [Space.Suspects] compares in all: some hundreds
// of milliseconds.
const maxComparedAll = 256 << 20

// Suspects returns those of the clusters at seqs that have no labels and are within a distance of
// one that has, in their order. With many labelled clusters, each is compared with those that were
// founded last.
func (s *Space) Suspects(ctx context.Context, seqs []uint64, within float64) ([]Suspect, error) {
	v, err := s.View()
	if err != nil {
		return nil, err
	}
	defer v.Release()
	labelled := v.Labelled()
	if s.options.Distance == nil || len(labelled) == 0 {
		return nil, nil
	}
	var all []Suspect
	budget := maxComparedAll / max(1, len(seqs))
	for _, seq := range seqs {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		c, ok, err := v.Get(seq)
		if err != nil {
			return nil, err
		}
		if !ok || c.Labels != "" {
			continue
		}
		near, distance := s.nearest(c.Fingerprint, labelled, budget)
		if distance > within || math.IsInf(distance, 1) {
			continue
		}
		of, ok, err := v.Get(near.Seq)
		if err != nil {
			return nil, err
		}
		if ok && of.Labels != "" {
			all = append(all, Suspect{c, Neighbour{of, distance}})
		}
	}
	return all, nil
}

// nearest returns the nearest of centres, and how far it is; +Inf where there is none. It compares
// so many bytes, of the last centres first.
func (s *Space) nearest(
	f singlepass.Fingerprint, centres []singlepass.Centre, bytes int,
) (nearest singlepass.Centre, distance float64) {
	distance = math.Inf(1)
	for _, centre := range slices.Backward(centres) {
		if centre.Space != f.Space {
			continue
		}
		if bytes -= 16 + len(f.Sketch) + len(centre.Sketch); bytes < 0 {
			break
		}
		if d := s.options.Distance(f, centre.Fingerprint); d < distance {
			nearest, distance = centre, d
		}
	}
	return nearest, distance
}
