package paper

import "math/rand/v2"

// A dice draws the random numbers. It does not use [rand.Rand], whose methods may give other
// numbers where int has 32 bits.
type dice struct{ *rand.PCG }

// What is drawn for beside the experiments, in place of their numbers.
const (
	sampling uint32 = 1<<31 + iota
	patching
)

// newDice returns the dice of one article in one experiment, so that an article is edited the
// same way however the work is divided.
func newDice(seed uint64, experiment uint32, article int) dice {
	return dice{rand.NewPCG(seed, uint64(experiment)<<32|uint64(article))}
}

// n returns a number in [0, limit), which must be positive and below 2³². It is uniform but for
// a bias below limit/2³².
func (d dice) n(limit int) int { return int((d.Uint64() >> 32) * uint64(limit) >> 32) }

// shuffle puts items in random order.
func shuffle[T any](d dice, items []T) {
	for i := len(items) - 1; i > 0; i-- {
		j := d.n(i + 1)
		items[i], items[j] = items[j], items[i]
	}
}
