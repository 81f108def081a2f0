package eval

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/story"
)

func TestStoryMeasures(t *testing.T) {
	docs := make([]Document, 6)
	for i, label := range []string{"a", "a", "a", "b", "b", ""} {
		docs[i].Label = label
	}
	of := Stories{docs, Clustering{0, 0, 0, 3, 3, 5}, []story.Article{3: {Han: true}, 5: {Han: true}}}
	got := of.point(Clustering{0, 0, 2, 2, 2, 5})
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
	if diff := cmp.Diff(StoryPoint{CEAFe: &Quality{}}, new(Stories).point(nil)); diff != "" {
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
