package tune

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/clusterd/clusterd/internal/config"
	"github.com/clusterd/clusterd/internal/method/jaccard"
	"github.com/clusterd/clusterd/internal/quality/eval"
)

// numbered returns the set of the numbers from one to another.
func numbered(from, to uint64) jaccard.Set {
	var hashes []uint64
	for h := from; h <= to; h++ {
		hashes = append(hashes, h)
	}
	return setOf(hashes...)
}

func TestConnect(t *testing.T) {
	all := []jaccard.Set{
		numbered(1, 90),  // 0
		numbered(1, 100), // 1: .9 of 0
		numbered(1, 111), // 2: .9009 of 1, .81 of 0
		numbered(1, 125), // 3: .888 of 2, .8 of 1, .72 of 0
		numbered(1, 100), // a copy of 1
		numbered(1, 60),  // 4: .6667 of 0, .6 of 1, .54 of 2, .48 of 3
		numbered(500, 600),
	}
	truth, err := compare(t.Context(), make([]eval.Document, len(all)), all)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(truth.texts, []int{0, 1, 2, 3, 5, 6}) ||
		!slices.Equal(truth.copies, []int{1, 2, 1, 1, 1, 1}) {
		t.Errorf("texts %v, copies %v", truth.texts, truth.copies)
	}
	for _, tt := range []struct {
		same   float64
		groups string
		pairs  int // that are the same
	}{
		{.8, "0 0 0 0 4 5", 6},
		{.9, "0 0 0 3 4 5", 3},
		{1, "0 1 2 3 4 5", 0},
		{.5, "0 0 0 0 0 5", 10},
	} {
		found, pairs := truth.connect(tt.same)
		// Which of a group stands for it makes no difference.
		first := make(map[int]int)
		groups := ""
		for i, root := range found {
			if _, known := first[root]; !known {
				first[root] = i
			}
			groups += fmt.Sprint(first[root], " ")
		}
		if groups != tt.groups+" " || pairs != tt.pairs {
			t.Errorf("same at %v: groups %s, %d pairs; want %+v", tt.same, groups, pairs, tt)
		}
	}
	// 1 counts twice.
	want := []Level{{1, 1}, {.9, 4}, {.8, 4}, {.7, 1}, {.6, 3}, {.5, 1}}
	if got := truth.levels(); !slices.Equal(got, want) {
		t.Errorf("levels %v, want %v", got, want)
	}
}

// What comes when a cluster has expired is not found by any method, and is not to be found.
func TestApart(t *testing.T) {
	day := func(n int) eval.Document {
		return eval.Document{PublishedAt: time.Date(2026, 5, n, 0, 0, 0, 0, time.UTC)}
	}
	known := &truth{
		documents: []eval.Document{day(1), day(3), day(7), {}},
		texts:     []int{0, 1, 2, 3},
		pairs:     []pair{{0, 1, 0}, {1, 2, 0}, {2, 3, 0}},
	}
	for days, want := range map[int]int{0: 6, 1: 1, 2: 2, 3: 2, 4: 6} {
		known.window = time.Duration(days) * 24 * time.Hour
		if _, pairs := known.connect(.8); pairs != want {
			t.Errorf("window of %d days: %d pairs, want %d", days, pairs, want)
		}
	}
}

// Where too few texts are the same, a lower similarity is taken, but not for nothing.
func TestSettle(t *testing.T) {
	// chain makes pairs at distances, each of two texts of its own.
	chain := func(similarities map[float64]int) *truth {
		known := new(truth)
		for similarity, n := range similarities {
			for range n {
				a := len(known.texts)
				known.texts = append(known.texts, a, a+1)
				known.documents = append(known.documents, eval.Document{}, eval.Document{})
				known.pairs = append(known.pairs, pair{a, a + 1, 1 - similarity})
			}
		}
		return known
	}
	for name, tt := range map[string]struct {
		pairs       map[float64]int
		asked, want float64
	}{
		"enough":           {map[float64]int{.85: EnoughPairs, .65: 100}, .8, .8},
		"one too few":      {map[float64]int{.85: EnoughPairs - 1, .75: 1, .65: 100}, .8, .7},
		"further down":     {map[float64]int{.85: 10, .55: 100}, .8, .5},
		"not to the end":   {map[float64]int{.85: 10, .65: FewPairs - 10, .55: 100}, .8, .6},
		"none beyond":      {map[float64]int{.85: 10}, .8, .8},
		"few more":         {map[float64]int{.85: 10, .65: 10}, .8, .6},
		"none":             {nil, .8, .8},
		"between steps":    {map[float64]int{.95: 10, .72: 100}, .75, .7},
		"as low as it can": {map[float64]int{.95: 10}, .5, .5},
	} {
		if got := chain(tt.pairs).settle(tt.asked); got != tt.want {
			t.Errorf("%s: %v, want %v", name, got, tt.want)
		}
	}
}

// Copies make no pairs in the square of their number.
func TestManyCopies(t *testing.T) {
	copies := make([]jaccard.Set, 3000)
	for i := range copies {
		copies[i] = numbered(1, 20)
	}
	known, err := compare(t.Context(), make([]eval.Document, len(copies)), copies)
	if err != nil || known.levels()[0].Pairs != 3000*2999/2 || len(known.pairs) != 0 ||
		len(known.texts) != 1 {
		t.Errorf("levels %v, %d pairs, %d texts, %v", known.levels(), len(known.pairs),
			len(known.texts), err)
	}
}

// Of documents with too many near pairs, the first half is taken, or the first quarter.
func TestTooManyDocuments(t *testing.T) {
	var documents []eval.Document
	for i := range 1600 {
		documents = append(documents,
			eval.Document{Content: fmt.Sprintf("Dear customer, your parcel has arrived: %d", i)})
	}
	known, err := findTruth(t.Context(), documents, config.Default())
	if err != nil || len(known.documents) != 800 {
		t.Errorf("%d documents, %v", len(known.documents), err)
	}
}
