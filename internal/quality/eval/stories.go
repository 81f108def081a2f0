package eval

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/clusterd/clusterd/internal/method"
	"github.com/clusterd/clusterd/internal/story"
	"github.com/clusterd/clusterd/internal/text"
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
	tried := []uint32{0}
	for t := firstStoryThreshold; t <= lastStoryThreshold; t += storyStep {
		tried = append(tried, uint32(t)*10_000)
	}
	var points []StoryPoint
	for _, threshold := range tried {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		o := story.Defaults()
		if threshold > 0 {
			o.Threshold, o.Han = threshold, threshold
		}
		p := storyPoint(docs, decideStories(c, articles, o))
		p.Threshold = float64(threshold) / 1e6
		points = append(points, p)
	}
	return points, nil
}

// storyArticles returns the documents that found clusters as the rule of stories sees them.
func storyArticles(
	ctx context.Context, s method.TextSettings, docs []Document, c Clustering,
) ([]story.Article, error) {
	tokenizer, err := text.New(text.Options{
		CleanOptions: text.CleanOptions{HTML: s.HTML, Extract: s.Extract, Fold: s.Fold},
		Dictionaries: s.Dictionaries, StopWords: s.StopWords,
	})
	if err != nil {
		return nil, fmt.Errorf("words of stories: %w", err)
	}
	counter := tokenizer.NewCounter()
	var words story.Words
	articles := make([]story.Article, len(docs))
	for i := range docs {
		if i%chunk == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if c[i] == i {
			words.Reset()
			counter.Words(docs[i].Title, "", func(t text.Token) { words.Title(t.Word) })
			counter.Words("", docs[i].Content, func(t text.Token) { words.Content(t.Word) })
			articles[i] = story.Article{
				Address: strconv.Itoa(i), Seq: uint64(i), Words: words.Vector(), Han: words.Han(),
			}
		}
	}
	return articles, nil
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

func storyPoint(docs []Document, stories Clustering) (p StoryPoint) {
	var labels, found []int // of labelled documents
	numbers, sizes := make(map[string]int), make(map[int]int)
	largest := 0
	for i := range docs {
		sizes[stories[i]]++
		largest = max(largest, sizes[stories[i]])
		label := docs[i].Label
		if label == "" {
			continue
		}
		if _, known := numbers[label]; !known {
			numbers[label] = len(numbers)
		}
		labels, found = append(labels, numbers[label]), append(found, stories[i])
	}
	of := overlap(labels, found)
	p.Stories, p.Labels, p.Largest = len(of.found), len(of.group), ratio(largest, len(docs))
	p.BCubed, p.CEAFe, p.Agreement = of.bcubed(), of.ceafe(), of.agreement()
	return p
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
