package sample

import (
	"math/rand/v2"
	"regexp"
	"slices"
	"testing"
)

func TestGrammar(t *testing.T) {
	w := words{"city": parseAll("Aa", "Bb"), "place": parseAll("the port of {city}")}
	for _, c := range []struct{ text, want string }{
		{"no reference", `no reference`},
		{"", ``},
		{"{city}", `Aa|Bb`},
		{"{place}!", `the port of (Aa|Bb)!`},
		{"{City} {City} {City}", `Aa Aa Aa|Bb Bb Bb`},
		{"{city} and {city}", `Aa and Bb|Bb and Aa`},
		{"{city} and {City}", `Aa and Bb|Bb and Aa`},
		{"{City} and {city}", `Aa and Bb|Bb and Aa`},
		{"{3-5} {7-7}", `[345] 7`},
		{"{0.8-1.2}%", `(0\.[89]|1\.[012])%`},
		{"{City", `Aa|Bb`}, // an unclosed brace ends with the text
	} {
		want := regexp.MustCompile("^(" + c.want + ")$")
		for seed := range uint64(50) {
			if got := w.draw(dice{rand.NewPCG(seed, 0)}).text(parse(c.text)); !want.MatchString(got) {
				t.Errorf("%q gives %q, want %s", c.text, got, c.want)
			}
		}
	}
}

func TestDice(t *testing.T) {
	d := dice{rand.NewPCG(1, 2)}
	seen := make([]int, 10)
	for range 10_000 {
		seen[d.n(len(seen))]++
	}
	if low, high := slices.Min(seen), slices.Max(seen); low < 850 || high > 1150 {
		t.Errorf("10,000 throws of ten sides fall unevenly: %v", seen)
	}
	order := d.order(50)
	if slices.IsSorted(order) {
		t.Errorf("order(50) is sorted: %v", order)
	}
	slices.Sort(order)
	for i, n := range order {
		if i != n {
			t.Fatalf("order(50) is no permutation: %v", order)
		}
	}
	for range 1000 {
		if n := d.between(-1, 1); n < -1 || n > 1 {
			t.Fatalf("between(-1, 1) = %d", n)
		}
	}
}
