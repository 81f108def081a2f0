package eval

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// labelled documents have these labels, - for none, and were published at these minutes.
func labelled(labels string, minutes ...int) []Document {
	docs := make([]Document, 0, len(labels))
	for i, l := range strings.Fields(labels) {
		d := Document{Label: strings.Trim(l, "-")}
		if i < len(minutes) {
			d.PublishedAt = time.Unix(int64(60*minutes[i]), 0)
		}
		docs = append(docs, d)
	}
	return docs
}

func TestPurity(t *testing.T) {
	for _, test := range []struct {
		name   string
		labels string
		c      Clustering
		want   Purity
	}{
		{
			"pure", "s s h",
			Clustering{0, 0, 2},
			Purity{Labelled: 3, Alone: 1, Share: 1, Grouped: 1, Agreement: Agreement{1, 1}},
		},
		{
			"mixed", "s s h h",
			Clustering{0, 0, 0, 3},
			Purity{
				Labelled: 4, Alone: 1, Share: .75, Grouped: 2. / 3,
				Agreement: Agreement{0, information([]int{0, 0, 1, 1}, []int{0, 0, 0, 3})},
			},
		},
		{
			"alone with one that has no label", "s - h h",
			Clustering{0, 0, 2, 2},
			Purity{Labelled: 3, Alone: 1, Share: 1, Grouped: 1, Agreement: Agreement{1, 1}},
		},
		{
			"without clusters", "s h",
			Clustering{Unclustered, Missing},
			Purity{Labelled: 2, Alone: 2, Share: 1, Agreement: Agreement{1, 1}},
		},
		{"without labels", "- -", Clustering{0, 0}, Purity{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, PurityOf(labelled(test.labels), test.c),
				cmpopts.EquateApprox(0, 1e-12)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestSignals(t *testing.T) {
	// The cluster of document 0 gets a member at 0, 1, 2 and 30 minutes; that of document 3 is half
	// spam.
	docs := labelled("s s s s h s h -", 0, 1, 2, 3, 4, 30, 31, 32)
	c := Clustering{0, 0, 0, 3, 3, 0, Unclustered, 3}
	found := func(documents, positive int, p,
		r float64,
	) Found {
		return Found{documents, positive, quality(p, r)}
	}
	for _, test := range []struct {
		name   string
		within time.Duration
		want   []Signal
	}{
		{"in any time", 0, []Signal{
			{2, found(6, 5, 5./6, 1), found(4, 3, .75, .6)},
			{3, found(6, 5, 5./6, 1), found(2, 2, 1, .4)},
			{5, Found{}, Found{}},
		}},
		{"within two minutes", 2 * time.Minute, []Signal{
			{2, found(5, 4, .8, .8), found(3, 2, 2./3, .4)},
			{3, found(3, 3, 1, .6), found(1, 1, 1, .2)},
			{5, Found{}, Found{}},
		}},
		{"within a second less", 2*time.Minute - time.Second, []Signal{
			{2, found(5, 4, .8, .8), found(3, 2, 2./3, .4)},
			{3, Found{}, Found{}},
			{5, Found{}, Found{}},
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := Signals(docs, c, Options{
				Positive: "s", Sizes: []int{2, 3, 5}, Within: test.within,
				Now: time.Unix(0, 0),
			})
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Counts are what the definition says: of the windows that hold a member, the fullest.
func TestCountWithinByDefinition(t *testing.T) {
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(seed, 1))
		n := 1 + random.IntN(30)
		arrived := make([]int64, n)
		members := make([]int, n)
		for i := range arrived {
			members[i] = i
			if i > 0 {
				arrived[i] = arrived[i-1] + random.Int64N(5)
			}
		}
		within := time.Duration(random.IntN(12)) * time.Millisecond
		inAll, upToIt := make([]int, n), make([]int, n)
		countWithin(members, arrived, within, inAll, upToIt)
		for i := range members {
			wantAll, wantUpTo := 0, 0
			for end := i; end < n; end++ {
				holds, withIt := 0, false
				for k := range end + 1 {
					if within == 0 || arrived[end]-arrived[k] <= within.Milliseconds() {
						holds++
						withIt = withIt || k == i
					}
				}
				if withIt {
					wantAll = max(wantAll, holds)
				}
				if end == i {
					wantUpTo = holds
				}
			}
			if inAll[i] != wantAll || upToIt[i] != wantUpTo {
				t.Fatalf("seed %d, member %d of %v within %v: %d and %d, want %d and %d", seed, i, arrived,
					within, inAll[i], upToIt[i], wantAll, wantUpTo)
			}
		}
	}
}
