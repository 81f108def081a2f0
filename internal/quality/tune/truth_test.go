package tune

import (
	"fmt"
	"slices"
	"testing"

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
		numbered(1, 100), // 4: a copy of 1
		numbered(1, 60),  // 5: .6667 of 0, .6 of 1 and 4, .54 of 2, .48 of 3
		numbered(500, 600),
	}
	documents := make([]eval.Document, len(all))
	for _, tt := range []struct {
		same    float64
		groups  string
		pairs   int // that are the same
		between int
	}{
		{.8, "0 0 0 0 0 5 6", 10, 4},
		{.9, "0 0 0 3 0 5 6", 6, 8},
		{1, "0 1 2 3 1 5 6", 1, 13},
		{.5, "0 0 0 0 0 0 6", 15, 0},
	} {
		truth, err := connect(t.Context(), documents, all, tt.same)
		if err != nil {
			t.Fatal(err)
		}
		// Which of a group stands for it makes no difference.
		first := make(map[int]int)
		groups := ""
		for i, root := range truth.roots {
			if _, known := first[root]; !known {
				first[root] = i
			}
			groups += fmt.Sprint(first[root], " ")
		}
		if groups != tt.groups+" " || truth.same != tt.pairs || len(truth.between) != tt.between {
			t.Errorf("same at %v: groups %s, %d pairs, %d between; want %+v", tt.same, groups, truth.same,
				len(truth.between), tt)
		}
		// 1 and 4 count twice in all but the first.
		want := []Level{{1, 1}, {.9, 4}, {.8, 4}, {.7, 1}, {.6, 3}, {.5, 1}}
		if !slices.Equal(truth.levels, want) {
			t.Errorf("levels %v, want %v", truth.levels, want)
		}
	}
}

// Copies make no pairs in the square of their number.
func TestManyCopies(t *testing.T) {
	copies := make([]jaccard.Set, 3000)
	for i := range copies {
		copies[i] = numbered(1, 20)
	}
	known, err := connect(t.Context(), make([]eval.Document, len(copies)), copies, .8)
	if err != nil || known.same != 3000*2999/2 || known.levels[0].Pairs != known.same ||
		len(known.between) != 0 {
		t.Errorf("%d pairs, levels %v, %d between, %v", known.same, known.levels, len(known.between), err)
	}
}

// Of documents with too many near pairs, the first half is taken, or the first quarter.
func TestTooManyDocuments(t *testing.T) {
	var documents []eval.Document
	for i := range 1600 {
		documents = append(documents,
			eval.Document{Content: fmt.Sprintf("Dear customer, your parcel has arrived: %d", i)})
	}
	known, err := findTruth(t.Context(), documents, config.Default(), .8)
	if err != nil || len(known.documents) != 800 {
		t.Errorf("%d documents, %v", len(known.documents), err)
	}
}

func TestLabelled(t *testing.T) {
	known := truth{roots: []int{1, 1, 2, 3}, between: []pair{{0, 2, .4}, {1, 2, .3}}}
	labelled, err := known.labelled()
	if err != nil {
		t.Fatal(err)
	}
	documents := []eval.Document{{ID: "0"}, {ID: "1"}, {ID: "2"}, {ID: "3"}}
	s := labelled.Score(documents, eval.Clustering{0, 0, 0, 3}, nil)
	if s.TruePairs != 1 || s.FoundPairs != 3 || s.RightPairs != 1 || s.HalfPrecision != 1 ||
		s.Wrong != 0 {
		t.Errorf("scores %+v", s)
	}
}
