package minhash

import "math"

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
	differ := mayDiffer(components, threshold)
	p := float64(components-differ) / float64(components)
	for rows = components; ; rows-- {
		for bands = 1; bands*rows <= components; bands++ {
			// A recall that is 1 by rounding alone does not count as 1.
			if bands > differ || recall < 1 && Recall(p, bands, rows) >= recall {
				return bands, rows
			}
		}
	}
}

// mayDiffer returns how many components may differ in signatures that are so similar, at most all
// but one. The tolerance is for products that rounding makes too small: .8 of 100 is 80.
func mayDiffer(components int, similarity float64) int {
	const tolerance = 1e-9
	return min(int((1-similarity)*float64(components)+tolerance), components-1)
}
