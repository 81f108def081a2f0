package eval

import (
	"cmp"
	"context"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/clusterd/clusterd/internal/method"
	"github.com/clusterd/clusterd/internal/story"
	"github.com/clusterd/clusterd/internal/story/words"
)

// A StoryPoint is how far stories over the clusters agree with the labels of documents, with a
// threshold of stories. A document without a label is left out.
type StoryPoint struct {
	// Threshold is the least similarity of an article to a story, whatever its language, and 0 for the
	// rule as [story.Defaults] has it.
	Threshold float64 `json:"threshold"`
	Stories   int     `json:"stories"` // those of a labelled document
	Labels    int     `json:"labels"`
	Largest   float64 `json:"largest"` // share of all documents, labelled or not, in the largest story
	BCubed    Quality `json:"bcubed"`
	// Han is BCubed among documents whose cluster was founded by a mostly Chinese text, and Other
	// among the rest: each has a threshold of its own. They are absent where no such document has a
	// label.
	Han   *Quality `json:"bcubed_han,omitempty"`
	Other *Quality `json:"bcubed_other,omitempty"`
	// CEAFe pairs stories and labels one to one, such that the sum of 2·|both|/(|story|+|label|) is
	// largest, and divides it by the stories (precision) and by the labels (recall): Luo, On
	// Coreference Resolution Performance Metrics (2005). It is absent where there are too many.
	CEAFe     *Quality `json:"ceafe,omitempty"`
	Agreement          // of documents
}

// What thresholds are tried beside the default, in hundredths of a similarity.
const (
	firstStoryThreshold = 10
	lastStoryThreshold  = 40
	storyStep           = 2
)

// storiesOf decides the stories of clusters with several thresholds, and measures them by labels.
func storiesOf(
	ctx context.Context, settings method.TextSettings, docs []Document, c Clustering,
) ([]StoryPoint, error) {
	articles, err := storyArticles(ctx, settings, docs, c)
	if err != nil {
		return nil, err
	}
	han := func(i int) bool { return c[i] >= 0 && articles[c[i]].Han }
	var points []StoryPoint
	for t := 0; t <= lastStoryThreshold; t = max(firstStoryThreshold, t+storyStep) {
		o := story.Defaults()
		if t > 0 {
			o.Threshold, o.Han = uint32(t)*10_000, uint32(t)*10_000
		}
		p := storyPoint(docs, decideStories(c, articles, o), han)
		p.Threshold = float64(t) / 100
		points = append(points, p)
	}
	return points, ctx.Err()
}

// storyArticles returns the documents that found clusters as the rule of stories sees them.
func storyArticles(
	ctx context.Context, s method.TextSettings, docs []Document, c Clustering,
) ([]story.Article, error) {
	newCounter, err := words.New(s)
	if err != nil {
		return nil, err
	}
	counter := newCounter()
	articles := make([]story.Article, len(docs))
	for i := range docs {
		if c[i] == i && ctx.Err() == nil {
			said := counter.Count(docs[i].Title, docs[i].Content)
			articles[i] = story.Article{
				Address: strconv.Itoa(i), Seq: uint64(i), Words: said.Vector, Han: said.Han,
			}
		}
	}
	return articles, ctx.Err()
}

// decideStories returns the story of each document, by the document that founded its first cluster.
// One that is in no cluster is alone. Stories that became part of others are those.
func decideStories(c Clustering, articles []story.Article, o story.Options) Clustering {
	stories, into := make(Clustering, len(c)), make(map[int]int)
	space := story.New(o)
	number := func(address string) int {
		n, _ := strconv.Atoi(address) // it is one of those below
		return n
	}
	for i, cluster := range c {
		switch {
		case cluster < 0:
			stories[i] = len(c) + i
		case cluster == i:
			d := space.Assign(articles[i])
			space.Seal()
			space.Commit()
			stories[i] = number(d.Story)
			if d.Merged != "" {
				into[number(d.Merged)] = stories[i]
			}
		default:
			stories[i] = stories[cluster]
		}
	}
	for i := range stories {
		for other, merged := into[stories[i]]; merged; other, merged = into[stories[i]] {
			stories[i] = other
		}
	}
	return stories
}

