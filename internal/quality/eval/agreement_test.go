package eval

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestAgreement(t *testing.T) {
	for _, test := range []struct {
		name         string
		group, found []int
		want         Agreement
	}{
		{"nothing", nil, nil, Agreement{}},
		{"one document", []int{1}, []int{2}, Agreement{1, 1}},
		{"the same under other names", []int{1, 1, 2, 3}, []int{7, 7, 1, 4}, Agreement{1, 1}},
		{"all together, twice", []int{1, 1, 1}, []int{2, 2, 2}, Agreement{1, 1}},
		{"all alone, twice", []int{1, 2, 3}, []int{4, 5, 6}, Agreement{1, 1}},
		{"all together, all alone", []int{1, 1, 1}, []int{1, 2, 3}, Agreement{0, 0}},
		{"independent", []int{1, 1, 2, 2}, []int{1, 2, 1, 2}, Agreement{-.5, 0}},
		// The entropies are 1 and 1.5 bits, of which they share 1.
		{"one divided", []int{1, 1, 2, 2}, []int{1, 1, 2, 3}, Agreement{4. / 7, .8}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := Overlap(test.group, test.found).agreement()
			if diff := cmp.Diff(test.want, got, cmpopts.EquateApprox(0, 1e-12)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Both measures are what the definitions say: the adjusted Rand index counted pair by pair, mutual
// information and entropies summed over all documents.
func TestAgreementByDefinition(t *testing.T) {
	for seed := range uint64(500) {
		random := rand.New(rand.NewPCG(seed, 2))
		n := 2 + random.IntN(30)
		group, found := make([]int, n), make([]int, n)
		groups, clusters := 1+random.IntN(n), 1+random.IntN(n)
		for i := range n {
			group[i], found[i] = random.IntN(groups), random.IntN(clusters)
			if random.IntN(2) == 0 {
				found[i] = group[i]
			}
		}
		got := Overlap(group, found).agreement()
		want := Agreement{randIndex(group, found), information(group, found)}
		if diff := cmp.Diff(want, got, cmpopts.EquateApprox(0, 1e-9)); diff != "" {
			t.Fatalf("seed %d: %v and %v: %s", seed, group, found, diff)
		}
		if again := Overlap(found, group).agreement(); !cmp.Equal(got, again,
			cmpopts.EquateApprox(0, 1e-12)) {
			t.Fatalf("seed %d: the other way round it is %v, not %v", seed, again, got)
		}
	}
}

// randIndex asks of each pair whether it is together in both, in one of the two, or in none.
func randIndex(x, y []int) float64 {
	var both, first, second, none float64
	for i := range x {
		for k := range i {
			switch {
			case x[i] == x[k] && y[i] == y[k]:
				both++
			case x[i] == x[k]:
				first++
			case y[i] == y[k]:
				second++
			default:
				none++
			}
		}
	}
	if first+second == 0 {
		return 1
	}
	return 2 * (both*none - first*second) /
		((both+first)*(first+none) + (both+second)*(second+none))
}

// information is twice the mutual information, divided by the sum of the entropies.
func information(x, y []int) float64 {
	share := func(is func(k int) bool) float64 {
		n := 0
		for k := range x {
			n += one(is(k))
		}
		return float64(n) / float64(len(x))
	}
	var mutual, entropies float64
	for i := range x {
		inX := share(func(k int) bool { return x[k] == x[i] })
		inY := share(func(k int) bool { return y[k] == y[i] })
		inBoth := share(func(k int) bool { return x[k] == x[i] && y[k] == y[i] })
		mutual += math.Log(inBoth / (inX * inY))
		entropies -= math.Log(inX) + math.Log(inY)
	}
	if entropies == 0 {
		return 1
	}
	return 2 * mutual / entropies
}
