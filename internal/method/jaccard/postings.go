package jaccard

// postings says in which sets a hash is, each known by its slot. It holds no pointers
// that the garbage collector would follow; one takes some 45 bytes where most hashes are in
// one set.
type postings struct {
	heads map[uint64]uint32 // by hash: the first node of its chain
	nodes []node            // the first one is not used
	free  uint32            // the first of a chain of nodes out of use
}

type node struct{ slot, next uint32 } // a next of 0 ends the chain

func newPostings() postings {
	return postings{heads: make(map[uint64]uint32), nodes: make([]node, 1)}
}

func (p *postings) add(hash uint64, slot uint32) {
	at := p.free
	if at == 0 {
		at = uint32(len(p.nodes))
		p.nodes = append(p.nodes, node{})
	} else {
		p.free = p.nodes[at].next
	}
	p.nodes[at] = node{slot, p.heads[hash]}
	p.heads[hash] = at
}

// remove takes out what was added once.
func (p *postings) remove(hash uint64, slot uint32) {
	head := p.heads[hash]
	link := &head
	for p.nodes[*link].slot != slot {
		link = &p.nodes[*link].next
	}
	at := *link
	*link = p.nodes[at].next
	p.nodes[at].next, p.free = p.free, at
	if head == 0 {
		delete(p.heads, hash)
	} else {
		p.heads[hash] = head
	}
}
