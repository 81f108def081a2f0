package eval

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/clusterd/clusterd/internal/testutil/check"
)

// documents have these ids.
func documents(ids ...string) []Document {
	docs := make([]Document, len(ids))
	for i, id := range ids {
		docs[i].ID = id
	}
	return docs
}

func mustTruth(t *testing.T, clusters, pairs string) *Truth {
	t.Helper()
	truth, err := ReadTruth(strings.NewReader(clusters), strings.NewReader(pairs))
	if err != nil {
		t.Fatal(err)
	}
	return truth
}

// Eight documents in the true clusters {a b c} {d e} {f} {g} {h}; f and g are half the same.
const (
	handClusters = "id\tcluster\na\tc0\nb\tc0\nc\tc0\nd\tc1\ne\tc1\n"
	handPairs    = "id1\tid2\tjaccard\tcontainment\n" +
		"a\tb\t0.9\t1\na\tc\t0.85\t1\nf\tg\t0.5\t0.7\nh\tg\t0.3\t0.4\n"
)

func TestScoreByHand(t *testing.T) {
	docs := documents("a", "b", "c", "d", "e", "f", "g", "h")
	for _, test := range []struct {
		name string
		c    Clustering
		want string
	}{
		{
			"as the truth has it",
			Clustering{0, 0, 0, 3, 3, 5, 6, 7},
			"docs 8 missing 0 clusters 5 true 5 | B3 P 1.000 R 1.000 F1 1.000 | pairs P 1.000 P50 1.000 R " +
				"1.000 (4/4/4) | wrong/1000 0.00",
		},
		{
			"everything together",
			Clustering{0, 0, 0, 0, 0, 0, 0, 0},
			"docs 8 missing 0 clusters 1 true 5 | B3 P 0.250 R 1.000 F1 0.400 | pairs P 0.143 P50 0.179 R " +
				"1.000 (4/28/4) | wrong/1000 125.00",
		},
		{
			"nothing together",
			Clustering{0, 1, 2, 3, 4, 5, 6, 7},
			"docs 8 missing 0 clusters 8 true 5 | B3 P 1.000 R 0.625 F1 0.769 | pairs P 0.000 P50 0.000 R " +
				"0.000 (0/0/4) | wrong/1000 0.00",
		},
		{
			"without results",
			Clustering{Missing, Unclustered, Missing, 3, 3, 5, 6, 7},
			"docs 8 missing 2 clusters 7 true 5 | B3 P 1.000 R 0.750 F1 0.857 | pairs P 1.000 P50 1.000 R " +
				"0.250 (1/1/4) | wrong/1000 0.00",
		},
		// c is with h, which it has nothing in common with; f with g is no mistake.
		{
			"mixed",
			Clustering{0, 0, 2, 3, 4, 5, 5, 2},
			"docs 8 missing 0 clusters 5 true 5 | B3 P 0.750 R 0.708 F1 0.729 | pairs P 0.333 P50 0.667 R " +
				"0.250 (1/3/4) | wrong/1000 250.00",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := mustTruth(t, handClusters, handPairs).Score(docs, test.c, nil)
			if got.String() != test.want {
				t.Errorf("\n got %s\nwant %s", got, test.want)
			}
		})
	}
}

