package overlap

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/clusterd/clusterd/internal/cli/migrate/beside"
	"github.com/clusterd/clusterd/internal/kafka"
	"github.com/clusterd/clusterd/internal/text/printable"
)

// A Window says which articles are compared: those written for so long, or the last so many.
type Window struct {
	For  time.Duration
	Last int64
}

// A Comparison says how the clusters of the new space differ from those of the old one, over the
// articles of which both have a result. The old clusters stand where a truth does.
type Comparison struct {
	Articles int64    `json:"articles"` // that both have
	Old      Division `json:"old"`
	New      Division `json:"new"`
	// Pairs are of articles that are together; BCubed is the mean over articles.
	Pairs  Quality      `json:"pairs"`
	BCubed Quality      `json:"bcubed"`
	Kinds  map[Kind]int `json:"kinds"` // of old clusters
	Splits []Example    `json:"splits"`
	Merges []Example    `json:"merges"`
}

// A Division is the clusters of one space.
type Division struct {
	Clusters int `json:"clusters"`
	// Alone is the share of the articles that are with no other.
	Alone   float64 `json:"alone"`
	Largest int     `json:"largest"`
	// Sizes counts clusters by their sizes.
	Sizes map[string]int `json:"sizes"`
}

// Quality is precision, recall and their harmonic mean.
type Quality struct {
	Precision float64 `json:"precision"`
	Recall    float64 `json:"recall"`
	F1        float64 `json:"f1"`
}

// An Example is a cluster that was split, or into which several were merged.
type Example struct {
	ID    string `json:"id"`
	Title string `json:"title"`
	Parts []Part `json:"parts"`
}

// A Part is a cluster of the other space, and how many articles it has in common.
type Part struct {
	ID       string `json:"id"`
	Title    string `json:"title,omitempty"`
	Articles int    `json:"articles"`
}

// maxParts is how many parts of an example are shown.
const maxParts = 5

// sizes are the classes of sizes, by the largest of each.
var sizes = []struct {
	most int
	name string
}{{1, "1"}, {2, "2"}, {5, "3-5"}, {10, "6-10"}, {100, "11-100"}, {1 << 62, "more"}}

// Compare reads both results topics.
func Compare(ctx context.Context, t beside.Two, window Window, examples int) (Comparison, error) {
	from, since, err := begin(ctx, t, window)
	if err != nil {
		return Comparison{}, err
	}
	j, titles := newJoint(), [2]map[id]string{make(map[id]string), make(map[id]string)}
	for s, space := range []*beside.Space{&t.Old, &t.New} {
		first, end, err := space.Offsets(ctx, space.Output.Topic)
		if err == nil && !since.IsZero() {
			var later map[int]int64
			if later, err = space.At(ctx, space.Output.Topic, since); err == nil {
				first = later
			}
		}
		limit, err2 := t.Limit(ctx) // after the end was listed
		if err := errors.Join(err, err2); err != nil {
			return Comparison{}, err
		}
		err = space.Read(ctx, space.Output.Topic, first, end, func(record *kafka.Record) error {
			r, ok := parse(record, space.Input.Topic)
			p, at := r.source.partition(), r.source.offset()
			if !ok || at < from[p] || side(s) == old && beyond(limit, p, at) {
				return nil
			}
			j.add(side(s), &r)
			if _, known := titles[s][r.cluster]; !known && r.cluster > alone {
				titles[s][r.cluster] = string([]byte(r.title()))
			}
			return nil
		})
		if err != nil {
			return Comparison{}, err
		}
	}
	c := j.compare()
	c.Splits = j.examples(old, examples, titles, t.Old.Input.Topic)
	c.Merges = j.examples(fresh, examples, titles, t.Old.Input.Topic)
	return c, nil
}

// beyond reports whether an article is behind the limit.
func beyond(limit map[int]int64, p int, at int64) bool {
	to, ok := limit[p]
	return ok && at >= to
}

// resultsDelay is how much earlier than its article a result may seem to be written: clocks differ.
const resultsDelay = 10 * time.Minute

// begin returns the first articles of a window, and from when on their results were written, zero
// where that is not known.
func begin(
	ctx context.Context, t beside.Two, window Window,
) (from map[int]int64, since time.Time, err error) {
	topic := t.New.Input.Topic
	if window.For > 0 {
		since = time.Now().Add(-window.For)
		from, err = t.New.At(ctx, topic, since)
		return from, since.Add(-resultsDelay), err
	}
	first, end, err := t.New.Offsets(ctx, topic)
	if err != nil || window.Last == 0 {
		return first, time.Time{}, err
	}
	from = maps.Clone(end)
	for _, s := range []*beside.Space{&t.Old, &t.New} {
		commits, err := s.Commits(ctx, topic)
		if err != nil {
			return nil, since, err
		}
		for p, c := range commits {
			from[p] = min(from[p], max(first[p], c.Offset-window.Last/int64(len(first))))
		}
	}
	to := make(map[int]int64) // behind one article of each partition
	for p, at := range from {
		to[p] = min(at+1, end[p])
	}
	err = t.New.Read(ctx, topic, from, to, func(r *kafka.Record) error {
		if at := r.Time.Add(-resultsDelay); since.IsZero() || at.Before(since) {
			since = at
		}
		return nil
	})
	return from, since, err
}

