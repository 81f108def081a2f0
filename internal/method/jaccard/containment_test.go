package jaccard

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestContainment(t *testing.T) {
	for _, test := range []struct {
		name         string
		rule         Containment
		shared, a, b int // hashes
		want         bool
	}{
		{"a cut copy", .9, 120, 200, 120, true},
		{"just enough of the shorter", .9, 90, 150, 100, true},
		{"one hash less", .9, 89, 150, 100, false},
		{"the other way round", .9, 90, 100, 150, true},
		{"all of a half", 1, 100, 100, 200, true},
		{"of less than a half", .9, 100, 100, 201, false},
		{"of a short text", .9, 99, 99, 110, false},
		{"off", 0, 200, 200, 200, false},
	} {
		jaccard := distance(test.shared, test.a+test.b-test.shared)
		for _, quotes := range []struct{ a, b, same bool }{
			{false, false, test.want},
			{true, false, test.want},
			{false, true, test.want},
			{true, true, false},
		} {
			a, b := Size{test.a, quotes.a}, Size{test.b, quotes.b}
			if got := test.rule.Holds(jaccard, a, b); got != quotes.same {
				t.Errorf("%s: %+v and %+v: %t, want %t", test.name, a, b, got, quotes.same)
			}
		}
	}
	for rule, ok := range map[Containment]bool{0: true, .9: true, 1: true, -.1: false, 1.1: false} {
		if err := rule.Check(); (err == nil) != ok {
			t.Errorf("Check of %v: %v", rule, err)
		}
	}
	if err := Containment(math.NaN()).Check(); err == nil {
		t.Error("NaN is taken")
	}
}

// The size of a set that was too large is about that of what it is a sample of.
func TestSize(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	for _, n := range []int{0, 1, 999, Max - 1, Max, 2 * Max, 7 * Max} {
		var b Builder
		for range n {
			b.Add(r.Uint64())
		}
		got := b.Set().Size().Elements
		if off := math.Abs(float64(got - n)); n < Max && off > 0 || off > .02*float64(n) {
			t.Errorf("size %d, want %d", got, n)
		}
		for range n {
			b.Add(r.Uint64())
		}
		b.Add(Quotation)
		if !b.Set().Size().Quotes {
			t.Errorf("of a set of %d the quotation is lost", n+1)
		}
	}
}
