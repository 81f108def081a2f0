package eval

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/clusterd/clusterd/internal/config"
)

// The assignment is worth as much as the best of all.
func TestAssignment(t *testing.T) {
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
		for r, c := range assignment(n, m, worth) {
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

func TestStoryMeasures(t *testing.T) {
	docs := make([]Document, 6)
	for i, label := range []string{"a", "a", "a", "b", "b", ""} {
		docs[i].Label = label
	}
	got := storyPoint(docs, Clustering{0, 0, 2, 2, 2, 5},
		func(i int) bool { return []bool{3: true, 4: true, 5: true}[i] })
	// a: 2 of 3 in story 0, 1 in story 2; b: 2 of 2 in story 2. CEAFe: a with 0 is worth 4/5, b with 2
	// as much.
	ceafe := Quality{.8, .8, .8}
	han, other := quality(1, 1), quality(1, (4./3+1./3)/3) // those of b, those of a
	want := StoryPoint{
		Stories: 2, Labels: 2, Largest: .5, CEAFe: &ceafe,
		BCubed: quality((2+1./3+4./3)/5, (4./3+1./3+2)/5), Han: &han, Other: &other,
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateApprox(0, 1e-12),
		cmpopts.IgnoreTypes(Agreement{})); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(StoryPoint{CEAFe: &Quality{}}, storyPoint(nil, nil, nil)); diff != "" {
		t.Errorf("of nothing: %s", diff)
	}
}

// What two sites write of one event is one story, also where one of them is copied, and what they
// write of another event is not.
func TestEvaluateStories(t *testing.T) {
	flood := "The river Alder burst its banks at Morley and water stands in the mill, the mayor said"
	docs := []Document{
		{Label: "flood", Title: "River Alder floods Morley", Content: flood},
		{Label: "flood", Title: "River Alder floods Morley", Content: flood},
		{
			Label: "vote", Title: "Council elects Jane Roe",
			Content: "Ballots were counted twice in Harwick",
		},
		{
			Label: "flood", Title: "Morley under water",
			Content: "The mayor of Morley asked for boats after the Alder rose and the mill was flooded",
		},
		{Title: "An advert", Content: "Buy now"},
	}
	c := config.Default()
	v, err := ParseVariant(c, "minhash")
	if err != nil {
		t.Fatal(err)
	}
	r, err := Evaluate(t.Context(), docs, []Variant{v},
		Options{Labels: true, Stories: true, Threads: 1, Now: time.Unix(0, 0)})
	if err != nil {
		t.Fatal(err)
	}
	points := r.Runs[0].Stories
	if len(points) != 17 {
		t.Fatalf("%d thresholds, want the default and those from .10 to .40", len(points))
	}
	for _, p := range points {
		if p.Threshold == 0 && (p.Stories != 2 || p.BCubed.F1 != 1) {
			t.Errorf("%+v, want two stories", p)
		}
	}
}
