// Package overlap compares the clusters of two spaces: it reads the results of both, and says over
// the articles that both have how far they agree, and which clusters of the one have articles in
// common with which of the other, for a person or as a topic.
package overlap

import (
	"cmp"
	"slices"
)

// A side is one of the two spaces.
type side int

const (
	old side = iota
	fresh
)

func (s side) other() side { return 1 - s }

// A Kind says what became of a cluster.
type Kind string

// What becomes of clusters, by the articles that both spaces have.
const (
	Same   Kind = "same"   // one old and one new cluster have no article with others
	Split  Kind = "split"  // one old cluster is several new ones
	Merged Kind = "merged" // several old clusters are one new one
	Moved  Kind = "moved"  // several old ones and several new ones share articles
)

// A joint is what two spaces say of the same articles. It takes 16 bytes an article and some 200 a
// cluster.
type joint struct {
	articles map[int]*column
	// both counts the articles of an old cluster and a new one, in this order. of has, for each
	// cluster of a side, those of the other side with which it has articles in common.
	both map[[2]id]int
	of   [2]map[id][]id
	// changed are the clusters of each side of which something else is to be said than before.
	changed [2]map[id]bool
}

// A column is the articles of a partition, from an offset on.
type column struct {
	first int64
	rows  [][2]id
}

func newJoint() *joint {
	return &joint{
		articles: make(map[int]*column), both: make(map[[2]id]int),
		of:      [2]map[id][]id{make(map[id][]id), make(map[id][]id)},
		changed: [2]map[id]bool{make(map[id]bool), make(map[id]bool)},
	}
}

// row returns what is known of an article.
func (j *joint) row(source id) *[2]id {
	c, at := j.articles[source.partition()], source.offset()
	if c == nil {
		c = &column{first: at}
		j.articles[source.partition()] = c
	}
	if at < c.first { // another partition of the results was read first
		room := max(c.first-at, min(at, int64(len(c.rows))))
		c.rows = slices.Insert(c.rows, 0, make([][2]id, room)...)
		c.first -= room
	}
	if need := int(at-c.first) + 1; need > len(c.rows) {
		c.rows = slices.Grow(c.rows, need-len(c.rows))[:need]
	}
	return &c.rows[at-c.first]
}

// add takes what one side says of an article. It counts once, however often it is said.
func (j *joint) add(s side, r *result) {
	row := j.row(r.source)
	if row[s] != none {
		return
	}
	row[s] = r.cluster
	if row[old] <= alone || row[fresh] <= alone {
		return
	}
	j.both[*row]++
	if j.both[*row] == 1 {
		for s := range j.of {
			j.of[s][row[s]] = append(j.of[s][row[s]], row[side(s).other()])
		}
		// What those are that one of the two has articles in common with may depend on this.
		for s := range j.of {
			for _, neighbour := range j.of[s][row[s]] {
				j.changed[side(s).other()][neighbour] = true
			}
		}
	}
	j.changed[old][row[old]], j.changed[fresh][row[fresh]] = true, true
}

// kind returns what became of a cluster of a side.
func (j *joint) kind(s side, cluster id) Kind {
	there := j.of[s][cluster]
	back := 0 // clusters of this side that those have articles in common with
	for _, c := range there {
		back = max(back, len(j.of[s.other()][c]))
	}
	several := map[side]Kind{old: Split, fresh: Merged}
	switch {
	case len(there) == 1 && back == 1:
		return Same
	case len(there) > 1 && back == 1:
		return several[s]
	case len(there) == 1:
		return several[s.other()]
	}
	return Moved
}

// A part is a cluster of the other side, and how many articles are in both.
type part struct {
	cluster  id
	articles int
}

// parts returns with which clusters of the other side a cluster has articles in common, those with
// the most first.
func (j *joint) parts(s side, cluster id) (parts []part) {
	for _, c := range j.of[s][cluster] {
		pair := [2]id{cluster, c}
		if s == fresh {
			pair = [2]id{c, cluster}
		}
		parts = append(parts, part{c, j.both[pair]})
	}
	slices.SortFunc(parts, func(a, b part) int {
		return cmp.Or(cmp.Compare(b.articles, a.articles), cmp.Compare(a.cluster, b.cluster))
	})
	return parts
}
