package eval

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Jaccard similarities that decide.
const (
	sameJaccard = .8     // of documents that belong together
	halfJaccard = .5     // of documents that are no mistake together
	copyJaccard = .99995 // of exact copies, to four digits
)

// A Truth says which documents belong together: by clusters, or by pairs with their similarity.
type Truth struct {
	clusters [][2]string // an id and the name of its cluster, in either order
	pairs    []pair
	origin   string
}

type pair struct {
	a, b    string
	jaccard float64
}

// ReadTruth reads tab-separated files. In clusters, a line has a document's id and the name of its
// cluster, or the other way round; a document that is in no line stands alone, and one in
// several belongs to the last. In pairs, a line has two ids and their Jaccard similarity; of
// several lines for a pair, the last counts. Further columns are passed over, as are a first
// column of id, cluster or # (a heading) in clusters, and a third that is no number in pairs.
//
// Pairs may name but one of several exact copies, which are documents that pairs of a similarity of
// 1 (.99995 and more) connect. What is said of one holds for all. Of several similarities between
// two such sets, the highest counts.
//
// One of the two may be nil. Without clusters, they are what pairs of a similarity of
// at least .8 connect.
func ReadTruth(clusters, pairs io.Reader) (*Truth, error) {
	t := new(Truth)
	var origin []string
	if clusters != nil {
		origin = append(origin, "clusters")
		err := eachLine(clusters, 2, func(f []string) {
			if !slices.Contains([]string{"id", "cluster", "#"}, f[0]) {
				t.clusters = append(t.clusters, [2]string{f[0], f[1]})
			}
		})
		if err != nil {
			return nil, fmt.Errorf("clusters: %w", err)
		}
	}
	if pairs != nil {
		origin = append(origin, "pairs")
		err := eachLine(pairs, 3, func(f []string) {
			v, err := strconv.ParseFloat(strings.TrimSpace(f[2]), 64)
			if err == nil && !math.IsNaN(v) {
				t.pairs = append(t.pairs, pair{f[0], f[1], v})
			}
		})
		if err != nil {
			return nil, fmt.Errorf("pairs: %w", err)
		}
	}
	if clusters == nil {
		t.connect()
	}
	t.origin = strings.Join(origin, " and ")
	return t, nil
}

func eachLine(r io.Reader, columns int, do func(fields []string)) error {
	lines := bufio.NewScanner(r)
	for number := 1; lines.Scan(); number++ {
		fields := strings.Split(lines.Text(), "\t")
		if len(fields) < columns {
			return fmt.Errorf("line %d has %d columns, not %d, divided by tabs", number, len(fields),
				columns)
		}
		do(fields)
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		return errors.New("a line has more than 64 KiB")
	}
	return lines.Err()
}

// connect makes clusters of the connected components of the pairs.
func (t *Truth) connect() {
	numbers := make(map[string]int)
	var ids []string
	for _, p := range t.pairs {
		for _, id := range []string{p.a, p.b} {
			if _, known := numbers[id]; !known && p.jaccard >= sameJaccard {
				numbers[id] = len(ids)
				ids = append(ids, id)
			}
		}
	}
	together := NewSets(len(ids))
	for _, p := range t.pairs {
		if p.jaccard >= sameJaccard {
			together.Join(numbers[p.a], numbers[p.b])
		}
	}
	for i, id := range ids {
		t.clusters = append(t.clusters, [2]string{id, ids[together.Of(i)]})
	}
}
