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
	rotate int  // left, to bring the block on top
	shift  uint // right, to leave the block alone
}

// permutedCopies is an index for distance d after Manku, Jain and Das Sarma
// ("Detecting Near-Duplicates for Web Crawling", WWW 2007). The 64 bits are cut into
// d+1 blocks. By the pigeonhole principle, fingerprints that differ in at most d
// bits agree in at least one block, so the range of equal blocks in each of the
// d+1 copies holds every centre that counts.
//
// At distance 3 a centre takes some 95 bytes, 16 in each copy with nodes that are seven
// tenths full. Where centres keep coming and going, nodes get emptier for a while, and
// it settles below 110 (BenchmarkMemory).
type permutedCopies struct {
	distance   int
	copies     []permuted
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
		p.copies[i] = permuted{btree.NewG(degree, less), offset, uint(64 - width)}
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
	best := singlepass.NewNearest(p.distance, live)
	var compared uint64
	for i := range p.copies {
		compared += p.scan(i, fingerprint, &best)
		// A centre that is in none of the i+1 ranges scanned differs in i+1 blocks
		// and hence in more than i bits: it can neither beat nor tie such a best.
		if best.Reach() <= i {
			break
		}
	}
	p.candidates.Add(compared)
	return best.Result()
}

func (p *permutedCopies) Candidates() uint64 { return p.candidates.Load() }

func (p *permutedCopies) Len() int { return p.copies[0].tree.Len() }

func (p *permuted) item(c Point) item {
	return item{bits.RotateLeft64(c.Fingerprint, p.rotate), c.Seq}
}

// scan offers every centre whose block in copy i equals that of the fingerprint and
// that no copy before has offered. It returns how many it has compared.
func (p *permutedCopies) scan(i int, fingerprint uint64, best *singlepass.Nearest[Point, int]) (compared uint64) {
	copied := p.copies[i]
	query := bits.RotateLeft64(fingerprint, copied.rotate)
	block := query >> copied.shift
	copied.tree.AscendGreaterOrEqual(item{key: block << copied.shift}, func(it item) bool {
		if it.key>>copied.shift != block {
			return false
		}
		compared++
		// Rotating both leaves the number of bits in which they differ as it is.
		if distance := bits.OnesCount64(it.key ^ query); best.Beaten(it.seq, distance) {
			c := Point{bits.RotateLeft64(it.key, -copied.rotate), it.seq}
			if !p.inRange(i, c.Fingerprint^fingerprint) {
				best.Offer(c, c.Seq, distance)
			}
		}
		return true
	})
	return compared
}

// inRange reports whether a centre that differs from a query in these bits is in the
// range of one of the first n copies. If so it was offered there, and if it beats the
// best of now it beat the best of then: it was not taken because it is not live.
func (p *permutedCopies) inRange(n int, differing uint64) bool {
	for _, copied := range p.copies[:n] {
		if bits.RotateLeft64(differing, copied.rotate)>>copied.shift == 0 {
			return true
		}
	}
	return false
}
