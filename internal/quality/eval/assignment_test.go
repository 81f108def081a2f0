package eval

import (
	"math"
	"math/rand/v2"
	"testing"
)

// The assignment is worth as much as the best of all.
func TestBestPairs(t *testing.T) {
	var best func(n, m int, worth func(r, c int) float64, row int, taken uint) float64
	best = func(n, m int, worth func(r, c int) float64, row int, taken uint) float64 {
		if row == n {
			return 0
		}
		most := math.Inf(-1)
		for c := range m {
			if taken>>c&1 == 0 {
				most = max(most, worth(row, c)+best(n, m, worth, row+1, taken|1<<c))
			}
		}
		return most
	}
	for seed := range uint64(300) {
		random := rand.New(rand.NewPCG(seed, 7))
		n := 1 + random.IntN(5)
		m := n + random.IntN(3)
		cells := make([]float64, n*m)
		for i := range cells {
			cells[i] = float64(random.IntN(4)) / 3
		}
		worth := func(r, c int) float64 { return cells[r*m+c] }
		sum, taken := 0.0, make(map[int]bool)
		for r, c := range bestPairs(n, m, worth) {
			if taken[c] {
				t.Fatalf("seed %d: column %d twice", seed, c)
			}
			taken[c] = true
			sum += worth(r, c)
		}
		if want := best(n, m, worth, 0, 0); math.Abs(sum-want) > 1e-9 {
			t.Fatalf("seed %d: %v, want %v", seed, sum, want)
		}
	}
}