// storyPoint measures stories, where han says of a document whether a mostly Chinese text founded
// its cluster.
func storyPoint(docs []Document, stories Clustering, han func(i int) bool) (p StoryPoint) {
	sizes, largest := make(map[int]int), 0
	for _, s := range stories {
		sizes[s]++
		largest = max(largest, sizes[s])
	}
	of := storyOverlaps(docs, stories, func(int) bool { return true })
	p.Stories, p.Labels, p.Largest = len(of.found), len(of.group), ratio(largest, len(docs))
	p.BCubed, p.CEAFe, p.Agreement = of.bcubed(), of.ceafe(), of.agreement()
	among := func(chinese bool) *Quality {
		o := storyOverlaps(docs, stories, func(i int) bool { return han(i) == chinese })
		if len(o.group) == 0 {
			return nil
		}
		return new(o.bcubed())
	}
	p.Han, p.Other = among(true), among(false)
	return p
}

// storyOverlaps returns how labels and stories overlap, of those documents with a label that are
// among the ones that count.
func storyOverlaps(docs []Document, stories Clustering, counts func(i int) bool) overlaps {
	var labels, found []int
	numbers := make(map[string]int)
	for i := range docs {
		label := docs[i].Label
		if label == "" || !counts(i) {
			continue
		}
		if _, known := numbers[label]; !known {
			numbers[label] = len(numbers)
		}
		labels, found = append(labels, numbers[label]), append(found, stories[i])
	}
	return overlap(labels, found)
}

// bcubed returns the measure of [Truth.Score] of what overlaps.
func (o overlaps) bcubed() Quality {
	var precision, recall, n float64
	keys := slices.SortedFunc(maps.Keys(o.both), func(a, b [2]int) int {
		return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1]))
	})
	for _, key := range keys { // in order, so that the sums are the same each time
		both := float64(o.both[key])
		n += both
		precision += both * both / float64(o.found[key[1]])
		recall += both * both / float64(o.group[key[0]])
	}
	if n == 0 {
		return Quality{}
	}
	return quality(precision/n, recall/n)
}

// maxCells is how many pairs of a story and a label CEAFe weighs: some seconds of work.
const maxCells = 1 << 21

// ceafe returns the measure of [StoryPoint], nil where there are too many of both.
func (o overlaps) ceafe() *Quality {
	if len(o.group)*len(o.found) > maxCells {
		return nil
	}
	if len(o.both) == 0 {
		return &Quality{}
	}
	rows, columns := slices.Sorted(maps.Keys(o.group)), slices.Sorted(maps.Keys(o.found))
	alike := func(r, c int) float64 {
		both := o.both[[2]int{rows[r], columns[c]}]
		return 2 * float64(both) / float64(o.group[rows[r]]+o.found[columns[c]])
	}
	n, m := len(rows), len(columns)
	if n > m {
		straight := alike
		n, m, alike = m, n, func(r, c int) float64 { return straight(c, r) }
	}
	sum := 0.0
	for r, c := range assignment(n, m, alike) {
		sum += alike(r, c)
	}
	q := quality(sum/float64(len(columns)), sum/float64(len(rows)))
	return &q
}

// assignment gives each of n rows a column of its own, of m, at least n, such that the sum of what
// they are worth is largest: the Hungarian method (Kuhn, 1955) with potentials, in O(n²·m).
func assignment(n, m int, worth func(row, column int) float64) []int {
	rowPotential, columnPotential := make([]float64, n+1), make([]float64, m+1)
	row, way := make([]int, m+1), make([]int, m+1) // of a column, from 1 on; 0 is none
	for r := 1; r <= n; r++ {
		row[0] = r
		at := 0
		least, used := slices.Repeat([]float64{math.Inf(1)}, m+1), make([]bool, m+1)
		for row[at] != 0 {
			used[at] = true
			from, delta, next := row[at], math.Inf(1), 0
			for c := 1; c <= m; c++ {
				if used[c] {
					continue
				}
				if cost := -worth(from-1, c-1) - rowPotential[from] - columnPotential[c]; cost < least[c] {
					least[c], way[c] = cost, at
				}
				if least[c] < delta {
					delta, next = least[c], c
				}
			}
			for c := range used {
				if used[c] {
					rowPotential[row[c]] += delta
					columnPotential[c] -= delta
				} else {
					least[c] -= delta
				}
			}
			at = next
		}
		for at != 0 {
			row[at] = row[way[at]]
			at = way[at]
		}
	}
	columns := make([]int, n)
	for c := 1; c <= m; c++ {
		if row[c] > 0 {
			columns[row[c]-1] = c - 1
		}
	}
	return columns
}
