package simhash

import "math"

// A tally counts, bit by bit, in how many hashes of tokens of one weight the bit
// is set. The 64 counters are the bytes of eight words, so that eight additions
// count a hash.
type tally struct {
	weight int64
	ones   [8]uint64 // byte i of ones[k] counts bit 8i+k
}

// maxTokens is how many tokens a counter has room for.
const maxTokens = math.MaxUint8

func (t *tally) add(hash uint64) {
	const lowBits = 0x0101010101010101 // of each byte
	t.ones[0] += hash & lowBits
	t.ones[1] += hash >> 1 & lowBits
	t.ones[2] += hash >> 2 & lowBits
	t.ones[3] += hash >> 3 & lowBits
	t.ones[4] += hash >> 4 & lowBits
	t.ones[5] += hash >> 5 & lowBits
	t.ones[6] += hash >> 6 & lowBits
	t.ones[7] += hash >> 7 & lowBits
}

// moveTo adds to each bit's sum what the tokens in whose hashes it is set weigh,
// and empties the tally.
func (t *tally) moveTo(sums *[64]int64) {
	if t.weight != 0 { // else it was never used
		for k, ones := range &t.ones {
			for bit := k; bit < len(sums); bit += 8 {
				sums[bit] += t.weight * int64(ones&math.MaxUint8)
				ones >>= 8
			}
		}
	}
	*t = tally{}
}

// tallies has room for more weights than most texts have. Each weight has one
// place, which it shares with others.
type tallies [1 << placeBits]tally

const placeBits = 5

// of returns the tally of a weight. What another weight left in its place goes
// to sums.
func (t *tallies) of(weight int64, sums *[64]int64) *tally {
	// A factor of fmix64. Under it the log weights of small counts differ in place.
	at := &t[uint64(weight)*0xff51afd7ed558ccd>>(64-placeBits)]
	if at.weight != weight {
		at.moveTo(sums)
		at.weight = weight
	}
	return at
}

func (t *tallies) moveTo(sums *[64]int64) {
	for i := range t {
		t[i].moveTo(sums)
	}
}
