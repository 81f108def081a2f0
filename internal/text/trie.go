package text

import (
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
	cost  float32 // of the word that ends here; the trie itself leaves it 0
	word  uint32  // its number; 0 where none ends
}

// A trieBuilder collects the words of a trie.
type trieBuilder struct {
	codes int // how many there are
	nodes []draft
	path  []uint32 // the nodes of the word that was appended last
}

// A draft is a node that has no place yet.
type draft struct {
	code    uint32
	word    uint32
	base    uint32 // 0 where the children have no places yet
	child   uint32 // the youngest; 0 without any
	sibling uint32 // the next older one; 0 of the eldest
}

// newTrieBuilder returns a builder for words of codes below the given one, with room for
// so many nodes that are no children of the root.
func newTrieBuilder(codes, nodes int) *trieBuilder {
	return &trieBuilder{codes: codes, nodes: make([]draft, codes, codes+nodes)}
}

// add returns the place of the number of a word, which is 0 where the word is new. It is
// valid until the next call. The codes are neither none nor 0.
func (b *trieBuilder) add(codes []uint32) (word *uint32) {
	at := codes[0]
	for _, code := range codes[1:] {
		child := b.nodes[at].child
		for child != 0 && b.nodes[child].code != code {
			child = b.nodes[child].sibling
		}
		if child == 0 {
			child = b.newChild(at, code)
		}
		at = child
	}
	return &b.nodes[at].word
}

// append enters a word that shares its first codes with the word appended before, and of
// which no longer prefix was ever entered. So words in order need no search.
func (b *trieBuilder) append(shared int, codes []uint32, word uint32) {
	b.path = b.path[:shared]
	for _, code := range codes {
		at := code
		if n := len(b.path); n > 0 {
			at = b.newChild(b.path[n-1], code)
		}
		b.path = append(b.path, at)
	}
	b.nodes[b.path[len(b.path)-1]].word = word
}

func (b *trieBuilder) newChild(parent, code uint32) uint32 {
	child := uint32(len(b.nodes))
	b.nodes = append(b.nodes, draft{code: code, sibling: b.nodes[parent].child})
	b.nodes[parent].base, b.nodes[parent].child = 0, child
	return child
}

// build returns the trie. Nodes that have no place get one.
func (b *trieBuilder) build() trie {
	var taken *space
	b.place(func(codes []uint32, from uint32) (first uint32) {
		if taken == nil {
			taken = b.taken()
		}
		return taken.take(codes, from)
	})
	last := uint32(0)
	for _, n := range b.nodes {
		last = max(last, n.base)
	}
	// Every base and code add up to a node, so that a step needs no check of that.
	t := make(trie, int(last)+b.codes)
	places := make([]uint32, len(b.nodes))
	for code := range uint32(b.codes) {
		places[code] = code
	}
	for i, n := range b.nodes { // parents before their children
		at := places[i]
		t[at].base, t[at].word = n.base, n.word
		for child := n.child; child != 0; child = b.nodes[child].sibling {
			places[child] = n.base + b.nodes[child].code
			t[places[child]].check = at
		}
	}
	return t
}

// taken returns which places are taken.
func (b *trieBuilder) taken() *space {
	s := &space{}
	for code := range uint32(b.codes) {
		s.set(code)
	}
	for _, n := range b.nodes {
		for child := n.child; child != 0 && n.base != 0; child = b.nodes[child].sibling {
			s.set(n.base + b.nodes[child].code)
		}
	}
	return s
}

// place finds places for nodes that have none: first for those with most siblings, whose
// places are the hardest to find. Nodes without any fill what is left, so that few stay free.
//
// It calls find with the codes of siblings, and with where to begin to look: at the first
// place found before for as many of them, since fewer may find room where more did not. What
// find returns is the place of the least code.
func (b *trieBuilder) place(find func(codes []uint32, from uint32) (first uint32)) {
	var codes []uint32
	for _, parents := range slices.Backward(b.parents()) {
		from := uint32(b.codes)
		for _, parent := range parents {
			codes = codes[:0]
			for child := b.nodes[parent].child; child != 0; child = b.nodes[child].sibling {
				codes = append(codes, b.nodes[child].code)
			}
			from = find(codes, from)
			b.nodes[parent].base = from - slices.Min(codes)
		}
	}
}

// parents lists the nodes whose children have no place, by how many these are.
func (b *trieBuilder) parents() [][]uint32 {
	var parents [][]uint32
	for i, n := range b.nodes {
		if n.child == 0 || n.base != 0 {
			continue
		}
		children := 0
		for child := n.child; child != 0; child = b.nodes[child].sibling {
			children++
		}
		for children >= len(parents) {
			parents = append(parents, nil)
		}
		parents[children] = append(parents[children], uint32(i))
	}
	return parents
}

// space knows which places of a trie are taken: a bit each, beyond the last none.
type space struct{ taken []uint64 }

// take finds free places for codes that have the same base, the first of them at from or
// after it. It takes them and returns the first.
func (s *space) take(codes []uint32, from uint32) (first uint32) {
	least := slices.Min(codes)
	base := from - least
	for {
		var taken uint64 // bit i: base+i does not do
		for _, code := range codes {
			if taken |= s.window(base + code); taken == ^uint64(0) {
				break
			}
		}
		if taken != ^uint64(0) {
			base += uint32(bits.TrailingZeros64(^taken))
			break
		}
		base += 64
	}
	for _, code := range codes {
		s.set(base + code)
	}
	return base + least
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
