package eval

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestModerate(t *testing.T) {
	for _, test := range []struct {
		name   string
		labels string
		c      Clustering
		want   Work
	}{
		{
			"the first of a cluster is the click, the others are caught", "s s s h",
			Clustering{0, 0, 0, 3},
			Work{
				Documents: 4, Positive: 3, Caught: 2, Honest: 1, Clicks: 1,
				CaughtShare: 2. / 3,
			},
		},
		{
			"honest ones are hit once it is labelled", "h s h h",
			Clustering{0, 0, 0, 3},
			Work{
				Documents: 4, Positive: 1, Honest: 3, Hit: 1, Clicks: 1,
				HitPerThousand: 1000. / 3,
			},
		},
		{
			"what has no label joins, and does not count", "- - s - s",
			Clustering{0, 0, 0, 0, 0},
			Work{Documents: 5, Positive: 2, Caught: 1, Clicks: 1, CaughtShare: .5},
		},
		{
			"what is in no cluster is neither", "s s h h s",
			Clustering{Unclustered, Missing, Unclustered, Missing, Unclustered},
			Work{Documents: 5, Positive: 3, Honest: 2},
		},
		{
			"each cluster costs a click", "s s s s",
			Clustering{0, 1, 0, 3},
			Work{Documents: 4, Positive: 4, Caught: 1, Clicks: 3, CaughtShare: .25},
		},
		{"nothing", "", nil, Work{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := Moderate(labelled(test.labels), test.c, "s", 1).Work
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// What is labelled in one part is known in the next. Parts may differ by one document, and there
// are no more of them than documents.
func TestModerateByParts(t *testing.T) {
	docs := labelled("s s h s h")
	c := Clustering{0, 0, 0, 0, 0}
	want := []Work{
		{Documents: 2, Positive: 2, Caught: 1, Clicks: 1, CaughtShare: .5},
		{
			Documents: 3, Positive: 1, Caught: 1, Honest: 2, Hit: 2, CaughtShare: 1,
			HitPerThousand: 1000,
		},
	}
	if diff := cmp.Diff(want, Moderate(docs, c, "s", 2).Parts); diff != "" {
		t.Error(diff)
	}
	if n := len(Moderate(docs, c, "s", 10).Parts); n != len(docs) {
		t.Errorf("%d parts of %d documents", n, len(docs))
	}
}

// Figures are what the definition says, whatever the parts: a positive document is caught, and an
// honest one hit, if its cluster has an earlier positive one.
func TestModerateByDefinition(t *testing.T) {
	labels := []string{"", "s", "h", "other"}
	for seed := range uint64(300) {
		random := rand.New(rand.NewPCG(seed, 3))
		docs, c := make([]Document, 1+random.IntN(40)), Clustering{}
		var want Work
		for i := range docs {
			docs[i].Label = labels[random.IntN(len(labels))]
			c = append(c, Missing+random.IntN(8))
			earlier := false
			for k := range i {
				earlier = earlier || docs[k].Label == "s" && c[k] == c[i] && c[i] >= 0
			}
			want.Documents++
			want.Positive += one(docs[i].Label == "s")
			want.Honest += one(docs[i].Label == "h" || docs[i].Label == "other")
			want.Caught += one(docs[i].Label == "s" && earlier)
			want.Hit += one(docs[i].Label != "s" && docs[i].Label != "" && earlier)
			want.Clicks += one(docs[i].Label == "s" && !earlier && c[i] >= 0)
		}
		got := Moderate(docs, c, "s", 1+random.IntN(12))
		want.CaughtShare, want.HitPerThousand = got.CaughtShare, got.HitPerThousand
		if diff := cmp.Diff(want, got.Work); diff != "" {
			t.Fatalf("seed %d: %s", seed, diff)
		}
	}
}
