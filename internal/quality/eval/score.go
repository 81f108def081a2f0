package eval

import "fmt"

// A Clustering has for each document the number of its cluster, which is the number of the document
// that founded it, or one of the negative values.
type Clustering []int

const (
	// Unclustered is a document in which there is nothing to compare: it stands alone.
	Unclustered = -1
	// Missing is a document without a result: it stands alone, too.
	Missing = -2
)

// maxChecked is how many members a cluster may have for its members to be checked one by one.
// Beyond, none of it counts as wrong, and none of its pairs as half the same.
const maxChecked = 2000

// Scores are the measures of a clustering against a truth. They are what the measuring script of
// the truths computes, to the last digit, with its corners: documents of the same id are one member
// of a cluster (of the last one's result), but count in B-cubed as often as they occur; nothing
// found, or nothing to find, makes a share of 0; see [maxChecked]. What the truth's pairs say of
// one document holds for its exact copies, too, see [ReadTruth].
type Scores struct {
	Documents    int     `json:"documents"`
	Missing      int     `json:"missing"`       // without a result
	Clusters     int     `json:"clusters"`      // found, those of one document included
	TrueClusters int     `json:"true_clusters"` // likewise
	TrueGroups   int     `json:"true_groups"`   // of these, those of two documents and more
	BCubed       Quality `json:"bcubed"`
	Pairs        Quality `json:"pairs"`
	Agreement            // of members

	// RightPairs of FoundPairs pairs within a cluster are among the TruePairs within a true cluster.
	RightPairs int `json:"right_pairs"`
	FoundPairs int `json:"found_pairs"`
	TruePairs  int `json:"true_pairs"`

	// HalfPrecision is the share of the found pairs that are true or have a Jaccard similarity of at
	// least .5. Without pairs in the truth, none has one.
	HalfPrecision float64 `json:"half_precision"`
	// Wrong counts members of found clusters of two or more that have no such pair with any other
	// member.
	Wrong            int     `json:"wrong"`
	WrongPerThousand float64 `json:"wrong_per_thousand"` // documents

	Levels []Level `json:"levels,omitempty"`
}

// Quality is precision, recall and their harmonic mean.
type Quality struct {
	Precision float64 `json:"precision"`
	Recall    float64 `json:"recall"`
	F1        float64 `json:"f1"`
}

func quality(precision, recall float64) Quality {
	q := Quality{Precision: precision, Recall: recall}
	if precision+recall > 0 {
		q.F1 = 2 * precision * recall / (precision + recall)
	}
	return q
}

// A Level is the recall of the truth's pairs of a Jaccard similarity of at least so much, those of
// exact copies included.
type Level struct {
	Jaccard float64 `json:"jaccard"`
	Pairs   int     `json:"pairs"`
	Found   int     `json:"found"` // of these, in one cluster
}

// Recall returns the share that was found.
func (l Level) Recall() float64 { return ratio(l.Found, l.Pairs) }

// String returns the line that the measuring script prints.
func (s Scores) String() string {
	return fmt.Sprintf("docs %d missing %d clusters %d true %d | B3 P %.3f R %.3f F1 %.3f | "+
		"pairs P %.3f P50 %.3f R %.3f (%d/%d/%d) | wrong/1000 %.2f",
		s.Documents, s.Missing, s.Clusters, s.TrueClusters,
		s.BCubed.Precision, s.BCubed.Recall, s.BCubed.F1,
		s.Pairs.Precision, s.HalfPrecision, s.Pairs.Recall,
		s.RightPairs, s.FoundPairs, s.TruePairs, s.WrongPerThousand)
}

// Score returns the measures of a clustering of the documents, and the recall at each Jaccard
// level.
//
// B-cubed is by Bagga and Baldwin (1998): the mean, over documents, of the share of a document's
// cluster that belongs to its true cluster (precision), and the other way round (recall).
func (t *Truth) Score(docs []Document, c Clustering, at []float64) Scores {
	return score(t.resolve(docs), c, at)
}

