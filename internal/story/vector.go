package story

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"math"
	"math/bits"
	"slices"
)

// A Vector is terms with their weights: of an article how much it says each word, of a story what
// its articles add up to. Memory and messages hold the same bytes. They are, for each term, the
// 32 bits of the term and the 16 bits of its weight, most significant first. Terms ascend, and no
// weight is 0. The empty Vector has no terms.
type Vector string

const (
	termBytes = 4
	entrySize = termBytes + 2
	maxWeight = math.MaxUint16
)

// maxEntries is how many terms a Vector may have that comes from outside.
const maxEntries = 4096

// ParseVector checks what another process wrote.
func ParseVector(wire []byte) (Vector, error) {
	if len(wire)%entrySize != 0 || len(wire) > maxEntries*entrySize {
		return "", fmt.Errorf("a vector of %d bytes: want a multiple of %d, at most %d",
			len(wire), entrySize, maxEntries*entrySize)
	}
	v := Vector(wire)
	for i := range v.Len() {
		if v.weight(i) == 0 {
			return "", errors.New("a vector with a term of weight 0")
		}
		if i > 0 && v.term(i) <= v.term(i-1) {
			return "", errors.New("a vector whose terms do not ascend")
		}
	}
	return v, nil
}

// Len returns how many terms there are.
func (v Vector) Len() int { return len(v) / entrySize }

func (v Vector) term(i int) uint32 {
	e := v[i*entrySize : i*entrySize+termBytes]
	return uint32(e[0])<<24 | uint32(e[1])<<16 | uint32(e[2])<<8 | uint32(e[3])
}

func (v Vector) weight(i int) uint64 {
	e := v[i*entrySize+termBytes : (i+1)*entrySize]
	return uint64(e[0])<<8 | uint64(e[1])
}

// All yields the terms in ascending order, with their weights.
func (v Vector) All() iter.Seq2[uint32, uint64] {
	return func(yield func(uint32, uint64) bool) {
		for i := range v.Len() {
			if !yield(v.term(i), v.weight(i)) {
				return
			}
		}
	}
}

// has reports whether a term is among those of v.
func (v Vector) has(term uint32) bool { return v.of(term) > 0 }

// of returns the weight of a term, 0 for one that v does not have.
func (v Vector) of(term uint32) uint64 {
	from, to := 0, v.Len()
	for from < to {
		middle := (from + to) / 2
		if v.term(middle) < term {
			from = middle + 1
		} else {
			to = middle
		}
	}
	if from == v.Len() || v.term(from) != term {
		return 0
	}
	return v.weight(from)
}

// weighted is a term while a Vector is made.
type weighted struct {
	term   uint32
	weight uint64
}

// vectorOf returns those terms that weigh the most, at most so many; of equal ones the smaller
// term first. Weights that do not fit are halved, all of them, until they do, and what is 0
// then is left out. It changes the order of terms.
func vectorOf(terms []weighted, most int) Vector {
	terms = heaviest(terms, most)
	byTerm := func(a, b weighted) int { return cmp.Compare(a.term, b.term) }
	if !slices.IsSortedFunc(terms, byTerm) {
		slices.SortFunc(terms, byTerm)
	}
	halvings := 0
	for _, t := range terms {
		halvings = max(halvings, bits.Len64(t.weight)-bits.Len16(maxWeight))
	}
	wire := make([]byte, 0, len(terms)*entrySize)
	for _, t := range terms {
		if w := t.weight >> halvings; w > 0 {
			wire = appendEntry(wire, t.term, w)
		}
	}
	return Vector(wire)
}

func appendEntry(wire []byte, term uint32, weight uint64) []byte {
	return append(wire, byte(term>>24), byte(term>>16), byte(term>>8), byte(term),
		byte(weight>>8), byte(weight))
}

// plus returns the sum of two vectors, by its heaviest terms. It appends to scratch.
func (v Vector) plus(w Vector, most int, scratch []weighted) Vector {
	sum := scratch[:0]
	i, k := 0, 0
	for i < v.Len() || k < w.Len() {
		switch {
		case k == w.Len() || i < v.Len() && v.term(i) < w.term(k):
			sum = append(sum, weighted{v.term(i), v.weight(i)})
			i++
		case i == v.Len() || w.term(k) < v.term(i):
			sum = append(sum, weighted{w.term(k), w.weight(k)})
			k++
		default:
			sum = append(sum, weighted{v.term(i), v.weight(i) + w.weight(k)})
			i++
			k++
		}
	}
	return vectorOf(sum, most)
}

// minus returns the difference of two vectors, without the terms where it is not above 0. It
// appends to scratch.
func (v Vector) minus(w Vector, scratch []weighted) Vector {
	rest := scratch[:0]
	for term, weight := range v.All() {
		if off := w.of(term); off < weight {
			rest = append(rest, weighted{term, weight - off})
		}
	}
	return vectorOf(rest, len(rest))
}

// dot returns the scalar product.
func (v Vector) dot(w Vector) (sum uint64) {
	n, m := v.Len(), w.Len()
	if n == 0 || m == 0 {
		return 0
	}
	i, k := 0, 0
	for a, b := v.term(0), w.term(0); ; {
		switch {
		case a < b:
			if i++; i == n {
				return sum
			}
			a = v.term(i)
		case a > b:
			if k++; k == m {
				return sum
			}
			b = w.term(k)
		default:
			sum += v.weight(i) * w.weight(k)
			i++
			k++
			if i == n || k == m {
				return sum
			}
			a, b = v.term(i), w.term(k)
		}
	}
}

// square returns the scalar product of v with itself.
func (v Vector) square() uint64 { return v.dot(v) }

// million is the similarity of what is the same.
const million = 1_000_000

// cosine returns dot/sqrt(a·b) in millionths, rounded down, where a and b are the squares of
// two vectors and dot is their scalar product; 0 where one of them is empty. No product of
// vectors of up to [maxEntries] terms overflows: dot is below 2^44, and so dot²·10^12 / (a·b),
// which is no more than 10^12, is reckoned in 128 bits.
func cosine(dot, a, b uint64) uint32 {
	if dot == 0 {
		return 0
	}
	// The squares are brought below 2^32, so that their product fits. As much is taken off dot.
	shift := 0
	for product, _ := bits.Mul64(a, b); product != 0; product, _ = bits.Mul64(a, b) {
		a, b = a>>1, b>>1
		shift++
	}
	dot >>= shift
	d := min(dot, math.MaxUint32)
	high, low := bits.Mul64(d*d, million*million)
	divisor := a * b
	if high >= divisor {
		return million
	}
	quotient, _ := bits.Div64(high, low, divisor)
	return uint32(min(root(quotient), million))
}

// root returns the square root, rounded down.
func root(x uint64) uint64 {
	r := uint64(math.Sqrt(float64(x))) // at most 2^32, and off where float64 cannot hold x
	for r > 0 && (r > math.MaxUint32 || r*r > x) {
		r--
	}
	for r < math.MaxUint32 && (r+1)*(r+1) <= x {
		r++
	}
	return r
}
