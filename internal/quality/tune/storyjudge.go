package tune

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/clusterd/clusterd/internal/quality/eval"
	"github.com/clusterd/clusterd/internal/story"
)

// halved reports whether a unit, a label or a story, is in half h.
func halved(unit, h uint64) bool {
	return rand.NewPCG(unit, h).Uint64()>>63 == 0
}

// A labelJudge measures stories by B-cubed F1 against the labels of documents of one kind.
type labelJudge struct {
	documents []eval.Document
	over      *eval.Stories
	han       bool
	numbers   map[string]uint64 // of labels
	several   int               // labels of two founders and more
}

func newLabelJudge(
	documents []eval.Document, over *eval.Stories, founders []int, han bool,
) *labelJudge {
	j := &labelJudge{documents, over, han, make(map[string]uint64), 0}
	clusters := make(map[string]int)
	for _, document := range founders {
		if label := documents[document].Label; label != "" {
			if clusters[label]++; clusters[label] == 2 {
				j.several++
			}
		}
	}
	for i := range documents {
		if _, known := j.numbers[documents[i].Label]; !known {
			j.numbers[documents[i].Label] = uint64(len(j.numbers))
		}
	}
	return j
}

func (j *labelJudge) all(stories eval.Clustering) float64 {
	return j.among(stories, func(string) bool { return true })
}

func (j *labelJudge) half(stories eval.Clustering, h uint64) float64 {
	return j.among(stories, func(label string) bool { return halved(j.numbers[label], h) })
}

// among measures the documents whose labels are in.
func (j *labelJudge) among(stories eval.Clustering, in func(label string) bool) float64 {
	q := j.over.BCubed(stories, func(i int) bool {
		return j.over.Han(i) == j.han && in(j.documents[i].Label)
	})
	if q == nil {
		return 0
	}
	return q.F1
}

// maxSilhouettes is how many founders have their silhouette measured, evenly taken from all.
const maxSilhouettes = 2000

// A silhouette measures stories without labels, by how much nearer founders are to the others of
// their story than to the next story: Rousseeuw, Silhouettes (1987), with centroids in place of
// mean distances. A founder that is alone counts 0.
type silhouette struct {
	founders []int
	vectors  [][]part
	terms    int
	sampled  []int // of founders
	groups   []int // of sampled founders: their story as configured

	last    []float64 // of the stories measured last
	lastFor eval.Clustering
}

// part is a term, by its number, of a vector of length 1.
type part struct {
	term   int
	weight float64
}

// storyPrior is how many texts without any of the words document frequencies begin with, as in
// stories.
const storyPrior = 10_000

func newSilhouette(
	founders []int, articles []story.Article, configured eval.Clustering, most int,
) *silhouette {
	s := &silhouette{founders: founders}
	numbers := make(map[uint32]int)
	var frequency []int
	for _, a := range articles {
		for term := range a.Words.All() {
			n, known := numbers[term]
			if !known {
				n = len(frequency)
				numbers[term], frequency = n, append(frequency, 0)
			}
			frequency[n]++
		}
	}
	s.terms = len(frequency)
	for _, a := range articles {
		var v []part
		for term, weight := range a.Words.All() {
			n := numbers[term]
			idf := math.Log(float64(len(articles)+storyPrior+1) / float64(frequency[n]+1))
			v = append(v, part{n, float64(weight) * idf})
		}
		slices.SortFunc(v, func(a, b part) int {
			return cmp.Or(cmp.Compare(b.weight, a.weight), cmp.Compare(a.term, b.term))
		})
		v = v[:min(len(v), most)]
		square := 0.
		for _, p := range v {
			square += p.weight * p.weight
		}
		for i := range v {
			v[i].weight /= math.Sqrt(square)
		}
		s.vectors = append(s.vectors, v)
	}
	n := min(len(founders), maxSilhouettes)
	for i := range n {
		at := i * len(founders) / n
		s.sampled, s.groups = append(s.sampled, at), append(s.groups, configured[founders[at]])
	}
	return s
}

func (s *silhouette) all(stories eval.Clustering) float64 {
	return s.mean(stories, func(int) bool { return true })
}

func (s *silhouette) half(stories eval.Clustering, h uint64) float64 {
	return s.mean(stories, func(i int) bool { return halved(uint64(s.groups[i]), h) })
}

// mean returns that of the sampled founders that are in, 0 of none.
func (s *silhouette) mean(stories eval.Clustering, in func(sampled int) bool) float64 {
	if len(s.lastFor) == 0 || &s.lastFor[0] != &stories[0] {
		s.last, s.lastFor = s.of(stories), stories
	}
	sum, n := 0., 0
	for i, value := range s.last {
		if in(i) {
			sum, n = sum+value, n+1
		}
	}
	return sum / float64(max(1, n))
}

// inStory is what a term weighs in a story, the sum of its founders.
type inStory struct {
	story  int
	weight float64
}

// of returns the silhouettes of the sampled founders.
func (s *silhouette) of(stories eval.Clustering) []float64 {
	own, members := s.group(stories)
	terms, squares := s.sums(members)
	shared, met := make([]float64, len(members)), []int(nil)
	var values []float64
	for _, at := range s.sampled {
		for _, p := range s.vectors[at] {
			for _, in := range terms[p.term] {
				if shared[in.story] == 0 {
					met = append(met, in.story)
				}
				shared[in.story] += p.weight * in.weight
			}
		}
		next := 0.
		for _, other := range met {
			if other != own[at] {
				next = max(next, shared[other]/math.Sqrt(squares[other]))
			}
		}
		value := 0.
		if len(members[own[at]]) > 1 {
			rest := shared[own[at]] - 1 // without itself
			square := squares[own[at]] - 2*rest - 1
			value = silhouetteOf(rest/math.Sqrt(max(1e-9, square)), next)
		}
		values = append(values, value)
		for _, story := range met {
			shared[story] = 0
		}
		met = met[:0]
	}
	return values
}

// silhouetteOf returns the one of a founder by its similarity to the rest of its story and to the
// next one: from -1 to 1, and 0 where both are the same.
func silhouetteOf(rest, next float64) float64 {
	near, far := max(0, 1-rest), max(0, 1-next)
	if far == near {
		return 0
	}
	return (far - near) / max(far, near)
}

// group returns the number of each founder's story, and the founders of each.
func (s *silhouette) group(stories eval.Clustering) (own []int, members [][]int) {
	numbers := make(map[int]int)
	for at, document := range s.founders {
		n, known := numbers[stories[document]]
		if !known {
			n = len(members)
			numbers[stories[document]], members = n, append(members, nil)
		}
		members[n] = append(members[n], at)
		own = append(own, n)
	}
	return own, members
}

// sums returns the stories that have each term, and the square of each story's length.
func (s *silhouette) sums(members [][]int) (terms [][]inStory, squares []float64) {
	terms, squares = make([][]inStory, s.terms), make([]float64, len(members))
	sum, seen := make([]float64, s.terms), []int(nil)
	for story, of := range members {
		for _, at := range of {
			for _, p := range s.vectors[at] {
				if sum[p.term] == 0 {
					seen = append(seen, p.term)
				}
				sum[p.term] += p.weight
			}
		}
		for _, term := range seen {
			terms[term] = append(terms[term], inStory{story, sum[term]})
			squares[story] += sum[term] * sum[term]
			sum[term] = 0
		}
		seen = seen[:0]
	}
	return terms, squares
}
