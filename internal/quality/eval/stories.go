package eval

import (
	"cmp"
	"context"
	"iter"
	"maps"
	"slices"
	"strconv"

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

// Stories decides stories over clusters of documents, and measures them.
type Stories struct {
	docs     []Document
	clusters Clustering
	articles []story.Article // of documents that found a cluster
}

// Stories returns the stories over clusters of the documents. Its words are those of the variant's
// configuration. The error is that of the configuration or of the context.
func (p *Prepared) Stories(ctx context.Context, c Clustering) (*Stories, error) {
	newCounter, err := words.New(p.config.MethodSettings().Text)
	if err != nil {
		return nil, err
	}
	counter := newCounter()
	s := &Stories{p.docs, c, make([]story.Article, len(p.docs))}
	for i := range p.docs {
		if i%chunk == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if c[i] == i {
			said := counter.Count(p.docs[i].Title, p.docs[i].Content)
			s.articles[i] = story.Article{
				Address: strconv.Itoa(i), Seq: uint64(i), Words: said.Vector, Han: said.Han,
			}
		}
	}
	return s, nil
}

// curve decides with the default thresholds and with others, one after the other.
func (s *Stories) curve(ctx context.Context) ([]StoryPoint, error) {
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
		p := s.point(s.Decide(o))
		p.Threshold = float64(threshold) / 1e6
		points = append(points, p)
	}
	return points, nil
}

// Decide returns the story of each document, by the document that founded its first cluster. One
// that is in no cluster is alone. Stories that became part of others are those.
func (s *Stories) Decide(o story.Options) Clustering {
	stories, into := make(Clustering, len(s.clusters)), make(map[int]int)
	space := story.New(o)
	number := func(address string) int {
		n, _ := strconv.Atoi(address) // it is one of those below
		return n
	}
	for i, cluster := range s.clusters {
		switch {
		case cluster < 0:
			stories[i] = len(s.clusters) + i
		case cluster == i:
			d := space.Assign(s.articles[i])
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

// Founders yields the documents that found clusters, in order, as the rule of stories sees them.
func (s *Stories) Founders() iter.Seq2[int, story.Article] {
	return func(yield func(int, story.Article) bool) {
		for i, cluster := range s.clusters {
			if cluster == i && !yield(i, s.articles[i]) {
				return
			}
		}
	}
}

// Han reports whether a mostly Chinese text founded the cluster of a document.
func (s *Stories) Han(document int) bool {
	cluster := s.clusters[document]
	return cluster >= 0 && s.articles[cluster].Han
}

func (s *Stories) point(stories Clustering) (p StoryPoint) {
	sizes, largest := make(map[int]int), 0
	for _, story := range stories {
		sizes[story]++
		largest = max(largest, sizes[story])
	}
	of := overlapLabels(s.docs, stories, func(int) bool { return true })
	p.Stories, p.Labels, p.Largest = len(of.Found), len(of.Group), ratio(largest, len(s.docs))
	p.BCubed, p.CEAFe, p.Agreement = of.bcubed(), of.ceafe(), of.agreement()
	p.Han = s.BCubed(stories, s.Han)
	p.Other = s.BCubed(stories, func(i int) bool { return !s.Han(i) })
	return p
}

// BCubed measures stories by the labels of those documents that count; nil where these have none.
func (s *Stories) BCubed(stories Clustering, counts func(document int) bool) *Quality {
	of := overlapLabels(s.docs, stories, counts)
	if len(of.Group) == 0 {
		return nil
	}
	q := of.bcubed()
	return &q
}

// bcubed returns the measure of [Truth.Score] of what overlaps.
func (o Overlaps) bcubed() Quality {
	var precision, recall, n float64
	keys := slices.SortedFunc(maps.Keys(o.Both), func(a, b [2]int) int {
		return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1]))
	})
	for _, key := range keys { // in order, so that the sums are the same each time
		both := float64(o.Both[key])
		n += both
		precision += both * both / float64(o.Found[key[1]])
		recall += both * both / float64(o.Group[key[0]])
	}
	if n == 0 {
		return Quality{}
	}
	return quality(precision/n, recall/n)
}

// maxCells is how many pairs of a story and a label CEAFe weighs: some seconds of work.
const maxCells = 1 << 21

// ceafe returns the measure of [StoryPoint], nil where there are too many of both.
func (o Overlaps) ceafe() *Quality {
	if len(o.Group)*len(o.Found) > maxCells {
		return nil
	}
	if len(o.Both) == 0 {
		return &Quality{}
	}
	rows, columns := slices.Sorted(maps.Keys(o.Group)), slices.Sorted(maps.Keys(o.Found))
	alike := func(r, c int) float64 {
		both := o.Both[[2]int{rows[r], columns[c]}]
		return 2 * float64(both) / float64(o.Group[rows[r]]+o.Found[columns[c]])
	}
	n, m := len(rows), len(columns)
	if n > m {
		straight := alike
		n, m, alike = m, n, func(r, c int) float64 { return straight(c, r) }
	}
	sum := 0.0
	for r, c := range bestPairs(n, m, alike) {
		sum += alike(r, c)
	}
	q := quality(sum/float64(len(columns)), sum/float64(len(rows)))
	return &q
}
