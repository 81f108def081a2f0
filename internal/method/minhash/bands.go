package minhash

import (
	"math"
	"slices"
)

// Recall returns the probability that two signatures share a band: that they agree in all rows of
// at least one of the bands, if each of their components agrees with probability p. It is
//
//	1 − (1 − p^rows)^bands
//
// (Leskovec, Rajaraman and Ullman, "Mining of Massive Datasets", 3.4.2).
func Recall(p float64, bands, rows int) float64 {
	return -math.Expm1(float64(bands) * math.Log1p(-math.Pow(p, float64(rows))))
}

// Bands returns into how many bands of how many rows signatures of so many components are divided.
// Only signatures that share a band are compared. Two whose similarity is just the threshold share
// one with a probability of at least recall.
//
// The rows are as many as that allows, since more rows compare fewer centres, and the bands as few.
// There are never more bands than components that may differ plus 1: then two similar signatures
// must share a band (the pigeonhole principle), so recall is 1.
func Bands(components int, threshold, recall float64) (bands, rows int) {
	return bandsFor(components, target{threshold, recall})
}

// A target is the probability with which signatures of a similarity are to share a band.
type target struct{ similarity, recall float64 }

// bandsFor returns what Bands does, for several targets.
func bandsFor(components int, targets ...target) (bands, rows int) {
	for rows = components; ; rows-- {
		for bands = 1; bands*rows <= components; bands++ {
			missed := func(t target) bool { return !t.isReached(components, bands, rows) }
			if !slices.ContainsFunc(targets, missed) {
				return bands, rows
			}
		}
	}
}

func (t target) isReached(components, bands, rows int) bool {
	differ := mayDiffer(components, t.similarity)
	p := float64(components-differ) / float64(components)
	// A recall that is 1 by rounding alone does not count as 1.
	return bands > differ || t.recall < 1 && Recall(p, bands, rows) >= t.recall
}

// mayDiffer returns how many components may differ in signatures that are so similar, at most all
// but one. The tolerance is for products that rounding makes too small: .8 of 100 is 80.
func mayDiffer(components int, similarity float64) int {
	const tolerance = 1e-9
	return min(int((1-similarity)*float64(components)+tolerance), components-1)
}
