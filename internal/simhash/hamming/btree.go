package hamming

import (
	"math/bits"
	"sync/atomic"

	"github.com/google/btree"

	"github.com/clusterd/clusterd/internal/singlepass"
)

// degree gives nodes of up to 255 items of 16 bytes. BenchmarkNearest,
// BenchmarkInsertRemove and BenchmarkMemory set it: larger nodes cost insertions more
// than they spare queries, smaller ones take more memory when centres come and go.
const degree = 128

// An item is a centre in one of the copies: its fingerprint rotated, and its Seq.
type item struct{ key, seq uint64 }

func less(a, b item) bool { return a.key < b.key || a.key == b.key && a.seq < b.seq }

// A permuted is one sorted copy of all centres. A fingerprint is rotated left so
// that one block of its bits comes on top: the centres whose block equals that of a
// query are then a contiguous range.
type permuted struct {
	tree   *btree.BTreeG[item]
	rotate int // left, to bring the block on top
}

// permutedCopies is an index for distance d after Manku, Jain and Das Sarma
// ("Detecting Near-Duplicates for Web Crawling", WWW 2007). The 64 bits are cut into
// d+1 blocks. By the pigeonhole principle, fingerprints that differ in at most d
// bits agree in at least one block, so the range of equal blocks in each of the
// d+1 copies holds every centre that counts.
//
// More than that is known: in at least one copy, the first k blocks differ in fewer than k
// bits, for every k (Qin and Xiao, "Pigeonring", VLDB 2018, by the cycle lemma of Dvoretzky
// and Motzkin). A centre is offered in the first such copy. Where very many share a block, a
// query goes through those alone whose next block differs in one bit at most, and so on. So
// the centres that it is compared with are bounded, whatever their fingerprints are.
//
// At distance 3 a centre takes some 95 bytes, 16 in each copy with nodes that are seven
// tenths full. Where centres keep coming and going, nodes get emptier for a while, and
// it settles below 110 (BenchmarkMemory).
type permutedCopies struct {
	distance   int
	copies     []permuted
	widths     []int // of the blocks
	candidates atomic.Uint64
}

// NewBTree returns an empty index of distance+1 permuted copies of the centres in
// B-trees. The distance must be 0 to [MaxDistance], which [NewIndex] checks.
func NewBTree(distance int) Index {
	blocks := distance + 1
	p := &permutedCopies{distance: distance, copies: make([]permuted, blocks)}
	offset := 0
	for i := range p.copies {
		width := 64 / blocks
		if i < 64%blocks {
			width++
		}
		p.copies[i] = permuted{btree.NewG(degree, less), offset}
		p.widths = append(p.widths, width)
		offset += width
	}
	return p
}

func (p *permutedCopies) Insert(c Point) {
	for _, copied := range p.copies {
		copied.tree.ReplaceOrInsert(copied.item(c))
	}
}

func (p *permutedCopies) Remove(c Point) bool {
	var there bool
	for _, copied := range p.copies {
		_, there = copied.tree.Delete(copied.item(c))
	}
	return there
}

func (p *permutedCopies) Nearest(fingerprint uint64, live func(Point) bool) (Point, int, bool) {
	s := scan{
		permutedCopies: p, fingerprint: fingerprint, best: singlepass.NewNearest(p.distance, live),
	}
	for i := range p.copies {
		s.copy, s.query = i, bits.RotateLeft64(fingerprint, p.copies[i].rotate)
		s.blocks(0, 64, s.query, 0)
		// Of d+1 copies, all but as many as it differs in bits would do for a centre. One that
		// none of i+1 has offered differs in more than i: it can neither beat nor tie such a best.
		if s.best.Cutoff() <= i {
			break
		}
	}
	p.candidates.Add(s.compared)
	return s.best.Result()
}

func (p *permutedCopies) Candidates() uint64 { return p.candidates.Load() }

func (p *permutedCopies) Len() int { return p.copies[0].tree.Len() }

func (p *permuted) item(c Point) item {
	return item{bits.RotateLeft64(c.Fingerprint, p.rotate), c.Seq}
}

// many is how many centres of a range a query is compared with before it divides the range: about
// as many as cost as much as to find its parts. BenchmarkCrowdedBlock sets it.
const many = 1024

// A scan is a query on its way through the copies.
type scan struct {
	*permutedCopies
	fingerprint uint64
	copy        int
	query       uint64 // the fingerprint, rotated as in the copy
	best        singlepass.Nearest[Point, int]
	compared    uint64
}

// blocks goes through the centres of a copy the first n blocks of which, all but the rest bits of a
// key, are those of the key, which differs from the query in so many bits.
func (s *scan) blocks(n, rest int, key uint64, differing int) {
	if n > 0 && s.through(key, rest) {
		return
	}
	width := s.widths[(s.copy+n)%len(s.widths)]
	rest -= width
	for more := 0; differing+more <= min(n, s.best.Cutoff()); more++ {
		for flip := uint64(1)<<more - 1; flip>>width == 0; flip = nextSubset(flip) {
			s.blocks(n+1, rest, key^flip<<rest, differing+more)
			if flip == 0 {
				break
			}
		}
	}
}

// through offers the centres whose keys are this one but for the rest bits, and reports whether
// there are no more than a few, or they are all the same: then the first live one is the oldest.
func (s *scan) through(key uint64, rest int) (all bool) {
	all, seen := true, 0
	end := key | (1<<rest - 1)
	s.copies[s.copy].tree.AscendGreaterOrEqual(item{key: key &^ (1<<rest - 1)}, func(it item) bool {
		if it.key > end {
			return false
		}
		if seen++; seen > many && rest > 0 {
			all = false
			return false
		}
		s.offer(it)
		return rest > 0 || s.best.Beaten(it.seq, bits.OnesCount64(it.key^s.query))
	})
	s.compared += uint64(seen)
	return all
}

func (s *scan) offer(it item) {
	// Rotating both leaves the number of bits in which they differ as it is.
	if distance := bits.OnesCount64(it.key ^ s.query); s.best.Beaten(it.seq, distance) {
		c := Point{bits.RotateLeft64(it.key, -s.copies[s.copy].rotate), it.seq}
		if s.turn(c.Fingerprint^s.fingerprint) == s.copy {
			s.best.Offer(c, c.Seq, distance)
		}
	}
}

// turn returns the first copy in which the first k blocks of what differs have fewer than k bits,
// for every k.
func (p *permutedCopies) turn(differing uint64) (copied int) {
	for ; copied < len(p.copies); copied++ {
		rotated, spent, n := bits.RotateLeft64(differing, p.copies[copied].rotate), 0, 0
		for ; n < len(p.widths); n++ {
			width := p.widths[(copied+n)%len(p.widths)]
			if spent += bits.OnesCount64(rotated >> (64 - width)); spent > n {
				break
			}
			rotated <<= width
		}
		if n == len(p.widths) {
			break
		}
	}
	return copied
}
