package jaccard

import "math/bits"

// An order is one of all hashes, in which the rare ones come first: by class, then by hash. Any
// would do, so it may go by frequencies of the past, and take hashes that fall into the same place
// for one; but with the frequent ones first, every other English text would share some of its
// prefix with a query.
type order struct {
	classes []uint8 // by the low bits of a hash; empty where nothing has been learnt
}

// maxClassified is how many hashes an order tells apart. Its classes take a megabyte.
const maxClassified = 1 << 20

// A rank is the place of a hash in the order.
type rank struct {
	hash  uint64
	class uint8
}

func (r rank) less(s rank) bool {
	return r.class < s.class || r.class == s.class && r.hash < s.hash
}

// learn makes the order that of the frequencies in sets: in classes of up to 1, 3, 7 and so on.
func (o *order) learn(sets func(yield func(Set) bool)) {
	counts := make([]uint32, maxClassified)
	for s := range sets {
		for i := range s.Len() {
			counts[s.at(i)%maxClassified]++
		}
	}
	o.classes = make([]uint8, maxClassified)
	for i, n := range counts {
		o.classes[i] = uint8(bits.Len32(n))
	}
}

func (o *order) class(hash uint64) uint8 {
	if len(o.classes) == 0 {
		return 0
	}
	return o.classes[hash%maxClassified]
}

// first appends the first n hashes of a set, by class but in no order otherwise, and returns the
// rank of the last; n is at least 1 and no more than there are.
func (o *order) first(dst []uint64, s Set, n int) (first []uint64, last rank) {
	var sizes [33]int
	for i := range s.Len() {
		sizes[o.class(s.at(i))]++
	}
	for n > sizes[last.class] {
		n -= sizes[last.class]
		last.class++
	}
	for i := range s.Len() {
		hash := s.at(i)
		class := o.class(hash)
		if class == last.class && n > 0 {
			n--
			last.hash = hash
		} else if class >= last.class {
			continue
		}
		dst = append(dst, hash)
	}
	return dst, last
}
