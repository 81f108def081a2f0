package demo

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/clusterd/clusterd/internal/cli"
	"github.com/clusterd/clusterd/internal/text/printable"
)

// A known cluster is one as its last result had it.
type known struct {
	founder, says string
	size          int
	reported      bool // it is to be labelled
}

// largest are clusters by id: the largest ones, of very many.
type largest map[string]known

const (
	rememberedClusters = 10_000
	shownClusters      = 5
)

// see takes a cluster over, and forgets the smallest where there are too many.
func (l largest) see(id string, c known) {
	c.reported = l[id].reported
	l[id] = c
	for size := 1; len(l) > rememberedClusters; size++ {
		maps.DeleteFunc(l, func(_ string, c known) bool { return c.size <= size })
	}
}

// text returns a table of the largest, within a width; nothing where there is none.
func (l largest) text(width int) string {
	if len(l) == 0 {
		return ""
	}
	ids := slices.SortedFunc(maps.Keys(l), func(a, b string) int {
		return cmp.Or(l[b].size-l[a].size, strings.Compare(a, b))
	})
	var b strings.Builder
	b.WriteString("\nThe largest clusters, by articles:\n")
	for _, id := range ids[:min(len(ids), shownClusters)] {
		line := fmt.Sprintf("%5d  %-5s %s", l[id].size, l[id].founder, l[id].says)
		b.WriteString(cli.Fit(printable.Text(line), width-1) + "\n")
	}
	return b.String()
}
