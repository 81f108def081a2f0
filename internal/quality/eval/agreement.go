package eval

import (
	"maps"
	"math"
	"slices"
)

// An Agreement is how far two ways to divide the same documents agree: clusters, and the clusters
// or labels that are true. A document alone is a cluster of one. Of no documents, both are 0.
type Agreement struct {
	// ARI is the adjusted Rand index, by Hubert and Arabie, Comparing Partitions (1985): 1 if both are
	// the same, 0 on average where documents are divided at random. It may be less.
	ARI float64 `json:"ari"`
	// NMI is the mutual information, divided by the arithmetic mean of both entropies: NMI_sum of
	// Vinh, Epps and Bailey, Information Theoretic Measures for Clusterings Comparison (2010). It is
	// 1 if both are the same, 0 if they are independent. It is not adjusted for chance: many small
	// clusters have a high one.
	NMI float64 `json:"nmi"`
}

// agreement returns that of what overlaps.
func (o Overlaps) agreement() Agreement {
	n := 0
	for _, size := range o.Group {
		n += size
	}
	if n == 0 {
		return Agreement{}
	}
	a := Agreement{ARI: 1, NMI: 1}
	both, group, found := PairsIn(o.Both), PairsIn(o.Group), PairsIn(o.Found)
	if both != group || both != found { // else they are the same
		expected := float64(group) * float64(found) / (float64(n) * float64(n-1) / 2)
		a.ARI = (float64(both) - expected) / (float64(group+found)/2 - expected)
	}
	h := entropy(o.Group, n) + entropy(o.Found, n)
	if h > 0 { // else both are one cluster
		mutual := h - entropy(o.Both, n)
		a.NMI = min(1, max(0, 2*mutual/h)) // what rounding leaves outside
	}
	return a
}

// entropy returns that of n documents which are divided into parts of these sizes, in nats. It adds
// in the order of the sizes, so that it is the same each time.
func entropy[K comparable](sizes map[K]int, n int) (h float64) {
	for _, size := range slices.Sorted(maps.Values(sizes)) {
		p := float64(size) / float64(n)
		h -= p * math.Log(p)
	}
	return h
}
