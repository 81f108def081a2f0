package eval

import (
	"context"
	"runtime"

	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/method"
	"github.com/clusterd/clusterd/internal/singlepass"
)

// A Prepared variant has the fingerprints of the documents, and clusters them at any threshold.
type Prepared struct {
	Threshold float64 // as configured: the largest distance from a centre, in the method's measure

	method method.Method
	config config.Config
	unit   string
	docs   []Document
	made   fingerprints
	pass   pass
}

// Prepare makes the fingerprints of documents, with the threads of the options, which it also tells
// of its progress. The error is that of a variant that cannot be made, or of the context.
func Prepare(ctx context.Context, docs []Document, v Variant, o Options) (*Prepared, error) {
	m, err := method.New(v.Config.MethodSettings())
	if err != nil {
		return nil, err
	}
	made, err := makeFingerprints(ctx, m, docs, o.Threads, func(n int) {
		if o.Progress != nil {
			o.Progress(v.Name, n)
		}
	})
	if err != nil {
		return nil, err
	}
	return &Prepared{
		Threshold: m.Threshold(), method: m, config: v.Config,
		unit: unitOf(v.Config.Fingerprint.Method), docs: docs, made: made,
		pass: pass{rule: v.Config.Rule(), now: o.Now},
	}, nil
}

// Thresholds returns those worth trying that the method has, from the strictest on. The configured
// one is among them.
func (p *Prepared) Thresholds() []float64 {
	var has []float64
	for _, t := range thresholds(p.unit, p.Threshold) {
		if _, err := p.method.NewIndex(t); err == nil {
			has = append(has, t)
		}
	}
	return has
}

// A Clustered is a clustering at a threshold, and what it cost. CentreBytes is left to
// [Prepared.CentreBytes], since it takes long.
type Clustered struct {
	Clustering
	Cost
	Threshold float64
	centres   []singlepass.Centre
}

// Cluster clusters the documents in a single pass. The error is that of a threshold that the method
// does not have, or of the context.
func (p *Prepared) Cluster(ctx context.Context, threshold float64) (Clustered, error) {
	index, err := p.method.NewIndex(threshold)
	if err != nil {
		return Clustered{}, err
	}
	c, err := p.pass.run(ctx, index, p.docs, p.made)
	if err != nil {
		return Clustered{}, err
	}
	return Clustered{c.Clustering, cost(p.docs, p.made, c), threshold, c.centres}, nil
}

// CentreBytes returns what an index of the centres takes of the heap, for each of them.
func (p *Prepared) CentreBytes(c Clustered) (float64, error) {
	bytes, err := centreBytes(p.method, c.Threshold, c.centres)
	runtime.KeepAlive(p) // else the heap shrinks meanwhile
	return bytes, err
}
