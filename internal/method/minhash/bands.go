package minhash

import "math"

// Recall returns the probability that two signatures agree in all rows of at least one of the bands, where
// they agree in each place with probability p:
//
//	1 − (1 − p^rows)^bands
//
// (Leskovec, Rajaraman and Ullman, "Mining of Massive Datasets", 3.4.2).
func Recall(p float64, bands, rows int) float64 {
	return -math.Expm1(float64(bands) * math.Log1p(-math.Pow(p, float64(rows))))
}

// Bands returns how signatures of so many places are divided: in bands, each of so many rows, of which two
// signatures must agree in one to be compared. Those of which the share of equal places is
// just the threshold do with at least the probability of recall.
//
// Of what fulfils this it is the one with the most rows, by which the fewest centres are compared, and with the
// fewest bands that do. There are never more bands than places that may differ plus 1: one
// of these must then agree, and so recall is 1.
func Bands(hashes int, threshold, recall float64) (bands, rows int) {
	differ := mayDiffer(hashes, threshold)
	p := float64(hashes-differ) / float64(hashes)
	for rows = hashes; ; rows-- {
		for bands = 1; bands*rows <= hashes; bands++ {
			// What rounding makes a recall of 1 is none.
			if bands > differ || recall < 1 && Recall(p, bands, rows) >= recall {
				return bands, rows
			}
		}
	}
}

// mayDiffer returns how many places may differ in signatures that are so similar, at most all but one. What
// floats make of a product must not cost one: .8 of 100 is 80.
func mayDiffer(hashes int, similarity float64) int {
	const tolerance = 1e-9
	return min(int((1-similarity)*float64(hashes)+tolerance), hashes-1)
}