func score(b resolved, c Clustering, at []float64) Scores {
	s := Scores{Documents: len(b.member)}
	found, has := membersOf(b, c)
	for _, m := range b.member {
		if !has[m] {
			s.Missing++
		}
	}
	of := Overlap(b.group, found)
	s.Clusters, s.TrueClusters = len(of.Found), len(of.Group)
	for _, size := range of.Group {
		if size > 1 {
			s.TrueGroups++
		}
	}
	var precision, recall float64
	for _, m := range b.member {
		both := float64(of.Both[[2]int{b.group[m], found[m]}])
		precision += both / float64(of.Found[found[m]])
		recall += both / float64(of.Group[b.group[m]])
	}
	if n := float64(s.Documents); n > 0 {
		s.BCubed = quality(precision/n, recall/n)
	}
	s.RightPairs, s.FoundPairs, s.TruePairs = PairsIn(of.Both), PairsIn(of.Found), PairsIn(of.Group)
	s.Pairs = quality(ratio(s.RightPairs, s.FoundPairs), ratio(s.RightPairs, s.TruePairs))
	s.Agreement = of.agreement()
	s.mates(b, found, of)
	for _, level := range at {
		s.Levels = append(s.Levels, levelOf(b, found, level))
	}
	return s
}

// membersOf returns the cluster of each member, which for one that stands alone is its own, and
// whether it has a result.
func membersOf(b resolved, c Clustering) (found []int, has []bool) {
	found, has = make([]int, len(b.group)), make([]bool, len(b.group))
	for m := range found {
		found[m] = len(c) + m
	}
	for i, m := range b.member {
		switch cluster := c[b.documents[i]]; cluster {
		case Missing:
		case Unclustered:
			found[m], has[m] = len(c)+m, true
		default:
			found[m], has[m] = cluster, true
		}
	}
	return found, has
}

// Overlaps counts members: of each true cluster, of each found one, and of each two.
type Overlaps struct {
	Group, Found map[int]int
	Both         map[[2]int]int
}

// Overlap returns how true and found clusters overlap. It takes the numbers of both for each
// member.
func Overlap(group, found []int) Overlaps {
	of := Overlaps{make(map[int]int), make(map[int]int), make(map[[2]int]int)}
	for m := range group {
		of.Group[group[m]]++
		of.Found[found[m]]++
		of.Both[[2]int{group[m], found[m]}]++
	}
	return of
}

// PairsIn returns how many pairs groups of these sizes have.
func PairsIn[K comparable](sizes map[K]int) (n int) {
	for _, size := range sizes {
		n += size * (size - 1) / 2
	}
	return n
}

// mates counts the found pairs that are no mistake, and the members that are in none of them.
func (s *Scores) mates(b resolved, found []int, of Overlaps) {
	half := 0
	for key, size := range of.Both {
		if of.Found[key[1]] <= maxChecked {
			half += size * (size - 1) / 2
		}
	}
	cells := b.cells(found)
	mated := make(map[cell]bool)
	b.similarities(func(x, y int, jaccard float64) {
		if jaccard < halfJaccard {
			return
		}
		cells.meet(x, y, func(c, d cell, pairs int) {
			if c.group != d.group && of.Found[c.cluster] <= maxChecked {
				mated[c], mated[d] = true, true
				half += pairs
			}
		})
	})
	for m, cluster := range found {
		size := of.Found[cluster]
		if size >= 2 && size <= maxChecked && !mated[cell{b.copies[m], cluster, b.group[m]}] &&
			of.Both[[2]int{b.group[m], cluster}] < 2 {
			s.Wrong++
		}
	}
	s.HalfPrecision = ratio(half, s.FoundPairs)
	s.WrongPerThousand = ratio(1000*s.Wrong, s.Documents)
}

func levelOf(b resolved, found []int, jaccard float64) Level {
	l := Level{Jaccard: jaccard}
	cells := b.cells(found)
	b.similarities(func(x, y int, j float64) {
		if j < jaccard {
			return
		}
		if x == y {
			l.Pairs += b.sizes[x] * (b.sizes[x] - 1) / 2
		} else {
			l.Pairs += b.sizes[x] * b.sizes[y]
		}
		cells.meet(x, y, func(_, _ cell, pairs int) { l.Found += pairs })
	})
	return l
}
