package report

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/clusterd/clusterd/internal/quality/eval"
)

// minPrecision is the smallest precision that is shown of a variant beside others: what is below is
// of no use, and would take most of the plot.
const minPrecision = .5

// precisionRecall shows each variant's curve over its thresholds, and where it stands as it is.
func (r Report) precisionRecall() figure {
	c := newChart("pair recall", "pair precision")
	smallest := 1.
	for i := range r.Runs {
		run := &r.Runs[i]
		var curve []eval.Point
		if run.Curve != nil {
			curve = run.Curve.Points
		}
		line := points(len(curve), func(i int) (point, bool) {
			q := curve[i].Pairs
			return point{X: q.Recall, Y: q.Precision}, q.Precision >= minPrecision
		})
		c.line(series(i), run.Name, line)
		here := point{X: run.Scores.Pairs.Recall, Y: run.Scores.Pairs.Precision}
		c.mark(series(i), "", here)
		for _, p := range append(line, here) {
			smallest = min(smallest, p.X, p.Y)
		}
	}
	c.x.shares(smallest)
	c.y.shares(smallest)
	return c.figure(
		"Pair precision and recall over all thresholds",
		"One line for each run, one point for each threshold that gives a precision of .5 and more; "+
			"the large marker is the run's own. The best place is the upper right corner.",
	)
}

// costAccuracy shows what each variant costs, and how good it is.
func (r Report) costAccuracy() figure {
	c := newChart("documents a second (logarithmic)", "pair F1")
	slowest, fastest := math.Inf(1), 0.
	for i := range r.Runs {
		run := &r.Runs[i]
		if run.Cost.PerSecond <= 0 {
			continue // less than the clock can tell
		}
		here := point{X: run.Cost.PerSecond, Y: run.Scores.Pairs.F1}
		c.mark(series(i), run.Name, here)
		slowest, fastest = min(slowest, here.X), max(fastest, here.X)
	}
	c.y.shares(c.lowest())
	if fastest > 0 {
		c.x.decades(slowest, fastest)
	}
	return c.figure(
		"Cost and accuracy",
		"One marker for each run with its own threshold: the speed of fingerprints and single pass "+
			"together, and pair F1. The best place is the upper right corner.",
	)
}

// short returns a round number with k for thousands or M for millions.
func short(v float64) string {
	switch {
	case v >= 1e6:
		return distance(v/1e6) + "M"
	case v >= 1e3:
		return distance(v/1e3) + "k"
	}
	return distance(v)
}

// decades makes a logarithmic axis with marks at 1, 2 and 5.
func (a *axis) decades(low, high float64) {
	a.logarithmic = true
	var ticks []tick
	for decade := math.Pow(10, math.Floor(math.Log10(low))); decade <= high*10; decade *= 10 {
		for _, step := range []float64{1, 2, 5} {
			ticks = append(ticks, tick{step * decade, short(step * decade)})
		}
	}
	below := slices.IndexFunc(ticks, func(t tick) bool { return t.at > low })
	above := slices.IndexFunc(ticks, func(t tick) bool { return t.at >= high })
	ticks = ticks[max(0, below-1) : above+1]
	a.min, a.max, a.ticks = ticks[0].at, ticks[len(ticks)-1].at, ticks
	if len(ticks) > 7 {
		for i := range ticks {
			if ticks[i].label[0] != '1' {
				ticks[i].label = ""
			}
		}
	}
}

// thresholds shows precision, recall and F1 of one variant over its thresholds.
func thresholds(run *eval.Run) figure {
	c := newChart("largest distance ("+run.Curve.Unit+")", "share")
	tried := run.Curve.Points
	best := tried[0]
	for _, p := range tried {
		if p.Pairs.F1 > best.Pairs.F1 {
			best = p
		}
	}
	c.ground = run.Threshold
	for i, l := range []struct {
		name string
		of   func(p eval.Point) float64
	}{
		{"precision", func(p eval.Point) float64 { return p.Pairs.Precision }},
		{"recall", func(p eval.Point) float64 { return p.Pairs.Recall }},
		{"F1", func(p eval.Point) float64 { return p.Pairs.F1 }},
		{"P50", func(p eval.Point) float64 { return p.HalfPrecision }},
	} {
		if l.name == "P50" && !run.Curve.Half {
			continue
		}
		c.line(series(i), l.name, points(len(tried), func(i int) (point, bool) {
			return point{X: tried[i].Threshold, Y: l.of(tried[i])}, true
		}))
	}
	step := .1
	if run.Curve.Unit == eval.Bits {
		step = 2
	}
	c.x.even(0, tried[len(tried)-1].Threshold, step)
	c.y.shares(c.lowest())
	f := c.figure(run.Name+": quality over the threshold", fmt.Sprintf(
		"Pairs of documents in one cluster, by the largest distance that is allowed. F1 is highest at "+
			"%s, with %s; the run's own threshold is %s.",
		distance(best.Threshold), share(best.Pairs.F1), distance(run.Threshold)))
	f.Tables = []table{curveTable(run.Curve, run.Name)}
	return f
}

