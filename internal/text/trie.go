package text

import (
	"cmp"
	"math/bits"
	"slices"
)

// A trie holds words, each a sequence of codes, as a double array (Aoe 1989): the child of
// node n by code c is node base(n)+c, provided that its check is n. The children of the
// root stand in front, node c for code c. No child has code 0.
type trie []node

// node is 16 bytes, so that a step touches one cache line.
type node struct {
	base  uint32  // where the children begin; 0 without any
	check uint32  // the parent; 0 of what is free and of the root's children
	cost  float32 // of the word that ends here
	word  uint32  // its number; 0 where none ends
}

// A trieBuilder collects the words of a trie.
type trieBuilder struct {
	codes int // how many there are
	nodes []draft
	edges map[edge]uint32 // to the children, but for those of the root
}

// draft is a node that has no place yet.
type draft struct {
	edge
	cost float32
	word uint32
}

type edge struct{ parent, code uint32 }

// newTrieBuilder returns a builder for words of codes below the given one, with room for
// so many children.
func newTrieBuilder(codes, children int) *trieBuilder {
	return &trieBuilder{
		codes: codes,
		nodes: make([]draft, codes, codes+children),
		edges: make(map[edge]uint32, children),
	}
}

// add enters a word. Its codes are neither none nor 0, its number is not 0.
func (b *trieBuilder) add(codes []uint32, word uint32, cost float32) {
	at := codes[0]
	for _, code := range codes[1:] {
		e := edge{at, code}
		child, ok := b.edges[e]
		if !ok {
			child = uint32(len(b.nodes))
			b.nodes = append(b.nodes, draft{edge: e})
			b.edges[e] = child
		}
		at = child
	}
	b.nodes[at].cost, b.nodes[at].word = cost, word
}

// build places the nodes: first those with most children, whose places are the
// hardest to find. Nodes with one child fill what is left, so that few stay free.
func (b *trieBuilder) build() trie {
	b.edges = nil
	families := b.families()
	slices.SortFunc(families, func(x, y []uint32) int { return cmp.Compare(len(y), len(x)) })

	bases := make([]uint32, len(b.nodes))
	places := make([]uint32, len(b.nodes))
	taken := &space{}
	for code := range uint32(b.codes) {
		places[code] = code
		taken.set(code)
	}
	var labels []uint32
	for i, children := range families {
		if i > 0 && len(children) < len(families[i-1]) {
			taken.from = 0 // fewer may find room where more did not
		}
		labels = labels[:0]
		for _, child := range children {
			labels = append(labels, b.nodes[child].code)
		}
		base := taken.take(labels)
		bases[b.nodes[children[0]].parent] = base
		for i, child := range children {
			places[child] = base + labels[i]
		}
	}

	// Every base and code add up to a node, so that a step needs no check of that.
	t := make(trie, int(slices.Max(bases))+b.codes)
	for i, n := range b.nodes {
		t[places[i]] = node{base: bases[i], cost: n.cost, word: n.word}
		if i >= b.codes {
			t[places[i]].check = places[n.parent]
		}
	}
	return t
}

// families lists the children of each node that has any.
func (b *trieBuilder) families() [][]uint32 {
	ends := make([]uint32, len(b.nodes)+1) // of a node's children among all
	for _, n := range b.nodes[b.codes:] {
		ends[n.parent+1]++
	}
	count := 0
	for i := range b.nodes {
		if ends[i+1] > 0 {
			count++
		}
		ends[i+1] += ends[i]
	}
	children := make([]uint32, len(b.nodes)-b.codes)
	next := slices.Clone(ends)
	for i := b.codes; i < len(b.nodes); i++ {
		parent := b.nodes[i].parent
		children[next[parent]] = uint32(i)
		next[parent]++
	}
	families := make([][]uint32, 0, count)
	for i := range b.nodes {
		if ends[i] < ends[i+1] {
			families = append(families, children[ends[i]:ends[i+1]])
		}
	}
	return families
}

// space knows which places of a trie are taken: a bit each, beyond the last none.
type space struct {
	taken []uint64
	from  uint32 // where the search begins
}

// take finds a base for which the places base + label are free, and takes them. The
// next search goes on there, unless from is set back.
func (s *space) take(labels []uint32) (base uint32) {
	least := slices.Min(labels)
	base = max(s.from, least) - least
	for {
		var taken uint64 // bit i: base+i does not do
		for _, label := range labels {
			if taken |= s.window(base + label); taken == ^uint64(0) {
				break
			}
		}
		if taken != ^uint64(0) {
			base += uint32(bits.TrailingZeros64(^taken))
			break
		}
		base += 64
	}
	for _, label := range labels {
		s.set(base + label)
	}
	s.from = base + least
	return base
}

// window returns the bits of the 64 places from at on.
func (s *space) window(at uint32) (taken uint64) {
	i, shift := int(at/64), at%64
	if i < len(s.taken) {
		taken = s.taken[i] >> shift
	}
	if i+1 < len(s.taken) {
		taken |= s.taken[i+1] << (64 - shift) // none of them where shift is 0
	}
	return taken
}

func (s *space) set(at uint32) {
	i := int(at / 64)
	if i >= len(s.taken) {
		s.taken = append(s.taken, make([]uint64, i+1-len(s.taken))...)
	}
	s.taken[i] |= 1 << (at % 64)
}