// compare returns the measures.
func (j *joint) compare() (c Comparison) {
	c.Kinds = make(map[Kind]int)
	var of [2]map[id]int // articles by cluster
	var singles [2]int   // articles in which there is nothing to compare, each a cluster
	of[old], of[fresh] = make(map[id]int), make(map[id]int)
	lone := 0 // of such articles, each side's with any of the other
	j.each(func(row [2]id) {
		c.Articles++
		for s := range of {
			if row[s] == alone {
				singles[s]++
			} else {
				of[s][row[s]]++
			}
		}
		if row[old] == alone && row[fresh] == alone {
			lone++
		}
	})
	var precision, recall float64
	together := 0
	for pair, n := range j.both {
		together += n * (n - 1) / 2
		precision += float64(n) * float64(n) / float64(of[fresh][pair[fresh]])
		recall += float64(n) * float64(n) / float64(of[old][pair[old]])
	}
	// An article that one side has alone is in a cluster of its own there.
	j.each(func(row [2]id) {
		switch {
		case row[old] > alone && row[fresh] > alone:
		case row[old] == row[fresh]:
			precision, recall = precision+1, recall+1
		case row[old] == alone:
			precision, recall = precision+1/float64(of[fresh][row[fresh]]), recall+1
		default:
			precision, recall = precision+1, recall+1/float64(of[old][row[old]])
		}
	})
	c.Old = divide(of[old], singles[old], c.Articles)
	c.New = divide(of[fresh], singles[fresh], c.Articles)
	c.Pairs = quality(share(together, pairsIn(of[fresh])), share(together, pairsIn(of[old])))
	if n := float64(c.Articles); n > 0 {
		c.BCubed = quality(precision/n, recall/n)
	}
	for cluster := range j.of[old] {
		c.Kinds[j.kind(old, cluster)]++
	}
	return c
}

// each calls do with what both sides say of each article that both have.
func (j *joint) each(do func([2]id)) {
	for _, c := range j.articles {
		for _, row := range c.rows {
			if row[old] != none && row[fresh] != none {
				do(row)
			}
		}
	}
}

func divide(clusters map[id]int, singles int, articles int64) Division {
	d := Division{Clusters: len(clusters) + singles, Sizes: make(map[string]int)}
	single := singles
	if singles > 0 {
		d.Largest, d.Sizes[sizes[0].name] = 1, singles
	}
	for _, n := range clusters {
		d.Largest = max(d.Largest, n)
		class := slices.IndexFunc(sizes, func(c struct {
			most int
			name string
		},
		) bool {
			return n <= c.most
		})
		d.Sizes[sizes[class].name]++
		if n == 1 {
			single++
		}
	}
	d.Alone = share(single, int(articles))
	return d
}

func pairsIn(clusters map[id]int) (n int) {
	for _, size := range clusters {
		n += size * (size - 1) / 2
	}
	return n
}

func share(part, whole int) float64 {
	if whole == 0 {
		return 0
	}
	return float64(part) / float64(whole)
}

func quality(precision, recall float64) Quality {
	q := Quality{Precision: precision, Recall: recall}
	if precision+recall > 0 {
		q.F1 = 2 * precision * recall / (precision + recall)
	}
	return q
}

// examples returns the clusters of a side of which the second largest part is the largest.
func (j *joint) examples(s side, n int, titles [2]map[id]string, topic string) []Example {
	type candidate struct {
		cluster id
		parts   []part
	}
	var found []candidate
	for cluster, there := range j.of[s] {
		if len(there) > 1 {
			found = append(found, candidate{cluster, j.parts(s, cluster)})
		}
	}
	slices.SortFunc(found, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.parts[1].articles, a.parts[1].articles),
			cmp.Compare(a.cluster, b.cluster))
	})
	examples := make([]Example, 0, n)
	for _, f := range found[:min(n, len(found))] {
		e := Example{ID: f.cluster.in(topic), Title: titles[s][f.cluster]}
		for _, p := range f.parts[:min(maxParts, len(f.parts))] {
			e.Parts = append(e.Parts, Part{p.cluster.in(topic), titles[s.other()][p.cluster], p.articles})
		}
		examples = append(examples, e)
	}
	return examples
}

// Write writes the comparison for people.
func (c Comparison) Write(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(w, "%d articles\told\tnew\t\n", c.Articles)
	fmt.Fprintf(w, "clusters\t%d\t%d\t\n", c.Old.Clusters, c.New.Clusters)
	fmt.Fprintf(w, "articles alone\t%.1f %%\t%.1f %%\t\n", 100*c.Old.Alone, 100*c.New.Alone)
	fmt.Fprintf(w, "largest cluster\t%d\t%d\t\n", c.Old.Largest, c.New.Largest)
	for _, class := range sizes {
		fmt.Fprintf(w, "clusters of %s\t%d\t%d\t\n", class.name, c.Old.Sizes[class.name],
			c.New.Sizes[class.name])
	}
	fmt.Fprintln(w, "\t\t\t")
	fmt.Fprintln(w, "new against old\tprecision\trecall\tF1\t")
	for _, row := range []struct {
		name string
		Quality
	}{{"pairs", c.Pairs}, {"B-cubed", c.BCubed}} {
		fmt.Fprintf(w, "%s\t%.3f\t%.3f\t%.3f\t\n", row.name, row.Precision, row.Recall, row.F1)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Fprint(out, "\nold clusters:")
	for _, kind := range slices.Sorted(maps.Keys(c.Kinds)) {
		fmt.Fprintf(out, " %d %s", c.Kinds[kind], kind)
	}
	fmt.Fprintln(out)
	for _, list := range []struct {
		what     string
		examples []Example
	}{{"split", c.Splits}, {"merged", c.Merges}} {
		for _, e := range list.examples {
			fmt.Fprintf(out, "\n%s  %s  %s\n", list.what, e.ID, printable.Text(e.Title))
			for _, p := range e.Parts {
				fmt.Fprintf(out, "%8d  %s  %s\n", p.Articles, p.ID, printable.Text(p.Title))
			}
		}
	}
	return nil
}