// distances shows how far documents are apart that belong together, and others.
func distances(run *eval.Run) figure {
	c := newChart("distance ("+run.Curve.Unit+")", "share of the pairs")
	if run.Curve.Unit == eval.Bits {
		c.x.even(0, float64(len(run.Curve.Same.Bins)), 8)
	} else {
		c.x.even(0, 1, .1)
	}
	highest := 0.
	names := []string{"belong together", "others"}
	steps := make([][]point, len(names))
	for i, h := range []eval.Histogram{run.Curve.Same, run.Curve.Other} {
		for bin := range h.Bins {
			y := h.Share(bin)
			steps[i] = append(steps[i], point{X: h.Edges[bin], Y: y},
				point{X: h.Edges[bin+1], Y: y})
			highest = max(highest, y)
		}
	}
	c.y.round(max(highest*1.05, 1e-3))
	c.ground = run.Threshold
	for i, name := range names {
		c.steps(series(i), name, steps[i])
	}
	description := fmt.Sprintf("%s pairs that belong together, and %s other pairs, drawn at random.",
		count(run.Curve.Same.Pairs), count(run.Curve.Other.Pairs))
	if never := run.Curve.Same.Never + run.Curve.Other.Never; never > 0 {
		description += fmt.Sprintf(
			" The method joins %s and %s of them at no threshold; they are not in the plot.",
			count(run.Curve.Same.Never), count(run.Curve.Other.Never))
	}
	f := c.figure(run.Name+": how far documents are apart", description)
	f.Tables = []table{distanceTable(run.Curve, run.Name)}
	return f
}

// distanceTable returns the bins that are not empty.
func distanceTable(c *eval.Curve, name string) table {
	t := table{
		fmt.Sprintf("Distances (%s): %s", c.Unit, name),
		[]string{"from", "to below", "same", "others"},
		nil,
	}
	for i, n := range c.Same.Bins {
		if n+c.Other.Bins[i] > 0 {
			t.Rows = append(t.Rows, []string{
				distance(c.Same.Edges[i]), distance(c.Same.Edges[i+1]), count(n), count(c.Other.Bins[i]),
			})
		}
	}
	t.Rows = append(t.Rows, []string{"never", "", count(c.Same.Never), count(c.Other.Never)})
	return t
}

// signalFigures show how well the size of a cluster tells the positive label: precision and recall.
func (r Report) signalFigures() (figures []figure) {
	for _, m := range []struct {
		name string
		of   func(eval.Quality) float64
	}{
		{"precision", func(q eval.Quality) float64 { return q.Precision }},
		{"recall", func(q eval.Quality) float64 { return q.Recall }},
	} {
		c := newChart("members of the cluster, at least", m.name)
		for i := range r.Runs {
			signals := r.Runs[i].Signals
			c.line(series(i), r.Runs[i].Name, points(len(signals), func(at int) (point, bool) {
				all := signals[at].All
				// of nothing found, there is no precision
				return point{X: float64(at), Y: m.of(all.Quality)}, all.Documents > 0 || m.name == "recall"
			}))
		}
		c.sizes(r.Runs[0].Signals)
		c.y.shares(c.lowest())
		figures = append(figures, c.figure(
			fmt.Sprintf("A large cluster as a sign of %s%s: %s", r.Positive, r.within(), m.name),
			fmt.Sprintf("By how many members a cluster must have for its documents to count as %s; later "+
				"members count, too.", r.Positive)))
	}
	return figures
}

// sizes makes an axis of the sizes that were measured, all equally far apart.
func (c *chart) sizes(signals []eval.Signal) {
	var ticks []tick
	for i, s := range signals {
		ticks = append(ticks, tick{float64(i), strconv.Itoa(s.Size)})
	}
	c.x.min, c.x.max, c.x.ticks = -.2, float64(len(signals))-.8, ticks
}
