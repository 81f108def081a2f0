package model

import (
	"cmp"
	"encoding/binary"
	"errors"
	"maps"
	"math/big"
	"math/bits"
	"slices"
)

// Terms are words by their numbers, with their weights: of an article, or what those of a story add
// up to.
type Terms map[uint32]uint64

const (
	termSize  = 4 + 2     // bytes of a term and its weight in a message
	maxTerm   = 1<<16 - 1 // the largest weight
	prior     = 10_000    // stories without any of the words, with which the rarity of words begins
	unit      = 1024      // length of the terms of an article
	fraction  = 8         // binary digits of a logarithm behind the point
	millionth = 1_000_000
)

// ParseTerms reads what messages have: for each term 32 bits, and the 16 of its weight.
func ParseTerms(wire string) (Terms, error) {
	if len(wire)%termSize != 0 {
		return nil, errors.New("terms that are cut off")
	}
	t := make(Terms)
	for rest := []byte(wire); len(rest) > 0; rest = rest[termSize:] {
		t[binary.BigEndian.Uint32(rest)] = uint64(binary.BigEndian.Uint16(rest[4:]))
	}
	return t, nil
}

// Wire returns the terms as messages have them, ascending.
func (t Terms) Wire() string {
	wire := make([]byte, 0, len(t)*termSize)
	for _, term := range slices.Sorted(maps.Keys(t)) {
		wire = binary.BigEndian.AppendUint32(wire, term)
		wire = binary.BigEndian.AppendUint16(wire, uint16(t[term]))
	}
	return string(wire)
}

// heaviest returns the heaviest terms, at most so many; of equal ones those with smaller numbers.
func (t Terms) heaviest(most int) Terms {
	order := slices.SortedFunc(maps.Keys(t), func(a, b uint32) int {
		return cmp.Or(cmp.Compare(t[b], t[a]), cmp.Compare(a, b))
	})
	kept := make(Terms)
	for _, term := range order[:min(most, len(order))] {
		if t[term] > 0 {
			kept[term] = t[term]
		}
	}
	return kept
}

// halved halves all weights until they fit, and leaves out what is 0 then.
func (t Terms) halved() Terms {
	large := func(weight uint64) bool { return weight > maxTerm }
	for slices.ContainsFunc(slices.Collect(maps.Values(t)), large) {
		for term := range t {
			if t[term] /= 2; t[term] == 0 {
				delete(t, term)
			}
		}
	}
	return t
}

func (t Terms) plus(other Terms) Terms {
	sum := maps.Clone(t)
	if sum == nil {
		sum = make(Terms)
	}
	for term, weight := range other {
		sum[term] += weight
	}
	return sum
}

// minus leaves out terms that have no weight then.
func (t Terms) minus(other Terms) Terms {
	rest := make(Terms)
	for term, weight := range t {
		if weight > other[term] {
			rest[term] = weight - other[term]
		}
	}
	return rest
}

// dot returns the scalar product.
func (t Terms) dot(other Terms) (sum uint64) {
	for term, weight := range t {
		sum += weight * other[term]
	}
	return sum
}

// weigh returns the terms of an article: the frequency of a word times the logarithm of how rare it
// is among the stories, brought to one length.
func (m *Stories) weigh(words Terms) Terms {
	all := make(Terms)
	for term, frequency := range words {
		most, having := log2(uint64(m.live+prior+1)), log2(uint64(len(m.with[term])+1))
		if most > having {
			all[term] = frequency * (most - having)
		}
	}
	kept := all.heaviest(m.rule.ArticleTerms)
	length := max(1, root(kept.dot(kept)))
	for term, weight := range kept {
		if kept[term] = (weight*unit + length/2) / length; kept[term] == 0 {
			delete(kept, term)
		}
	}
	return kept
}

// cosine returns the similarity in millionths, rounded down. Where the product of the squares has
// more than 64 bits, both lose as many of their last bits as it takes, and so does the scalar
// product.
func cosine(a, b Terms) uint32 {
	dot, x, y := a.dot(b), a.dot(a), b.dot(b)
	if dot == 0 {
		return 0
	}
	shift := 0
	for high, _ := bits.Mul64(x>>shift, y>>shift); high > 0; high, _ = bits.Mul64(x>>shift, y>>shift) {
		shift++
	}
	number := func(n uint64) *big.Int { return new(big.Int).SetUint64(n >> shift) }
	square := new(big.Int).Mul(number(dot), number(dot))
	square.Mul(square, big.NewInt(millionth*millionth))
	square.Div(square, new(big.Int).Mul(number(x), number(y)))
	return uint32(min(square.Sqrt(square).Uint64(), millionth))
}

// root returns the square root, rounded down.
func root(n uint64) uint64 {
	square := new(big.Int).SetUint64(n)
	return square.Sqrt(square).Uint64()
}

// log2 returns the logarithm of n, from 1 on, in units of 1/256: of its mantissa, cut to 32 bits,
// each squaring says one digit more.
func log2(n uint64) uint64 {
	exponent := uint64(bits.Len64(n) - 1)
	mantissa := n << (63 - exponent) >> 32
	for range fraction {
		mantissa = mantissa * mantissa >> 31
		exponent *= 2
		if mantissa>>32 > 0 {
			exponent++
			mantissa /= 2
		}
	}
	return exponent
}
