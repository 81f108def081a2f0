package singlepass

import "math"

const (
	// floorSeqs is how many Seqs share a floor.
	floorSeqs = 512
	// maxFloors is how many floors there are before the older half of them goes: at most 512 KiB.
	maxFloors = 1 << 16
)

// floors are lower bounds of when centres were last seen, one for each run of Seqs. A floor is the
// earliest event time of the founders of its run, since no centre is last seen before its founder.
// As long as a floor has not expired, no centre of the run has, and none must be looked up.
type floors struct {
	seqs  uint64  // the length of a run
	first uint64  // the first run with a floor
	at    []int64 // math.MaxInt64 where nothing was founded yet
}

// lower keeps a floor right when a centre is added, or counts as last seen at another time than
// before: it was last seen at this time or later.
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

// of returns the floor of a centre, math.MinInt64 if there is no floor.
func (f *floors) of(seq uint64) int64 {
	if i := seq/f.seqs - f.first; i < uint64(len(f.at)) {
		return f.at[i]
	}
	return math.MinInt64
}
