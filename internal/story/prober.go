package story

// A prober multiplies one vector with many: it looks each of their terms up in a small hash table.
// A merge of two sorted lists would branch at each step in a way that no processor can foresee;
// here nearly all terms miss.
type prober struct {
	table  [probeSlots]probed
	vector Vector // that is in the table; if it is too large for that, the table is empty
}

// probeSlots is how many places the table has, and probeMost how many terms go into it.
const (
	probeBits  = 9
	probeSlots = 1 << probeBits
	probeMost  = probeSlots / 4
)

type probed struct {
	term   uint32
	weight uint32 // 0: there is no term here
}

// placeOf returns where a term is looked for first: by Fibonacci hashing (Knuth, The Art of
// Computer Programming, 6.4).
func placeOf(term uint32) uint32 { return term * 0x9E3779B1 >> (32 - probeBits) }

// set makes a vector the one that others are multiplied with.
func (p *prober) set(v Vector) {
	p.vector = v
	clear(p.table[:])
	if v.Len() > probeMost {
		return
	}
	for term, weight := range v.All() {
		at := placeOf(term)
		for p.table[at].weight != 0 {
			at = (at + 1) % probeSlots
		}
		p.table[at] = probed{term, uint32(weight)}
	}
}

// dot returns the scalar product with the vector that was set.
func (p *prober) dot(w Vector) (sum uint64) {
	if p.vector.Len() > probeMost {
		return p.vector.dot(w)
	}
	for ; len(w) >= entrySize; w = w[entrySize:] {
		term := uint32(w[0])<<24 | uint32(w[1])<<16 | uint32(w[2])<<8 | uint32(w[3])
		for at := placeOf(term); p.table[at].weight != 0; at = (at + 1) % probeSlots {
			if p.table[at].term == term {
				sum += uint64(p.table[at].weight) * (uint64(w[4])<<8 | uint64(w[5]))
				break
			}
		}
	}
	return sum
}
