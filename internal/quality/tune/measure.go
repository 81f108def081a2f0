package tune

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/clusterd/clusterd/internal/method"
	"github.com/clusterd/clusterd/internal/quality/eval"
)

// methodKey is the key of the configuration for the method.
const methodKey = "fingerprint.method"

// measure clusters the documents by each method at each threshold that a configuration can have.
func measure(ctx context.Context, documents []eval.Document, g goal, o Options) ([]Point, error) {
	methods := slices.Clone(o.Methods)
	if !slices.Contains(methods, o.Config.Fingerprint.Method) {
		methods = append(methods, o.Config.Fingerprint.Method) // what others are compared with
	}
	var points []Point
	for _, name := range methods {
		v := eval.Variant{Name: name, Config: o.Config}
		if err := v.Config.Set(methodKey, name); err != nil {
			return nil, fmt.Errorf("method %q: %w", name, err)
		}
		// One thread: so the speed is that of one core.
		p, err := eval.Prepare(ctx, documents, v,
			eval.Options{Threads: 1, Now: o.Now, Progress: o.Progress})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		of, err := sweep(ctx, p, v, g)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		points = append(points, of...)
	}
	return points, nil
}

// sweep measures a method from the strictest threshold on, as long as a larger one may be better,
// and marks the best. What the method costs is measured at that one.
func sweep(
	ctx context.Context, prepared *eval.Prepared, v eval.Variant, g goal,
) (points []Point, err error) {
	spec, _ := method.SpecOf(v.Name)
	var best int
	var cheapest eval.Clustered
	over := false
	for _, threshold := range prepared.Thresholds() {
		p := Point{Method: v.Name, AsSet: threshold == prepared.Threshold}
		p.Key, p.Value = eval.SettingOf(v.Name, threshold)
		c := v.Config
		if given := c.Cluster.Similarity; p.AsSet && given != 0 && p.Key == "cluster.similarity" {
			p.Value = strconv.FormatFloat(given, 'f', -1, 64) // the method may round it
		}
		if c.Set(p.Key, p.Value) != nil || len(spec.Thresholds) == 0 && !p.AsSet || over && !p.AsSet {
			continue // an index can do more than a configuration allows
		}
		clustered, err := prepared.Cluster(ctx, threshold)
		if err != nil {
			return nil, err
		}
		if err := g.measure(ctx, &p, prepared, clustered); err != nil {
			return nil, err
		}
		points = append(points, p)
		if last := len(points) - 1; last == 0 || p.better(points[best]) {
			best, cheapest = last, clustered
		}
		over = over || g.hopeless(p, points[best])
	}
	bytes, err := prepared.CentreBytes(cheapest)
	if err != nil {
		return nil, err
	}
	for i := range points {
		points[i].Best = i == best
		points[i].CentreBytes, points[i].PerSecond = bytes, cheapest.PerSecond
	}
	return points, nil
}

// better reports whether p is the one to take of two points of a method: fewer honest articles are
// hit where either hits too many, else it is worth more, or as much and is as configured.
func (p Point) better(q Point) bool {
	switch {
	case p.TooManyHits != q.TooManyHits:
		return q.TooManyHits
	case p.TooManyHits && p.Hits != q.Hits:
		return p.Hits < q.Hits
	case p.Worth != q.Worth:
		return p.Worth > q.Worth
	default:
		return p.AsSet && !q.AsSet
	}
}
