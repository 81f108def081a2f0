package eval

import (
	"math"
	"slices"
)

// bestPairs gives each of n rows a column of its own, of m, at least n, such that the sum of what
// they are worth is largest: the Hungarian method (Kuhn, 1955) with potentials, in O(n²·m).
func bestPairs(n, m int, worth func(row, column int) float64) []int {
	rowPotential, columnPotential := make([]float64, n+1), make([]float64, m+1)
	row, way := make([]int, m+1), make([]int, m+1) // of a column, from 1 on; 0 is none
	for r := 1; r <= n; r++ {
		row[0] = r
		at := 0
		least, used := slices.Repeat([]float64{math.Inf(1)}, m+1), make([]bool, m+1)
		for row[at] != 0 {
			used[at] = true
			from, delta, next := row[at], math.Inf(1), 0
			for c := 1; c <= m; c++ {
				if used[c] {
					continue
				}
				if cost := -worth(from-1, c-1) - rowPotential[from] - columnPotential[c]; cost < least[c] {
					least[c], way[c] = cost, at
				}
				if least[c] < delta {
					delta, next = least[c], c
				}
			}
			for c := range used {
				if used[c] {
					rowPotential[row[c]] += delta
					columnPotential[c] -= delta
				} else {
					least[c] -= delta
				}
			}
			at = next
		}
		for at != 0 {
			row[at] = row[way[at]]
			at = way[at]
		}
	}
	columns := make([]int, n)
	for c := 1; c <= m; c++ {
		if row[c] > 0 {
			columns[row[c]-1] = c - 1
		}
	}
	return columns
}