func TestRecallAtLevels(t *testing.T) {
	docs := documents("a", "b", "c", "d", "e", "f", "g") // no h: its pair does not count
	got := mustTruth(t, handClusters, handPairs).Score(docs, Clustering{0, 0, 2, 3, 3, 5, 5},
		[]float64{.3, .5, .8, .9, .95}).Levels
	want := []Level{{.3, 4 - 1, 2}, {.5, 3, 2}, {.8, 2, 1}, {.9, 1, 1}, {.95, 0, 0}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if r := got[0].Recall(); r != 2./3 {
		t.Errorf("recall %v, not 2/3", r)
	}
	if r := got[4].Recall(); r != 0 {
		t.Errorf("recall of nothing %v, not 0", r)
	}
}

// Documents of one id are one member, of the last one's cluster, and count twice in B-cubed.
func TestDocumentsOfOneID(t *testing.T) {
	docs := documents("a", "b", "a")
	got := mustTruth(t, "a\tx\nb\tx\n", "").Score(docs, Clustering{0, 1, 1}, nil)
	want := "docs 3 missing 0 clusters 1 true 1 | B3 P 1.000 R 1.000 F1 1.000 | pairs P 1.000 P50 " +
		"1.000 R 1.000 (1/1/1) | wrong/1000 0.00"
	if got.String() != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
	got = mustTruth(t, "a\tx\nb\tx\n", "").Score(docs, Clustering{1, 1, Missing}, nil)
	if got.String() != want {
		t.Errorf("a missing result replaced another:\n got %s\nwant %s", got, want)
	}
	got = mustTruth(t, "a\tx\nb\tx\n", "").Score(docs, Clustering{1, 1, Unclustered}, nil)
	if got.Clusters != 2 || got.Missing != 0 {
		t.Errorf("a result without a cluster did not replace another: %s", got)
	}
}

// What is said of one of several exact copies holds for all of them, as does that they are the
// same. An id that no document has may connect them.
func TestPairsOfExactCopies(t *testing.T) {
	docs := documents("a", "b", "c", "d", "e")
	for _, test := range []struct {
		name, pairs string
		c           Clustering
		want        string
	}{
		{
			"half the same as a copy", "a\tb\t1\nb\tc\t.5\n",
			Clustering{0, 1, 0, 3, 4},
			"P50 1.000 R 0.000 (0/1/0) | wrong/1000 0.00",
		},
		{
			"less than half the same", "a\tb\t1\nb\tc\t.49\n",
			Clustering{0, 1, 0, 3, 4},
			"P50 0.000 R 0.000 (0/1/0) | wrong/1000 400.00",
		},
		{
			"not quite a copy", "a\tb\t.9999\nb\tc\t.5\n",
			Clustering{0, 1, 0, 3, 4},
			"P50 0.000 R 0.000 (0/1/0) | wrong/1000 400.00",
		},
		{
			"copies of one that is no document", "x\ta\t1\nb\tx\t1\nx\tc\t.6\n",
			Clustering{0, 0, 0, 3, 4},
			"P50 1.000 R 0.000 (0/3/0) | wrong/1000 0.00",
		},
		{
			"both have copies", "a\tb\t1\nc\td\t1\na\tc\t.7\na\td\t.3\n",
			Clustering{0, 1, 2, 1, 4},
			"P50 1.000 R 0.000 (0/1/0) | wrong/1000 0.00",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := mustTruth(t, "", test.pairs).Score(docs, test.c, nil).String()
			if !strings.Contains(got, test.want) {
				t.Errorf("\n got %s\nwant %s", got, test.want)
			}
		})
	}
	got := mustTruth(t, "", "a\tb\t1\nb\tc\t1\nc\td\t.6\n").Score(docs, Clustering{0, 1, 0, 0, 4},
		[]float64{.6, 1}).Levels
	if diff := cmp.Diff([]Level{{.6, 6, 3}, {1, 3, 1}}, got); diff != "" {
		t.Error(diff)
	}
}

// In a cluster that is too large to look at each member, none counts as wrong.
func TestTooLargeToCheck(t *testing.T) {
	for _, size := range []int{maxChecked, maxChecked + 1} {
		var ids []string
		c := make(Clustering, size)
		for i := range c {
			ids = append(ids, fmt.Sprint("d", i))
		}
		got := mustTruth(t, "d0\tx\nd1\tx\n", "").Score(documents(ids...), c, nil)
		wrong, half := size-2, 1/float64(size*(size-1)/2)
		if size > maxChecked {
			wrong, half = 0, 0
		}
		if got.Wrong != wrong || got.HalfPrecision != half || got.RightPairs != 1 {
			t.Errorf("%d members: %d wrong, P50 %v, %d right pairs", size, got.Wrong, got.HalfPrecision,
				got.RightPairs)
		}
	}
}

// Scores are what the definitions say, reckoned pair by pair.
func TestScoreByDefinition(t *testing.T) {
	check.OneGoroutine(t)
	for seed := range uint64(300) {
		random := rand.New(rand.NewPCG(seed, 0))
		docs, truth, c := randomCase(random)
		got := truth.Score(docs, c, []float64{.3, .6})
		want := define(docs, truth, c, []float64{.3, .6})
		if diff := cmp.Diff(want, got, cmpopts.EquateApprox(0, 1e-12)); diff != "" {
			t.Fatalf("seed %d: %s", seed, diff)
		}
	}
}

func randomCase(random *rand.Rand) ([]Document, *Truth, Clustering) {
	n := 1 + random.IntN(25)
	docs, c := make([]Document, n), make(Clustering, n)
	for i := range docs {
		docs[i].ID = fmt.Sprint("d", random.IntN(n+5)) // some twice
		c[i] = Missing + random.IntN(2+min(n, 6))
	}
	truth := new(Truth)
	for range random.IntN(n + 1) {
		row := [2]string{fmt.Sprint("d", random.IntN(n+5)), fmt.Sprint("c", random.IntN(4))}
		if random.IntN(4) == 0 {
			row[0], row[1] = row[1], row[0]
		}
		truth.clusters = append(truth.clusters, row)
	}
	for range random.IntN(3 * n) {
		truth.pairs = append(truth.pairs, pair{
			fmt.Sprint("d", random.IntN(n+5)), fmt.Sprint("d", random.IntN(n+5)),
			float64(random.IntN(11)) / 10,
		})
	}
	return docs, truth, c
}

