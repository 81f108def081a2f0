package hamming

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"sync"
)

// BulkLoad sorts the centres for each copy and inserts them in an order that is kind to
// the caches and to the B-tree. Two copies are loaded at a time, one from the argument
// and the other from a clone of it, which is all the memory that is needed beside the
// index.
func (p *permutedCopies) BulkLoad(centres []Point) {
	var wg sync.WaitGroup
	for first, buffer := range [][]Point{centres, slices.Clone(centres)} {
		wg.Go(func() {
			for i := first; i < len(p.copies); i += 2 {
				p.copies[i].load(buffer)
			}
		})
	}
	wg.Wait()
}

// load inserts the centres, in two rounds. Inserted in ascending order alone, they
// would leave every leaf half full, since a full one is split in its middle and its
// lower half never filled again. So the first round makes these leaves, and the second
// puts between them what they shall hold beside.
//
// That differs from leaf to leaf, as it does after random insertion. If all were
// equally full, later insertions would fill and split them all at about the same time,
// after which they would take half as much memory again.
func (p *permuted) load(centres []Point) {
	slices.SortFunc(centres, func(a, b Point) int {
		x, y := p.item(a), p.item(b)
		if x.key == y.key {
			return cmp.Compare(x.seq, y.seq)
		}
		return cmp.Compare(x.key, y.key)
	})
	eachLeaf(centres, func(leaf []Point) { p.insert(leaf[:min(degree, len(leaf))]) })
	eachLeaf(centres, func(leaf []Point) { p.insert(leaf[min(degree, len(leaf)):]) })
}

func (p *permuted) insert(centres []Point) {
	for _, c := range centres {
		p.tree.ReplaceOrInsert(p.item(c))
	}
}

// eachLeaf cuts the centres into stretches of degree to 2*degree, the same ones every time.
// Their sizes are distributed as random insertion leaves those of leaves: with a
// density that falls with the square of the size, so that as many leaves grow to a
// size as grow past it.
func eachLeaf(centres []Point, do func(leaf []Point)) {
	r := rand.New(rand.NewPCG(0, 0))
	for len(centres) > 0 {
		size := min(int(2*degree/(1+r.Float64())), len(centres))
		do(centres[:size])
		centres = centres[size:]
	}
}
