package jaccard

import (
	"math"
	"math/rand/v2"
	"testing"
)

// With a threshold of .05, none of these are similar.
func TestContainment(t *testing.T) {
	for _, test := range []struct {
		name         string
		containment  float64
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
		{"off", 0, 120, 200, 120, false},
	} {
		jaccard := distance(test.shared, test.a+test.b-test.shared)
		for _, quotes := range []struct{ a, b, same bool }{
			{false, false, test.want},
			{true, false, test.want},
			{false, true, test.want},
			{true, true, false},
		} {
			a, b := Size{test.a, quotes.a}, Size{test.b, quotes.b}
			rule := Rule{Containment: test.containment}
			if got := rule.Joins(jaccard, .05, a, b); got != quotes.same {
				t.Errorf("%s: %+v and %+v: %t, want %t", test.name, a, b, got, quotes.same)
			}
		}
	}
}

// Threshold and rule together: the sets are of this many hashes, and share these.
func TestJoins(t *testing.T) {
	var none Rule
	long, both := Rule{LongSimilarity: .7}, Rule{Containment: .9, LongSimilarity: .7}
	for _, test := range []struct {
		name         string
		rule         Rule
		shared, a, b int
		similarity   float64 // of the threshold
		want         bool
	}{
		{"no rule, at the threshold", none, 400, 600, 600, .5, true},
		{"no rule, beyond it", none, 399, 600, 600, .5, false},
		{"short at the threshold", long, 90, 135, 135, .5, true},
		{"long at the threshold", long, 400, 600, 600, .5, false},
		{"long and short", long, 100, leastLongSize - 1, leastLongSize, .5, true},
		{"just long", long, 100, leastLongSize, leastLongSize, .5, false},
		{"just long, and similar", long, 125, leastLongSize, leastLongSize, .5, true},
		{"long, at just the minimum", long, 700, 850, 850, .5, true},
		{"long, one hash less", long, 699, 850, 850, .5, false},
		{"long, of a higher threshold", long, 700, 850, 850, .75, false},
		{"short, of a higher threshold", long, 90, 135, 135, .75, false},
		{"long, the one in the other", both, 400, 700, 400, .5, true},
		{"long, with as much in common", both, 400, 550, 550, .5, false},
		{"long, the one in the other, without containment", long, 400, 700, 400, .5, false},
	} {
		distance := distance(test.shared, test.a+test.b-test.shared)
		for _, sizes := range [][2]Size{
			{{Elements: test.a}, {Elements: test.b}}, {{Elements: test.b}, {Elements: test.a}},
		} {
			got := test.rule.Joins(distance, 1-test.similarity, sizes[0], sizes[1])
			if got != test.want {
				t.Errorf("%s: %+v: %t, want %t", test.name, sizes, got, test.want)
			}
		}
	}
}

func TestRule(t *testing.T) {
	for _, test := range []struct {
		rule     Rule
		settings string
		counts   bool
		reach    float64 // with a threshold of .2
	}{
		{Rule{}, "", false, .2},
		{Rule{Containment: .9}, ",containment=0.9", true, .5},
		{Rule{LongSimilarity: .7}, ",long_similarity=0.7", true, .2},
		{Rule{.9, .7}, ",containment=0.9,long_similarity=0.7", true, .5},
	} {
		r := test.rule
		if r.Settings() != test.settings || r.Counts() != test.counts || r.Reach(.2) != test.reach {
			t.Errorf("%+v: settings %q, counts %t, reach %v; want %q, %t, %v", r, r.Settings(), r.Counts(),
				r.Reach(.2), test.settings, test.counts, test.reach)
		}
	}
	for minimum, ok := range map[float64]bool{
		0: true, .9: true, 1: true, -.1: false, 1.1: false, math.Inf(1): false,
	} {
		for _, rule := range []Rule{{Containment: minimum}, {LongSimilarity: minimum}} {
			if err := rule.Check(); (err == nil) != ok {
				t.Errorf("Check of %+v: %v", rule, err)
			}
		}
	}
	for _, rule := range []Rule{{Containment: math.NaN()}, {LongSimilarity: math.NaN()}} {
		if rule.Check() == nil {
			t.Errorf("%+v is taken", rule)
		}
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
