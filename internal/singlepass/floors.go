package singlepass

import "math"

const (
	// floorSeqs is how many Seqs share a floor.
	floorSeqs = 512
	// maxFloors is how many floors there are before the older half of them goes: at most 512 KiB.
	maxFloors = 1 << 16
)

// floors say when no centre was last seen earlier, of so many Seqs each: a floor is the earliest
// event time of those that founded. While it has not expired, none of these centres has, and nobody
// needs to be asked for one. A centre is never last seen before its founder was.
type floors struct {
	seqs  uint64  // of each
	first uint64  // of those before, nothing is known
	at    []int64 // math.MaxInt64 where nothing was founded yet
}

// lower notes that a centre that comes, or one that counts as seen at another time than before, was
// last seen then or later.
func (f *floors) lower(seq uint64, at int64) {
	of := seq / f.seqs
	if of < f.first {
		return
	}
	if of-f.first >= uint64(len(f.at))+maxFloors {
		f.first, f.at = of, nil
	}
	for of-f.first >= uint64(len(f.at)) {
		f.at = append(f.at, math.MaxInt64)
	}
	f.at[of-f.first] = min(f.at[of-f.first], at)
	if len(f.at) > maxFloors {
		n := copy(f.at, f.at[maxFloors/2:])
		f.first, f.at = f.first+maxFloors/2, f.at[:n]
	}
}

// of returns a time before which a centre in the index was not last seen.
func (f *floors) of(seq uint64) int64 {
	if i := seq/f.seqs - f.first; i < uint64(len(f.at)) {
		return f.at[i]
	}
	return math.MinInt64
}