// define reckons the scores from two questions: are two ids together by the truth, and are they by
// the clustering?
func define(docs []Document, truth *Truth, c Clustering, at []float64) Scores {
	isID := make(map[string]bool)
	var ids []string
	for _, d := range docs {
		if !isID[d.ID] {
			isID[d.ID] = true
			ids = append(ids, d.ID)
		}
	}
	cluster, group, result := make(map[string]string), make(map[string]string), make(map[string]bool)
	for _, id := range ids {
		cluster[id], group[id] = "alone "+id, "alone "+id
	}
	for i, d := range docs {
		if c[i] >= 0 {
			cluster[d.ID] = fmt.Sprint(c[i])
		}
		if c[i] == Unclustered {
			cluster[d.ID] = "alone " + d.ID
		}
		result[d.ID] = result[d.ID] || c[i] != Missing
	}
	for _, row := range truth.clusters {
		switch {
		case isID[row[0]]:
			group[row[0]] = row[1]
		case isID[row[1]]:
			group[row[1]] = row[0]
		}
	}
	jaccard := truth.similarity()
	s := Scores{Documents: len(docs), Agreement: agreementOf(ids, cluster, group)}
	clusters, groups := make(map[string]bool), make(map[string]bool)
	half := 0
	s.Levels = make([]Level, len(at))
	for i, level := range at {
		s.Levels[i].Jaccard = level
	}
	for i, x := range ids {
		clusters[cluster[x]], groups[group[x]] = true, true
		mates, alone := 0, true
		for k, y := range ids {
			if x == y {
				continue
			}
			found, right, j := cluster[x] == cluster[y], group[x] == group[y], jaccard(x, y)
			alone = alone && !found
			if found && (right || j >= .5) {
				mates++
			}
			if k < i {
				continue
			}
			s.FoundPairs += one(found)
			s.TruePairs += one(right)
			s.RightPairs += one(found && right)
			half += one(found && (right || j >= .5))
			for l := range s.Levels {
				s.Levels[l].Pairs += one(j >= s.Levels[l].Jaccard)
				s.Levels[l].Found += one(found && j >= s.Levels[l].Jaccard)
			}
		}
		s.Wrong += one(!alone && mates == 0)
	}
	s.Clusters, s.TrueClusters = len(clusters), len(groups)
	for g := range groups {
		members := 0
		for _, y := range ids {
			members += one(group[y] == g)
		}
		s.TrueGroups += one(members > 1)
	}
	var precision, recall float64
	for _, d := range docs {
		s.Missing += one(!result[d.ID])
		found, right, both := 0, 0, 0
		for _, y := range ids {
			found += one(cluster[d.ID] == cluster[y])
			right += one(group[d.ID] == group[y])
			both += one(cluster[d.ID] == cluster[y] && group[d.ID] == group[y])
		}
		precision += float64(both) / float64(found)
		recall += float64(both) / float64(right)
	}
	n := float64(len(docs))
	s.BCubed = harmonic(precision/n, recall/n)
	s.Pairs = harmonic(float64(s.RightPairs)/math.Max(1, float64(s.FoundPairs)),
		float64(s.RightPairs)/math.Max(1, float64(s.TruePairs)))
	s.HalfPrecision = float64(half) / math.Max(1, float64(s.FoundPairs))
	s.WrongPerThousand = 1000 * float64(s.Wrong) / n
	return s
}

// similarity returns what the pairs say of two ids, -1 where it is nothing: 1 of exact copies, and
// of others what is listed of them or of copies of them, the highest.
func (t *Truth) similarity() func(x, y string) float64 {
	listed, copies := make(map[[2]string]float64), make(map[string]map[string]bool)
	for _, p := range t.pairs {
		listed[[2]string{min(p.a, p.b), max(p.a, p.b)}] = p.jaccard // the last line counts
		copies[p.a], copies[p.b] = map[string]bool{p.a: true}, map[string]bool{p.b: true}
	}
	for range copies { // as long as a chain of copies can be
		for p, j := range listed {
			if j == 1 {
				maps.Copy(copies[p[0]], copies[p[1]])
				maps.Copy(copies[p[1]], copies[p[0]])
			}
		}
	}
	return func(x, y string) float64 {
		highest := -1.
		for p, j := range listed {
			a, b := copies[p[0]], copies[p[1]]
			if a[x] && b[y] || a[y] && b[x] {
				highest = max(highest, j)
			}
		}
		if copies[x][y] {
			return 1
		}
		return highest
	}
}

// agreementOf reckons it as [TestAgreementByDefinition] does.
func agreementOf(ids []string, cluster, group map[string]string) Agreement {
	numbers := func(names map[string]string) (all []int) {
		for _, id := range ids {
			all = append(all, slices.IndexFunc(ids, func(other string) bool {
				return names[other] == names[id]
			}))
		}
		return all
	}
	x, y := numbers(group), numbers(cluster)
	return Agreement{randIndex(x, y), information(x, y)}
}

func harmonic(p, r float64) Quality {
	if p == 0 || r == 0 {
		return Quality{p, r, 0}
	}
	return Quality{p, r, 2 / (1/p + 1/r)}
}

func one(yes bool) int {
	if yes {
		return 1
	}
	return 0
}
